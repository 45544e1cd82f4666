//! What an engine is asked for.

use darkfiber_fabric::{Shape, SwitchId, TerminalId};

/// What an engine is asked for, beside the fabric.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// What the fabric is, where known.
    pub shape: Option<&'a Shape>,
    /// Root switches for Up*/Down* and trees; empty = the engine finds them.
    pub roots: &'a [SwitchId],
    /// LID mask control: every terminal gets `2^lmc` LIDs, routed as differently as possible.
    pub lmc: u8,
    /// Virtual lanes that may be used.
    pub lanes: u8,
    /// What may be told apart when paths are put into virtual layers. An engine whose layers must
    /// depend on more refuses with [`Refusal::Parameter`](crate::Refusal::Parameter).
    pub layer_by: LayerBy,
    /// The terminals of every job that runs, for engines that care.
    pub jobs: &'a [Vec<TerminalId>],
    /// How much who sends to whom, for engines that care ([`Engine::follows_demands`](crate::Engine::follows_demands)). Demands of one pair
    /// add up.
    pub demands: &'a [Demand],
    /// Seed of every random choice.
    pub seed: u64,
}

/// How much one terminal sends to another, beside all other pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Demand {
    /// Who sends.
    pub from: TerminalId,
    /// Who receives.
    pub to: TerminalId,
    /// How much, in bytes or any other unit.
    pub weight: u64,
}

/// What a virtual layer (service level) may depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LayerBy {
    /// Source and destination: fewest layers, but the subnet manager must answer path queries by pair.
    #[default]
    Pair,
    /// The destination LID alone: what a plain OpenSM can be told by a QoS policy.
    Destination,
}

impl Default for Request<'_> {
    /// No shape, no roots, LMC 0, 8 lanes (what most InfiniBand switches have), no jobs, no
    /// demands, seed 1.
    fn default() -> Self {
        Self {
            shape: None,
            roots: &[],
            lmc: 0,
            lanes: 8,
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
