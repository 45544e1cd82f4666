//! Placement of a new job: the free hosts, and the order of its ranks on them, with the least predicted interference.
//!
//! Interference is decided on the fullest channels (Smith et al., "Mitigating Inter-Job Interference Using Adaptive
//! Flow-Aware Routing", SC'18, section IV-B). The objective of a placement is the sum over all channels of the fourth power
//! of the demand of all jobs, as in [`Heat::wanted`]: full channels count most, and the fewer of them, the better. The new
//! job counts at the rate at which its busiest adapter is full, for any placement. Starting from a placement of an
//! allocator, hosts are exchanged with free ones and with each other as long as that sum falls. Of all placements found, and
//! of those of allocators, the one with the fewest pairs without a route, and then the best [`PlacementEffect::cost`], is proposed.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};
use darkfiber_routing::{DestId, Routes, follow};
use darkfiber_workload::Stream;

use crate::heat::{Fate, Flow, Heat};

/// A job that is to be placed, on a machine.
pub struct PlacementRequest<'a> {
    /// Fabric of the machine.
    pub fabric: &'a Fabric,
    /// Tables of the fabric.
    pub routes: &'a Routes,
    /// Terminals of each host that may be used, as many of each.
    pub hosts: &'a [Vec<TerminalId>],
    /// Traffic of the job: from seat to seat, in bytes. Seat `s` is adapter `s % a` of the host that has slot `s / a`, where
    /// hosts have `a` adapters.
    pub sent: &'a [(u32, u32, u64)],
    /// Traffic of all other jobs.
    pub flows: &'a [Flow],
    /// Channel loads of that traffic; the new job's number is the number of its jobs.
    pub now: &'a Heat,
}

/// Effect of a placement on the new job and on the others.
#[derive(Clone, Debug)]
pub struct PlacementEffect {
    /// Slowdown of the new job.
    pub fate: Fate,
    /// Slowdown by the new job of the other job that loses most, and that job: `None` where none loses.
    pub loser: Option<(f64, usize)>,
    /// Bytes on the fullest channel between switches.
    pub fullest: u64,
    /// Pairs of the new job's terminals without a route: nothing that they send counts.
    pub lost: usize,
}

impl PlacementEffect {
    /// The order of placements, the better one first: fewer pairs without a route, then the lower cost.
    fn compared(&self, other: &Self) -> Ordering {
        self.lost.cmp(&other.lost).then(self.cost().total_cmp(&other.cost()))
    }

    /// Cost of a placement, lower is better: the time of the new job times the losses of the others.
    pub fn cost(&self) -> f64 {
        self.fate.together * (1.0 + self.loser.map_or(0.0, |l| l.0))
    }
}

/// A placement that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPlacement {
    /// By slot, the host that has it.
    pub hosts: Vec<u32>,
    /// Exchanges that were made.
    pub exchanges: usize,
}

/// Number of free hosts on which a slot is tried in each round.
const FREE: usize = 12;
/// Other slots that it is exchanged with.
const OTHERS: usize = 6;
/// Rounds over all slots at most.
const ROUNDS: usize = 40;
/// What a flow without a route adds to the sum: more than any that has one.
const NO_ROUTE: f64 = 1e15;
/// Channels that are looked at, at most: a few seconds.
const WORK: usize = 400_000_000;

struct State<'a> {
    of: &'a PlacementRequest<'a>,
    /// Adapters of a host.
    adapters: usize,
    /// By slot, its flows: number in `sent`.
    touching: Vec<Vec<u32>>,
    /// By slot, its host.
    hosts: Vec<u32>,
    /// Demand of all jobs for each channel.
    wanted: Vec<f64>,
    /// Contribution of one byte of the new job to it.
    per_byte: Vec<f64>,
    path: Vec<u32>,
    work: usize,
}

