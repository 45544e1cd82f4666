//! Escape paths that are always open: trees for every destination whose dependencies together form
//! no cycle.

use darkfiber_fabric::{Fabric, SwitchId};

use super::acyclic::{Acyclic, NONE};
use super::balance::{homes, lid_groups};
use super::dag::Dag;
use super::grow::{Free, Grower, LoadView, Loads, Preference};
use super::order::UpDown;
use super::tree::Tree;

/// A tree for every switch with terminals, such that all of them together are free of cycles.
pub(super) struct Escape {
    /// Table rows by switch; empty where no terminals are.
    rows: Vec<Vec<u8>>,
}

impl Escape {
    /// Along one spanning tree of the fabric: it forbids little, and its paths are long (the escape
    /// paths of Nue, HPDC'16, section 4.2).
    pub(super) fn spanning(fabric: &Fabric, root: SwitchId) -> Self {
        let n = fabric.switch_count();
        let mut grower = Grower::new(fabric);
        let mut tree = Tree::default();
        let none = vec![0; fabric.channel_count()];
        grower.grow(&mut Free, LoadView::Joint(&none, Preference::Balanced), root, &mut tree);
        let mut near: Vec<Vec<u32>> = vec![Vec::new(); n];
        for s in 0..n {
            let c = tree.next[s];
            if c != NONE {
                near[fabric.heads()[c as usize] as usize].push(fabric.reverses()[c as usize]);
                near[s].push(c);
            }
        }
        Self::build(fabric, |home, tree| {
            tree.start(n, home);
            let mut next = 0;
            while next < tree.order.len() {
                let v = tree.order[next] as usize;
                next += 1;
                for &c in &near[v] {
                    // Back where this switch sends is where it came from.
                    if c != tree.next[v] {
                        let u = fabric.heads()[c as usize];
                        tree.push(fabric, u, fabric.reverses()[c as usize]);
                    }
                }
            }
        })
    }

    /// Along balanced shortest Up*/Down* paths from one root: it forbids more, and no pair is
    /// routed worse than by `updn`.
    pub(super) fn updown(fabric: &Fabric, root: SwitchId) -> Self {
        let updown = UpDown::from_roots(fabric, &[root]);
        let n = fabric.switch_count();
        let mut dag = Dag::default();
        let mut loads = Loads::new(fabric);
        let sources = Grower::new(fabric).sources;
        let mut cost = vec![0u64; n];
        Self::build(fabric, |home, tree| {
            updown.legal(fabric, &mut dag, home);
            tree.start(n, home);
            cost[home.index()] = 0;
            for i in 1..dag.order.len() {
                let s = dag.order[i];
                let price = |c: u32, head: u32| cost[head as usize] + loads.of[c as usize];
                let best = dag
                    .candidates(i)
                    .iter()
                    .min_by_key(|c| price(c.channel, c.head))
                    .expect("one root gives every switch a legal way");
                cost[s as usize] = price(best.channel, best.head);
                tree.push(fabric, s, best.channel);
            }
            loads.add(tree, &sources, u64::from(sources[home.index()]));
        })
    }

    fn build(fabric: &Fabric, mut tree_of: impl FnMut(SwitchId, &mut Tree)) -> Self {
        let n = fabric.switch_count();
        let mut rows = vec![Vec::new(); n];
        let mut tree = Tree::default();
        for home in homes(&lid_groups(fabric)) {
            tree_of(home, &mut tree);
            rows[home.index()].resize(n, crate::NO_ROUTE);
            tree.write(fabric, &mut rows[home.index()]);
        }
        Self { rows }
    }

    /// The tree of a switch with terminals.
    pub(super) fn tree(&self, fabric: &Fabric, home: SwitchId, tree: &mut Tree) {
        tree.read(fabric, &self.rows[home.index()], home);
    }

    /// Puts all its dependencies into an empty graph.
    pub(super) fn reserve(&self, fabric: &Fabric, sources: &[u32], graph: &mut Acyclic<'_>) {
        let mut tree = Tree::default();
        for home in homes(&lid_groups(fabric)) {
            self.tree(fabric, home, &mut tree);
            tree.dependencies(fabric, sources, |c, next| {
                let fits = graph.extend(c, next);
                debug_assert!(fits, "escape paths form no cycle");
            });
        }
    }
}
