//! Rail-optimised clusters: every rail is a separate tree, in which D-mod-k counts.

use std::collections::BTreeSet;

use darkfiber_fabric::rails::rails;
use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

use super::balance::{FirstCriterion, balance, cut_bound};
use super::dag::{Candidate, Dag};
use super::order::UpDown;
use super::strays::by_order;
use super::updn::{legal_rows, up_down_of_tree};
use crate::check::check;
use crate::{DELIVER, Deadlock, Engine, FabricRequirement, Refusal, Request, Routes};

/// The engine `rails`; see [`Engine::doc`].
pub(crate) struct Rails;

impl Engine for Rails {
    fn name(&self) -> &'static str {
        "rails"
    }

    fn summary(&self) -> &'static str {
        "rail-optimised clusters: traffic between NICs of one rail stays on that rail"
    }

    fn doc(&self) -> &'static str {
        "Rails are found on the fabric, whatever its names: NIC i of every host of a unit is on leaf i. Paths \
         go up and then down, so that traffic between two NICs of a rail crosses no leaf of another one; of \
         equally short paths those win whose switches are not of another rail only. NICs are numbered within \
         their rail. The path to NIC n climbs from a switch by up port floor(n / the ports of the levels \
         below) modulo its own (D-mod-k), where the ports of a switch are those of all switches that share \
         its parents: where one is missing the number divided by the ports picks among those that are left. \
         NICs of other rails with the same number start at other ports, so that the NICs of a few hosts do \
         not share the up ports that cross rails. Paths are also chosen by load as in ftree, among the same \
         candidates, and these tables are taken where they are more even (faults, fewer hosts on a leaf, hosts in \
         another order). Where some pair has no way up and down, paths to its destination are those of updn, as in \
         ftree. Trees without rails are one rail.\n\n\
         Rails without a common switch (rail-only) are planes: each is routed alone, and two NICs of \
         different rails have no path, by design.\n\n\
         Complexity: as ftree, twice."
    }

    fn paper(&self) -> &'static str {
        "Zahavi: Fat-tree routing and node ordering providing contention free traffic for MPI global collectives, JPDC \
         72(11), 2012, within each rail; rails: NVIDIA, reference architecture RA-11333-001, 2023"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Tree
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Free
    }

    fn takes_roots(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        let (level, updown) = up_down_of_tree(self, fabric, request)?;
        let tree = RailTree::of(fabric, level);
        let mut routes = self.by_number(fabric, request, &updown, &tree)?;
        // Numbers are even on regular trees whose hosts are in order; elsewhere loads may be more
        // even.
        let largest = check(fabric, &routes).load.into_iter().max().unwrap_or(0);
        if largest > cut_bound(fabric, request.paths()) {
            let (other, its) = self.by_load(fabric, request, &updown, &tree)?;
            if its < largest {
                routes = other;
            }
        }
        if !tree.has_rails && has_several_ports(fabric) {
            routes.notes.push(
                "no rails here (NIC i of every host of a unit on one leaf): the tree is routed as one rail".to_owned(),
            );
        }
        Ok(routes)
    }
}

impl Rails {
    /// Tables by the number of the destination within its rail.
    fn by_number(
        &self,
        fabric: &Fabric,
        request: &Request<'_>,
        updown: &UpDown,
        tree: &RailTree,
    ) -> Result<Routes, Refusal> {
        let routes = Routes::empty(self.name(), fabric, request.paths());
        legal_rows(self.name(), fabric, request, routes, updown, |dag, dest, path, ports| {
            // A switch's own LID goes by the switch's number.
            let number = dest
                .as_terminal(fabric)
                .map_or_else(|| dest.home(fabric).0, |t| tree.number[t.index()] + path as u32);
            tree.send(fabric, dag, number, ports);
        })
    }

    /// Tables by the load of whole paths, as in ftree, on the same candidates, and their largest load.
    fn by_load(
        &self,
        fabric: &Fabric,
        request: &Request<'_>,
        updown: &UpDown,
        tree: &RailTree,
    ) -> Result<(Routes, u64), Refusal> {
        let routes = Routes::empty(self.name(), fabric, request.paths());
        let mut largest = 0;
        let tables = by_order(self.name(), fabric, request, routes, updown, |order, routes| {
            let own = |dag: &mut Dag, home: SwitchId| {
                let mut whole = Dag::default();
                order.legal(fabric, &mut whole, home);
                let mut has_own = vec![false; fabric.switch_count()];
                for (i, &s) in whole.order.iter().enumerate() {
                    let mut all = whole.candidates(i).iter();
                    has_own[s as usize] = all.any(|c| tree.is_own(s, c.head, home));
                }
                dag.restrict(&whole, |s, c| {
                    !has_own[s as usize] || tree.is_own(s, fabric.heads()[c as usize], home)
                });
            };
            let balanced = balance(fabric, routes, FirstCriterion::Siblings, own);
            largest = balanced.largest;
            balanced.strays
        })?;
        Ok((tables.routes, largest))
    }
}