impl PlacementRequest<'_> {
    /// The best of several placements and of their improvements, by [`PlacementEffect::cost`]; `None` of none.
    pub fn best(&self, begins: &[Vec<u32>], seed: u64) -> Option<FoundPlacement> {
        let kept = |begin: &Vec<u32>| FoundPlacement { hosts: begin.clone(), exchanges: 0 };
        let found = begins.iter().flat_map(|begin| [self.improve(begin, seed), kept(begin)]);
        let effects = found.map(|placed| (self.effect(&placed.hosts), placed));
        effects.min_by(|a, b| a.0.compared(&b.0)).map(|(_, placed)| placed)
    }

    /// Effect of a placement; hosts by slot.
    pub fn effect(&self, hosts: &[u32]) -> PlacementEffect {
        let adapters = self.hosts.first().map_or(1, Vec::len);
        let terminal = |seat: u32| {
            let seat = seat as usize;
            self.hosts[hosts[seat / adapters] as usize][seat % adapters]
        };
        let job = self.now.job_count();
        let mut flows = self.flows.to_vec();
        flows.extend(self.sent.iter().map(|&(a, b, bytes)| Flow {
            job: job as u32,
            from: terminal(a),
            to: terminal(b),
            bytes,
        }));
        let then = Heat::of(self.fabric, self.routes, &flows, job + 1);
        let loses = |j: usize| {
            let before = self.now.fate(j).together;
            if before > 0.0 { then.fate(j).together / before - 1.0 } else { 0.0 }
        };
        #[expect(clippy::cast_sign_loss, reason = "bytes are not below zero")]
        let fullest = then.fills().fold(0.0, f64::max).round() as u64;
        let worst = (0..job).map(|j| (loses(j), j)).max_by(|a, b| a.0.total_cmp(&b.0));
        let lost = then.lost.saturating_sub(self.now.lost);
        PlacementEffect { fate: then.fate(job), loser: worst.filter(|w| w.0 > 0.0), fullest, lost }
    }

    /// Improves a placement; the seed draws the exchanges that are tried.
    ///
    /// Complexity: O(rounds x slots x tries x flows of a slot x hops), at most some hundred million steps.
    ///
    /// # Panics
    /// If there are slots without a host, or hosts with different numbers of terminals.
    pub fn improve(&self, begin: &[u32], seed: u64) -> FoundPlacement {
        let adapters = self.hosts.first().map_or(1, Vec::len);
        assert!(self.hosts.iter().all(|h| h.len() == adapters), "as many adapters each");
        let (m, t) = (self.fabric.channel_count(), self.fabric.terminal_count());
        let rate = self.rate();
        let per_byte = (0..m + 2 * t).map(|c| {
            let class = if c < m {
                self.fabric.class_of(ChannelId::new(c))
            } else {
                self.fabric.terminal_class(TerminalId::new((c - m) % t))
            };
            rate / class.bytes_per_second.max(1) as f64
        });
        let mut touching = vec![Vec::new(); begin.len()];
        for (i, &(a, b, _)) in (0..).zip(self.sent) {
            let (a, b) = (a as usize / adapters, b as usize / adapters);
            touching[a].push(i);
            if a != b {
                touching[b].push(i);
            }
        }
        let mut state = State {
            of: self,
            adapters,
            touching,
            hosts: begin.to_vec(),
            wanted: self.now.wanted.clone(),
            per_byte: per_byte.collect(),
            path: Vec::new(),
            work: 0,
        };
        let all: Vec<u32> = (0..self.sent.len() as u32).collect();
        state.add(&all, 1.0);
        let exchanges = state.search(seed);
        FoundPlacement { hosts: state.hosts, exchanges }
    }

    /// Rate in runs a second at which the job sends its traffic, if only its busiest adapter limits it.
    fn rate(&self) -> f64 {
        let mut through: BTreeMap<(bool, u32), u64> = BTreeMap::new();
        for &(from, to, bytes) in self.sent {
            *through.entry((false, from)).or_default() += bytes;
            *through.entry((true, to)).or_default() += bytes;
        }
        let busiest = through.into_values().max().unwrap_or(0).max(1);
        let speed = |&t: &TerminalId| self.fabric.terminal_class(t).bytes_per_second;
        let fastest = self.hosts.iter().flatten().map(speed).max().unwrap_or(1);
        fastest as f64 / busiest as f64
    }
}

