//! The path of a message.

use darkfiber_fabric::{SwitchId, TerminalId};
use thiserror::Error;

/// A message between terminals without a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, serde::Serialize, serde::Deserialize)]
#[error("no route from terminal {} to terminal {}", from.0, to.0)]
pub struct NoRoute {
    /// Source of the missing path.
    pub from: TerminalId,
    /// Destination of the missing path.
    pub to: TerminalId,
}

/// From where to where, by which of the paths, and over which channels.
#[derive(Clone, Debug)]
pub struct Path {
    /// Terminal where it starts.
    pub from: TerminalId,
    /// Terminal where it ends.
    pub to: TerminalId,
    /// Index of the path between the two: the offset of the destination's LID.
    pub number: usize,
    /// From injection to ejection, once [`crate::Network::follow`] has followed it.
    pub channels: Vec<u32>,
    /// In picoseconds, adapters included; `None` if the tables have no path.
    pub latency: Option<u64>,
    /// Its row in the tables.
    pub(crate) row: usize,
    /// The switch that it has come to.
    pub(crate) at: SwitchId,
}

impl Path {
    /// A path that is to be followed.
    pub fn new(from: TerminalId, to: TerminalId, number: usize) -> Self {
        let (channels, at) = (Vec::new(), SwitchId(0));
        Self { from, to, number, channels, latency: None, row: 0, at }
    }
}
