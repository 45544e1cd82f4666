//! What goes from the switches of one part to those of another.

use serde::{Deserialize, Serialize};

use crate::congestion::Ack;
use crate::packet::Packet;
use crate::wheel::Event;

/// What goes to one part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mail {
    /// Packets: the tick in which their heads arrive, and the port.
    pub(crate) packets: Vec<(u64, u32, Packet)>,
    /// Room that is given back, by tick.
    pub(crate) events: Vec<(u64, Event)>,
    /// Acknowledgements, by tick.
    pub(crate) acks: Vec<(u64, Ack)>,
}

impl Mail {
    /// The first tick in which something of it happens.
    pub(crate) fn first(&self) -> Option<u64> {
        let packets = self.packets.iter().map(|p| p.0);
        let acks = self.acks.iter().map(|a| a.0);
        packets.chain(self.events.iter().map(|e| e.0)).chain(acks).min()
    }
}

/// What goes to all others, by part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Away {
    /// The first port of each part.
    firsts: Vec<u32>,
    pub(crate) to: Vec<Mail>,
}

impl Away {
    /// To parts with these first ports.
    pub(crate) fn new(firsts: Vec<u32>) -> Self {
        let to = vec![Mail::default(); firsts.len()];
        Self { firsts, to }
    }

    fn part_of(&self, port: u32) -> usize {
        self.firsts.partition_point(|first| *first <= port) - 1
    }

    pub(crate) fn packet(&mut self, tick: u64, port: u32, packet: Packet) {
        let part = self.part_of(port);
        self.to[part].packets.push((tick, port, packet));
    }

    /// To the source of an acknowledgement, which is at a port.
    pub(crate) fn ack(&mut self, tick: u64, port: u32, ack: Ack) {
        let part = self.part_of(port);
        self.to[part].acks.push((tick, ack));
    }

    pub(crate) fn event(&mut self, tick: u64, event: Event) {
        let part = self.part_of(event.place());
        self.to[part].events.push((tick, event));
    }
}
