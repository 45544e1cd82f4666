//! From one tree for each destination switch to one for each LID, balanced under the same rule.

use darkfiber_fabric::{Fabric, SwitchId};
use rayon::prelude::*;

use super::balance::{Stop, cut_bound, is_near, rows};
use super::dag::Dag;
use super::grow::{Free, Grower, Loads, Look, Rule, Taste};
use super::side_by_side::{Rows, SHARE, add_up, parts};
use super::tree::Tree;
use crate::{DestId, Routes};

/// Most passes over all LIDs after the first of each attempt.
const MORE_PASSES: usize = 4;
/// LIDs that are grown step by step after one whose tree the rule did not take unchanged.
const PAUSE: u32 = 3;

/// Routes every LID of a terminal separately. The row of each switch's own LID holds its tree, which
/// the rule of that switch allows: no LID gets longer paths than that.
///
/// Two attempts: all LIDs one after the other into the fabric, each on the least loaded path; and from
/// all LIDs on the trees, frugally. The better one is continued, removing one LID and routing it
/// again, while the largest load falls. The first is best on trees and irregular fabrics, the second
/// on lattices. When that ends, sources choose separately. Stops when no routing can be better.
///
/// Only the LIDs at `stops` are routed, among the `loads` of others; returns the rules and the loads
/// then.
pub(super) fn refine<'a, R: Rule + Clone + Send>(
    fabric: &'a Fabric,
    routes: &mut Routes,
    stops: &[(SwitchId, Stop)],
    (rules, rule_of): (Vec<R>, Vec<u8>),
    loads: Loads<'a>,
) -> (Vec<R>, Loads<'a>) {
    let least = loads.largest();
    let mut frugal = Attempt::new(fabric, routes.clone(), stops, rules, loads, Taste::Frugal);
    let mut afresh = frugal.clone();
    frugal.copy_trees();
    // The traffic of a switch leaves over its channels; and no path is shorter than its tree's.
    let bound = cut_bound(fabric, routes.paths()).max(frugal.loads().mean()).max(least);
    let mut best = frugal;
    if best.largest > bound {
        afresh.taste = Some(Taste::Balanced);
        afresh.sweep(&rule_of, true);
        if afresh.largest > bound {
            best.sweep_if_better(&rule_of);
        }
        if afresh.largest <= best.largest {
            best = afresh;
        }
    }
    for _ in 0..MORE_PASSES {
        if is_near(best.largest, bound) {
            break;
        }
        if !best.sweep_if_better(&rule_of) && best.taste.take().is_none() {
            break;
        }
    }
    let Attempt { routes: best, rules, mut hands, .. } = best;
    *routes = best;
    (rules, hands.swap_remove(0).loads)
}

/// Tables that are being balanced, with their own rules.
#[derive(Clone)]
struct Attempt<'a, 'x, R> {
    fabric: &'a Fabric,
    stops: &'x [(SwitchId, Stop)],
    routes: Routes,
    rules: Vec<R>,
    /// Joint choice of the sources; `None`: each separately.
    taste: Option<Taste>,
    largest: u64,
    /// One, or one for each rule.
    hands: Vec<Hand<'a>>,
}

impl<'a, 'x, R: Rule + Clone + Send> Attempt<'a, 'x, R> {
    fn new(
        fabric: &'a Fabric,
        routes: Routes,
        stops: &'x [(SwitchId, Stop)],
        rules: Vec<R>,
        loads: Loads<'a>,
        taste: Taste,
    ) -> Self {
        let homes = stops.iter().filter(|(_, stop)| !stop.terminals.is_empty()).count();
        let hands = if parts(homes) > 1 { rules.len() } else { 1 };
        let hands = vec![Hand::new(fabric, loads); hands];
        Self { fabric, stops, routes, rules, taste: Some(taste), largest: 0, hands }
    }

