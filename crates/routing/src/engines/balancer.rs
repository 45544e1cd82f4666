//! Choosing among candidates by the loads of channels.
//!
//! Shortest paths come from the candidate graph, so no priority queue is needed: a switch is reached after
//! everything that it may send to.

use darkfiber_fabric::{Fabric, SwitchId};

use super::dag::{Candidate, Dag};
use crate::DELIVER;

/// One destination of the switch whose destinations are being routed, in a load; loads stay far below.
const SIBLING: u64 = 1 << 36;

/// Bits for the place of a candidate among those of its switch, which has fewer than 256 ports.
const PLACE: u32 = 8;

/// Loads of all channels while destinations are routed one after the other.
#[derive(Clone)]
pub(super) struct Balancer {
    /// Terminal-to-terminal paths over each inter-switch channel.
    pub(super) load: Vec<u64>,
    /// Per switch the terminals whose paths count.
    pub(super) sources: Vec<u32>,
    /// For each switch the sum of loads on its chosen path, and the largest, where that is used.
    cost: Vec<u64>,
    fullest: Vec<u64>,
    /// Per switch the paths that pass it.
    through: Vec<u32>,
    /// For each switch the candidate that it chose.
    next: Vec<Candidate>,
    /// Paths over each channel that have no alternative.
    pub(super) forced: Vec<u64>,
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

    pub(super) fn largest(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Mean load of a channel.
    pub(super) fn mean(&self) -> u64 {
        self.load.iter().sum::<u64>() / self.load.len().max(1) as u64
    }

    /// Counts the paths to `lids` LIDs that must pass each channel: from the terminals of a switch with a
    /// single candidate, and from those behind it that must pass through.
    pub(super) fn force(&mut self, dag: &Dag, lids: u64) {
        self.through.copy_from_slice(&self.sources);
        for i in (1..dag.order.len()).rev() {
            if let [only] = dag.candidates(i) {
                let paths = self.through[dag.order[i] as usize];
                self.forced[only.channel as usize] += u64::from(paths) * lids;
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
            let (chosen, cost) = match dag.candidates(i) {
                [only] => (*only, self.cost[only.head as usize] + self.load[only.channel as usize]),
                candidates => self.least(candidates),
            };
            let s = dag.order[i] as usize;
            self.cost[s] = cost;
            self.next[s] = chosen;
            ports[s] = tail_ports[chosen.channel as usize];
        }
    }

    /// The candidate whose path has the least sum of loads, and the sum.
    #[inline]
    fn least(&self, candidates: &[Candidate]) -> (Candidate, u64) {
        // A minimum of whole words needs no unpredictable branch. Sums stay far below 2^56: a table is
        // 4 GiB at most.
        let mut best = u64::MAX;
        let mut place = 0;
        let [first, last] = [0, candidates.len() - 1].map(|i| candidates[i].channel as usize);
        if last - first < candidates.len() {
            // Candidates rise, so that these are neighbours, as the ways up from a leaf are.
            for (c, load) in candidates.iter().zip(&self.load[first..=last]) {
                best = best.min((self.cost[c.head as usize] + load) << PLACE | place);
                place += 1;
            }
        } else {
            for c in candidates {
                let cost = self.cost[c.head as usize] + self.load[c.channel as usize];
                best = best.min(cost << PLACE | place);
                place += 1;
            }
        }
        (candidates[(best & ((1 << PLACE) - 1)) as usize], best >> PLACE)
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
    /// the least sum, and adds its paths at once: each source sees the paths of those before it, and
    /// the sources of one destination spread over several paths. This is what balances fabrics in
    /// which some paths are missing.
    pub(super) fn choose_apart(&mut self, fabric: &Fabric, dag: &Dag, ports: &mut [u8]) {
        ports[dag.order[0] as usize] = DELIVER;
        for i in 1..dag.order.len() {
            let s = dag.order[i];
            let paths = self.sources[s as usize];
            self.send_apart(fabric, dag, i, paths, ports);
        }
    }

    /// As [`Self::choose_apart`] for a few sources, instead of [`Self::sources`]; leaves the entries of
    /// switches unchanged that no path of theirs can pass.
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

    /// The candidate whose path has the least load on its fullest channel, then the least sum of
    /// loads.
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

    /// Marks the destination whose paths were just added as a sibling of later ones, on every channel to it.
    pub(super) fn mark(&mut self, dag: &Dag) {
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

    /// Clears the marks of siblings.
    pub(super) fn unmark(&mut self) {
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
            let s = s as usize;
            let paths = self.through[s];
            let channel = fabric.channel_at(SwitchId::new(s), ports[s]);
            let channel = channel.expect("the earlier choice was a candidate").index();
            self.load[channel] -= u64::from(paths);
            self.through[fabric.heads()[channel] as usize] += paths;
        }
    }
}
