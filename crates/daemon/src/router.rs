//! Tables that a routing engine makes for the jobs that run, or for what hosts send to each other.

use darkfiber_routing::{Engine, Request, Routes};
use darkfiber_scenario::fabric::structure;

use crate::work::Values;

/// An engine, and what it may use.
#[derive(Clone, Copy)]
pub(crate) struct Router {
    pub(crate) engine: &'static dyn Engine,
    /// Virtual lanes; as many as the tables in place use if not given.
    pub(crate) lanes: Option<u8>,
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} in {:?} lanes", self.engine.name(), self.lanes)
    }
}

impl Router {
    /// Tables with as many LIDs a port as those in place. They are not yet proved.
    pub(crate) fn tables(&self, values: &Values) -> Result<Routes, String> {
        let (fabric, old) = (values.fabric.fabric(), &values.tables.routes);
        let stated = values.fabric.loaded.topology.shape.clone();
        let shape = stated.or_else(|| structure(fabric).1);
        let demands = values.demands.as_ref().map_or(&[][..], |known| &known.demands);
        let request = Request {
            shape: shape.as_ref(),
            lmc: old.paths().trailing_zeros() as u8,
            lanes: self.lanes.unwrap_or_else(|| old.layer_count().max(1) as u8),
            jobs: &values.jobs.places,
            demands,
            ..Request::default()
        };
        self.engine
            .route(fabric, &request)
            .map_err(|refusal| format!("{}: {refusal}", self.engine.name()))
    }
}
