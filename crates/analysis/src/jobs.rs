//! Channel loads of the traffic inside jobs.
//!
//! Domke, Hoefler, "Scheduling-Aware Routing for Supercomputers", SC'16, section 4: only routes between terminals of
//! one job count. Jobs whose terminals are on one switch use no channel between switches; means over jobs are over
//! those on two switches or more, as in the paper's Table 1.

use std::collections::BTreeMap;

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Routes, follow};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Efi, dark_fiber_percent};

/// Channel loads of one job's routes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobLoad {
    /// Switches that its terminals hang on.
    pub switches: usize,
    /// Routes between its terminals over each channel that has any, by rising channel.
    pub load: Vec<(u32, u32)>,
    /// Ordered pairs without a route.
    pub lost: u64,
}

impl JobLoad {
    /// Counts the routes between all ordered pairs of a job's terminals, each of which is listed once.
    ///
    /// Complexity: O(terminals x switches of the job x hops + channels).
    pub fn of(fabric: &Fabric, routes: &Routes, job: &[TerminalId]) -> Self {
        // Sources that enter at one switch and use one LID of each destination take the same path.
        let mut sources: BTreeMap<(SwitchId, usize), u32> = BTreeMap::new();
        for &t in job {
            *sources.entry((fabric.terminal(t).switch, routes.path_of(t))).or_default() += 1;
        }
        let mut switches: Vec<SwitchId> = sources.keys().map(|(s, _)| *s).collect();
        switches.dedup();
        let mut found = Self { switches: switches.len(), ..Self::default() };
        if switches.len() < 2 {
            return found;
        }
        let mut load = vec![0u32; fabric.channel_count()];
        let mut touched = Vec::new();
        let mut crossed = Vec::new();
        for &dest in job {
            let home = fabric.terminal(dest).switch;
            for (&(switch, path), &count) in sources.iter().filter(|((s, _), _)| *s != home) {
                crossed.clear();
                let ports = routes.ports(routes.row(DestId::terminal(dest), path));
                if follow(fabric, ports, dest, switch, &mut crossed) {
                    for &c in &crossed {
                        if load[c as usize] == 0 {
                            touched.push(c);
                        }
                        load[c as usize] += count;
                    }
                } else {
                    found.lost += u64::from(count);
                }
            }
        }
        touched.sort_unstable();
        found.load = touched.into_iter().map(|c| (c, load[c as usize])).collect();
        found
    }

    /// Whether it has terminals on two switches or more.
    pub fn is_multi_switch(&self) -> bool {
        self.switches > 1
    }

    /// `γ_max(j)`: maximum number of the job's own routes over one channel.
    pub fn max(&self) -> u32 {
        self.load.iter().map(|l| l.1).max().unwrap_or(0)
    }

    /// Channels that any of its routes crosses.
    pub fn links(&self) -> usize {
        self.load.len()
    }
}

/// Channel loads of all jobs together.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// `γ^e(c)`: routes inside jobs over each switch-to-switch channel (Definition 7); a pair in two jobs counts
    /// twice.
    pub load: Vec<u64>,
    jobs: usize,
    max_sum: u64,
    links_sum: u64,
}

/// The numbers of the paper's Table 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct EffectiveFacts {
    /// Routes inside jobs over each directed switch-to-switch channel (effective edge forwarding index).
    pub effective_efi: Efi,
    /// Mean over multi-switch jobs of the most of its own routes on a channel.
    pub gamma_max_mean: f64,
    /// Share of channels that no route inside a job crosses (Definition 8).
    pub effective_dark_fiber_percent: f64,
    /// Mean over multi-switch jobs of the channels that its routes cross.
    pub links_per_job_mean: f64,
    /// Jobs on two switches or more.
    pub multi_switch_jobs: usize,
}

impl Effective {
    /// Loads without any job.
    pub fn new(fabric: &Fabric) -> Self {
        Self { load: vec![0; fabric.channel_count()], jobs: 0, max_sum: 0, links_sum: 0 }
    }

    /// All of these jobs.
    pub fn of(fabric: &Fabric, routes: &Routes, jobs: &[Vec<TerminalId>]) -> Self {
        let loads: Vec<JobLoad> =
            jobs.par_iter().map(|job| JobLoad::of(fabric, routes, job)).collect();
        let mut all = Self::new(fabric);
        for load in &loads {
            all.add(load, 1);
        }
        all
    }

    /// This many jobs like this begin.
    pub fn add(&mut self, job: &JobLoad, times: u32) {
        if job.is_multi_switch() {
            self.jobs += times as usize;
            self.max_sum += u64::from(job.max()) * u64::from(times);
            self.links_sum += job.links() as u64 * u64::from(times);
            for &(c, n) in &job.load {
                self.load[c as usize] += u64::from(n) * u64::from(times);
            }
        }
    }

    /// The numbers of the paper's Table 1.
    pub fn facts(&self) -> EffectiveFacts {
        let mean = |sum: u64| if self.jobs == 0 { 0.0 } else { sum as f64 / self.jobs as f64 };
        EffectiveFacts {
            effective_efi: Efi::of(&self.load),
            gamma_max_mean: mean(self.max_sum),
            effective_dark_fiber_percent: dark_fiber_percent(&self.load),
            links_per_job_mean: mean(self.links_sum),
            multi_switch_jobs: self.jobs,
        }
    }
}
