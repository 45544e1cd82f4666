//! Packets that take the path of those before them of the same pair of endpoints: while any of these is in flight, or until none
//! has passed for a while.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::packet::Packet;
use crate::switch_model::PathPinning;

/// Paths of the packets of ordered classes at switches. Serialized in sorted order: nothing depends on the layout of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows(HashMap<Flow, ChosenOutput, BuildHasherDefault<FlowHasher>>);

/// A switch, source and destination, traffic class, and hops so far: a non-minimal path may cross a switch twice.
type Flow = (u32, u32, u32, u8, u8);

/// Output that a switch chose for a packet, and the state that its routing set.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ChosenOutput {
    /// When the last one passed, in picoseconds.
    seen: u64,
    flowlet: u8,
    lane: u8,
    phase: u8,
    round: bool,
    out: u32,
    via: u32,
}

impl Flows {
    /// Output and lane of the previous packets, if the packet is to follow them: its routing state becomes theirs.
    pub(crate) fn again(
        &mut self,
        switch: u32,
        class: u8,
        packet: &mut Packet,
        (order, now): (PathPinning, u64),
    ) -> Option<(u32, u8)> {
        let chosen = self.0.get_mut(&(switch, packet.from, packet.to, class, packet.hops))?;
        let is_same = match order {
            PathPinning::Free => false,
            PathPinning::UnderWay => chosen.flowlet == packet.flowlet,
            PathPinning::Flowlets(gap) => now - chosen.seen <= gap,
        };
        if !is_same {
            return None;
        }
        chosen.seen = now;
        (packet.via, packet.phase, packet.round) = (chosen.via, chosen.phase, chosen.round);
        Some((chosen.out, chosen.lane))
    }

    /// A packet is sent to an output and lane; those behind it will be, too.
    pub(crate) fn keep(
        &mut self,
        switch: u32,
        class: u8,
        packet: &Packet,
        (out, lane): (u32, u8),
        now: u64,
    ) {
        let Packet { flowlet, via, phase, round, .. } = *packet;
        let chosen = ChosenOutput { seen: now, flowlet, lane, phase, round, out, via };
        self.0.insert((switch, packet.from, packet.to, class, packet.hops), chosen);
    }
}

impl Serialize for Flows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all: Vec<(&Flow, &ChosenOutput)> = self.0.iter().collect();
        all.sort_unstable_by_key(|(flow, _)| **flow);
        all.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Flows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all: Vec<(Flow, ChosenOutput)> = Vec::deserialize(deserializer)?;
        Ok(Self(all.into_iter().collect()))
    }
}

/// Hashes the words of a flow: each packet needs it at each switch, and endpoints are not adversarial.
#[derive(Clone, Copy, Debug, Default)]
struct FlowHasher(u64);

impl Hasher for FlowHasher {
    fn finish(&self) -> u64 {
        // The table looks at the upper and at the lower bits.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u32(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
