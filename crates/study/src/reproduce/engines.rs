//! Tables of an engine that is told who runs where and what they send: what experiments that compare mechanisms have in common.

use darkfiber_fabric::{TerminalId, Topology};
use darkfiber_routing::{Demand, Request, Routes, find_engine};

/// What engines that care are told.
#[derive(Clone, Copy)]
pub(super) struct EngineInput<'a> {
    /// The terminals of each job, each once.
    pub(super) places: &'a [Vec<TerminalId>],
    /// What terminals send to each other, in bytes.
    pub(super) demands: &'a [Demand],
    /// Seed of the engine's random choices.
    pub(super) seed: u64,
}

/// The tables of an engine of the registry that suits the fabric, with 2^lmc LIDs for every terminal.
pub(super) fn tables(topology: &Topology, engine: &str, lmc: u8, told: EngineInput<'_>) -> Routes {
    let request = Request {
        shape: topology.shape.as_ref(),
        lmc,
        jobs: told.places,
        demands: told.demands,
        seed: told.seed,
        ..Request::default()
    };
    let engine = find_engine(engine).expect("registered");
    engine.route(&topology.fabric, &request).expect("it suits the fabric")
}
