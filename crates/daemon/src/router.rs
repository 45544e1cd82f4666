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
    /// Virtual lanes that it may use.
    pub(crate) lanes: u8,
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} in {} lanes", self.engine.name(), self.lanes)
    }
}

impl Router {
    /// Tables with as many LIDs a port as those in place, and how many of the engine's entries are not in them.
    ///
    /// They are the engine's own where these can be put in place in any order, or by ranks of switches. Otherwise as much of them is
    /// taken as fits beside the tables in place and their service levels. They are not yet proved.
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
        let candidates = [eased.into_routes(), near_alone];
        let mut rated: Vec<(u64, Routes)> =
            candidates.into_iter().map(|routes| (load(values, &routes), routes)).collect();
        rated.sort_by_key(|(load, _)| *load);
        // What is said of the way is said by the checker, which knows nothing of how tables were made.
        for (_, mut routes) in rated {
            if rung(&routes)? <= Rung::Stages {
                (routes.engine, routes.choice) = (target.engine, target.choice);
                return Ok((routes, taken.entries - taken.taken));
            }
        }
        Err(format!("{}: none of its entries fit beside the tables in place", self.engine.name()))
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
            lanes: self.lanes,
            jobs: &values.jobs.places,
            demands: &demands,
            ..Request::default()
        };
        self.engine
            .route(fabric, &request)
            .map_err(|refusal| format!("{}: {refusal}", self.engine.name()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use darkfiber_fabric::{TerminalId, open};
    use darkfiber_operate::Digest;
    use darkfiber_routing::{Lids, find_engine};
    use darkfiber_scenario::Loaded;

    use super::*;
    use crate::value::{FabricValue, JobsValue, TablesValue};

    /// Jobs in pieces on a fabric, and tables in place.
    fn inputs(spec: &str, engine: &str) -> Values {
        let topology = open(spec).expect(spec);
        let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
        let in_place = find_engine(engine).expect(engine);
        let routes = in_place.route(&topology.fabric, &request).expect(engine);
        let lids = Lids::assign(&topology.fabric, 0).expect("LIDs");
        let piece = |k| {
            let all = (0..topology.fabric.terminal_count() as u32).map(TerminalId);
            (all.filter(|t| (t.0 * t.0 + t.0) % 9 % 5 == k).collect(), format!("{k}"))
        };
        let digest = Digest(1);
        let jobs = JobsValue::new((0..5).map(piece).collect(), digest, Vec::new());
        let fabric = FabricValue { loaded: Loaded::from(topology), digest };
        let (has_levels, is_whole) = (true, true);
        let tables =
            TablesValue { routes, lids, has_levels, is_whole, digest: Digest(2), fabric: digest };
        let (fabric, tables, jobs) = (Arc::new(fabric), Arc::new(tables), Arc::new(jobs));
        Values { fabric, tables, jobs, counters: None, demands: None, whole: None }
    }

    #[test]
    fn what_is_made_anew_can_be_put_in_place_on_any_fabric() {
        let mut taken_whole = 0;
        for (spec, before, engine) in [
            ("kary:k=4,n=3", "updn", "sar-best"),
            ("fattree2:n=6,m=3,r=4", "ftree", "sar"),
            ("dragonfly:p=2,a=4,h=2", "dfsssp", "sar-best"),
            ("dragonfly:p=2,a=4,h=2", "dfsssp", "sar"),
            ("hyperx:dims=4x4,t=2", "dfsssp", "sar-best"),
            ("torus:dims=4x4,t=2", "updn", "nue"),
        ] {
            let values = inputs(spec, before);
            let router = Router { engine: find_engine(engine).expect(engine), lanes: 8 };
            let (made, withheld) = router.tables(&values).expect(spec);
            let before = [Before { routes: &values.tables.routes, has_levels: true }];
            let judged = transition::check(values.fabric.fabric(), &before, &made, None);
            assert!(judged.expect(spec).verdict <= Rung::Stages, "{spec}, {engine}");
            taken_whole += usize::from(withheld == 0);
        }
        assert!((2..6).contains(&taken_whole), "{taken_whole}: both ways are taken");
    }

    #[test]
    fn a_refusal_of_the_engine_is_said() {
        let router = Router { engine: find_engine("ftree").expect("ftree"), lanes: 1 };
        let refused = router.tables(&inputs("torus:dims=4x4,t=1", "updn")).expect_err("no tree");
        assert!(refused.starts_with("ftree: "), "{refused}");
    }
}
