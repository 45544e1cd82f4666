//! Estimation of the traffic of pairs from channel loads: network tomography.
//!
//! Counters of channels do not determine a traffic matrix. The estimate is the most likely one if every pair sends
//! independently (expectation maximisation for Poisson sums: Shepp, Vardi, "Maximum Likelihood Reconstruction for Emission
//! Tomography", 1982; Vardi, "Network Tomography", 1996), starting from a gravity model (a pair gets the traffic of its sender
//! in proportion to its receiver's share of all received traffic); and it comes with checks against it: how well the counters
//! are met, how well held-out counters are predicted, and how much of it a random start, which meets the counters as well,
//! assigns to other pairs.

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_routing::{DestId, Routes, follow};
use darkfiber_workload::Stream;
use rayon::prelude::*;

use crate::heat::Flow;

/// Pairs that may send to each other, and the channels that they would cross.
pub struct Pairs {
    /// Job, source and destination of each.
    ends: Vec<(u32, TerminalId, TerminalId)>,
    /// Start of the channels of each in `channels`.
    begin: Vec<usize>,
    channels: Vec<u32>,
    /// All channels of the fabric: switch to switch; then, by terminal, those to terminals and those from them.
    count: usize,
    terminals: usize,
    /// Pairs without a route.
    pub lost: usize,
}

/// An estimated traffic matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Traffic of pairs; those that send nothing are left out.
    pub flows: Vec<Flow>,
    /// Pairs that may send.
    pub pairs: usize,
    /// Channels whose counters are known and that any pair crosses.
    pub known: usize,
    /// Bytes by which the estimate misses the counters, over their sum.
    pub residual: f64,
    /// The same for a tenth of the channels between switches, estimated without their counters; `None` with fewer than ten.
    pub held_out: Option<f64>,
    /// Share of all bytes that are with other pairs if the start is random shares, most of them small, instead of gravity.
    /// Counters do not distinguish the two; the truth may be as far from either.
    pub undetermined: f64,
}

/// Seed of random beginnings: an estimate is the same every time.
const RANDOM_SEED: u64 = 1;
/// The largest of these are this many powers of e above the smallest.
const SPREAD: f64 = 10.0;
/// Rounds of estimating at most.
const ROUNDS: usize = 200;
/// After this many rounds one looks whether they still help,
const LOOK: usize = 20;
/// by this part of the counted bytes.
const ENOUGH: f64 = 1e-5;
/// Pairs in a row that one thread looks at.
const CHUNK: usize = 4096;

impl Pairs {
    /// All ordered pairs of the terminals of each job that are on different hosts.
    ///
    /// Memory: 12 bytes a pair, and 4 for each channel of its path.
    pub fn new(fabric: &Fabric, routes: &Routes, jobs: &[Vec<TerminalId>]) -> Self {
        let (m, t) = (fabric.channel_count(), fabric.terminal_count());
        let mut all = Self {
            ends: Vec::new(),
            begin: vec![0],
            channels: Vec::new(),
            count: m + 2 * t,
            terminals: t,
            lost: 0,
        };
        for (job, terminals) in (0..).zip(jobs) {
            for &from in terminals {
                for &to in
                    terminals.iter().filter(|to| fabric.host_of(**to) != fabric.host_of(from))
                {
                    let before = all.channels.len();
                    let ports =
                        routes.ports(routes.row(DestId::terminal(to), routes.path_of(from)));
                    let home = fabric.terminal(from).switch;
                    if !follow(fabric, ports, to, home, &mut all.channels) {
                        all.channels.truncate(before);
                        all.lost += 1;
                        continue;
                    }
                    all.channels.extend([(m + to.index()) as u32, (m + t + from.index()) as u32]);
                    all.begin.push(all.channels.len());
                    all.ends.push((job, from, to));
                }
            }
        }
        all
    }

