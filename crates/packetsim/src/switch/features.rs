//! What the switches of a run do, known when their code is compiled: what a run does not use costs it nothing.

use crate::switch_model::PathPinning;
use crate::{Arbitration, Interleave, Net, Queues, SwitchModel};

/// The code of switches for some of what they can do.
pub(super) trait Features {
    /// Whether packets are cut into flits.
    const FLITS: bool;
    /// Whether there is nothing of what [`is_plain`] excludes.
    const PLAIN: bool;
}

/// Whole packets, and nothing that most runs do without.
pub(super) struct Plain;

/// Whole packets, and all that switches can do with these.
pub(super) struct Whole;

/// Flits.
pub(super) struct ByFlits;

impl Features for Plain {
    const FLITS: bool = false;
    const PLAIN: bool = true;
}

impl Features for Whole {
    const FLITS: bool = false;
    const PLAIN: bool = false;
}

impl Features for ByFlits {
    const FLITS: bool = true;
    const PLAIN: bool = false;
}

/// Whether switches do without traffic classes, pauses, replay buffers, errors, lanes that fail, order of packets, a memory that inputs
/// share, matching of inputs and outputs, and congestion control that examines packets.
pub(super) fn is_plain(net: &Net, micro: &SwitchModel) -> bool {
    micro.interleave == Interleave::Packets
        && micro.classes.is_empty()
        && micro.pfc.is_none()
        && micro.storms.is_empty()
        && micro.replay.is_none()
        && micro.bit_errors == 0.0
        && net.is_steady()
        && micro.order(None) == PathPinning::Free
        && micro.queues != Queues::Memory
        && micro.arbitration == Arbitration::RoundRobin
        && !micro.congestion.looks()
        && !micro.congestion.drops_speculative()
}
