//! The terminals that share jobs with each terminal.

use std::cmp::Reverse;

use darkfiber_fabric::{Fabric, Role, TerminalId};

/// Sources whose paths count: a switch and how many of its terminals, by rising switch.
pub(super) type Sources = Vec<(u32, u32)>;

/// The terminals that run jobs, and who sends to each. It depends on where jobs run, not on their order.
pub(super) struct JobPeers {
    /// Terminals in jobs, in the order of Algorithm 1: by falling size of the largest job.
    pub(super) running: Vec<u32>,
    /// Per terminal in a job the number of its sources in `lists`, else [`IDLE`].
    list: Vec<u32>,
    /// Sources of each job; then those of each terminal that runs several jobs.
    lists: Vec<Sources>,
}

/// A terminal that runs no job.
const IDLE: u32 = u32::MAX;

impl JobPeers {
    pub(super) fn new(fabric: &Fabric, jobs: &[Vec<TerminalId>]) -> Self {
        let mut list = vec![IDLE; fabric.terminal_count()];
        let mut largest = vec![0; fabric.terminal_count()];
        // Jobs of terminals that run several.
        let mut several: Vec<(u32, u32)> = Vec::new();
        for (j, job) in (0..).zip(jobs) {
            for t in job {
                let first = list[t.index()];
                if first == IDLE {
                    list[t.index()] = j;
                } else if first != j {
                    several.extend([(t.0, first), (t.0, j)]);
                }
                largest[t.index()] = job.len().max(largest[t.index()]);
            }
        }
        let mut lists: Vec<Sources> = jobs.iter().map(|job| sources(fabric, job.clone())).collect();
        several.sort_unstable();
        several.dedup();
        for own in several.chunk_by(|a, b| a.0 == b.0) {
            list[own[0].0 as usize] = lists.len() as u32;
            let job_peers = own.iter().flat_map(|&(_, j)| &jobs[j as usize]);
            lists.push(sources(fabric, job_peers.copied().collect()));
        }
        let mut running: Vec<u32> =
            (0..).zip(&list).filter(|(_, l)| **l != IDLE).map(|(t, _)| t).collect();
        running.sort_by_key(|&t| (Reverse(largest[t as usize]), t));
        Self { running, list, lists }
    }

    /// The sources of a terminal that runs a job; of those on its own switch, all.
    pub(super) fn sources(&self, t: u32) -> &[(u32, u32)] {
        &self.lists[self.list[t as usize] as usize]
    }

    /// Most sources that a terminal has on one switch.
    pub(super) fn most_on_a_switch(&self) -> u32 {
        self.lists.iter().flatten().map(|&(_, paths)| paths).max().unwrap_or(0)
    }

    /// Whether a terminal runs a job.
    pub(super) fn runs(&self, t: u32) -> bool {
        self.list[t as usize] != IDLE
    }

    /// Terminals without a job that all others send to, in the order of Algorithm 1: storage comes first.
    pub(super) fn idle_servers(&self, fabric: &Fabric) -> Vec<u32> {
        let role = |t: u32| fabric.terminals()[t as usize].role;
        let all = 0..fabric.terminal_count() as u32;
        let mut servers: Vec<u32> =
            all.filter(|&t| !self.runs(t) && role(t) != Role::Compute).collect();
        servers.sort_by_key(|&t| role(t) != Role::Storage);
        servers
    }
}

/// The switches of these terminals, each of which counts once.
fn sources(fabric: &Fabric, mut terminals: Vec<TerminalId>) -> Sources {
    terminals.sort_unstable();
    terminals.dedup();
    // Terminals of a switch are neighbours.
    let on = |t: &TerminalId| fabric.terminal(*t).switch;
    let chunks = terminals.chunk_by(|a, b| on(a) == on(b));
    chunks.map(|own| (on(&own[0]).0, own.len() as u32)).collect()
}
