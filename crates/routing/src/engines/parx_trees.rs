//! The paths of PARX: for each LID, in-trees that avoid the channels given by its index, balanced
//! by demands.

use std::collections::BTreeMap;

use darkfiber_fabric::{Fabric, GridShape, SwitchId};
use rayon::prelude::*;

use super::balance::lid_groups;
use super::dag::Dag;
use super::frugal::Frugal;
use super::grow::{Free, Grower, LoadView, Loads, Preference, Rule};
use super::tree::Tree;
use crate::{Demand, DestId, Orthants, Routes};

/// Load that a path of weight 1 adds to a channel; a path to a demanded terminal from a switch without
/// demand adds 1.
const SCALE: u32 = 256;
/// Destination switches whose graphs are made together.
const BATCH: usize = 16;

/// The channels that paths to a LID avoid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AvoidedChannels {
    /// Channels inside a half.
    Half(usize),
    /// Channels from the opposite orthant to switches that share a coordinate with the destination.
    Alignment,
    /// Nothing is avoided: the paths are minimal.
    Nothing,
    /// Nothing is avoided, and no message is meant to take these paths, so that they add no load.
    Spare,
}

/// Everything that the trees depend on, except for the links that each LID avoids.
pub(super) struct TreeContext<'a> {
    fabric: &'a Fabric,
    /// Coordinates, where LIDs avoid anything by them.
    place: Option<(&'a GridShape, &'a Orthants)>,
    /// Switches and their terminals in the order in which they are routed: demanded ones first.
    groups: Vec<(SwitchId, Vec<u32>)>,
    /// By terminal the load that paths from each switch to it add; `None` if there is no demand for
    /// it.
    weights: Vec<Option<Vec<u32>>>,
}

impl<'a> TreeContext<'a> {
    pub(super) fn new(
        fabric: &'a Fabric,
        place: Option<(&'a GridShape, &'a Orthants)>,
        demands: &[Demand],
    ) -> Self {
        let weights = weights(fabric, demands);
        let all = lid_groups(fabric).into_iter();
        let all: Vec<_> = all.filter(|(_, group)| !group.terminals.is_empty()).collect();
        let mut groups: Vec<(SwitchId, Vec<u32>)> = Vec::new();
        for demanded in [true, false] {
            for (home, group) in &all {
                let is_meant = |&t: &u32| weights[t as usize].is_some() == demanded;
                let terminals: Vec<u32> =
                    group.terminals.iter().copied().filter(is_meant).collect();
                if !terminals.is_empty() {
                    groups.push((*home, terminals));
                }
            }
        }
        Self { fabric, place, groups, weights }
    }

    /// Routes every LID; `avoid` gives by its index what it avoids.
    ///
    /// One destination after the other, all LIDs of one together: paths with the least sum of loads so far,
    /// as in DFSSSP; with [`Preference::Frugal`], first those that make few new dependencies.
    pub(super) fn route(
        &self,
        engine: &str,
        avoid: &[AvoidedChannels],
        preference: Preference,
    ) -> Routes {
        match preference {
            Preference::Balanced => self.route_by(&mut Free, engine, avoid, preference),
            Preference::Frugal => {
                self.route_by(&mut Frugal::new(self.fabric), engine, avoid, preference)
            }
        }
    }

