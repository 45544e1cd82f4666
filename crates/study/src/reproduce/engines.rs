//! Tables of an engine that gets the placement of jobs and their traffic: shared by experiments that compare mechanisms.

use darkfiber_fabric::{TerminalId, Topology};
use darkfiber_routing::{Demand, Request, Routes, find_engine};

/// Input of engines that use jobs or demands.
#[derive(Clone, Copy)]
pub(super) struct EngineInput<'a> {
    /// The terminals of each job, each once.
    pub(super) places: &'a [Vec<TerminalId>],
    /// Bytes that terminals send to each other.
    pub(super) demands: &'a [Demand],
    /// Seed of the engine's random choices.
    pub(super) seed: u64,
}

/// The tables of an engine of the registry that suits the fabric, with 2^lmc LIDs for every terminal.
pub(super) fn tables(topology: &Topology, engine: &str, lmc: u8, input: EngineInput<'_>) -> Routes {
    let request = Request {
        shape: topology.shape.as_ref(),
        lmc,
        jobs: input.places,
        demands: input.demands,
        seed: input.seed,
        ..Request::default()
    };
    let engine = find_engine(engine).expect("registered");
    engine.route(&topology.fabric, &request).expect("it suits the fabric")
}
