//! Plan of the runs: victims, aggressors, splits, allocations, mechanisms.

use std::fmt;
use std::sync::Arc;

use darkfiber_fabric::{Digest, TerminalId};
use darkfiber_packetsim::routing::RoutingKind;
use darkfiber_packetsim::{Congestion, Tuning};
use darkfiber_scenario::Case;
use darkfiber_workload::collective::Library;
use darkfiber_workload::placement::{Allocator, Free};
use darkfiber_workload::play::{Job, Repeat};
use darkfiber_workload::schedule::Program;
use darkfiber_workload::traffic::{Ranks, Timed, Traffic, TrafficError, kind, traffic};
use darkfiber_workload::{Machine, Stream};

use super::{Hosts, PlanError, Rule};

/// A job of a run: its name and its traffic.
#[derive(Clone)]
pub struct Contender {
    /// Name for users.
    pub name: String,
    /// A spec of the traffic registry.
    pub spec: String,
    /// Kind of its traffic.
    pub kind: &'static dyn Traffic,
}

/// Number of hosts of each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Hosts of the victim.
    pub victim: u32,
    /// Hosts of the aggressor.
    pub aggressor: u32,
}

/// Behind the name of a scheme: victim and aggressor have a traffic class each.
pub const APART: &str = "+classes";

/// Congestion control and routing of packets.
#[derive(Clone)]
pub struct Mechanism {
    /// Name for users: a name of the registry of schemes, and [`APART`] if classes are separate.
    pub name: String,
    /// Congestion control scheme.
    pub congestion: Congestion,
    /// Parameter values of the scheme.
    pub tuning: Tuning,
    /// Routing of packets.
    pub routing: &'static RoutingKind,
    /// Whether victim and aggressor have separate traffic classes, without guarantees and with equal shares.
    pub apart: bool,
}

/// All that is run.
pub struct CongestPlan<'a> {
    /// The fabric, its tables for routings that go by them, the host model, and switches and packets; each mechanism brings its own
    /// routing and congestion control.
    pub case: &'a Case,
    /// The participating hosts of the machine.
    pub hosts: Hosts,
    /// Jobs that are timed.
    pub victims: Vec<Contender>,
    /// Jobs that disturb the victims.
    pub aggressors: Vec<Contender>,
    /// Splits of the hosts between victim and aggressor.
    pub splits: Vec<Split>,
    /// Allocation of hosts: the victim first, the aggressor from the rest.
    pub allocations: Vec<&'static Allocator>,
    /// Mechanisms that are compared.
    pub mechanisms: Vec<Mechanism>,
    /// Number of copies of an aggressor that run on its hosts concurrently.
    pub per_node: u32,
    /// Library whose collectives are used.
    pub library: Library,
    /// Rule for the duration of a victim's measurement.
    pub rule: Rule,
    /// Time that aggressors run before the victim begins, in picoseconds.
    pub warmup: u64,
    /// Seed of all random choices of runs; tables are those of the case.
    pub seed: u64,
}

/// A run: a victim in isolation, or with an aggressor; all by their numbers in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// Index of the mechanism.
    pub mechanism: usize,
    /// Index of the allocation.
    pub allocation: usize,
    /// Index of the split.
    pub split: usize,
    /// Index of the victim.
    pub victim: usize,
    /// Index of the aggressor; none for the victim in isolation.
    pub aggressor: Option<usize>,
}

impl Contender {
    /// A part by its spec.
    ///
    /// # Errors
    /// If the kind is unknown.
    pub fn new(name: &str, spec: &str) -> Result<Self, TrafficError> {
        let of = spec.split(':').next().unwrap_or_default().trim();
        Ok(Self { name: name.to_owned(), spec: spec.to_owned(), kind: kind(of)? })
    }

    /// Its program for this many ranks, one a host.
    pub(super) fn program(
        &self,
        plan: &CongestPlan<'_>,
        ranks: u32,
    ) -> Result<Program, TrafficError> {
        let mut given = Ranks::new(ranks);
        (given.library, given.seed) = (plan.library, plan.seed);
        traffic(&self.spec, &given)
    }
}

