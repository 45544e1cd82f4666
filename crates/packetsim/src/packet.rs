//! Packets in flight, stored contiguously.

use serde::{Deserialize, Serialize};

/// A packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(align(64))]
pub struct Packet {
    /// When it was created, in picoseconds.
    pub born: u64,
    /// Time at which its head is at its current place, or arrives there, in picoseconds.
    pub(crate) at: u64,
    /// Terminal that it comes from.
    pub from: u32,
    /// Terminal that it goes to.
    pub to: u32,
    /// The message that it is of.
    pub(crate) message: u32,
    /// Intermediate switch that it visits first, or [`NOBODY`].
    pub via: u32,
    /// Its length on a channel, in bytes.
    pub bytes: u32,
    /// Latency of an acknowledgement to its source, in picoseconds: that of its own path, unloaded.
    pub(crate) back: u32,
    /// Next packet of its queue, or [`NOBODY`].
    pub(crate) next: u32,
    /// At the front of its queue: the next packet that waits for the same output, or [`NOBODY`].
    pub(crate) beside: u32,
    /// The port that it waits at and its output, by number among those of the switch.
    pub(crate) input: u16,
    pub(crate) out: u16,
    /// The group of messages that it is counted with.
    pub(crate) group: u16,
    /// Bytes of it that are not its message's.
    pub(crate) pad: u16,
    /// Index of its path among several that tables have.
    pub path: u8,
    /// Packets of a pair of endpoints that stay in order have the same value until none of them is in flight; with a reorder window:
    /// its number among those of its pair.
    pub(crate) flowlet: u8,
    /// Mark set by switches, for congestion control.
    pub(crate) mark: u8,
    /// The lane that it is in, and its next lane: lanes of a class are adjacent.
    pub lane: u8,
    pub(crate) next_lane: u8,
    /// Switches that it has left.
    pub hops: u8,
    /// State of its routing.
    pub phase: u8,
    /// Whether it was sent another than a shortest path.
    pub round: bool,
}

impl Packet {
    /// Bytes of its message.
    pub(crate) fn payload(&self) -> u32 {
        self.bytes - u32::from(self.pad)
    }
}

/// No packet, and no switch.
pub const NOBODY: u32 = u32::MAX;

/// Packets, and places of those that are gone.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Slab {
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Slab {
    #[inline]
    pub(crate) fn add(&mut self, packet: Packet) -> u32 {
        if let Some(i) = self.free.pop() {
            self.packets[i as usize] = packet;
            return i;
        }
        self.packets.push(packet);
        self.packets.len() as u32 - 1
    }

    #[inline]
    pub(crate) fn remove(&mut self, i: u32) -> Packet {
        self.free.push(i);
        self.packets[i as usize]
    }

    #[inline]
    pub(crate) fn of(&self, i: u32) -> &Packet {
        &self.packets[i as usize]
    }

    #[inline]
    pub(crate) fn of_mut(&mut self, i: u32) -> &mut Packet {
        &mut self.packets[i as usize]
    }

    /// Whether all that its packets name is there: terminals, switches, packets, and ports of one switch at most.
    pub(crate) fn fits(&self, terminals: u32, switches: u32, radix: u32, lanes: u32) -> bool {
        let n = self.packets.len() as u32;
        let is_packet = |i: u32| i == NOBODY || i < n;
        self.free.len() <= self.packets.len()
            && self.free.iter().all(|&i| i < n)
            && self.packets.iter().all(|p| {
                p.from < terminals
                    && p.to < terminals
                    && (p.via == NOBODY || p.via < switches)
                    && is_packet(p.next)
                    && is_packet(p.beside)
                    && u32::from(p.input.max(p.out)) < radix
                    && u32::from(p.lane.max(p.next_lane)) < lanes
                    && u32::from(p.pad) <= p.bytes
            })
    }

    /// How many places there are.
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Packets that are there.
    pub(crate) fn count(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> Packet {
        Packet {
            born: 0,
            at: 0,
            from: 1,
            to: 2,
            message: 0,
            via: NOBODY,
            bytes: 64,
            back: 0,
            next: NOBODY,
            beside: NOBODY,
            input: 3,
            out: 4,
            group: 0,
            pad: 8,
            path: 0,
            flowlet: 0,
            mark: 0,
            lane: 1,
            next_lane: 0,
            hops: 0,
            phase: 0,
            round: false,
        }
    }

    #[test]
    fn packets_name_what_is_there() {
        let fits = |packet: Packet| {
            let mut slab = Slab::default();
            slab.add(self::packet());
            slab.add(packet);
            slab.fits(8, 4, 6, 2)
        };
        assert!(fits(packet()));
        assert!(fits(Packet { next: 1, beside: 0, via: 3, ..packet() }));
        for wrong in [
            Packet { from: 8, ..packet() },
            Packet { to: 8, ..packet() },
            Packet { via: 4, ..packet() },
            Packet { next: 2, ..packet() },
            Packet { beside: 2, ..packet() },
            Packet { input: 6, ..packet() },
            Packet { out: 6, ..packet() },
            Packet { lane: 2, ..packet() },
            Packet { next_lane: 2, ..packet() },
            Packet { pad: 65, ..packet() },
        ] {
            assert!(!fits(wrong), "{wrong:?}");
        }
        let mut slab = Slab::default();
        slab.add(packet());
        slab.free.push(1);
        assert!(!slab.fits(8, 4, 6, 2));
    }
}
