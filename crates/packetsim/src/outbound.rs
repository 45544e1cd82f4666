//! Traffic from the switches of one part to those of another.

use serde::{Deserialize, Serialize};

use crate::congestion::CongestionMessage;
use crate::packet::{NOBODY, Packet};
use crate::stop::Stop;
use crate::wheel::Event;

/// Traffic to one part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// Packets: the tick in which their heads arrive, and the port.
    pub(crate) packets: Vec<(u64, u32, Packet)>,
    /// Credits that are returned, by tick.
    pub(crate) events: Vec<(u64, Event)>,
    /// Messages between sources and endpoints: the tick in which each is at a place, and the place.
    pub(crate) notes: Vec<(u64, Stop, CongestionMessage)>,
}

impl Batch {
    /// The first tick in which something of it happens.
    pub(crate) fn first(&self) -> Option<u64> {
        let packets = self.packets.iter().map(|p| p.0);
        let notes = self.notes.iter().map(|a| a.0);
        packets.chain(self.events.iter().map(|e| e.0)).chain(notes).min()
    }

    /// Removes all of it.
    pub(crate) fn clear(&mut self) {
        self.packets.clear();
        self.events.clear();
        self.notes.clear();
    }

    /// Adds another one for the same part.
    pub(crate) fn add(&mut self, other: Self) {
        self.packets.extend(other.packets);
        self.events.extend(other.events);
        self.notes.extend(other.notes);
    }
}

/// Traffic to all other parts, by part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbound {
    /// The first port of each part.
    firsts: Vec<u32>,
    pub(crate) to: Vec<Batch>,
}

impl Outbound {
    /// To parts with these first ports.
    pub(crate) fn new(firsts: Vec<u32>) -> Self {
        let to = vec![Batch::default(); firsts.len()];
        Self { firsts, to }
    }

    fn part_of(&self, port: u32) -> usize {
        self.firsts.partition_point(|first| *first <= port) - 1
    }

    pub(crate) fn packet(&mut self, tick: u64, port: u32, packet: Packet) {
        let part = self.part_of(port);
        // Neighbours in its queue are those of the part that it leaves.
        let packet = Packet { next: NOBODY, beside: NOBODY, ..packet };
        self.to[part].packets.push((tick, port, packet));
    }

    /// To where a note goes, at a port.
    pub(crate) fn note(&mut self, tick: u64, port: u32, stop: Stop, note: CongestionMessage) {
        let part = self.part_of(port);
        self.to[part].notes.push((tick, stop, note));
    }

    pub(crate) fn event(&mut self, tick: u64, event: Event) {
        let part = self.part_of(event.place());
        self.to[part].events.push((tick, event));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wheel::What;

    /// What docs/mpi.md says of bytes between processes: of a packet that crosses, and of the credit that is returned for it.
    #[test]
    fn bytes_between_processes_are_those_of_the_model() {
        let (ms, terminals) = (1_000_000_000, 83_232);
        let packet = Packet {
            born: 5 * ms,
            at: 5 * ms,
            from: terminals - 1,
            to: terminals - 2,
            message: 0,
            via: NOBODY,
            bytes: 4096,
            back: 500_000,
            next: NOBODY,
            beside: NOBODY,
            input: 7,
            out: 60,
            group: 0,
            pad: 0,
            path: 0,
            flowlet: 0,
            mark: 0,
            lane: 1,
            next_lane: 2,
            hops: 2,
            phase: 1,
            round: false,
        };
        let (tick, port) = (5 * ms / 1000, 300_000);
        let credit = Event::new(What::Credit, port, 1 << 24 | 4096);
        let long = |batch: &Batch| postcard::to_stdvec(batch).expect("in memory").len();
        let empty = long(&Batch::default());
        let packets = Batch { packets: vec![(tick, port, packet)], ..Batch::default() };
        let events = Batch { events: vec![(tick, credit)], ..Batch::default() };
        assert_eq!([long(&packets) - empty, long(&events) - empty], [56, 13]);
    }
}
