//! Packets of which some are not simulated, but multiplied from others.

use darkfiber_fabric::TerminalId;
use darkfiber_packetsim::{Measured, PacketNetwork, PacketsState, Paused, Pauses};
use darkfiber_workload::play::{Delivery, Departure, NetworkModel, Ratio, Skipping};

use crate::drive::Resumable;

/// A packet network that can leave out repeats of events: it remains as it is, and its clock is behind from then on.
pub(crate) struct Skipped<'a> {
    inner: Box<dyn PacketNetwork<'a> + 'a>,
    groups: usize,
    /// Whether anything may be left out.
    skips: bool,
    /// By how many picoseconds its clock is behind.
    behind: u64,
    /// What was left out.
    more: Totals,
    /// Counts that are kept, by mark; and how often some were, in all.
    marks: Vec<Option<Totals>>,
    marked: u64,
    /// Ports of the network, once they were counted.
    ports: u64,
}

/// So many marks are made whatever they take.
const FREE_MARKS: u64 = 64;

/// Counts of a packet network up to a time.
#[derive(Clone, Default)]
pub(crate) struct Totals {
    /// Bytes that each port of the network has sent.
    pub(crate) carried: Vec<u64>,
    /// By group, results of its packets.
    pub(crate) packets: Vec<Measured>,
    /// Packets times switches that they crossed.
    pub(crate) crossed: u64,
    /// Packets that switches dropped, and that were sent again.
    pub(crate) dropped: u64,
    /// Events of the network.
    pub(crate) events: u64,
    /// Pauses of priority flow control, if there are any.
    pub(crate) pauses: Option<Pauses>,
}

impl<'a> Skipped<'a> {
    /// A network of packets of a number of groups; whether repeats of its events may be left out.
    pub(crate) fn new(inner: Box<dyn PacketNetwork<'a> + 'a>, groups: usize, skips: bool) -> Self {
        Self {
            inner,
            groups,
            skips,
            behind: 0,
            more: Totals::default(),
            marks: Vec::new(),
            marked: 0,
            ports: 0,
        }
    }

    /// The network, as far as it was simulated.
    pub(crate) fn simulated(&mut self) -> &mut (dyn PacketNetwork<'a> + 'a) {
        &mut *self.inner
    }

    /// Events of the network that were left out.
    pub(crate) fn repeated(&self) -> u64 {
        self.more.events
    }

    /// Makes what was left out so much that all packets together carried this many bytes: how far packets were when a window began or
    /// ended is not part of its count.
    pub(crate) fn correct(&mut self, bytes: u64) {
        let carried = |packets: &[Measured]| packets.iter().map(|p| p.bytes).sum::<u64>();
        let left_out = carried(&self.more.packets);
        if let Some(rest) = bytes.checked_sub(carried(&self.inner.by_group(self.groups)))
            && left_out > 0
        {
            let mut more = Totals::default();
            more.add(&self.more, &Totals::default(), Ratio { to: rest, from: left_out });
            self.more = more;
        }
    }

    /// Counts up to a time, with what was left out.
    pub(crate) fn totals(&self, end: u64) -> Totals {
        let mut totals = Totals {
            carried: self.inner.carried(),
            packets: self.inner.by_group(self.groups),
            crossed: self.inner.crossed(),
            dropped: self.inner.dropped(),
            events: self.inner.events(),
            pauses: self.inner.pauses(end - self.behind),
        };
        totals.add(&self.more, &Totals::default(), Ratio::ONE);
        totals
    }

    /// Deliveries by the clock of the network are made those by the clock of ranks.
    fn put_off(&self, delivered: &mut [Delivery]) {
        for d in delivered {
            d.left += self.behind;
            d.arrives += self.behind;
        }
    }
}

