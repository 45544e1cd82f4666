//! One lane for each destination switch: its paths are searched inside that lane's channel dependency
//! graph.

use darkfiber_fabric::{Fabric, SwitchId};
use rayon::prelude::*;

use super::acyclic::Acyclic;
use super::balance::{LidGroup, homes};
use super::dag::{Candidate, Dag, for_each_dag};
use super::escape::Escape;
use super::grow::{Grower, LoadView, Loads, Preference};
use super::layers::MIDDLING;
use super::refine::{refine, route_empty_switches};
use super::tree::Tree;
use crate::{DestId, Layers, Routes};

/// Lanes that are tried at once, once the first one has refused a destination.
const TRIALS: usize = 2;

/// A tree and a lane for every switch with terminals.
pub(super) struct DestinationPlan<'a> {
    fabric: &'a Fabric,
    lanes: Vec<Acyclic<'a>>,
    lane_of: Vec<u8>,
    /// The trees, in the rows of the switches' own LIDs; and LIDs of waves that are balanced already.
    routes: Routes,
    /// The LIDs that are not.
    groups: Vec<(SwitchId, LidGroup)>,
    /// Loads of those that are.
    settled: Loads<'a>,
    /// Loads if all LIDs of the others were routed along the tree of their switch.
    load: Loads<'a>,
    /// Hops of all pairs of terminals.
    pub(super) hops: u64,
    /// Hops of all pairs on shortest paths.
    pub(super) least: u64,
}

impl<'a> DestinationPlan<'a> {
    fn new(fabric: &'a Fabric, engine: &str, paths: usize) -> Self {
        Self {
            fabric,
            lanes: Vec::new(),
            lane_of: vec![0; fabric.switch_count()],
            routes: Routes::empty(engine, fabric, paths),
            groups: Vec::new(),
            settled: Loads::new(fabric),
            load: Loads::new(fabric),
            hops: 0,
            least: 0,
        }
    }

    /// Routes a switch in the first lane that has shortest paths for it, else in the one with the fewest hops; whether any has
    /// a path. `dag` has its shortest paths.
    fn place(
        &mut self,
        lanes: &mut Lanes<'a>,
        home: SwitchId,
        dag: &Dag,
        paths: usize,
        escape: Option<&Escape>,
    ) -> bool {
        let (fabric, load) = (self.fabric, &self.load.of);
        let best = lanes
            .first_shortest(load, dag)
            .or_else(|| lanes.least_hops(load, home, escape, fabric));
        let Some(best) = best else { return false };
        let Lane { tree, grower, hops, .. } = &lanes.open[best];
        let terminals = u64::from(grower.sources[home.index()]);
        self.hops += hops * terminals;
        self.least += dag.hops(&grower.sources) * terminals;
        self.load.add(tree, &grower.sources, terminals * paths as u64);
        self.lane_of[home.index()] = best as u8;
        let own = self.routes.row(DestId::switch(fabric, home), 0);
        tree.write(fabric, self.routes.ports_mut(own));
        true
    }

    /// Smaller is better: hops, then the largest load.
    pub(super) fn worth(&self) -> (u64, u64) {
        (self.hops, self.load.largest())
    }

    /// Number of lanes in use.
    pub(super) fn lanes(&self) -> usize {
        self.lane_of.iter().copied().max().map_or(1, |l| usize::from(l) + 1)
    }

    /// Balances every LID on its own in the lane of its switch.
    fn balance(&mut self) {
        let lanes = std::mem::take(&mut self.lanes);
        let settled = std::mem::replace(&mut self.settled, Loads::new(self.fabric));
        let groups = std::mem::take(&mut self.groups);
        let rules = (lanes, self.lane_of.clone());
        (self.lanes, self.settled) = refine(self.fabric, &mut self.routes, &groups, rules, settled);
        self.load = self.settled.clone();
    }

