//! Tables that a routing engine makes for the jobs that run, or for what hosts send to each other.

use darkfiber_operate::Rung;
use darkfiber_routing::reroute::{Goal, Prepared};
use darkfiber_routing::transition::{self, Before};
use darkfiber_routing::{Engine, Request, Routes};
use darkfiber_scenario::fabric::structure;

use crate::inputs::{LAYERS, Values};
use crate::load::{load, served};

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
    /// Tables with as many LIDs a port as those in place, and how many of the engine's entries are not in them.
    ///
    /// They are the engine's own where these can be put in place in any order, or by ranks of switches. Otherwise as much of them is
    /// taken as fits beside the tables in place and their service levels; or nothing, if that leaves more load. They are not yet
    /// proved.
    pub(crate) fn tables(&self, values: &Values) -> Result<(Routes, usize), String> {
        let target = self.target(values)?;
        let (fabric, tables) = (values.fabric.fabric(), &values.tables);
        let before = [Before { routes: &tables.routes, has_levels: tables.has_levels }];
        let rung = |routes: &Routes| {
            let judged = transition::check(fabric, &before, routes, None);
            judged.map(|judged| judged.verdict).map_err(|e| e.to_string())
        };
        if rung(&target)? <= Rung::Stages {
            return Ok((target, 0));
        }
        let demands = served(values);
        let prepared = Prepared::with_demands(fabric, &tables.routes, LAYERS, &demands);
        let prepared = prepared.map_err(|e| e.to_string())?;
        let (near, taken) = prepared.towards(&target).map_err(|e| e.to_string())?;
        let near_alone = near.clone().into_routes();
        let mut eased = near;
        eased.relieve(&Goal::default());
        let (_, mut best) = [near_alone, eased.into_routes()]
            .into_iter()
            .map(|routes| (load(values, &routes), routes))
            .min_by_key(|(load, _)| *load)
            .ok_or("no tables")?;
        (best.engine, best.choice) = (target.engine, target.choice);
        Ok((best, taken.entries - taken.taken))
    }

    /// The tables of the engine.
    fn target(&self, values: &Values) -> Result<Routes, String> {
        let (fabric, old) = (values.fabric.fabric(), &values.tables.routes);
        let stated = values.fabric.loaded.topology.shape.clone();
        let shape = stated.or_else(|| structure(fabric).1);
        let known = values.demands.as_ref();
        let demands = known.map_or_else(Vec::new, |known| known.demands(&values.jobs, fabric));
        let request = Request {
            shape: shape.as_ref(),
            lmc: old.paths().trailing_zeros() as u8,
            lanes: self.lanes.unwrap_or_else(|| old.layer_count().max(1) as u8),
            jobs: &values.jobs.places,
            demands: &demands,
            ..Request::default()
        };
        self.engine
            .route(fabric, &request)
            .map_err(|refusal| format!("{}: {refusal}", self.engine.name()))
    }
}
