//! Messages that have departed and are not sent yet: they wait for an earlier one of their connection, or for their adapter.

use darkfiber_workload::play::Departure;

use super::{EXACT, Event, Flows, Pending, duration, step};

impl Flows<'_> {
    /// When a message may begin, if its adapter is ready at some time.
    fn rounded(&self, begin: u64, d: &Departure) -> u64 {
        if self.precision <= EXACT || d.of <= self.small {
            return begin;
        }
        let adapter = self.network.injection(d.from);
        let others = self.shares.count(adapter);
        let long = duration(d.bytes as f64 * f64::from(others + 1), self.shares.capacity(adapter));
        begin.next_multiple_of(step(long, self.precision))
    }

    /// Whether messages of this number of bytes, all parts together, share nothing.
    pub(super) fn is_apart(&self, of: u64) -> bool {
        self.alone || of <= self.small
    }

    /// Whether messages of this number of bytes wait for those of their connection. Where paths are chosen by room, messages of a pair
    /// take several, each with a connection of its own.
    pub(super) fn is_in_order(&self, of: u64) -> bool {
        !self.is_apart(of) && !self.chooser.adapts()
    }

    /// When the adapter of a message is ready for it, which is busy with it then.
    pub(super) fn reserve(&mut self, d: &Departure) -> u64 {
        let ready = &mut self.ready[d.from.index()];
        self.waits += u64::from(*ready > self.now);
        let begin = self.now.max(*ready);
        *ready = begin + self.host.gap;
        self.rounded(begin, d)
    }

    /// The number of the path of a message, unless it goes in parts or where there is room.
    pub(super) fn path_number(&mut self, d: &Departure) -> u32 {
        if self.chooser.splits() || self.chooser.adapts() {
            return 0;
        }
        let own = self.network.routes().path_of(d.from);
        self.chooser.path(d.from, d.to, d.of, own) as u32
    }

    /// Has a message begin when its adapter is ready for it, if nothing else of its connection flows.
    pub(super) fn launch(&mut self, pending: &Pending) {
        if pending.begin <= self.now {
            self.begin(pending);
            return;
        }
        let message = pending.departure.message;
        if self.waiting.len() <= message as usize {
            self.waiting.resize(message as usize + 1, *pending);
        }
        self.waiting[message as usize] = *pending;
        self.agenda.push(pending.begin, Event::Begin { message });
    }

    /// A message has left: the next one of its connection is launched.
    pub(super) fn next_of_connection(&mut self, message: u32) {
        let (from, connection) = self.senders[message as usize];
        if let Some(next) = self.connections[from.index()].left(connection) {
            let begin = self.reserve(&next.departure);
            self.launch(&Pending { begin, ..next });
        }
    }
}