impl fmt::Debug for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.spec)
    }
}

impl Split {
    /// This many percent of the hosts for the victim, at least two for each; the rest is the aggressor's.
    #[expect(clippy::cast_sign_loss, reason = "a share is not below zero")]
    pub fn percent(share: f64, hosts: u32) -> Self {
        let nearest = (f64::from(hosts) * share / 100.0).round() as u32;
        let victim = nearest.clamp(2, hosts.saturating_sub(2).max(2));
        Self { victim, aggressor: hosts.saturating_sub(victim) }
    }

    /// The aggressor's share of their hosts, in percent.
    pub fn aggressor_percent(&self) -> f64 {
        100.0 * f64::from(self.aggressor) / f64::from((self.victim + self.aggressor).max(1))
    }
}

/// The jobs that run in a cell.
pub(super) struct JobSet {
    /// The jobs, the victim first.
    pub(super) jobs: Vec<Job>,
    pub(super) timed: Timed,
    pub(super) ranks: u32,
}

impl CongestPlan<'_> {
    /// All runs: each victim in isolation once for all aggressors, then with each of them.
    pub fn cells(&self) -> Vec<Cell> {
        let mut all = Vec::new();
        for mechanism in 0..self.mechanisms.len() {
            for allocation in 0..self.allocations.len() {
                for split in 0..self.splits.len() {
                    for victim in 0..self.victims.len() {
                        let aggressors = (0..self.aggressors.len()).map(Some);
                        all.extend([None].into_iter().chain(aggressors).map(|aggressor| Cell {
                            mechanism,
                            allocation,
                            split,
                            victim,
                            aggressor,
                        }));
                    }
                }
            }
        }
        all
    }

    /// Checks everything in the plan that does not depend on the cell.
    ///
    /// # Errors
    /// If a split has more hosts than take part, or a spec is no traffic for any number of ranks.
    pub fn check(&self) -> Result<(), PlanError> {
        let hosts = self.hosts.len();
        for s in &self.splits {
            let Split { victim, aggressor } = *s;
            if u64::from(victim) + u64::from(aggressor) > hosts.into() {
                return Err(PlanError::Hosts(format!(
                    "{victim}/{aggressor} are more than the {hosts} hosts that take part"
                )));
            }
            if victim < 2 || aggressor < 2 {
                return Err(PlanError::Hosts(format!(
                    "{victim}/{aggressor}: a victim and an aggressor need two hosts each"
                )));
            }
        }
        for part in self.victims.iter().chain(&self.aggressors) {
            // A spec that fails for each of these numbers of ranks fails for all.
            let tried = [2, 4, 16, 64].map(|ranks| part.program(self, ranks).err());
            if let [Some(e), Some(_), Some(_), Some(_)] = tried {
                return Err(PlanError::Traffic(e));
            }
        }
        Ok(())
    }

    /// The hosts of the victim and of the aggressor in a cell: the same for any contender.
    fn hosts_of(&self, machine: &Machine, cell: &Cell) -> Result<Vec<Vec<u32>>, String> {
        let split = self.splits[cell.split];
        let allocator = self.allocations[cell.allocation];
        let mut is_free = self.hosts.all().to_vec();
        let mut hosts = Vec::new();
        for (i, n) in [split.victim, split.aggressor].into_iter().enumerate() {
            let free = Free { machine, is_free: &is_free };
            let draws = &mut Stream::new(self.seed, i as u64);
            let given = allocator
                .allocate(&free, n as usize, draws)
                .ok_or_else(|| format!("{} does not find {n} hosts", allocator.name))?;
            for &h in &given {
                is_free[h as usize] = false;
            }
            hosts.push(given);
        }
        Ok(hosts)
    }

    /// Everything that distinguishes a run from others of the same fabric, tables, switches and seed, as text. A victim in isolation
    /// does not depend on the aggressor.
    pub fn text(&self, cell: &Cell) -> String {
        let m = &self.mechanisms[cell.mechanism];
        let split = self.splits[cell.split];
        let mut which = Digest::default();
        self.hosts.all().iter().for_each(|&is_part| which.add(is_part.into()));
        let beside = cell.aggressor.map_or_else(String::new, |a| {
            let spec = &self.aggressors[a].spec;
            format!(", beside {} of {spec} on {}", self.per_node, split.aggressor)
        });
        format!(
            "{} by {} on {} of {} hosts {:016x} by {}, {}, classes apart: {}, {:?}, {} ps before, {}{beside}",
            self.victims[cell.victim].spec,
            self.library.name(),
            split.victim,
            self.hosts.len(),
            which.value(),
            self.allocations[cell.allocation].name,
            m.name,
            m.apart,
            self.rule,
            self.warmup,
            m.routing.name,
        )
    }

    /// The terminals of the victim's and of the aggressor's hosts in a cell, rising.
    ///
    /// # Errors
    /// If the allocator finds too few hosts.
    pub fn terminals_of(&self, cell: &Cell) -> Result<Vec<Vec<TerminalId>>, String> {
        let machine = Machine::new(self.case.topology(), 1);
        let terminals = |hosts: &Vec<u32>| {
            let mut all: Vec<TerminalId> =
                hosts.iter().flat_map(|&h| machine.terminals(h)).copied().collect();
            all.sort_unstable();
            all
        };
        Ok(self.hosts_of(&machine, cell)?.iter().map(terminals).collect())
    }

    /// The jobs of a cell: the victim first. It is repeated, or continues, for ever; so do aggressors.
    pub(super) fn cast(&self, cell: &Cell) -> Result<JobSet, String> {
        let split = self.splits[cell.split];
        let machine = Machine::new(self.case.topology(), 1);
        let hosts = self.hosts_of(&machine, cell)?;
        let seats = |hosts: &[u32], copy: usize| -> Vec<TerminalId> {
            let of = |&h: &u32| machine.terminals(h)[copy % machine.terminals(h).len()];
            hosts.iter().map(of).collect()
        };
        let victim = &self.victims[cell.victim];
        let timed = victim.kind.timed();
        let program = victim.program(self, split.victim).map_err(|e| e.to_string())?;
        let (program, repeat) = match timed {
            Timed::Requests => (endless(&program), Repeat::Once),
            Timed::Iterations | Timed::Runs => (program, Repeat::Until(u64::MAX)),
        };
        let start = self.warmup;
        let terminals = seats(&hosts[0], 0);
        let mut jobs = vec![Job { program: Arc::new(program), terminals, start, repeat }];
        if let Some(aggressor) = cell.aggressor {
            let program = self.aggressors[aggressor].program(self, split.aggressor);
            let program = Arc::new(endless(&program.map_err(|e| e.to_string())?));
            jobs.extend((0..self.per_node as usize).map(|copy| Job {
                program: Arc::clone(&program),
                terminals: seats(&hosts[1], copy),
                start: 0,
                repeat: Repeat::Once,
            }));
        }
        Ok(JobSet { jobs, timed, ranks: split.victim })
    }
}

/// A program again and again, in which no rank waits for others in between, longer than any simulation.
fn endless(program: &Program) -> Program {
    let mut all = Program::new(program.ranks());
    all.then_all(program, (1 << 50) / program.epochs().max(1));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_paper() {
        // De Sensi et al., section III-A: 460/52, 256/256 and 53/459 of 512 are about 90, 50 and 10 %.
        let of = |share| Split::percent(share, 512);
        assert_eq!(of(50.0), Split { victim: 256, aggressor: 256 });
        assert_eq!(of(90.0), Split { victim: 461, aggressor: 51 });
        assert_eq!(of(10.0), Split { victim: 51, aggressor: 461 });
        assert!((of(25.0).aggressor_percent() - 75.0).abs() < 1e-9);
        assert_eq!(Split::percent(1.0, 10), Split { victim: 2, aggressor: 8 });
        assert_eq!(Split::percent(99.0, 10), Split { victim: 8, aggressor: 2 });
    }
}
