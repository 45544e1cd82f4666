//! Reliability of a cable: the buffer from which packets are sent again, and lanes that stop working.
//!
//! D. De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC'20), section II-F: link-level retry for transient errors,
//! removal of lanes for permanent ones.

use std::collections::VecDeque;

use darkfiber_fabric::{ChannelId, Fabric};
use darkfiber_workload::Stream;
use serde::{Deserialize, Serialize};

/// From a time on a channel between switches has only a part of its lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneFault {
    /// Time of the fault, in picoseconds.
    pub at: u64,
    /// The channel; its reverse is another one.
    pub channel: ChannelId,
    /// The part of it that still works, above 0 and up to 1.
    pub part: f32,
}

/// Cables between switches, drawn by a seed: a share of all, each by one of its two channels.
///
/// A share is from 0 to 1.
pub fn draw_cables(fabric: &Fabric, share: f64, seed: u64) -> Vec<ChannelId> {
    let mut cables: Vec<ChannelId> = (0..fabric.channel_count())
        .map(ChannelId::new)
        .filter(|&c| c.index() < fabric.reverse(c).index())
        .collect();
    #[expect(clippy::cast_sign_loss, reason = "a share is not below zero")]
    let count = (share * cables.len() as f64).round() as usize;
    Stream::new(seed, 0xdead).shuffle(&mut cables);
    cables.truncate(count);
    cables
}

/// Packets that an output has sent and holds until the other end has acknowledged them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Replay {
    /// Of each, when its acknowledgement is there, and its bytes; times rise.
    held: VecDeque<(u64, u32)>,
    bytes: u64,
}

impl Replay {
    /// The first time from `when` on at which a buffer of `window` has space for a packet of this size.
    pub(crate) fn wait_for_space(&mut self, window: u32, bytes: u32, when: u64) -> u64 {
        let mut when = when;
        while let Some(&(acknowledged, size)) = self.held.front() {
            if acknowledged > when {
                if self.bytes + u64::from(bytes) <= window.into() {
                    break;
                }
                when = acknowledged;
            }
            self.bytes -= u64::from(size);
            self.held.pop_front();
        }
        when
    }

    /// A packet is held until its acknowledgement arrives.
    pub(crate) fn hold(&mut self, bytes: u32, until: u64) {
        self.held.push_back((until, bytes));
        self.bytes += u64::from(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 10 B, acknowledged 100 after they left: a buffer of 30 B lets three go at once, and then each when one of them is
    /// acknowledged.
    #[test]
    fn as_many_are_under_way_as_there_is_room_for() {
        let mut replay = Replay::default();
        let mut leaves = Vec::new();
        let mut ready = 0;
        for _ in 0..7 {
            let when = replay.wait_for_space(30, 10, ready);
            replay.hold(10, when + 100);
            leaves.push(when);
            ready = when + 1;
        }
        assert_eq!(leaves, [0, 1, 2, 100, 101, 102, 200]);
        // A late packet finds it empty.
        assert_eq!(replay.wait_for_space(30, 30, 1000), 1000);
        assert_eq!((replay.bytes, replay.held.len()), (0, 0));
    }
}
