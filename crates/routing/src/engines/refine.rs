//! From one tree for each destination switch to one for each LID, balanced under the same rule.

use darkfiber_fabric::{Fabric, SwitchId};
use rayon::prelude::*;

use super::ahead::{Batch, Chooser, Refused, ask, choose_next, share};
use super::balance::{LidGroup, cut_bound, is_near, rows};
use super::dag::Dag;
use super::grow::{Free, Grower, LoadView, Loads, Preference, Rule};
use super::parallel::{Rows, SHARE, add_up, parts};
use super::tree::Tree;
use crate::{DestId, Routes};

/// Most passes over all LIDs after the first of each attempt.
const MORE_PASSES: usize = 4;
/// Switches without terminals whose LIDs are routed at a time.
const EMPTY: usize = 512;
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
/// Only the LIDs at `groups` are routed, among the `loads` of others; returns the rules and the loads
/// then.
pub(super) fn refine<'a, R: Rule + Clone + Send>(
    fabric: &'a Fabric,
    routes: &mut Routes,
    groups: &[(SwitchId, LidGroup)],
    (rules, rule_of): (Vec<R>, Vec<u8>),
    loads: Loads<'a>,
) -> (Vec<R>, Loads<'a>) {
    let least = loads.largest();
    let mut frugal = Attempt::new(fabric, routes.clone(), groups, rules, loads, Preference::Frugal);
    let mut afresh = frugal.clone();
    frugal.copy_trees();
    // The traffic of a switch leaves over its channels; and no path is shorter than its tree's.
    let bound = cut_bound(fabric, routes.paths()).max(frugal.loads().mean()).max(least);
    let mut best = frugal;
    if best.largest > bound {
        afresh.preference = Some(Preference::Balanced);
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
        if !best.sweep_if_better(&rule_of) && best.preference.take().is_none() {
            break;
        }
    }
    let Attempt { routes: best, rules, mut routers, .. } = best;
    *routes = best;
    (rules, routers.swap_remove(0).loads)
}

/// Tables that are being balanced, with their own rules.
#[derive(Clone)]
struct Attempt<'a, 'x, R> {
    fabric: &'a Fabric,
    groups: &'x [(SwitchId, LidGroup)],
    routes: Routes,
    rules: Vec<R>,
    /// Joint choice of the sources; `None`: each separately.
    preference: Option<Preference>,
    largest: u64,
    /// One, or one for each rule.
    routers: Vec<RuleRouter<'a>>,
}

impl<'a, 'x, R: Rule + Clone + Send> Attempt<'a, 'x, R> {
    fn new(
        fabric: &'a Fabric,
        routes: Routes,
        groups: &'x [(SwitchId, LidGroup)],
        rules: Vec<R>,
        loads: Loads<'a>,
        preference: Preference,
    ) -> Self {
        let homes = groups.iter().filter(|(_, group)| !group.terminals.is_empty()).count();
        let routers = if parts(homes) > 1 { rules.len() } else { 1 };
        let routers = vec![RuleRouter::new(fabric, loads); routers];
        Self { fabric, groups, routes, rules, preference: Some(preference), largest: 0, routers }
    }

