//! The checker's result for a virtual layer.

use darkfiber_fabric::{ChannelId, TerminalId};

/// Result for one virtual layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerReport {
    /// Number of the layer.
    pub layer: u8,
    /// Number of channel dependencies in it: of channels that are held in this lane.
    pub dependencies: usize,
    /// A cycle of dependencies, if there is one: then packets can deadlock. Where switches choose lanes
    /// ([`Layers::ByHop`](crate::Layers::ByHop)) it may go through several lanes, and is reported with the lowest
    /// one.
    pub cycle: Option<Cycle>,
}

/// A cycle in the channel dependency graph of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The channels; each waits for the next, the last for the first.
    pub channels: Vec<ChannelId>,
    /// The lane of each channel: all the same but where switches choose lanes.
    pub lanes: Vec<u8>,
    /// For each channel a route (source, destination) that holds it and wants the next one.
    pub routes: Vec<(TerminalId, TerminalId)>,
}
