//! Output and lane of a packet until its tail has left, where flits of several packets share channels.

use darkfiber_workload::state;
use serde::{Deserialize, Serialize};

use crate::packet::NOBODY;

/// The head flit, which is routed, and the tail flit, which frees the lane: bits of its mark. A packet of one flit has both.
pub(crate) const HEAD: u8 = 1;
pub(crate) const TAIL: u8 = 2;

/// State of inputs and outputs for packets whose flits are in flight. Empty where packets are not divided.
#[derive(Debug, Default)]
pub(super) struct Flits {
    /// By input and lane, the route of the head that arrived last.
    pub(super) ways: Vec<HeadOutput>,
    /// By input and lane, the lane in which the packet at the front continues.
    pub(super) goes_on: Vec<u8>,
    /// By output and lane, the place of the packet that has it, as `input << bits | lane`.
    pub(super) holders: Vec<u32>,
    /// By output, heads at the front of their queues that have no lane, in the order in which they came there.
    pub(super) heads: Vec<Vec<u32>>,
    /// By output, the lane that is looked at first.
    pub(super) turns: Vec<u8>,
}

/// Output that a head was sent to.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct HeadOutput {
    pub(super) out: u16,
    pub(super) round: bool,
}

state! {
    pub(crate) struct FlitState of() Flits {
        ways: Vec<HeadOutput>,
        goes_on: Vec<u8>,
        holders: Vec<u32>,
        heads: Vec<Vec<u32>>,
        turns: Vec<u8>,
    }
}

impl Flits {
    /// Of this many ports, each with this many lanes.
    pub(super) fn new(ports: usize, lanes: usize) -> Self {
        Self {
            ways: vec![HeadOutput::default(); ports * lanes],
            goes_on: vec![0; ports * lanes],
            holders: vec![NOBODY; ports * lanes],
            heads: vec![Vec::new(); ports],
            turns: vec![0; ports],
        }
    }

    /// Whether packets go in one piece.
    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Whether a state is of as many ports and lanes, and all that it names is there.
    pub(super) fn fits(&self, state: &FlitState, packets: usize, radix: u32) -> bool {
        let lanes = self.holders.len().checked_div(self.turns.len()).unwrap_or(0);
        state.ways.len() == self.ways.len()
            && state.goes_on.len() == self.goes_on.len()
            && state.holders.len() == self.holders.len()
            && state.heads.len() == self.heads.len()
            && state.turns.len() == self.turns.len()
            && state.ways.iter().all(|w| u32::from(w.out) < radix)
            && state.goes_on.iter().chain(&state.turns).all(|&lane| usize::from(lane) < lanes)
            && state.holders.iter().all(|&h| h == NOBODY || (h as usize) < radix as usize * lanes)
            && state.heads.iter().flatten().all(|&id| (id as usize) < packets)
    }
}