impl State<'_> {
    fn terminal(&self, seat: u32) -> TerminalId {
        let seat = seat as usize;
        self.of.hosts[self.hosts[seat / self.adapters] as usize][seat % self.adapters]
    }

    /// Adds flows (or removes them), and returns the increase of the sum of fourth powers.
    fn add(&mut self, flows: &[u32], sign: f64) -> f64 {
        let (m, t) = (self.of.fabric.channel_count(), self.of.fabric.terminal_count());
        let mut grows = 0.0;
        for &i in flows {
            let (a, b, bytes) = self.of.sent[i as usize];
            let (from, to) = (self.terminal(a), self.terminal(b));
            if self.of.fabric.host_of(from) == self.of.fabric.host_of(to) {
                continue;
            }
            let routes = self.of.routes;
            let mut path = std::mem::take(&mut self.path);
            for (number, bytes) in routes.parts(from, to, bytes) {
                let ports = routes.ports(routes.row(DestId::terminal(to), number));
                path.clear();
                let home = self.of.fabric.terminal(from).switch;
                if !follow(self.of.fabric, ports, to, home, &mut path) {
                    grows += sign * NO_ROUTE;
                    self.work += path.len();
                    continue;
                }
                path.extend([(m + to.index()) as u32, (m + t + from.index()) as u32]);
                self.work += path.len();
                for &c in &path {
                    let wanted = &mut self.wanted[c as usize];
                    let before = *wanted;
                    // The subtracted load was included before: only rounding goes below zero.
                    *wanted = (before + sign * bytes as f64 * self.per_byte[c as usize]).max(0.0);
                    grows += wanted.powi(4) - before.powi(4);
                }
            }
            self.path = path;
        }
        grows
    }

    fn search(&mut self, seed: u64) -> usize {
        let mut random = Stream::new(seed, 0x_706c_6163);
        let mut is_used = vec![false; self.of.hosts.len()];
        for &h in &self.hosts {
            is_used[h as usize] = true;
        }
        let mut free: Vec<u32> =
            (0..self.of.hosts.len() as u32).filter(|&h| !is_used[h as usize]).collect();
        let slots = self.hosts.len();
        let mut made = 0;
        for _ in 0..ROUNDS {
            let before = made;
            for slot in 0..slots {
                for _ in 0..FREE.min(free.len()) {
                    let i = random.below(free.len() as u32) as usize;
                    let flows = self.touching[slot].clone();
                    let old = self.hosts[slot];
                    if self.tried(&flows, |hosts| hosts[slot] = free[i], |hosts| hosts[slot] = old)
                    {
                        free[i] = old;
                        made += 1;
                    }
                }
                for _ in 0..OTHERS.min(slots - 1) {
                    let other = random.below(slots as u32) as usize;
                    if other == slot {
                        continue;
                    }
                    let mut flows = self.touching[slot].clone();
                    flows.extend_from_slice(&self.touching[other]);
                    flows.sort_unstable();
                    flows.dedup();
                    let swap = |hosts: &mut [u32]| hosts.swap(slot, other);
                    made += usize::from(self.tried(&flows, swap, swap));
                }
                if self.work > WORK {
                    return made;
                }
            }
            if made == before {
                break;
            }
        }
        made
    }

    /// Makes an exchange, and undoes it if it is no improvement.
    fn tried(
        &mut self,
        flows: &[u32],
        make: impl Fn(&mut [u32]),
        unmake: impl Fn(&mut [u32]),
    ) -> bool {
        let old = self.add(flows, -1.0);
        make(&mut self.hosts);
        let new = self.add(flows, 1.0);
        // Sums of many numbers: an improvement within rounding is none.
        if old + new < -1e-9 * old.abs() {
            return true;
        }
        self.add(flows, -1.0);
        unmake(&mut self.hosts);
        self.add(flows, 1.0);
        false
    }
}
