//! Effects of traffic on channels: which are hot, whose traffic they carry, and which jobs are slowed down.
//!
//! The load of a path is that of its most loaded channel, and jobs are slowed down by the hottest channels that they
//! cross (Smith et al., "Mitigating Inter-Job Interference Using Adaptive Flow-Aware Routing", SC'18, section IV-B).
//!
//! Jobs differ in how long they send. So that a job of a second next to one of an hour does not wait an hour, each
//! counts at the rate at which it would send in isolation, and continues for as long as the others do.

use std::collections::BTreeMap;

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};
use darkfiber_routing::Routes;

/// Traffic from one terminal to another for one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// The job, by number.
    pub job: u32,
    /// Terminal that sends.
    pub from: TerminalId,
    /// Terminal that receives.
    pub to: TerminalId,
    /// Number of bytes.
    pub bytes: u64,
}

/// Bytes on all channels, by job. Where terminals have several LIDs, a flow takes the one that the routes state for its
/// source; or, where senders choose by size, those that messages of its size may take, in equal parts.
///
/// Channels are those of [`Fabric`]: switch to switch; then, by terminal, those to terminals and those from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// Bytes on each channel.
    pub load: Vec<u64>,
    /// Seconds that each channel needs for its bytes at its full speed.
    pub seconds: Vec<f64>,
    /// Flows without a route: they are on no channel.
    pub lost: usize,
    /// Flows whose terminals are on one host or one terminal: they use no channel.
    pub inside: usize,
    /// By channel between switches, how much longer it takes for the same than the fastest one.
    slowness: Vec<f64>,
    /// Number of channels between switches.
    between: usize,
    /// By job the channels that it uses, rising, and the bytes there.
    jobs: Vec<Vec<(u32, u64)>>,
    /// By job the seconds that its slowest channel needs for the job's own traffic.
    alone: Vec<f64>,
    /// Demand of all jobs for each channel, each at the rate at which it would send in isolation: 1 is its full
    /// capacity.
    pub wanted: Vec<f64>,
    /// By channel, the jobs that use it, rising, and their bytes.
    on: Vec<Vec<(u32, u64)>>,
}

/// Slowdown of a job by the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fate {
    /// Seconds that its slowest channel needs for the job's own traffic.
    pub alone: f64,
    /// Seconds that the slowest of its channels needs for the job's traffic and for that of the others meanwhile, each at
    /// the rate at which it would send in isolation; at least `alone`.
    pub together: f64,
    /// The slowest channel.
    pub at: Option<u32>,
    /// Other jobs there and their bytes, the most first.
    pub by: Vec<(u32, u64)>,
}

impl Fate {
    /// Time together over time alone, if it waits for its slowest channel: 1 without interference, 2 where it takes twice
    /// as long.
    pub fn slowdown(&self) -> f64 {
        if self.alone > 0.0 { self.together / self.alone } else { 1.0 }
    }
}

