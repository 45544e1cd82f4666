//! Channels that jobs share with each other.

use std::collections::BTreeMap;

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};
use darkfiber_routing::Routes;
use rayon::prelude::*;

use crate::jobs::{Effective, JobLoad};

/// The routes of all jobs over all switch-to-switch channels.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// Loads of each job.
    pub jobs: Vec<JobLoad>,
    /// Loads of all jobs together.
    pub all: Effective,
    /// By channel the jobs that cross it, rising, and with how many routes.
    on: Vec<Vec<(u32, u32)>>,
}

/// Sharing of channels between one job and the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfJob {
    /// Of the channels that it crosses, those that others cross, too.
    pub shared: usize,
    /// Of the channels that it crosses the one with the most routes of all jobs, the lowest of equal ones, and the
    /// number of these routes.
    pub fullest: Option<(ChannelId, u64)>,
    /// Jobs it shares channels with and how many of these there are, the most first.
    pub with: Vec<(u32, usize)>,
}

impl Sharing {
    /// Counts. Complexity: O(pairs inside jobs x hops).
    pub fn of(fabric: &Fabric, routes: &Routes, jobs: &[Vec<TerminalId>]) -> Self {
        let jobs: Vec<JobLoad> =
            jobs.par_iter().map(|job| JobLoad::of(fabric, routes, job)).collect();
        let mut all = Effective::new(fabric);
        let mut on = vec![Vec::new(); fabric.channel_count()];
        for (j, job) in (0..).zip(&jobs) {
            all.add(job, 1);
            for &(c, routes) in &job.load {
                on[c as usize].push((j, routes));
            }
        }
        Self { jobs, all, on }
    }

    /// The jobs that cross a channel, rising, and with how many routes.
    pub fn on(&self, c: ChannelId) -> &[(u32, u32)] {
        &self.on[c.index()]
    }

    /// Sharing of channels between a job and the others.
    pub fn of_job(&self, job: usize) -> OfJob {
        let mut found = OfJob::default();
        let mut with: BTreeMap<u32, usize> = BTreeMap::new();
        for &(c, _) in &self.jobs[job].load {
            let others = self.on[c as usize].iter().filter(|o| o.0 as usize != job);
            let mut alone = true;
            for (other, _) in others {
                *with.entry(*other).or_default() += 1;
                alone = false;
            }
            found.shared += usize::from(!alone);
            let load = self.all.load[c as usize];
            if found.fullest.is_none_or(|(_, most)| load > most) {
                found.fullest = Some((ChannelId(c), load));
            }
        }
        found.with = with.into_iter().collect();
        found.with.sort_by_key(|&(other, count)| (std::cmp::Reverse(count), other));
        found
    }

    /// Channels that no route inside a job crosses, in either direction of their cable: one of the two, the lower.
    pub fn dark_cables(&self, fabric: &Fabric) -> Vec<ChannelId> {
        (0..self.on.len())
            .map(ChannelId::new)
            .filter(|&c| {
                let back = fabric.reverse(c);
                c < back && self.all.load[c.index()] == 0 && self.all.load[back.index()] == 0
            })
            .collect()
    }
}
