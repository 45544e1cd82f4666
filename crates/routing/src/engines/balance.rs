//! Choosing among candidates by the load of whole paths, and improving the choice.
//!
//! Destinations are routed one after the other, each on the paths with the smallest sum of loads so
//! far, as SSSP does (Hoefler, Schneider, Lumsdaine, "Optimized routing for large-scale InfiniBand
//! networks", HOTI 2009). Shortest paths come from the candidate graph, so no priority queue is needed:
//! a switch is reached after everything that it may send to. Then, beyond the paper, further passes
//! take each destination's paths out again and route it anew among all others, while the largest load
//! falls and stays above its lower bound; at first all sources together, then one after the other.

use std::collections::BTreeSet;

use darkfiber_fabric::{AtPort, Fabric, Role, SwitchId};

use super::dag::{Candidate, Dag, Dags, for_each_dag};
use crate::{DELIVER, DestId, Routes};

/// Most passes after the first one that choose for all sources of a destination together.
const TOGETHER: usize = 2;
/// Most passes after those that choose source by source.
const APART: usize = 6;
/// Passes end where the largest load is this near to its lower bound: a share of one in this many.
const NEAR: u64 = 50;
/// Passes that choose together end with one that gains less than one in this many.
const GAIN: u64 = 33;
/// As [`GAIN`], for passes that choose source by source, which are what brings balance on damaged fabrics.
const GAIN_APART: u64 = 200;

/// What weighs most where paths are chosen for all sources of a destination together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    /// The sum of loads.
    Load,
    /// That a channel has few destinations of the same switch; the sum of loads second. Terminals of a switch that
    /// receive at a time, as in any shift of all ranks, then have channels of their own.
    Siblings,
}

/// One destination of the switch whose destinations are being routed, in a load; loads stay far below.
const SIBLING: u64 = 1 << 36;

/// Bits for the place of a candidate among those of its switch, which has fewer than 256 ports.
const PLACE: u32 = 8;

/// What is routed at one switch in one go: terminals of one role, and the switch's own LID at its
/// last stop.
pub(super) struct Stop {
    pub(super) terminals: Vec<u32>,
    pub(super) itself: bool,
}

/// Fills `routes` with balanced paths on the candidate graphs that `make` builds.
///
/// Destinations are taken in OpenSM's order: compute, storage, other terminals; within a role by
/// switch, those with most terminals first; all LIDs of a port one after the other. Ties go to the
/// lower channel. LIDs of switches carry management traffic only and add no load.
///
/// Returns the paths (row, source switch) of terminals on strays, and the largest load of a channel.
///
/// Complexity: O(passes x LIDs x candidates).
pub(crate) fn balance(
    fabric: &Fabric,
    routes: &mut Routes,
    weighs: First,
    make: impl Fn(&mut Dag, SwitchId) + Sync,
) -> Balanced {
    let stops = itinerary(fabric);
    let mut balancer = Balancer::new(fabric);
    let mut strays = Vec::new();
    let with_terminals = stops.partition_point(|(_, stop)| !stop.terminals.is_empty());
    let (sending, silent) = stops.split_at(with_terminals);
    let mut dags = Dags::new(sending, &make);
    let mut first = |(home, stop): &(SwitchId, Stop), dag: &Dag| {
        for &t in &stop.terminals {
            for path in 0..routes.paths() {
                let row = routes.row(DestId(t), path);
                balancer.choose(fabric, dag, routes.ports_mut(row));
                balancer.add(dag);
                if weighs == First::Siblings {
                    balancer.mark(dag);
                }
                balancer.force(dag);
                strays.extend(dag.strays(fabric).map(|s| (row as u32, s)));
            }
        }
        balancer.unmark();
        if stop.itself {
            let row = routes.row(DestId::switch(fabric, *home), 0);
            balancer.choose(fabric, dag, routes.ports_mut(row));
        }
    };
    dags.each(&mut first);
    for_each_dag(silent, &make, &mut first);
    // All paths to a destination are as long as its graph says, so that their sum is given.
    let bound = cut_bound(fabric, routes.paths()).max(balancer.mean()).max(balancer.forced());
    let mut largest = balancer.largest();
    let mut together = TOGETHER;
    let mut apart = APART;
    while !is_near(largest, bound) && together + apart > 0 {
        let before = (routes.clone(), balancer.load.clone());
        let fine = together == 0;
        dags.each(|(_, stop), dag| {
            for &t in &stop.terminals {
                for path in 0..routes.paths() {
                    let row = routes.row(DestId(t), path);
                    balancer.remove(fabric, dag, routes.ports(row));
                    if fine {
                        balancer.choose_apart(fabric, dag, routes.ports_mut(row));
                    } else {
                        balancer.choose(fabric, dag, routes.ports_mut(row));
                        balancer.add(dag);
                        if weighs == First::Siblings {
                            balancer.mark(dag);
                        }
                    }
                }
            }
            balancer.unmark();
        });
        let now = balancer.largest();
        let passes = if fine { &mut apart } else { &mut together };
        let gain = if fine { GAIN_APART } else { GAIN };
        *passes = if largest.saturating_sub(now) < largest / gain { 0 } else { *passes - 1 };
        if now < largest {
            largest = now;
        } else {
            (*routes, balancer.load) = before;
        }
    }
    Balanced { strays, largest }
}