impl Totals {
    /// Adds what others are beyond what they were, multiplied.
    fn add(&mut self, others: &Self, before: &Self, by: Ratio) {
        let more = |to: &mut u64, now: u64, before: u64| {
            *to = to.saturating_add(by.of(now - before));
        };
        let paused = |to: &mut Paused, now: &Paused, before: Paused| {
            more(&mut to.count, now.count, before.count);
            more(&mut to.long, now.long, before.long);
        };
        self.carried.resize(self.carried.len().max(others.carried.len()), 0);
        for (i, (to, &now)) in self.carried.iter_mut().zip(&others.carried).enumerate() {
            more(to, now, before.carried.get(i).copied().unwrap_or(0));
        }
        self.packets.resize_with(self.packets.len().max(others.packets.len()), Measured::new);
        for (i, (to, now)) in self.packets.iter_mut().zip(&others.packets).enumerate() {
            to.add_since(now, before.packets.get(i), by);
        }
        more(&mut self.crossed, others.crossed, before.crossed);
        more(&mut self.dropped, others.dropped, before.dropped);
        more(&mut self.events, others.events, before.events);
        if let Some(now) = &others.pauses {
            let to = self.pauses.get_or_insert_default();
            let none = Pauses::default();
            let before = before.pauses.as_ref().unwrap_or(&none);
            paused(&mut to.adapters, &now.adapters, before.adapters);
            to.ports.resize(to.ports.len().max(now.ports.len()), Paused::default());
            for (i, (to, now)) in to.ports.iter_mut().zip(&now.ports).enumerate() {
                paused(to, now, before.ports.get(i).copied().unwrap_or_default());
            }
        }
    }
}

impl Skipping for Skipped<'_> {
    fn repeats_counts(&self) -> bool {
        self.inner.has_fixed_paths()
    }

    fn mark(&mut self, now: u64) -> Option<usize> {
        let events = self.inner.events();
        let copied = self.marked.saturating_mul(self.ports);
        if self.marked >= FREE_MARKS && copied > events {
            return None;
        }
        self.marked += 1;
        self.inner.catch_up(now - self.behind);
        let totals = self.totals(now);
        self.ports = totals.carried.len() as u64;
        let free = self.marks.iter().position(Option::is_none).unwrap_or(self.marks.len());
        if free == self.marks.len() {
            self.marks.push(None);
        }
        self.marks[free] = Some(totals);
        Some(free)
    }

    fn forget(&mut self, mark: usize) {
        self.marks[mark] = None;
    }

    fn skip(&mut self, since: usize, now: u64, more: Ratio, time: u64) {
        self.inner.catch_up(now - self.behind);
        let now = self.totals(now);
        if let Some(before) = &self.marks[since] {
            self.more.add(&now, before, more);
        }
        self.behind += time;
    }
}

impl NetworkModel for Skipped<'_> {
    fn latency(&self, from: TerminalId, to: TerminalId) -> u64 {
        self.inner.latency(from, to)
    }

    fn is_within_host(&self, from: TerminalId, to: TerminalId) -> bool {
        self.inner.is_within_host(from, to)
    }

    fn depart(&mut self, now: u64, departures: &[Departure], delivered: &mut Vec<Delivery>) {
        let known = delivered.len();
        self.inner.depart(now - self.behind, departures, delivered);
        self.put_off(&mut delivered[known..]);
    }

    fn upcoming(&mut self) -> Option<u64> {
        self.inner.upcoming().map(|time| time.saturating_add(self.behind))
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        let known = delivered.len();
        self.inner.advance(now - self.behind, delivered);
        self.put_off(&mut delivered[known..]);
    }

    fn skipping(&mut self) -> Option<&mut dyn Skipping> {
        if self.skips { Some(self) } else { None }
    }
}

// A run that leaves anything out is not kept: see `packets`.
impl Resumable for Skipped<'_> {
    type State = PacketsState;

    fn fits(&self, state: &PacketsState) -> bool {
        self.inner.fits(state)
    }

    fn take(&mut self) -> PacketsState {
        self.inner.take()
    }

    fn restore(&mut self, state: PacketsState) {
        self.inner.restore(state);
    }
}