    /// The loads of all channels.
    fn loads(&self) -> &Loads<'a> {
        &self.routers[0].loads
    }

    /// Puts every LID on the tree of its switch.
    fn copy_trees(&mut self) {
        let RuleRouter { loads, grower, old, .. } = &mut self.routers[0];
        for (home, group) in self.groups {
            let own = self.routes.row(DestId::switch(self.fabric, *home), 0);
            let tree = self.routes.ports(own).to_vec();
            let rows = rows(&self.routes, group);
            old.read(self.fabric, &tree, *home);
            loads.add(old, &grower.sources, rows.len() as u64);
            for row in rows {
                self.routes.ports_mut(row).copy_from_slice(&tree);
            }
        }
        let of = self.loads().of.clone();
        for router in &mut self.routers[1..] {
            router.loads.of.clone_from(&of);
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
            for router in &mut self.routers {
                router.loads.of.clone_from(&before.2);
            }
        }
        better
    }

    /// Routes every LID again; `first`: it has no route yet.
    fn sweep(&mut self, rule_of: &[u8], first: bool) {
        let rule_at = |home: &SwitchId| usize::from(rule_of[home.index()]);
        let preference = self.preference;
        let parts = parts(self.groups.iter().filter(|g| !g.1.terminals.is_empty()).count());
        if first && parts > 1 && self.rules.len() == 1 && preference == Some(Preference::Balanced) {
            self.sweep_ahead(parts);
        } else if let [alone] = &mut self.routers[..] {
            for (home, group) in self.groups {
                let rule = &mut self.rules[rule_at(home)];
                alone.route(&self.routes, rule, (*home, group), preference, first);
                alone.rows.hand_in(&mut self.routes);
            }
        } else {
            let mut common = self.loads().of.clone();
            // Neighbours, whose paths meet most, are in different batches.
            let batches = self.groups.len().div_ceil(self.routers.len() * SHARE);
            for begin in 0..batches {
                let routers = self.routers.par_iter_mut().zip(&mut self.rules).enumerate();
                routers.for_each(|(r, (router, rule))| {
                    let batch = self.groups.iter().skip(begin).step_by(batches);
                    for (home, group) in batch.filter(|(home, _)| rule_at(home) == r) {
                        router.route(&self.routes, rule, (*home, group), preference, first);
                    }
                });
                for router in &mut self.routers {
                    router.rows.hand_in(&mut self.routes);
                }
                add_up(&mut common, &mut self.routers, |router| &mut router.loads.of);
            }
        }
        self.largest = self.loads().largest();
    }

    /// The first sweep under a single rule, whose trees are chosen ahead by so many parts; from the first that the rule refuses
    /// on, all are grown under it, one after the other.
    fn sweep_ahead(&mut self, parts: usize) {
        let Self { fabric, groups, routes, rules, preference, routers, .. } = self;
        let (fabric, rule, alone) = (*fabric, &mut rules[0], &mut routers[0]);
        let sending = groups.partition_point(|(_, group)| !group.terminals.is_empty());
        let groups = &groups[..sending];
        let (stretch, share) = (sending.div_ceil(parts), share(routes, groups));
        let mut common = alone.loads.of.clone();
        let mut choosers = vec![Chooser::new(fabric, alone.loads.clone()); parts];
        let mut asked = vec![Batch::default(); parts];
        let (mut chosen, mut takes_all) = (0, true);
        loop {
            let next = if takes_all { chosen..(chosen + share).min(stretch) } else { 0..0 };
            let (refused, ()) = rayon::join(
                || ask(rule, &mut alone.grower, &asked),
                || choose_next(&mut choosers, routes, groups, next.clone()),
            );
            chosen = chosen.max(next.end);
            for (chooser, asked) in choosers.iter_mut().zip(&mut asked) {
                chooser.rows.hand_in(routes);
                chooser.exchange(asked);
            }
            // Parts that exchange nothing are each as even as in isolation, and so are all together.
            if !refused.is_empty() {
                takes_all = false;
                add_up(&mut common, &mut choosers, |chooser| &mut chooser.loads.of);
                alone.loads.of.clone_from(&common);
                alone.replace(routes, rule, groups, refused, *preference);
                common.clone_from(&alone.loads.of);
                for chooser in &mut choosers {
                    chooser.loads.of.clone_from(&common);
                }
            }
            if asked.iter().all(Batch::is_empty) {
                break;
            }
        }
        add_up(&mut common, &mut choosers, |chooser| &mut chooser.loads.of);
        alone.loads.of = common;
        for (home, group) in groups.chunks(stretch).flat_map(|part| part.iter().skip(chosen)) {
            alone.route(routes, rule, (*home, group), *preference, true);
            alone.rows.hand_in(routes);
        }
    }
}

/// Routes LIDs under a rule, with its own view of the loads.
#[derive(Clone)]
struct RuleRouter<'a> {
    fabric: &'a Fabric,
    grower: Grower<'a>,
    loads: Loads<'a>,
    /// The switch at hand, its tree, and the hops of that.
    home: SwitchId,
    own: Tree,
    most: u64,
    old: Tree,
    new: Tree,
    dag: Dag,
    rows: Rows,
    /// LIDs to go before a tree is chosen without asking the rule at every step.
    pause: u32,
}