/// Whether a host has several terminals.
fn has_several_ports(fabric: &Fabric) -> bool {
    let mut hosts: Vec<u32> =
        (0..fabric.terminal_count()).map(|t| fabric.host_of(TerminalId::new(t)).0).collect();
    hosts.sort_unstable();
    hosts.windows(2).any(|pair| pair[0] == pair[1])
}

/// Stands for the rail of a switch that belongs to none, or to several.
const NO_RAIL: u32 = u32::MAX;

/// A tree of levels with the data by which paths are chosen.
struct RailTree {
    level: Vec<u32>,
    /// By switch the only rail that it is of; [`NO_RAIL`] for those that several rails share.
    rail: Vec<u32>,
    has_rails: bool,
    /// By terminal its number within its rail, with the offset of the rail.
    number: Vec<u32>,
    /// By switch its number among the parents of its children.
    parent: Vec<u32>,
    /// By switch how many parents it and the switches that share some of them have, and most parallel cables to one.
    above: Vec<Ports>,
    /// By level, product of the ports below.
    below: Vec<u64>,
}

/// Up cables of a switch, if no cable is missing.
#[derive(Clone, Copy, Default)]
struct Ports {
    parents: u32,
    parallel: u32,
}

impl RailTree {
    fn of(fabric: &Fabric, level: Vec<u32>) -> Self {
        let found = rails(fabric);
        let n = fabric.switch_count();
        let of_leaf: Vec<u32> = match &found {
            Some(map) => map.rail_of.iter().map(|rail| rail.unwrap_or(NO_RAIL)).collect(),
            None => vec![NO_RAIL; n],
        };
        let (parent, above) = families(fabric, &level);
        // Ports of the levels below, the most of each.
        let height = level.iter().copied().max().unwrap_or(0) as usize;
        let mut below = vec![1u64; height + 1];
        for l in 1..=height {
            let own = (0..n).filter(|&s| level[s] as usize == l);
            let most = own.map(|s| u64::from(above[s].parents * above[s].parallel)).max();
            if l < height {
                below[l + 1] = below[l].saturating_mul(most.unwrap_or(1).max(1));
            }
        }
        let rail_count = found.as_ref().map_or(1, |map| map.rails) as u32;
        let number = numbers(fabric, &of_leaf, rail_count, &above);
        let rail = rails_below(fabric, &level, &of_leaf);
        Self { level, rail, has_rails: found.is_some(), number, parent, above, below }
    }

    /// Sends from every switch towards the destination of a graph, by the number of the destination.
    fn send(&self, fabric: &Fabric, dag: &Dag, number: u32, ports: &mut [u8]) {
        let home = dag.order[0] as usize;
        ports[home] = DELIVER;
        let number = u64::from(number);
        for i in 1..dag.order.len() {
            let s = dag.order[i] as usize;
            // Switches of another rail alone are the last choice.
            let all = dag.candidates(i);
            let is_own = |c: &&Candidate| self.is_own(s as u32, c.head, SwitchId::new(home));
            let own: Vec<Candidate> = all.iter().filter(is_own).copied().collect();
            let candidates = if own.is_empty() { all } else { &own };
            let up = self.level[candidates[0].head as usize] > self.level[s];
            let c =
                if up { self.up(s, candidates, number) } else { self.down(s, candidates, number) };
            ports[s] = fabric.tail_ports()[c as usize];
        }
    }

    /// Whether a switch does not belong only to another rail than the one before it and the
    /// destination's.
    fn is_own(&self, before: u32, switch: u32, home: SwitchId) -> bool {
        let rail = self.rail[switch as usize];
        rail == NO_RAIL || rail == self.rail[home.index()] || rail == self.rail[before as usize]
    }