/// Whether a further pass is not worth its time.
pub(super) fn is_near(largest: u64, bound: u64) -> bool {
    largest <= bound + bound / NEAR
}

/// [`balance`] on all shortest paths of a connected fabric; returns the largest load.
pub(crate) fn shortest(fabric: &Fabric, routes: &mut Routes) -> u64 {
    let balanced = balance(fabric, routes, First::Load, |dag, home| dag.shortest(fabric, home));
    debug_assert!(balanced.strays.is_empty(), "every shortest path is legal");
    balanced.largest
}

/// What [`balance`] did.
pub(crate) struct Balanced {
    /// Paths (row, source switch) against the engine's rule.
    pub(crate) strays: Vec<(u32, u32)>,
    /// Most terminal-to-terminal paths on a channel.
    pub(crate) largest: u64,
}

/// No routing can bring the largest load below this: what the terminals of some switch must send to
/// all others leaves over that switch's own channels, all of it for one LID over one of them.
pub(super) fn cut_bound(fabric: &Fabric, paths: usize) -> u64 {
    let all = fabric.terminal_count() as u64;
    (0..fabric.switch_count())
        .map(SwitchId::new)
        .map(|s| {
            let here = fabric.terminals_on(s).len() as u64;
            let lids = (all - here) * paths as u64;
            match fabric.channels_from(s).len() as u64 {
                0 => 0,
                channels => here * lids.div_ceil(channels),
            }
        })
        .max()
        .unwrap_or(0)
}

/// The switches with terminals, in the order of their first stop.
pub(super) fn homes(stops: &[(SwitchId, Stop)]) -> Vec<SwitchId> {
    let mut seen = BTreeSet::new();
    let stops = stops.iter().filter(|(_, stop)| !stop.terminals.is_empty());
    stops.map(|(home, _)| *home).filter(|&home| seen.insert(home)).collect()
}

/// All stops in the order in which destinations are routed, but those at switches with few terminals
/// in a wave of their own, the second.
///
/// Where few dependencies may be made, the few paths to such switches (aggregation nodes in the top of a
/// tree) must not claim those that the balance of all others needs.
pub(super) fn waves(fabric: &Fabric) -> Vec<Vec<(SwitchId, Stop)>> {
    /// A switch has few terminals if it has this many times fewer than those that most terminals are on.
    const FEW: usize = 2;
    let on = |home: SwitchId| fabric.terminals_on(home).len();
    let mut all: Vec<usize> = fabric.terminals().iter().map(|t| on(t.switch)).collect();
    all.sort_unstable();
    let usual = all.get(all.len() / 2).copied().unwrap_or(0);
    let (many, few): (Vec<_>, Vec<_>) =
        itinerary(fabric).into_iter().partition(|&(home, _)| on(home) * FEW > usual);
    let waves = [many, few].into_iter();
    waves.filter(|stops| stops.iter().any(|(_, stop)| !stop.terminals.is_empty())).collect()
}

