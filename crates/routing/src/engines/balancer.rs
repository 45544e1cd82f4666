//! Choosing among candidates by the loads of channels.
//!
//! Shortest paths come from the candidate graph, so no priority queue is needed: a switch is reached after
//! everything that it may send to.

use darkfiber_fabric::{Fabric, SwitchId};

use super::dag::{Candidate, Dag};
use super::divided::DividedDag;
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
    /// The same before anything is chosen: those of its own terminals, and of settled switches.
    passing: Vec<u32>,
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
        let on = |s| fabric.terminals_on(SwitchId::new(s)).len() as u32;
        let sources: Vec<u32> = (0..n).map(on).collect();
        Self {
            load: vec![0; fabric.channel_count()],
            passing: sources.clone(),
            sources,
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

    /// LIDs of the destination switch of a graph come next: until another one does, paths of settled switches are chosen.
    pub(super) fn enter(&mut self, dag: &DividedDag) {
        self.passing.copy_from_slice(&self.sources);
        for &(s, only) in &dag.settled {
            self.next[s as usize] = only;
            self.passing[only.head as usize] += self.sources[s as usize];
        }
    }

    /// Adds the paths of settled switches to this number of LIDs to the channels that these switches send on.
    pub(super) fn add_settled(&mut self, dag: &DividedDag, lids: u64) {
        for &(s, only) in &dag.settled {
            self.load[only.channel as usize] += u64::from(self.sources[s as usize]) * lids;
        }
    }

    /// Chooses the least loaded path of every switch and writes its port.
    pub(super) fn choose(&mut self, fabric: &Fabric, dag: &Dag, ports: &mut [u8]) {
        let Self { load, cost, next, .. } = self;
        // Of one length each: a switch or channel that one of them has needs no look at the others.
        let (next, ports) = (&mut next[..cost.len()], &mut ports[..cost.len()]);
        let tail_ports = &fabric.tail_ports()[..load.len()];
        let home = dag.order[0] as usize;
        ports[home] = DELIVER;
        cost[home] = 0;
        for (s, candidates) in dag.rows() {
            let (chosen, sum) = match candidates {
                [only] => (*only, cost[only.head as usize] + load[only.channel as usize]),
                candidates => least(cost, load, candidates),
            };
            let s = s as usize;
            cost[s] = sum;
            next[s] = chosen;
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
    /// the least sum, and adds its paths at once: each source sees the paths of those before it, and
    /// the sources of one destination spread over several paths. This is what balances fabrics in
    /// which some paths are missing.
    pub(super) fn choose_apart(&mut self, fabric: &Fabric, dag: &Dag, ports: &mut [u8]) {
        self.send_all_apart(fabric, dag, |_| false, ports);
    }

    /// As [`Self::choose_apart`], where entries of settled switches are there, and loads of their channels count their paths.
    pub(super) fn choose_open_apart(
        &mut self,
        fabric: &Fabric,
        dag: &DividedDag,
        ports: &mut [u8],
    ) {
        match dag.is_passed() {
            Some(is_passed) => {
                self.send_all_apart(fabric, &dag.whole, |s| !is_passed[s as usize], ports);
            }
            None => self.choose_apart(fabric, &dag.whole, ports),
        }
    }

    #[inline]
    fn send_all_apart(
        &mut self,
        fabric: &Fabric,
        dag: &Dag,
        settles: impl Fn(u32) -> bool,
        ports: &mut [u8],
    ) {
        let home = dag.order[0];
        ports[home as usize] = DELIVER;
        for (s, candidates) in dag.rows() {
            let paths = self.sources[s as usize];
            match candidates {
                [only] if settles(s) => self.send_from(home, only.head, paths),
                [only] => self.send_over(fabric, home, (s, *only), paths, ports),
                candidates => {
                    let best = self.least_full(home, candidates);
                    self.send_over(fabric, home, (s, best), paths, ports);
                }
            }
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
        let home = dag.order[0];
        ports[home as usize] = DELIVER;
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
                let best = match dag.candidates(i) {
                    [only] => *only,
                    candidates => self.least_full(home, candidates),
                };
                self.send_over(fabric, home, (dag.order[i], best), self.through[s], ports);
            }
        }
    }

    /// Lets a switch send over a candidate, and adds its paths.
    #[inline]
    fn send_over(
        &mut self,
        fabric: &Fabric,
        home: u32,
        (s, chosen): (u32, Candidate),
        paths: u32,
        ports: &mut [u8],
    ) {
        self.next[s as usize] = chosen;
        ports[s as usize] = fabric.tail_ports()[chosen.channel as usize];
        self.send_from(home, s, paths);
    }

    /// Adds paths that begin at a switch or pass it.
    #[inline]
    fn send_from(&mut self, home: u32, s: u32, paths: u32) {
        let mut at = s;
        while at != home && paths > 0 {
            let Candidate { channel, head } = self.next[at as usize];
            self.load[channel as usize] += u64::from(paths);
            at = head;
        }
    }

    /// The candidate whose path has the least load on its fullest channel, then the least sum of
    /// loads.
    #[inline]
    fn least_full(&self, home: u32, candidates: &[Candidate]) -> Candidate {
        let mut best = candidates[0];
        let (mut least, mut least_sum) = (u64::MAX, u64::MAX);
        for &first in candidates {
            let (mut most, mut sum, mut at) = (0, 0, first);
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
        self.through.copy_from_slice(&self.passing);
        let Self { load, next, through, .. } = self;
        let next = &next[..through.len()];
        for &s in dag.order[1..].iter().rev() {
            let s = s as usize;
            let paths = through[s];
            let Candidate { channel, head } = next[s];
            load[channel as usize] += u64::from(paths);
            through[head as usize] += paths;
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
        self.through.copy_from_slice(&self.passing);
        for (s, candidates) in dag.rows().rev() {
            let Candidate { channel, head } = if let [only] = candidates {
                *only
            } else {
                let channel = fabric.channel_at(SwitchId(s), ports[s as usize]);
                let channel = channel.expect("the earlier choice was a candidate").0;
                Candidate { channel, head: fabric.heads()[channel as usize] }
            };
            let paths = self.through[s as usize];
            self.load[channel as usize] -= u64::from(paths);
            self.through[head as usize] += paths;
        }
    }
}

/// The candidate whose path has the least sum of loads, and the sum.
#[inline]
fn least(cost: &[u64], load: &[u64], candidates: &[Candidate]) -> (Candidate, u64) {
    // A minimum of whole words needs no unpredictable branch. Sums stay far below 2^56: a table is
    // 4 GiB at most.
    let mut best = u64::MAX;
    let mut place = 0;
    let [first, last] = [0, candidates.len() - 1].map(|i| candidates[i].channel as usize);
    if last - first < candidates.len() {
        // Candidates rise, so that these are neighbours, as the ways up from a leaf are.
        for (c, load) in candidates.iter().zip(&load[first..=last]) {
            best = best.min((cost[c.head as usize] + load) << PLACE | place);
            place += 1;
        }
    } else {
        for c in candidates {
            let sum = cost[c.head as usize] + load[c.channel as usize];
            best = best.min(sum << PLACE | place);
            place += 1;
        }
    }
    (candidates[(best & ((1 << PLACE) - 1)) as usize], best >> PLACE)
}
