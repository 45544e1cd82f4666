//! Packets that stay in order: those of a pair of endpoints go the way of those before them while any of these is under way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::packet::Packet;

/// Which way switches sent the packets of ordered classes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Flows(BTreeMap<(u32, u32, u32, u8), Way>);

/// Where a switch sent a packet, and what its routing made of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Way {
    flowlet: u8,
    out: u32,
    lane: u8,
    via: u32,
    phase: u8,
    round: bool,
}

impl Flows {
    /// Output and lane of the packets before, if any of them may be under way: the packet is as its routing made those.
    pub(crate) fn again(&self, switch: u32, class: u8, packet: &mut Packet) -> Option<(u32, u8)> {
        let way = self.0.get(&(switch, packet.from, packet.to, class))?;
        if way.flowlet != packet.flowlet {
            return None;
        }
        (packet.via, packet.phase, packet.round) = (way.via, way.phase, way.round);
        Some((way.out, way.lane))
    }

    /// A packet is sent to an output and lane; those behind it will be, too.
    pub(crate) fn keep(&mut self, switch: u32, class: u8, packet: &Packet, (out, lane): (u32, u8)) {
        let Packet { flowlet, via, phase, round, .. } = *packet;
        let way = Way { flowlet, out, lane, via, phase, round };
        self.0.insert((switch, packet.from, packet.to, class), way);
    }
}
