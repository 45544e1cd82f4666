//! The request that an engine gets.

use darkfiber_fabric::{Shape, SwitchId, TerminalId};

/// The request to an engine, in addition to the fabric.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The shape of the fabric, where known.
    pub shape: Option<&'a Shape>,
    /// Root switches for Up*/Down* and trees; empty = the engine finds them.
    pub roots: &'a [SwitchId],
    /// LID mask control: every terminal gets `2^lmc` LIDs, routed as differently as possible.
    pub lmc: u8,
    /// Virtual lanes that may be used.
    pub lanes: u8,
    /// Whether the LIDs of a port may take lanes of their own, so that their paths differ where they would not in common ones. Not where
    /// lanes are needed for something else, or paths are put into lanes later.
    pub lanes_by_lid: bool,
    /// Distinctions that may be made when paths are put into virtual layers. An engine whose layers must
    /// depend on more refuses with [`Refusal::Parameter`](crate::Refusal::Parameter).
    pub layer_by: LayerBy,
    /// The terminals of every job that runs, for engines that care.
    pub jobs: &'a [Vec<TerminalId>],
    /// Demands between pairs of terminals, for engines that use them ([`Engine::follows_demands`](crate::Engine::follows_demands)). Demands
    /// of one pair add up.
    pub demands: &'a [Demand],
    /// Seed of every random choice.
    pub seed: u64,
}

/// Traffic from one terminal to another, relative to all other pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Demand {
    /// Terminal that sends.
    pub from: TerminalId,
    /// Terminal that receives.
    pub to: TerminalId,
    /// Amount in bytes or any other unit.
    pub weight: u64,
}

/// Properties that a virtual layer (service level) may depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LayerBy {
    /// Source and destination: fewest layers, but the subnet manager must answer path queries by pair.
    #[default]
    Pair,
    /// The destination LID alone: this can be configured in a plain OpenSM by a QoS policy.
    Destination,
}

impl Default for Request<'_> {
    /// No shape, no roots, LMC 0, 8 lanes (what most InfiniBand switches have), of each LID its own, no jobs, no
    /// demands, seed 1.
    fn default() -> Self {
        Self {
            shape: None,
            roots: &[],
            lmc: 0,
            lanes: 8,
            lanes_by_lid: true,
            layer_by: LayerBy::Pair,
            jobs: &[],
            demands: &[],
            seed: 1,
        }
    }
}

impl Request<'_> {
    /// LIDs a terminal has.
    pub fn paths(&self) -> usize {
        1 << self.lmc
    }
}
