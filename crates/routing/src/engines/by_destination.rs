//! One lane for each destination switch: its paths are searched inside that lane's channel dependency
//! graph.

use darkfiber_fabric::{Fabric, SwitchId};
use rayon::prelude::*;

use super::acyclic::Acyclic;
use super::balance::homes;
use super::dag::Dag;
use super::escape::Escape;
use super::grow::{Grower, Loads, Look, Taste};
use super::layers::MIDDLING;
use super::refine::{refine, route_empty_switches};
use super::tree::Tree;
use crate::{DestId, Layers, NO_ROUTE, Request, Routes};

/// Lanes that are tried at once.
const TRIALS: usize = 2;

/// A tree and a lane for every switch with terminals.
pub(super) struct Plan<'a> {
    graphs: Vec<Acyclic<'a>>,
    lane_of: Vec<u8>,
    rows: Vec<(SwitchId, Vec<u8>)>,
    load: Vec<u64>,
    /// Hops of all pairs of terminals.
    pub(super) hops: u64,
    /// What they would be on shortest paths.
    pub(super) least: u64,
}

impl Plan<'_> {
    /// Smaller is better: hops, then the largest load if all LIDs of a switch were routed along its tree.
    pub(super) fn worth(&self) -> (u64, u64) {
        (self.hops, self.load.iter().copied().max().unwrap_or(0))
    }

    /// Lanes in use.
    pub(super) fn lanes(&self) -> usize {
        self.graphs.len()
    }

    /// Tables and layers: every LID balanced by itself in the lane of its switch.
    pub(super) fn finish(self, engine: &str, fabric: &Fabric, request: &Request<'_>) -> Routes {
        let mut routes = Routes::empty(engine, fabric, request.paths());
        for (home, row) in &self.rows {
            let own = routes.row(DestId::switch(fabric, *home), 0);
            routes.ports_mut(own).copy_from_slice(row);
        }
        route_empty_switches(fabric, &mut routes, &self.load);
        refine(fabric, &mut routes, &self.graphs, &self.lane_of);
        if self.graphs.len() > 1 {
            let mut layer = vec![0; routes.row_count()];
            for home in (0..fabric.switch_count()).map(SwitchId::new) {
                let own = (DestId::switch(fabric, home), 0);
                let lids = fabric.terminals_on(home).map(DestId::new);
                let lids = lids.flat_map(|d| (0..routes.paths()).map(move |path| (d, path)));
                for (d, path) in lids.chain([own]) {
                    layer[routes.row(d, path)] = self.lane_of[home.index()];
                }
            }
            routes.layers = Layers::ByRow(layer);
        }
        routes
    }
}

/// One lane, and what a trial in it needs.
#[derive(Clone)]
struct Lane<'a> {
    graph: Acyclic<'a>,
    grower: Grower<'a>,
    tree: Tree,
    /// Hops of the tree; `u64::MAX` if there is none.
    hops: u64,
    /// Whether the tree is the escape tree.
    escaped: bool,
}

impl Lane<'_> {
    /// Tries shortest paths, to be kept or dropped by [`settle`](Self::settle).
    fn try_shortest(&mut self, load: &[u64], dag: &Dag) {
        self.graph.begin();
        let look = Look::Together(load, Taste::Frugal);
        let grown = self.grower.grow_shortest(&mut self.graph, look, dag, &mut self.tree);
        self.escaped = false;
        self.hops = if grown { self.tree.hops(&self.grower.sources) } else { u64::MAX };
    }

    /// Tries any paths, at worst those of the escape tree, to be kept or dropped by
    /// [`settle`](Self::settle).
    fn try_any(&mut self, load: &[u64], home: SwitchId, escape: Option<&Escape>, fabric: &Fabric) {
        self.graph.begin();
        let look = Look::Together(load, Taste::Frugal);
        let grown = self.grower.grow(&mut self.graph, look, home, &mut self.tree);
        self.escaped = !grown;
        if let Some(escape) = escape.filter(|_| !grown) {
            escape.tree(fabric, home, &mut self.tree);
        }
        let reaches = grown || escape.is_some();
        self.hops = if reaches { self.tree.hops(&self.grower.sources) } else { u64::MAX };
    }

    /// Ends the trial.
    fn settle(&mut self, keep: bool) {
        self.graph.end(keep && !self.escaped);
    }
}

/// The first lane that takes shortest paths, opening up to `most` lanes; it keeps them.
fn first_shortest<'a>(
    lanes: &mut Vec<Lane<'a>>,
    blank: &Lane<'a>,
    most: u8,
    load: &[u64],
    dag: &Dag,
) -> Option<usize> {
    let most = usize::from(most);
    for start in (0..most).step_by(TRIALS) {
        let batch = start..(start + TRIALS).min(most);
        while lanes.len() < batch.end {
            lanes.push(blank.clone());
        }
        lanes[batch.clone()].par_iter_mut().for_each(|lane| lane.try_shortest(load, dag));
        let best = batch.clone().find(|&l| lanes[l].hops < u64::MAX);
        for l in batch {
            lanes[l].settle(best == Some(l));
        }
        if best.is_some() {
            return best;
        }
    }
    None
}

/// Routes every destination switch in the first lane that has shortest paths for it, else in the one
/// with the fewest hops. `None` if some destination finds all ways closed.
pub(super) fn plan<'a>(fabric: &'a Fabric, most: u8, escape: Option<&Escape>) -> Option<Plan<'a>> {
    let n = fabric.switch_count();
    let grower = Grower::new(fabric);
    let mut blank = Acyclic::new(fabric, usize::MAX);
    if let Some(escape) = escape {
        escape.reserve(fabric, &grower.sources, &mut blank);
    }
    blank.set_effort(MIDDLING);
    let blank =
        Lane { graph: blank, grower, tree: Tree::default(), hops: u64::MAX, escaped: false };
    let mut lanes: Vec<Lane<'a>> = Vec::new();
    let mut loads = Loads::new(fabric);
    let mut dag = Dag::default();
    let mut lane_of = vec![0; n];
    let (mut rows, mut hops, mut least) = (Vec::new(), 0, 0);
    for home in homes(fabric) {
        dag.shortest(fabric, home);
        let terminals = u64::from(blank.grower.sources[home.index()]);
        let best = first_shortest(&mut lanes, &blank, most, &loads.of, &dag).or_else(|| {
            let any = |lane: &mut Lane<'a>| lane.try_any(&loads.of, home, escape, fabric);
            lanes.par_iter_mut().for_each(any);
            let best = (0..lanes.len()).min_by_key(|&l| lanes[l].hops)?;
            for (l, lane) in lanes.iter_mut().enumerate() {
                lane.settle(l == best);
            }
            Some(best)
        })?;
        let chosen = &lanes[best];
        if chosen.hops == u64::MAX {
            return None;
        }
        hops += chosen.hops * terminals;
        least += dag.hops(&blank.grower.sources) * terminals;
        loads.add(&chosen.tree, &chosen.grower.sources, terminals);
        lane_of[home.index()] = best as u8;
        let mut row = vec![NO_ROUTE; n];
        chosen.tree.write(fabric, &mut row);
        rows.push((home, row));
    }
    let used = lane_of.iter().copied().max().map_or(1, |l| usize::from(l) + 1);
    let graphs = lanes.into_iter().take(used).map(|lane| lane.graph).collect();
    Some(Plan { graphs, lane_of, rows, load: loads.of, hops, least })
}