    /// The loads of all channels.
    fn loads(&self) -> &Loads<'a> {
        &self.hands[0].loads
    }

    /// Puts every LID on the tree of its switch.
    fn copy_trees(&mut self) {
        let Hand { loads, grower, old, .. } = &mut self.hands[0];
        for (home, stop) in self.stops {
            let own = self.routes.row(DestId::switch(self.fabric, *home), 0);
            let tree = self.routes.ports(own).to_vec();
            let rows = rows(&self.routes, stop);
            old.read(self.fabric, &tree, *home);
            loads.add(old, &grower.sources, rows.len() as u64);
            for row in rows {
                self.routes.ports_mut(row).copy_from_slice(&tree);
            }
        }
        let of = self.loads().of.clone();
        for hand in &mut self.hands[1..] {
            hand.loads.of.clone_from(&of);
        }
        self.largest = self.loads().largest();
    }

    /// Routes every LID again, and goes back if the largest load does not fall; returns whether it
    /// fell.
    fn sweep_if_better(&mut self, rule_of: &[u8]) -> bool {
        let before = (self.largest, self.routes.clone(), self.loads().of.clone());
        self.sweep(rule_of, false);
        let better = self.largest < before.0;
        if !better {
            (self.largest, self.routes) = (before.0, before.1);
            for hand in &mut self.hands {
                hand.loads.of.clone_from(&before.2);
            }
        }
        better
    }

    /// Routes every LID again; `first`: it has no route yet.
    fn sweep(&mut self, rule_of: &[u8], first: bool) {
        let rule_at = |home: &SwitchId| usize::from(rule_of[home.index()]);
        let taste = self.taste;
        if let [alone] = &mut self.hands[..] {
            for (home, stop) in self.stops {
                let rule = &mut self.rules[rule_at(home)];
                alone.route(&self.routes, rule, (*home, stop), taste, first);
                alone.rows.hand_in(&mut self.routes);
            }
        } else {
            let mut common = self.loads().of.clone();
            // Neighbours, whose paths meet most, are in different batches.
            let batches = self.stops.len().div_ceil(self.hands.len() * SHARE);
            for begin in 0..batches {
                let hands = self.hands.par_iter_mut().zip(&mut self.rules).enumerate();
                hands.for_each(|(r, (hand, rule))| {
                    let batch = self.stops.iter().skip(begin).step_by(batches);
                    for (home, stop) in batch.filter(|(home, _)| rule_at(home) == r) {
                        hand.route(&self.routes, rule, (*home, stop), taste, first);
                    }
                });
                for hand in &mut self.hands {
                    hand.rows.hand_in(&mut self.routes);
                }
                add_up(&mut common, &mut self.hands, |hand| &mut hand.loads.of);
            }
        }
        self.largest = self.loads().largest();
    }
}

/// Routes LIDs under a rule, with its own view of the loads.
#[derive(Clone)]
struct Hand<'a> {
    fabric: &'a Fabric,
    grower: Grower<'a>,
    loads: Loads<'a>,
    /// The tree of the switch at hand.
    own: Tree,
    old: Tree,
    new: Tree,
    dag: Dag,
    rows: Rows,
    /// LIDs to go before a tree is chosen without asking the rule at every step.
    pause: u32,
}

impl<'a> Hand<'a> {
    fn new(fabric: &'a Fabric, loads: Loads<'a>) -> Self {
        let grower = Grower::new(fabric);
        let (own, old, new) = (Tree::default(), Tree::default(), Tree::default());
        let (dag, rows) = (Dag::default(), Rows::default());
        Self { fabric, grower, loads, own, old, new, dag, rows, pause: 0 }
    }

    /// Routes the LIDs of a stop again; `first`: they have no routes yet.
    fn route<R: Rule>(
        &mut self,
        routes: &Routes,
        rule: &mut R,
        (home, stop): (SwitchId, &Stop),
        taste: Option<Taste>,
        first: bool,
    ) {
        if stop.terminals.is_empty() {
            return;
        }
        let Self { fabric: f, grower, loads, own, old, new, dag, rows: made, pause } = self;
        let f = *f;
        own.read(f, routes.ports(routes.row(DestId::switch(f, home), 0)), home);
        let most = own.hops(&grower.sources);
        dag.shortest(f, home);
        let shortest = most == dag.hops(&grower.sources);
        for row in rows(routes, stop) {
            if first {
                old.clone_from(own);
            } else {
                old.read(f, routes.ports(row), home);
                loads.remove(old, &grower.sources);
            }
            let easily = shortest && taste == Some(Taste::Balanced) && *pause == 0;
            let chosen = easily && grower.choose_shortest(rule, &loads.of, dag, new);
            *pause = if easily && !chosen { PAUSE } else { pause.saturating_sub(1) };
            let look = match taste {
                Some(taste) => Look::Together(&loads.of, taste),
                None => Look::Apart(loads),
            };
            let fine = chosen
                || if shortest {
                    grower.grow_shortest(rule, look, dag, new)
                } else {
                    grower.grow(rule, look, home, new) && new.hops(&grower.sources) <= most
                };
            let tree = if fine { &*new } else { &*old };
            loads.add(tree, &grower.sources, 1);
            tree.write(f, made.begin(routes, row));
        }
    }
}

/// Shortest paths for the LIDs of switches without terminals: management traffic, under no rule.
pub(super) fn route_empty_switches(fabric: &Fabric, routes: &mut Routes, load: &[u64]) {
    let mut grower = Grower::new(fabric);
    let mut tree = Tree::default();
    for home in (0..fabric.switch_count()).map(SwitchId::new) {
        if fabric.terminals_on(home).is_empty() {
            grower.grow(&mut Free, Look::Together(load, Taste::Balanced), home, &mut tree);
            let row = routes.row(DestId::switch(fabric, home), 0);
            tree.write(fabric, routes.ports_mut(row));
        }
    }
}