/// All stops in the order in which destinations are routed.
pub(super) fn itinerary(fabric: &Fabric) -> Vec<(SwitchId, Stop)> {
    let mut homes: Vec<SwitchId> = (0..fabric.switch_count()).map(SwitchId::new).collect();
    homes.sort_by_key(|&s| std::cmp::Reverse(fabric.terminals_on(s).len()));
    let mut stops: Vec<(SwitchId, Stop)> = Vec::new();
    let mut last = vec![usize::MAX; fabric.switch_count()];
    for role in [Role::Compute, Role::Storage, Role::Other, Role::Aggregation] {
        for &home in &homes {
            let terminals: Vec<u32> = fabric
                .terminals_on(home)
                .filter(|&t| fabric.terminals()[t].role == role)
                .map(|t| t as u32)
                .collect();
            if !terminals.is_empty() {
                last[home.index()] = stops.len();
                stops.push((home, Stop { terminals, itself: false }));
            }
        }
    }
    for home in homes {
        match stops.get_mut(last[home.index()]) {
            Some((_, stop)) => stop.itself = true,
            None => stops.push((home, Stop { terminals: Vec::new(), itself: true })),
        }
    }
    stops
}

/// How to divide the work into waves, the best first; the last is one wave, which leaves most room for
/// few layers.
pub(super) fn schedules(fabric: &Fabric) -> Vec<Vec<Vec<(SwitchId, Stop)>>> {
    let waves = waves(fabric);
    if waves.len() == 1 { vec![waves] } else { vec![waves, vec![itinerary(fabric)]] }
}

/// Loads of all channels while destinations are routed one after the other.
#[derive(Clone)]
pub(super) struct Balancer {
    /// Terminal-to-terminal paths over each inter-switch channel.
    pub(super) load: Vec<u64>,
    /// Per switch the terminals whose paths count.
    pub(super) sources: Vec<u32>,
    /// Per switch the sum of loads on its chosen path, and the largest, where that is what matters.
    cost: Vec<u64>,
    fullest: Vec<u64>,
    /// Per switch the paths that pass it.
    through: Vec<u32>,
    /// Per switch what it chose.
    next: Vec<Candidate>,
    /// Paths over each channel that have no other way.
    forced: Vec<u64>,
    /// Per switch whether it matters where it sends.
    wanted: Vec<bool>,
    /// Channels that lead to siblings of the destinations to come.
    marked: Vec<u32>,
}

impl Balancer {
    /// No load; the paths of all terminals count.
    pub(super) fn new(fabric: &Fabric) -> Self {
        let n = fabric.switch_count();
        Self {
            load: vec![0; fabric.channel_count()],
            sources: (0..n).map(|s| fabric.terminals_on(SwitchId::new(s)).len() as u32).collect(),
            cost: vec![0; n],
            fullest: vec![0; n],
            through: vec![0; n],
            next: vec![Candidate { channel: 0, head: 0 }; n],
            forced: vec![0; fabric.channel_count()],
            wanted: vec![false; n],
            marked: Vec::new(),
        }
    }