    /// Tables and layers: every LID balanced on its own in the lane of its switch.
    pub(super) fn finish(mut self) -> Routes {
        self.balance();
        let fabric = self.fabric;
        let mut routes = self.routes;
        route_empty_switches(fabric, &mut routes, &self.load.of);
        if self.lane_of.iter().any(|&l| l > 0) {
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

/// One lane, and scratch memory for a trial in it.
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
    fn try_shortest(&mut self, load: &[u64], dag: &Dag, place: &[u32]) {
        self.graph.begin();
        self.escaped = false;
        self.hops = u64::MAX;
        if self.shuts_out(dag, place) {
            return;
        }
        let view = LoadView::Joint(load, Preference::Frugal);
        let grown = self.grower.grow_shortest(&mut self.graph, view, dag, &mut self.tree);
        self.hops = if grown { self.tree.hops(&self.grower.sources) } else { u64::MAX };
    }

    /// Whether some switch is known to have no shortest path here: on every channel it may send on,
    /// each possible next channel closes a cycle. `place` gives the index of a switch in the graph's
    /// order.
    fn shuts_out(&self, dag: &Dag, place: &[u32]) -> bool {
        let is_open = |c: &Candidate| {
            let next = dag.candidates(place[c.head as usize] as usize);
            next.is_empty() || next.iter().any(|n| !self.graph.is_barred(c.channel, n.channel))
        };
        let sends = |i: &usize| self.grower.sources[dag.order[*i] as usize] > 0;
        !(1..dag.order.len()).filter(sends).all(|i| dag.candidates(i).iter().any(is_open))
    }

    /// Tries any paths, at worst those of the escape tree, to be kept or dropped by
    /// [`settle`](Self::settle).
    fn try_any(&mut self, load: &[u64], home: SwitchId, escape: Option<&Escape>, fabric: &Fabric) {
        self.graph.begin();
        let view = LoadView::Joint(load, Preference::Frugal);
        let grown = self.grower.grow(&mut self.graph, view, home, &mut self.tree);
        self.escaped = !grown;
        if let Some(escape) = escape.filter(|_| !grown) {
            escape.tree(fabric, home, &mut self.tree);
        }
        let reaches = grown || escape.is_some();
        self.hops = if reaches { self.tree.hops(&self.grower.sources) } else { u64::MAX };
    }

    /// Ends the current trial.
    fn settle(&mut self, keep: bool) {
        self.graph.end(keep && !self.escaped);
    }
}

/// All lanes, while destinations are dealt to them.
struct Lanes<'a> {
    open: Vec<Lane<'a>>,
    /// A lane without any destination.
    blank: Lane<'a>,
    most: usize,
    /// Whether the first lane has taken all destinations up to now.
    is_enough: bool,
    /// Position of each switch in the order of the current shortest paths.
    place: Vec<u32>,
}

impl Lanes<'_> {
    /// The first lane that takes shortest paths, opening more if need be; it keeps them.
    fn first_shortest(&mut self, load: &[u64], dag: &Dag) -> Option<usize> {
        for (i, &s) in (0..).zip(&dag.order) {
            self.place[s as usize] = i;
        }
        let place = &self.place;
        let mut start = 0;
        while start < self.most {
            // On trees the first lane takes all: to try the second one, too, would be in vain.
            let trials = if self.is_enough && start == 0 { 1 } else { TRIALS };
            let batch = start..(start + trials).min(self.most);
            while self.open.len() < batch.end.max(TRIALS).min(self.most) {
                self.open.push(self.blank.clone());
            }
            let lanes = &mut self.open[batch.clone()];
            lanes.par_iter_mut().for_each(|lane| lane.try_shortest(load, dag, place));
            let best = lanes.iter().position(|lane| lane.hops < u64::MAX);
            for (l, lane) in lanes.iter_mut().enumerate() {
                lane.settle(best == Some(l));
            }
            if let Some(l) = best {
                self.is_enough &= batch.start + l == 0;
                return Some(batch.start + l);
            }
            start = batch.end;
        }
        self.is_enough = false;
        None
    }

    /// The lane with the fewest hops, by any paths; it keeps them. `None` if there is no path.
    fn least_hops(
        &mut self,
        load: &[u64],
        home: SwitchId,
        escape: Option<&Escape>,
        fabric: &Fabric,
    ) -> Option<usize> {
        self.open.par_iter_mut().for_each(|lane| lane.try_any(load, home, escape, fabric));
        let best = (0..self.open.len()).min_by_key(|&l| self.open[l].hops)?;
        for (l, lane) in self.open.iter_mut().enumerate() {
            lane.settle(l == best);
        }
        (self.open[best].hops < u64::MAX).then_some(best)
    }
}

/// Routes every destination switch in the first lane that has shortest paths for it, else in the one
/// with the fewest hops; wave by wave, each balanced before the next. `None` if some destination has
/// no open path.
pub(super) fn plan<'a>(
    fabric: &'a Fabric,
    (engine, paths): (&str, usize),
    waves: Vec<Vec<(SwitchId, LidGroup)>>,
    most: u8,
    escape: Option<&Escape>,
) -> Option<DestinationPlan<'a>> {
    let grower = Grower::new(fabric);
    let mut graph = Acyclic::new(fabric, usize::MAX);
    if let Some(escape) = escape {
        escape.reserve(fabric, &grower.sources, &mut graph);
    }
    graph.set_effort(MIDDLING);
    let blank = Lane { graph, grower, tree: Tree::default(), hops: u64::MAX, escaped: false };
    let mut lanes = Lanes {
        open: Vec::new(),
        blank,
        most: usize::from(most),
        is_enough: true,
        place: vec![0; fabric.switch_count()],
    };
    let mut plan = DestinationPlan::new(fabric, engine, paths);
    for groups in waves {
        if !plan.groups.is_empty() {
            plan.lanes = lanes.open.iter().map(|lane| lane.graph.clone()).collect();
            plan.balance();
            for (lane, graph) in lanes.open.iter_mut().zip(plan.lanes.drain(..)) {
                lane.graph = graph;
            }
        }
        let homes: Vec<_> = homes(&groups).into_iter().map(|home| (home, ())).collect();
        let mut is_routed = true;
        for_each_dag(
            &homes,
            |dag: &mut Dag, home| dag.shortest(fabric, home),
            |&(home, ()), dag| {
                is_routed &= is_routed && plan.place(&mut lanes, home, dag, paths, escape);
            },
        );
        if !is_routed {
            return None;
        }
        plan.groups = groups;
    }
    plan.lanes = lanes.open.into_iter().take(plan.lanes()).map(|lane| lane.graph).collect();
    Some(plan)
}
