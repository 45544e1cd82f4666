//! Trees chosen ahead of the rule that they must obey, by parts side by side.
//!
//! Under one rule LIDs are admitted one after the other, though nearly every tree of least loads is admitted as it is. So parts
//! choose trees by loads alone, as in `parallel`, and while they choose the next ones the rule is asked about those before.
//! That pays on trees, where it refuses nothing.

use std::ops::Range;

use darkfiber_fabric::{Fabric, SwitchId};
use rayon::prelude::*;

use super::balance::{LidGroup, rows};
use super::dag::Dag;
use super::grow::{Grower, Loads, Rule};
use super::parallel::{Rows, SHARE};
use super::tree::Tree;
use crate::{DestId, Routes};

/// Most LIDs that a part chooses trees for before the rule is asked: at 1,600 switches they take 5 MB.
const LIDS: usize = 256;

/// A tree that the rule was not asked about.
#[derive(Clone, Default)]
struct Chosen {
    row: usize,
    /// Number of its group.
    group: usize,
    tree: Tree,
}

/// Trees by number, whose memory is used again.
#[derive(Clone, Default)]
pub(super) struct Batch {
    trees: Vec<Chosen>,
    len: usize,
    /// Groups whose trees are longer than shortest paths: they are grown under the rule.
    detours: Vec<usize>,
}

impl Batch {
    fn clear(&mut self) {
        self.len = 0;
        self.detours.clear();
    }

    fn next(&mut self) -> &mut Chosen {
        if self.len == self.trees.len() {
            self.trees.push(Chosen::default());
        }
        self.len += 1;
        &mut self.trees[self.len - 1]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0 && self.detours.is_empty()
    }

    fn all(&self) -> &[Chosen] {
        &self.trees[..self.len]
    }
}

/// A part that chooses trees, with its own view of the loads.
#[derive(Clone)]
pub(super) struct Chooser<'a> {
    fabric: &'a Fabric,
    grower: Grower<'a>,
    pub(super) loads: Loads<'a>,
    own: Tree,
    dag: Dag,
    pub(super) rows: Rows,
    batch: Batch,
}

impl<'a> Chooser<'a> {
    pub(super) fn new(fabric: &'a Fabric, loads: Loads<'a>) -> Self {
        let (own, dag) = (Tree::default(), Dag::default());
        let (rows, batch) = (Rows::default(), Batch::default());
        Self { fabric, grower: Grower::new(fabric), loads, own, dag, rows, batch }
    }

    /// Gives away the trees that were chosen; takes the memory of others in return.
    pub(super) fn exchange(&mut self, asked: &mut Batch) {
        asked.clear();
        std::mem::swap(&mut self.batch, asked);
    }

    /// Chooses a tree for every LID of a group, the one with this number; its switch has a tree already, which says how long
    /// paths may be.
    pub(super) fn choose(
        &mut self,
        routes: &Routes,
        number: usize,
        (home, group): &(SwitchId, LidGroup),
    ) {
        let f = self.fabric;
        self.own.read(f, routes.ports(routes.row(DestId::switch(f, *home), 0)), *home);
        self.dag.shortest(f, *home);
        if self.own.hops(&self.grower.sources) > self.dag.hops(&self.grower.sources) {
            self.batch.detours.push(number);
            return;
        }
        for row in rows(routes, group) {
            let chosen = self.batch.next();
            (chosen.row, chosen.group) = (row, number);
            self.grower.choose(&self.loads.of, &self.dag, &mut chosen.tree);
            self.loads.add(&chosen.tree, &self.grower.sources, 1);
            chosen.tree.write(f, self.rows.begin(routes, row));
        }
    }
}

/// What the rule refused of a batch.
#[derive(Default)]
pub(super) struct Refused {
    /// Row, number of the group, and the tree that was refused.
    pub(super) trees: Vec<(usize, usize, Tree)>,
    /// Groups that were not asked about.
    pub(super) groups: Vec<usize>,
}

impl Refused {
    pub(super) fn is_empty(&self) -> bool {
        self.trees.is_empty() && self.groups.is_empty()
    }
}

/// Asks the rule about the trees of all parts, in order.
pub(super) fn ask(rule: &mut impl Rule, grower: &mut Grower<'_>, batches: &[Batch]) -> Refused {
    let mut refused = Refused::default();
    for batch in batches {
        for Chosen { row, group, tree } in batch.all() {
            if !grower.attach_all(rule, tree) {
                refused.trees.push((*row, *group, tree.clone()));
            }
        }
        refused.groups.extend(&batch.detours);
    }
    refused
}

/// Groups that a part takes before the rule is asked.
pub(super) fn share(routes: &Routes, groups: &[(SwitchId, LidGroup)]) -> usize {
    let most = groups.iter().map(|(_, group)| group.terminals.len() * routes.paths()).max();
    (LIDS / most.unwrap_or(1).max(1)).clamp(1, SHARE)
}

/// Lets every part choose trees for its next groups, those in this range of its stretch.
pub(super) fn choose_next(
    choosers: &mut [Chooser<'_>],
    routes: &Routes,
    groups: &[(SwitchId, LidGroup)],
    next: Range<usize>,
) {
    let stretch = groups.len().div_ceil(choosers.len());
    let parts = choosers.par_iter_mut().zip(groups.par_chunks(stretch)).enumerate();
    parts.for_each(|(k, (chooser, groups))| {
        for (i, group) in groups.iter().enumerate().take(next.end).skip(next.start) {
            chooser.choose(routes, k * stretch + i, group);
        }
    });
}