    /// Number of pairs in the list.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn path(&self, pair: usize) -> &[u32] {
        &self.channels[self.begin[pair]..self.begin[pair + 1]]
    }

    /// Estimates the traffic of pairs from the bytes that channels carried; `carried` numbers channels as
    /// [`crate::heat::Heat`], `None` where it is not known.
    ///
    /// Complexity: O(rounds x pairs x hops), at most 200 rounds, three times.
    pub fn estimate(&self, carried: &[Option<u64>]) -> Estimate {
        let known: Vec<f64> =
            carried.iter().map(|c| c.map_or(f64::NAN, |bytes| bytes as f64)).collect();
        let gravity = self.gravity(&known);
        let found = self.maximise(&known, gravity.clone());
        let mut random = Stream::new(RANDOM_SEED, 0);
        let by_lot = |g: &f64| {
            let even = f64::from(random.below(1 << 20)) / f64::from(1 << 20);
            (1.0 + g) * (SPREAD * even).exp()
        };
        let other = self.maximise(&known, gravity.iter().map(by_lot).collect());
        let sum: f64 = found.iter().chain(&other).sum();
        let apart: f64 = found.iter().zip(&other).map(|(a, b)| (a - b).abs()).sum();
        let crossed = self.crossed();
        let is_used = |c: &usize| crossed[*c] && !known[*c].is_nan();
        let used: Vec<usize> = (0..self.count).filter(is_used).collect();
        let between = self.count - 2 * self.terminals;
        let held: Vec<usize> = used.iter().copied().filter(|c| *c < between).step_by(10).collect();
        let held_out = (held.len() > 1).then(|| {
            let mut fewer = known.clone();
            for &c in &held {
                fewer[c] = f64::NAN;
            }
            let without = self.maximise(&fewer, gravity);
            misses(&self.loads(&without), &known, &held)
        });
        #[expect(clippy::cast_sign_loss, reason = "nobody sends less than nothing")]
        let bytes = |x: f64| x.round() as u64;
        let flow = |((job, from, to), x): (&(u32, TerminalId, TerminalId), &f64)| Flow {
            job: *job,
            from: *from,
            to: *to,
            bytes: bytes(*x),
        };
        Estimate {
            flows: self.ends.iter().zip(&found).map(flow).filter(|f| f.bytes > 0).collect(),
            pairs: self.len(),
            known: used.len(),
            residual: misses(&self.loads(&found), &known, &used),
            held_out,
            undetermined: if sum > 0.0 { apart / sum } else { 0.0 },
        }
    }

    /// Whether any pair crosses each channel.
    fn crossed(&self) -> Vec<bool> {
        let mut crossed = vec![false; self.count];
        for &c in &self.channels {
            crossed[c as usize] = true;
        }
        crossed
    }

    /// Traffic of each pair by the adapters of its ends alone; equal shares where these are not known.
    fn gravity(&self, known: &[f64]) -> Vec<f64> {
        let between = self.count - 2 * self.terminals;
        let of = |c: usize| if known[c].is_nan() { 1.0 } else { known[c] };
        // By job, the bytes that its terminals receive in total.
        let jobs = self.ends.iter().map(|p| p.0 as usize + 1).max().unwrap_or(0);
        let mut received = vec![0.0; jobs];
        let mut last = vec![u32::MAX; self.terminals];
        for &(job, _, to) in &self.ends {
            if std::mem::replace(&mut last[to.index()], job) != job {
                received[job as usize] += of(between + to.index());
            }
        }
        let share = |&(job, from, to): &(u32, TerminalId, TerminalId)| {
            let sends = of(between + self.terminals + from.index());
            sends * of(between + to.index()) / f64::max(received[job as usize], 1.0)
        };
        self.ends.iter().map(share).collect()
    }

    /// The most likely amounts near those at the beginning.
    fn maximise(&self, known: &[f64], mut amounts: Vec<f64>) -> Vec<f64> {
        // No pair crosses a channel that carried nothing.
        for (pair, amount) in amounts.iter_mut().enumerate() {
            if self.path(pair).iter().any(|&c| known[c as usize] == 0.0) {
                *amount = 0.0;
            }
        }
        let counted: Vec<usize> = (0..self.count).filter(|&c| !known[c].is_nan()).collect();
        let mut far = f64::INFINITY;
        for round in 0..ROUNDS {
            let loads = self.loads(&amounts);
            if round % LOOK == 0 {
                let now = misses(&loads, known, &counted);
                if far - now < ENOUGH {
                    break;
                }
                far = now;
            }
            let ratio: Vec<f64> = (known.iter().zip(&loads))
                .map(|(k, l)| if k.is_nan() { f64::NAN } else { k / l.max(1e-9) })
                .collect();
            amounts.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, amounts)| {
                for (i, amount) in amounts.iter_mut().enumerate().filter(|(_, a)| **a > 0.0) {
                    let (mut sum, mut n) = (0.0, 0.0);
                    for &c in self.path(chunk * CHUNK + i) {
                        let ratio = ratio[c as usize];
                        if !ratio.is_nan() {
                            (sum, n) = (sum + ratio, n + 1.0);
                        }
                    }
                    if n > 0.0 {
                        *amount *= sum / n;
                    }
                }
            });
        }
        amounts
    }

    /// Loads of channels for this traffic of pairs; summed in the order of pairs, for any number of threads.
    fn loads(&self, amounts: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.count];
        for (pair, &amount) in amounts.iter().enumerate().filter(|(_, a)| **a > 0.0) {
            for &c in self.path(pair) {
                loads[c as usize] += amount;
            }
        }
        loads
    }
}

/// By how much loads miss counters on some channels, over their sum.
fn misses(loads: &[f64], known: &[f64], channels: &[usize]) -> f64 {
    let sum: f64 = channels.iter().map(|&c| known[c]).sum();
    let far: f64 = channels.iter().map(|&c| (loads[c] - known[c]).abs()).sum();
    if sum > 0.0 { far / sum } else { 0.0 }
}
