//! Where a new job should sit: the free hosts, and the order of its ranks on them, with the least predicted interference.
//!
//! What a job suffers and does is decided on the fullest channels (Smith et al., "Mitigating Inter-Job Interference Using
//! Adaptive Flow-Aware Routing", SC'18, section IV-B). A placement is worth the sum over all channels of the fourth power of
//! the seconds that each needs for what all jobs send: full channels count most, and the less of them, the better. From a
//! placement that an allocator gives, hosts are exchanged with free ones and with each other as long as that sum falls.

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};
use darkfiber_routing::{DestId, Routes, follow};
use darkfiber_workload::Stream;

/// A job that is to be placed, on a machine.
pub struct Placing<'a> {
    /// The machine.
    pub fabric: &'a Fabric,
    /// Its tables.
    pub routes: &'a Routes,
    /// Terminals of each host that may be used, as many of each.
    pub hosts: &'a [Vec<TerminalId>],
    /// What the job sends: from seat to seat, in bytes. Seat `s` is adapter `s % a` of the host that has slot `s / a`, where
    /// hosts have `a` adapters.
    pub sent: &'a [(u32, u32, u64)],
    /// Seconds that channels need for what all others send, as [`crate::heat::Heat`] numbers them.
    pub others: &'a [f64],
}

/// A placement that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// By slot, the host that has it.
    pub hosts: Vec<u32>,
    /// The sum of fourth powers, before and after.
    pub before: f64,
    /// See `before`.
    pub after: f64,
    /// Exchanges that were made.
    pub exchanges: usize,
}

/// Free hosts that a slot is tried on in each round.
const FREE: usize = 12;
/// Other slots that it is exchanged with.
const OTHERS: usize = 6;
/// Rounds over all slots at most.
const ROUNDS: usize = 40;
/// Channels that are looked at, at most: a few seconds.
const WORK: usize = 400_000_000;

struct State<'a> {
    of: &'a Placing<'a>,
    /// Adapters of a host.
    adapters: usize,
    /// By slot, its flows: number in `sent`.
    touching: Vec<Vec<u32>>,
    /// By slot, its host.
    hosts: Vec<u32>,
    /// Seconds on each channel, all jobs.
    seconds: Vec<f64>,
    /// Seconds that a byte takes.
    per_byte: Vec<f64>,
    way: Vec<u32>,
    work: usize,
}

impl Placing<'_> {
    /// The best of what becomes of several placements; `None` of none.
    pub fn best(&self, begins: &[Vec<u32>], seed: u64) -> Option<Placed> {
        let found = begins.iter().map(|begin| self.improve(begin, seed));
        found.min_by(|a, b| a.after.total_cmp(&b.after))
    }

    /// Improves a placement; the seed draws what is tried.
    ///
    /// Complexity: O(rounds x slots x tries x flows of a slot x hops), at most some hundred million steps.
    ///
    /// # Panics
    /// If there are slots without a host, or hosts with different numbers of terminals.
    pub fn improve(&self, begin: &[u32], seed: u64) -> Placed {
        let adapters = self.hosts.first().map_or(1, Vec::len);
        assert!(self.hosts.iter().all(|h| h.len() == adapters), "as many adapters each");
        let (m, t) = (self.fabric.channel_count(), self.fabric.terminal_count());
        let per_byte = (0..m + 2 * t).map(|c| {
            let class = if c < m {
                self.fabric.class_of(ChannelId::new(c))
            } else {
                self.fabric.terminal_class(TerminalId::new((c - m) % t))
            };
            1.0 / class.bytes_per_second.max(1) as f64
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
            seconds: self.others.to_vec(),
            per_byte: per_byte.collect(),
            way: Vec::new(),
            work: 0,
        };
        let all: Vec<u32> = (0..self.sent.len() as u32).collect();
        state.add(&all, 1.0);
        let before = state.worth();
        let exchanges = state.search(seed);
        Placed { after: state.worth(), hosts: state.hosts, before, exchanges }
    }
}

impl State<'_> {
    fn worth(&self) -> f64 {
        self.seconds.iter().map(|s| s.powi(4)).sum()
    }

    fn terminal(&self, seat: u32) -> TerminalId {
        let seat = seat as usize;
        self.of.hosts[self.hosts[seat / self.adapters] as usize][seat % self.adapters]
    }

    /// Adds flows (or takes them away), and says by how much the sum of fourth powers grows.
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
            let ports = routes.ports(routes.row(DestId::terminal(to), routes.path_of(from)));
            let mut way = std::mem::take(&mut self.way);
            way.clear();
            follow(self.of.fabric, ports, to, self.of.fabric.terminal(from).switch, &mut way);
            way.extend([(m + to.index()) as u32, (m + t + from.index()) as u32]);
            self.work += way.len();
            for &c in &way {
                let seconds = &mut self.seconds[c as usize];
                let before = *seconds;
                // What is taken away was there: only rounding goes below nothing.
                *seconds = (before + sign * bytes as f64 * self.per_byte[c as usize]).max(0.0);
                grows += seconds.powi(4) - before.powi(4);
            }
            self.way = way;
        }
        grows
    }

    fn search(&mut self, seed: u64) -> usize {
        let mut lot = Stream::new(seed, 0x_706c_6163);
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
                    let i = lot.below(free.len() as u32) as usize;
                    let flows = self.touching[slot].clone();
                    let old = self.hosts[slot];
                    if self.tried(&flows, |hosts| hosts[slot] = free[i], |hosts| hosts[slot] = old)
                    {
                        free[i] = old;
                        made += 1;
                    }
                }
                for _ in 0..OTHERS.min(slots - 1) {
                    let other = lot.below(slots as u32) as usize;
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

    /// Makes an exchange, and takes it back if it is none for the better.
    fn tried(
        &mut self,
        flows: &[u32],
        make: impl Fn(&mut [u32]),
        unmake: impl Fn(&mut [u32]),
    ) -> bool {
        let old = self.add(flows, -1.0);
        make(&mut self.hosts);
        let new = self.add(flows, 1.0);
        // Sums of many numbers: what is better by rounding only is not better.
        if old + new < -1e-9 * old.abs() {
            return true;
        }
        self.add(flows, -1.0);
        unmake(&mut self.hosts);
        self.add(flows, 1.0);
        false
    }
}