impl Heat {
    /// Counts the flows of this many jobs.
    ///
    /// Complexity: O(flows x hops).
    pub fn of(fabric: &Fabric, routes: &Routes, flows: &[Flow], jobs: usize) -> Self {
        let (m, t) = (fabric.channel_count(), fabric.terminal_count());
        let mut of_job: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); jobs];
        let (mut lost, mut inside) = (0, 0);
        let mut path = Vec::new();
        for f in flows.iter().filter(|f| f.bytes > 0) {
            if fabric.host_of(f.from) == fabric.host_of(f.to) {
                inside += 1;
                continue;
            }
            let of_job = &mut of_job[f.job as usize];
            for (number, bytes) in routes.parts(f.from, f.to, f.bytes) {
                path.clear();
                if !routes.flow_path(fabric, f.from, f.to, number, &mut path) {
                    lost += 1;
                    break;
                }
                path.push((m + f.to.index()) as u32);
                path.push((m + t + f.from.index()) as u32);
                for &c in &path {
                    *of_job.entry(c).or_default() += bytes;
                }
            }
        }
        let jobs: Vec<Vec<(u32, u64)>> =
            of_job.into_iter().map(|of| of.into_iter().collect()).collect();
        let mut on = vec![Vec::new(); m + 2 * t];
        let mut load = vec![0; m + 2 * t];
        for (j, of) in (0..).zip(&jobs) {
            for &(c, bytes) in of {
                on[c as usize].push((j, bytes));
                load[c as usize] += bytes;
            }
        }
        let speed = |c: usize| {
            let class = if c < m {
                fabric.class_of(ChannelId::new(c))
            } else {
                fabric.terminal_class(TerminalId::new((c - m) % t))
            };
            class.bytes_per_second.max(1) as f64
        };
        let seconds = (0..m + 2 * t).map(|c| load[c] as f64 / speed(c)).collect();
        let takes = |&(c, bytes): &(u32, u64)| bytes as f64 / speed(c as usize);
        let alone: Vec<f64> =
            jobs.iter().map(|of| of.iter().map(takes).fold(0.0, f64::max)).collect();
        let mut wanted = vec![0.0; m + 2 * t];
        for (of, &alone) in jobs.iter().zip(&alone) {
            for on in of {
                wanted[on.0 as usize] += takes(on) / alone;
            }
        }
        let fastest = (0..m).map(speed).fold(0.0, f64::max);
        let slowness = (0..m).map(|c| fastest / speed(c)).collect();
        Self { load, seconds, lost, inside, slowness, between: m, jobs, alone, wanted, on }
    }

    /// Jobs that were counted.
    pub fn job_count(&self) -> usize {
        self.jobs.len()
    }

    /// Bytes on each channel between switches.
    pub fn between_switches(&self) -> &[u64] {
        &self.load[..self.between]
    }

    /// By channel between switches, the bytes that the fastest one would carry in the time that it needs.
    pub fn fills(&self) -> impl Iterator<Item = f64> + '_ {
        self.load.iter().zip(&self.slowness).map(|(&load, slowness)| load as f64 * slowness)
    }

    /// The channels that a job uses, rising, and its bytes there.
    pub fn of_job(&self, job: usize) -> &[(u32, u64)] {
        &self.jobs[job]
    }

    /// The jobs on a channel and their bytes, the most first.
    pub fn on(&self, channel: u32) -> Vec<(u32, u64)> {
        let mut on = self.on[channel as usize].clone();
        on.sort_by_key(|&(job, bytes)| (std::cmp::Reverse(bytes), job));
        on
    }

    /// Slowdown of a job by the others.
    pub fn fate(&self, job: usize) -> Fate {
        let alone = self.alone[job];
        let mut fate = Fate { alone, together: alone, ..Fate::default() };
        let mut most = 0.0;
        for &(c, _) in &self.jobs[job] {
            let wanted = self.wanted[c as usize];
            if wanted > most {
                (most, fate.at) = (wanted, Some(c));
            }
        }
        fate.together = fate.together.max(alone * most);
        if let Some(at) = fate.at {
            fate.by = self.on(at);
            fate.by.retain(|&(j, _)| j as usize != job);
        }
        fate
    }
}

/// Traffic over some channels between switches, by destination, the most first.
///
/// Complexity: O(flows x hops).
pub fn destinations(
    fabric: &Fabric,
    routes: &Routes,
    flows: &[Flow],
    channels: &[ChannelId],
) -> Vec<Vec<(TerminalId, u64)>> {
    let mut place: Vec<Option<usize>> = vec![None; fabric.channel_count()];
    for (i, c) in channels.iter().enumerate() {
        place[c.index()] = Some(i);
    }
    let mut found: Vec<BTreeMap<TerminalId, u64>> = vec![BTreeMap::new(); channels.len()];
    let mut path = Vec::new();
    for f in flows.iter().filter(|f| f.bytes > 0 && fabric.host_of(f.from) != fabric.host_of(f.to))
    {
        for (number, bytes) in routes.parts(f.from, f.to, f.bytes) {
            path.clear();
            if routes.flow_path(fabric, f.from, f.to, number, &mut path) {
                for i in path.iter().filter_map(|&c| place[c as usize]) {
                    *found[i].entry(f.to).or_default() += bytes;
                }
            }
        }
    }
    let ordered = |found: BTreeMap<TerminalId, u64>| {
        let mut found: Vec<(TerminalId, u64)> = found.into_iter().collect();
        found.sort_by_key(|&(to, bytes)| (std::cmp::Reverse(bytes), to));
        found
    };
    found.into_iter().map(ordered).collect()
}