impl<'a> RuleRouter<'a> {
    fn new(fabric: &'a Fabric, loads: Loads<'a>) -> Self {
        let grower = Grower::new(fabric);
        let (own, old, new) = (Tree::default(), Tree::default(), Tree::default());
        let (dag, rows) = (Dag::default(), Rows::default());
        let home = SwitchId::new(0);
        Self { fabric, grower, loads, home, own, most: 0, old, new, dag, rows, pause: 0 }
    }

    /// Routes the LIDs of a group again; `first`: they have no routes yet.
    fn route<R: Rule>(
        &mut self,
        routes: &Routes,
        rule: &mut R,
        (home, group): (SwitchId, &LidGroup),
        preference: Option<Preference>,
        first: bool,
    ) {
        if group.terminals.is_empty() {
            return;
        }
        self.begin(routes, home);
        for row in rows(routes, group) {
            self.route_lid(routes, rule, row, preference, first);
        }
    }

    /// Grows under the rule what it refused.
    fn replace<R: Rule>(
        &mut self,
        routes: &mut Routes,
        rule: &mut R,
        groups: &[(SwitchId, LidGroup)],
        refused: Refused,
        preference: Option<Preference>,
    ) {
        for (.., tree) in &refused.trees {
            self.loads.remove(tree, &self.grower.sources);
        }
        for (row, group, _) in refused.trees {
            self.begin(routes, groups[group].0);
            self.route_lid(routes, rule, row, preference, true);
        }
        for group in refused.groups {
            self.route(routes, rule, (groups[group].0, &groups[group].1), preference, true);
        }
        self.rows.hand_in(routes);
    }

    /// Looks at the tree of a switch and at its shortest paths: LIDs that are routed next are there.
    fn begin(&mut self, routes: &Routes, home: SwitchId) {
        let f = self.fabric;
        self.home = home;
        self.own.read(f, routes.ports(routes.row(DestId::switch(f, home), 0)), home);
        self.most = self.own.hops(&self.grower.sources);
        self.dag.shortest(f, home);
    }

    /// Routes a LID of the switch at hand.
    fn route_lid<R: Rule>(
        &mut self,
        routes: &Routes,
        rule: &mut R,
        row: usize,
        preference: Option<Preference>,
        first: bool,
    ) {
        let Self { fabric: f, grower, loads, own, old, new, dag, rows: made, .. } = self;
        let (f, home, most) = (*f, self.home, self.most);
        let shortest = most == dag.hops(&grower.sources);
        if first {
            old.clone_from(own);
        } else {
            old.read(f, routes.ports(row), home);
            loads.remove(old, &grower.sources);
        }
        let pause = &mut self.pause;
        let easily = shortest && preference == Some(Preference::Balanced) && *pause == 0;
        let chosen = easily && grower.choose_shortest(rule, &loads.of, dag, new);
        *pause = if easily && !chosen { PAUSE } else { pause.saturating_sub(1) };
        let view = match preference {
            Some(preference) => LoadView::Joint(&loads.of, preference),
            None => LoadView::Separate(loads),
        };
        let fine = chosen
            || if shortest {
                grower.grow_shortest(rule, view, dag, new)
            } else {
                grower.grow(rule, view, home, new) && new.hops(&grower.sources) <= most
            };
        let tree = if fine { &*new } else { &*old };
        loads.add(tree, &grower.sources, 1);
        tree.write(f, made.begin(routes, row));
    }
}

/// Shortest paths for the LIDs of switches without terminals: management traffic, under no rule, which adds no load.
pub(super) fn route_empty_switches(fabric: &Fabric, routes: &mut Routes, load: &[u64]) {
    let all = (0..fabric.switch_count()).map(SwitchId::new);
    let empty: Vec<SwitchId> = all.filter(|&s| fabric.terminals_on(s).is_empty()).collect();
    for batch in empty.chunks(EMPTY) {
        let made: Vec<(usize, Vec<u8>)> = batch
            .par_iter()
            .map_init(
                || (Grower::new(fabric), Tree::default()),
                |(grower, tree), &home| {
                    let view = LoadView::Joint(load, Preference::Balanced);
                    grower.grow(&mut Free, view, home, tree);
                    let row = routes.row(DestId::switch(fabric, home), 0);
                    let mut ports = routes.ports(row).to_vec();
                    tree.write(fabric, &mut ports);
                    (row, ports)
                },
            )
            .collect();
        for (row, ports) in made {
            routes.ports_mut(row).copy_from_slice(&ports);
        }
    }
}