    fn route_by(
        &self,
        rule: &mut (impl Rule + Send),
        engine: &str,
        avoid: &[AvoidedChannels],
        preference: Preference,
    ) -> Routes {
        let fabric = self.fabric;
        let mut routes = Routes::empty(engine, fabric, avoid.len());
        let mut grower = Grower::new(fabric);
        let mut loads = Loads::new(fabric);
        let mut tree = Tree::default();
        let usual: Vec<u32> = grower.sources.iter().map(|n| n * SCALE).collect();
        for batch in self.groups.chunks(BATCH) {
            let graphs: Vec<Vec<Dag>> =
                batch.par_iter().map(|(home, _)| self.graphs(*home, avoid)).collect();
            for ((home, terminals), graphs) in batch.iter().zip(&graphs) {
                for &t in terminals {
                    let weights = self.weights[t as usize].as_ref().unwrap_or(&usual);
                    let used = avoid.iter().zip(graphs).enumerate();
                    for (path, (avoid, dag)) in
                        used.filter(|(_, (a, _))| **a != AvoidedChannels::Spare)
                    {
                        let view = LoadView::Joint(&loads.of, preference);
                        grower.grow_shortest(rule, view, dag, &mut tree);
                        if *avoid == AvoidedChannels::Alignment {
                            loads.add(&tree, &self.opposite_only(*home, weights), 1);
                        } else {
                            loads.add(&tree, weights, 1);
                        }
                        let row = routes.row(DestId(t), path);
                        tree.write(fabric, routes.ports_mut(row));
                    }
                }
            }
        }
        // LIDs that carry no messages go last and see all loads.
        let mut dag = Dag::default();
        for home in (0..fabric.switch_count()).map(SwitchId::new) {
            dag.shortest(fabric, home);
            grower.grow_shortest(rule, LoadView::Joint(&loads.of, preference), &dag, &mut tree);
            let row = routes.row(DestId::switch(fabric, home), 0);
            tree.write(fabric, routes.ports_mut(row));
            for t in fabric.terminals_on(home).map(DestId::new) {
                for path in (0..avoid.len()).filter(|&path| avoid[path] == AvoidedChannels::Spare) {
                    let row = routes.row(t, path);
                    tree.write(fabric, routes.ports_mut(row));
                }
            }
        }
        routes
    }

    /// Weights of the paths from the orthant opposite to `home`, the only ones that are meant to be taken to
    /// a LID that avoids alignment.
    fn opposite_only(&self, home: SwitchId, weights: &[u32]) -> Vec<u32> {
        let (_, orthants) = self.place.expect("what is aligned has coordinates");
        let is_opposite = |s: usize| orthants.are_opposite(SwitchId::new(s), home);
        let weights = weights.iter().enumerate();
        weights.map(|(s, &weight)| if is_opposite(s) { weight } else { 0 }).collect()
    }

    /// For each LID of the terminals on a switch the graph of the paths to it.
    fn graphs(&self, home: SwitchId, avoid: &[AvoidedChannels]) -> Vec<Dag> {
        let fabric = self.fabric;
        let place = || self.place.expect("halves have coordinates");
        let graph = |avoid: &AvoidedChannels| {
            let mut dag = Dag::default();
            match *avoid {
                AvoidedChannels::Half(rule) => {
                    let (_, orthants) = place();
                    dag.avoiding(fabric, home, |u, v| {
                        orthants.in_half(rule, SwitchId(u)) && orthants.in_half(rule, SwitchId(v))
                    });
                }
                AvoidedChannels::Alignment => {
                    let (grid, orthants) = place();
                    let goal = grid.at(home);
                    dag.avoiding(fabric, home, |u, v| {
                        // A switch in the opposite orthant shares no coordinate with the
                        // destination.
                        let at = grid.at(SwitchId(v));
                        orthants.are_opposite(SwitchId(u), home)
                            && at.iter().zip(goal).any(|(x, y)| x == y)
                    });
                }
                AvoidedChannels::Nothing => dag.shortest(fabric, home),
                AvoidedChannels::Spare => {}
            }
            dag
        };
        avoid.iter().map(graph).collect()
    }
}

/// The most that a demand weighs (Domke et al., SC'19, section 3.2.4).
const MOST: u128 = 255;

/// See [`TreeContext::weights`]. Demands above [`MOST`] are scaled down together so that the largest is that.
fn weights(fabric: &Fabric, demands: &[Demand]) -> Vec<Option<Vec<u32>>> {
    let mut of_pair: BTreeMap<(u32, u32), u128> = BTreeMap::new();
    for d in demands.iter().filter(|d| d.weight > 0 && d.from != d.to) {
        *of_pair.entry((d.to.0, d.from.0)).or_default() += u128::from(d.weight);
    }
    let largest = of_pair.values().copied().max().unwrap_or(0).max(MOST);
    let scaled = |w: u128| ((2 * MOST * w + largest) / (2 * largest)).max(1) as u32 * SCALE;
    let mut weights: Vec<Option<Vec<u32>>> = vec![None; fabric.terminal_count()];
    for ((to, from), weight) in of_pair {
        let by_switch = weights[to as usize].get_or_insert_with(|| {
            let switches = (0..fabric.switch_count()).map(SwitchId::new);
            switches.map(|s| fabric.terminals_on(s).len() as u32).collect()
        });
        let s = fabric.terminals()[from as usize].switch;
        // This one path no longer counts as one without demand.
        by_switch[s.index()] = by_switch[s.index()].saturating_add(scaled(weight)) - 1;
    }
    weights
}