    fn largest(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Mean load of a channel.
    fn mean(&self) -> u64 {
        self.load.iter().sum::<u64>() / self.load.len().max(1) as u64
    }

    /// Most paths on a channel that have no other way.
    fn forced(&self) -> u64 {
        self.forced.iter().copied().max().unwrap_or(0)
    }

    /// Counts what must pass each channel: the terminals of a switch with a single candidate, and those
    /// behind it that must come by.
    fn force(&mut self, dag: &Dag) {
        self.through.copy_from_slice(&self.sources);
        for i in (1..dag.order.len()).rev() {
            if let [only] = dag.candidates(i) {
                let paths = self.through[dag.order[i] as usize];
                self.forced[only.channel as usize] += u64::from(paths);
                self.through[only.head as usize] += paths;
            }
        }
    }

    /// Chooses the least loaded path of every switch and writes its port.
    pub(super) fn choose(&mut self, fabric: &Fabric, dag: &Dag, ports: &mut [u8]) {
        let tail_ports = fabric.tail_ports();
        let home = dag.order[0] as usize;
        ports[home] = DELIVER;
        self.cost[home] = 0;
        for i in 1..dag.order.len() {
            let candidates = dag.candidates(i);
            // A minimum of whole words costs no branch that nobody can foresee. Sums stay far below 2^56: a
            // table is 4 GiB at most.
            let mut best = u64::MAX;
            for (place, c) in (0..).zip(candidates) {
                let cost = self.cost[c.head as usize] + self.load[c.channel as usize];
                best = best.min(cost << PLACE | place);
            }
            let chosen = candidates[(best & ((1 << PLACE) - 1)) as usize];
            let s = dag.order[i] as usize;
            self.cost[s] = best >> PLACE;
            self.next[s] = chosen;
            ports[s] = tail_ports[chosen.channel as usize];
        }
    }

    /// Chooses the path of every switch whose fullest channel has the least load, then the least sum, and
    /// writes its port.
    pub(super) fn choose_fullest(&mut self, fabric: &Fabric, dag: &Dag, ports: &mut [u8]) {
        let tail_ports = fabric.tail_ports();
        let home = dag.order[0] as usize;
        ports[home] = DELIVER;
        self.cost[home] = 0;
        self.fullest[home] = 0;
        for i in 1..dag.order.len() {
            let s = dag.order[i] as usize;
            let candidates = dag.candidates(i);
            let mut best = u128::MAX;
            for (place, c) in (0..).zip(candidates) {
                let load = self.load[c.channel as usize];
                let most = self.fullest[c.head as usize].max(load);
                let sum = self.cost[c.head as usize] + load;
                best = best.min(u128::from(most) << 64 | u128::from(sum << PLACE | place));
            }
            let chosen = candidates[(best as u64 & ((1 << PLACE) - 1)) as usize];
            self.fullest[s] = (best >> 64) as u64;
            self.cost[s] = best as u64 >> PLACE;
            self.next[s] = chosen;
            ports[s] = tail_ports[chosen.channel as usize];
        }
    }

    /// Chooses for one switch after the other the path whose fullest channel has the least load, then
    /// the least sum, and adds its paths at once: each source sees where those before it go, and the
    /// sources of one destination spread over several ways. It is what brings balance where some ways
    /// are missing.
    pub(super) fn choose_apart(&mut self, fabric: &Fabric, dag: &Dag, ports: &mut [u8]) {
        ports[dag.order[0] as usize] = DELIVER;
        for i in 1..dag.order.len() {
            let s = dag.order[i];
            let paths = self.sources[s as usize];
            self.send_apart(fabric, dag, i, paths, ports);
        }
    }

    /// As [`Self::choose_apart`] for a few sources, instead of [`Self::sources`]; leaves the entries of
    /// switches alone that no way of theirs can pass.
    pub(super) fn choose_apart_from(
        &mut self,
        fabric: &Fabric,
        dag: &Dag,
        sources: &[(u32, u32)],
        ports: &mut [u8],
    ) {
        ports[dag.order[0] as usize] = DELIVER;
        self.through.fill(0);
        self.wanted.fill(false);
        for &(s, paths) in sources {
            self.through[s as usize] = paths;
            self.wanted[s as usize] = true;
        }
        for i in (1..dag.order.len()).rev() {
            if self.wanted[dag.order[i] as usize] {
                for c in dag.candidates(i) {
                    self.wanted[c.head as usize] = true;
                }
            }
        }
        for i in 1..dag.order.len() {
            let s = dag.order[i] as usize;
            if self.wanted[s] {
                self.send_apart(fabric, dag, i, self.through[s], ports);
            }
        }
    }

    /// Chooses for the `i`-th switch in order and adds its paths.
    #[inline]
    fn send_apart(&mut self, fabric: &Fabric, dag: &Dag, i: usize, paths: u32, ports: &mut [u8]) {
        let (home, s) = (dag.order[0], dag.order[i]);
        let best = match dag.candidates(i) {
            [only] => only,
            candidates => self.least_full(home, candidates),
        };
        self.next[s as usize] = *best;
        ports[s as usize] = fabric.tail_ports()[best.channel as usize];
        let mut at = s;
        while at != home && paths > 0 {
            let c = self.next[at as usize];
            self.load[c.channel as usize] += u64::from(paths);
            at = c.head;
        }
    }

    /// The candidate on whose way the fullest channel has the least load, then the least sum of loads.
    fn least_full<'d>(&self, home: u32, candidates: &'d [Candidate]) -> &'d Candidate {
        let mut best = &candidates[0];
        let (mut least, mut least_sum) = (u64::MAX, u64::MAX);
        for first in candidates {
            let (mut most, mut sum, mut at) = (0, 0, *first);
            loop {
                let load = self.load[at.channel as usize];
                most = most.max(load);
                sum += load;
                if most > least || at.head == home {
                    break;
                }
                at = self.next[at.head as usize];
            }
            if (most, sum) < (least, least_sum) {
                (best, least, least_sum) = (first, most, sum);
            }
        }
        best
    }

    /// Adds the paths just chosen to the loads.
    pub(super) fn add(&mut self, dag: &Dag) {
        self.through.copy_from_slice(&self.sources);
        for i in (1..dag.order.len()).rev() {
            let s = dag.order[i] as usize;
            let paths = self.through[s];
            let Candidate { channel, head } = self.next[s];
            self.load[channel as usize] += u64::from(paths);
            self.through[head as usize] += paths;
        }
    }

    /// Counts the destination whose paths were just added as a sibling of those to come, on every channel to it.
    fn mark(&mut self, dag: &Dag) {
        for &s in &dag.order[1..] {
            if self.through[s as usize] > 0 {
                let c = self.next[s as usize].channel;
                let load = &mut self.load[c as usize];
                if *load < SIBLING {
                    self.marked.push(c);
                }
                *load += SIBLING;
            }
        }
    }

    /// Forgets siblings.
    fn unmark(&mut self) {
        for c in self.marked.drain(..) {
            self.load[c as usize] %= SIBLING;
        }
    }

    /// Adds the paths just chosen of a few sources, instead of [`Self::sources`], to the loads.
    pub(super) fn add_from(&mut self, sources: &[(u32, u32)], dag: &Dag) {
        let home = dag.order[0];
        for &(source, paths) in sources {
            let mut at = source;
            while at != home {
                let Candidate { channel, head } = self.next[at as usize];
                self.load[channel as usize] += u64::from(paths);
                at = head;
            }
        }
    }

    /// Takes the paths of an earlier choice, among the same candidates, out of the loads.
    pub(super) fn remove(&mut self, fabric: &Fabric, dag: &Dag, ports: &[u8]) {
        self.through.copy_from_slice(&self.sources);
        for &s in dag.order[1..].iter().rev() {
            let AtPort::Switch(c, head) = fabric.at_port(SwitchId(s), ports[s as usize]) else {
                unreachable!("the earlier choice was a candidate");
            };
            let paths = self.through[s as usize];
            self.load[c.index()] -= u64::from(paths);
            self.through[head.index()] += paths;
        }
    }
}
