//! From one tree for each destination switch to one for each LID, balanced under the same rule.

use darkfiber_fabric::{Fabric, SwitchId};

use super::balance::{Stop, cut_bound, is_near};
use super::dag::Dag;
use super::grow::{Free, Grower, Loads, Look, Rule, Taste};
use super::tree::Tree;
use crate::{DestId, Routes};

/// Most passes over all LIDs after the first of each attempt.
const MORE_PASSES: usize = 4;

/// Routes every LID of a terminal on its own. The row of each switch's own LID holds its tree, which
/// the rule of that switch allows: no LID gets longer paths than that.
///
/// Two attempts: all LIDs one after the other into the fabric, each on the least loaded path; and
/// from all LIDs on the trees, frugally. The better one goes on, taking one LID out and routing it
/// anew, while the largest load falls. The first is best on trees and irregular fabrics, the second on
/// lattices. Where that ends, sources choose apart. Stops where no routing can be better.
///
/// Only the LIDs at `stops` are routed, among the `loads` of others; returns the rules and the loads
/// then.
pub(super) fn refine<'a, R: Rule + Clone>(
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
    // What a switch must send leaves over its channels; and no path is shorter than its tree's.
    let bound = cut_bound(fabric, routes.paths()).max(frugal.loads.mean()).max(least);
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
    *routes = best.routes;
    (best.rules, best.loads)
}

/// Tables on the way to balance, with rules of their own.
#[derive(Clone)]
struct Attempt<'a, 'x, R> {
    fabric: &'a Fabric,
    stops: &'x [(SwitchId, Stop)],
    routes: Routes,
    rules: Vec<R>,
    /// How sources choose together; `None`: each for itself.
    taste: Option<Taste>,
    largest: u64,
    grower: Grower<'a>,
    loads: Loads<'a>,
    old: Tree,
    new: Tree,
}

impl<'a, 'x, R: Rule + Clone> Attempt<'a, 'x, R> {
    fn new(
        fabric: &'a Fabric,
        routes: Routes,
        stops: &'x [(SwitchId, Stop)],
        rules: Vec<R>,
        loads: Loads<'a>,
        taste: Taste,
    ) -> Self {
        Self {
            fabric,
            stops,
            routes,
            rules,
            taste: Some(taste),
            largest: 0,
            grower: Grower::new(fabric),
            loads,
            old: Tree::default(),
            new: Tree::default(),
        }
    }

    /// Puts every LID on the tree of its switch.
    fn copy_trees(&mut self) {
        for (home, stop) in self.stops {
            let own = self.routes.row(DestId::switch(self.fabric, *home), 0);
            let tree = self.routes.ports(own).to_vec();
            let rows = rows(&self.routes, stop);
            self.old.read(self.fabric, &tree, *home);
            self.loads.add(&self.old, &self.grower.sources, rows.len() as u64);
            for row in rows {
                self.routes.ports_mut(row).copy_from_slice(&tree);
            }
        }
        self.largest = self.loads.largest();
    }

    /// Routes every LID anew, and goes back if the largest load does not fall; whether it fell.
    fn sweep_if_better(&mut self, rule_of: &[u8]) -> bool {
        let before = (self.largest, self.routes.clone(), self.loads.clone());
        self.sweep(rule_of, false);
        let better = self.largest < before.0;
        if !better {
            (self.largest, self.routes, self.loads) = before;
        }
        better
    }

    /// Routes every LID anew; `first`: it has no route yet.
    fn sweep(&mut self, rule_of: &[u8], first: bool) {
        let f = self.fabric;
        let mut tree = Tree::default();
        let mut dag = Dag::default();
        for (home, stop) in self.stops {
            if stop.terminals.is_empty() {
                continue;
            }
            let rule = &mut self.rules[usize::from(rule_of[home.index()])];
            let own = self.routes.row(DestId::switch(f, *home), 0);
            tree.read(f, self.routes.ports(own), *home);
            let most = tree.hops(&self.grower.sources);
            dag.shortest(f, *home);
            let shortest = most == dag.hops(&self.grower.sources);
            for row in rows(&self.routes, stop) {
                if first {
                    self.old.clone_from(&tree);
                } else {
                    self.old.read(f, self.routes.ports(row), *home);
                    self.loads.remove(&self.old, &self.grower.sources);
                }
                let (grower, new) = (&mut self.grower, &mut self.new);
                let look = match self.taste {
                    Some(taste) => Look::Together(&self.loads.of, taste),
                    None => Look::Apart(&mut self.loads),
                };
                let fine = if shortest {
                    grower.grow_shortest(rule, look, &dag, new)
                } else {
                    grower.grow(rule, look, *home, new) && new.hops(&grower.sources) <= most
                };
                let tree = if fine { &self.new } else { &self.old };
                self.loads.add(tree, &self.grower.sources, 1);
                tree.write(f, self.routes.ports_mut(row));
            }
        }
        self.largest = self.loads.largest();
    }
}

/// The rows of the terminals of a stop.
fn rows(routes: &Routes, stop: &Stop) -> Vec<usize> {
    let lids = |&t: &u32| (0..routes.paths()).map(move |path| (DestId(t), path));
    stop.terminals.iter().flat_map(lids).map(|(d, path)| routes.row(d, path)).collect()
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