    /// The channel up whose number is that of the destination: which parent, and which of the parallel cables.
    fn up(&self, s: usize, candidates: &[Candidate], number: u64) -> u32 {
        let above = self.above[s];
        let slots = u64::from(above.parents) * u64::from(above.parallel);
        let number = number / self.below[self.level[s] as usize];
        let slot = (number % slots.max(1)) as u32;
        let (parent, cable) = (slot % above.parents.max(1), slot / above.parents.max(1));
        let wanted = candidates.iter().filter(|c| self.parent[c.head as usize] == parent);
        wanted.clone().nth(cable as usize).map_or_else(
            || candidates[(number / slots.max(1)) as usize % candidates.len()].channel,
            |c| c.channel,
        )
    }

    /// The channel down: of parallel cables that which the same number picks.
    fn down(&self, s: usize, candidates: &[Candidate], number: u64) -> u32 {
        let head = candidates[0].head as usize;
        let parents = u64::from(self.above[head].parents.max(1));
        let number = number / self.below[(self.level[s] as usize).saturating_sub(1)];
        candidates[(number / parents) as usize % candidates.len()].channel
    }
}

/// For each switch its number among the parents of a family, and its up cables: switches of one level that share parents, directly or
/// through others, are a family (the leaves of a pod; the k-th spines of all pods), so that a number means one parent to all of them.
fn families(fabric: &Fabric, level: &[u32]) -> (Vec<u32>, Vec<Ports>) {
    let n = fabric.switch_count();
    let (mut parent, mut above) = (vec![0; n], vec![Ports::default(); n]);
    let mut is_seen = vec![false; n];
    let near = |s: usize, to: u32| {
        let heads = fabric.channels_from(SwitchId::new(s)).map(|c| fabric.heads()[c] as usize);
        heads.filter(move |&v| level[v] == to)
    };
    for first in 0..n {
        if is_seen[first] {
            continue;
        }
        let (own, next) = (level[first], level[first] + 1);
        is_seen[first] = true;
        let (mut children, mut parents) = (vec![first], BTreeSet::new());
        let mut at = 0;
        while let Some(&child) = children.get(at) {
            at += 1;
            for p in near(child, next) {
                if parents.insert(p) {
                    for other in near(p, own) {
                        if !is_seen[other] {
                            is_seen[other] = true;
                            children.push(other);
                        }
                    }
                }
            }
        }
        (0..).zip(&parents).for_each(|(number, &p)| parent[p] = number);
        let parallel = |&child: &usize| {
            let mut heads: Vec<usize> = near(child, next).collect();
            heads.sort_unstable();
            heads.chunk_by(|a, b| a == b).map(|same| same.len() as u32).max().unwrap_or(0)
        };
        let parallel = children.iter().map(parallel).max().unwrap_or(0);
        for child in children {
            above[child] = Ports { parents: parents.len() as u32, parallel };
        }
    }
    (parent, above)
}

/// By terminal its number within its rail. The rails begin at ports apart from each other.
fn numbers(fabric: &Fabric, of_leaf: &[u32], rails: u32, above: &[Ports]) -> Vec<u32> {
    let mut number = vec![0; fabric.terminal_count()];
    // Leaves without a rail are numbered together.
    let mut next = vec![0u32; rails as usize + 1];
    for s in 0..fabric.switch_count() {
        let here = fabric.terminals_on(SwitchId::new(s));
        if here.is_empty() {
            continue;
        }
        let rail = of_leaf[s].min(rails);
        let slots = above[s].parents * above[s].parallel;
        let offset = if rail < rails { (rail * slots).div_ceil(rails) } else { 0 };
        for t in here {
            number[t] = next[rail as usize] + offset;
            next[rail as usize] += 1;
        }
    }
    number
}

/// By switch the only rail of the leaves below it.
fn rails_below(fabric: &Fabric, level: &[u32], of_leaf: &[u32]) -> Vec<u32> {
    let n = fabric.switch_count();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&s| (level[s], s));
    let mut rail = of_leaf.to_vec();
    for s in order {
        if !fabric.terminals_on(SwitchId::new(s)).is_empty() {
            continue;
        }
        let heads = fabric.channels_from(SwitchId::new(s)).map(|c| fabric.heads()[c] as usize);
        let mut below = heads.filter(|&v| level[v] < level[s]).map(|v| rail[v]);
        let first = below.next().unwrap_or(NO_RAIL);
        rail[s] = if below.all(|other| other == first) { first } else { NO_RAIL };
    }
    rail
}
