//! Victims with aggressors on the paper's machines: section III-A.

use darkfiber_packetsim::{Congestion, Tuning, routing};
use darkfiber_scenario::Case;
use darkfiber_workload::collective::Library;
use darkfiber_workload::placement::allocator;

use crate::congest::{CellTimes, CongestPlan, Contender, Hosts, Mechanism, Rule, Split, run};
use crate::reproduce::{Context, machine};

/// Picoseconds of a millisecond.
pub(super) const MS: u64 = 1_000_000_000;

/// A machine, and its congestion control.
pub(super) struct System {
    pub(super) name: &'static str,
    pub(super) case: Case,
    mechanism: Mechanism,
}

impl System {
    /// Crystal: Aries, without congestion control except adaptive routing. Decision: packets of 512 B, not of 64 B as in Aries, of
    /// which eight times as many would be simulated.
    pub(super) fn crystal() -> Self {
        let case = machine::dragonfly("@crystal", ["aries", "aries"], 512);
        Self::new("Crystal", case, ["aries", "none"], Congestion::None)
    }

    /// A machine of Slingshot.
    pub(super) fn slingshot(name: &'static str, fabric: &str) -> Self {
        let case = machine::dragonfly(fabric, ["slingshot", "rosetta"], 4096);
        Self::new(name, case, ["slingshot", "pairs"], Congestion::Pairs)
    }

    /// This many nodes: of Crystal as a batch system may give them, drawn at random; the first ones of others.
    pub(super) fn nodes(&self, n: u32, context: &Context<'_>) -> Hosts {
        let found = if self.name == "Crystal" {
            Hosts::scattered(self.case.topology(), n, context.seed)
        } else {
            Hosts::first(self.case.topology(), n)
        };
        found.expect("there are this many")
    }

    /// The same with another scheme of congestion control.
    pub(super) fn with(mut self, name: &str, congestion: Congestion) -> Self {
        (self.mechanism.name, self.mechanism.congestion) = (name.to_owned(), congestion);
        self
    }

    fn new(
        name: &'static str,
        case: Case,
        [adaptive, scheme]: [&str; 2],
        congestion: Congestion,
    ) -> Self {
        Self {
            name,
            case,
            mechanism: Mechanism {
                name: scheme.to_owned(),
                congestion,
                tuning: Tuning::DEFAULT,
                routing: routing::kind(adaptive).expect("registered"),
                apart: false,
            },
        }
    }
}

/// The runs on a machine.
pub(super) struct Trial<'a> {
    pub(super) hosts: Hosts,
    pub(super) splits: &'a [(u32, u32)],
    pub(super) allocations: &'a [&'a str],
    pub(super) victims: &'a [&'a str],
    pub(super) aggressors: &'a [String],
    pub(super) per_node: u32,
    /// Iterations at least, and simulated time at most; applications are run ten times.
    pub(super) iterations: usize,
    pub(super) limit: u64,
}

/// A victim with an aggressor.
pub(super) struct Cell {
    pub(super) victim: usize,
    /// None where it cannot be run: odd numbers of nodes where powers of two are required.
    pub(super) ran: Option<CellTimes>,
}

impl Trial<'_> {
    /// Aggressors begin two milliseconds before victims.
    pub(super) fn run(&self, system: &System, context: &Context<'_>) -> Vec<Cell> {
        let known = "a registered traffic";
        let plan = CongestPlan {
            case: &system.case,
            hosts: self.hosts.clone(),
            victims: (self.victims.iter())
                .map(|v| Contender::victim(v, &system.case.host).expect(known))
                .collect(),
            aggressors: (self.aggressors.iter())
                .map(|a| Contender::aggressor(a).expect(known))
                .collect(),
            splits: (self.splits.iter())
                .map(|&(victim, aggressor)| Split { victim, aggressor })
                .collect(),
            allocations: (self.allocations.iter())
                .map(|a| allocator(a).expect("registered"))
                .collect(),
            mechanisms: vec![system.mechanism.clone()],
            per_node: self.per_node,
            library: Library::Mpich,
            rule: Rule {
                iterations: self.iterations,
                runs: 10,
                precision: 0.05,
                limit: self.limit,
            },
            warmup: 2 * MS,
            seed: context.seed,
        };
        let at = format!("{}, {} cells", system.name, plan.cells().len());
        run(&plan, None, &|_| (context.at)(&at))
            .into_iter()
            .map(|row| Cell { victim: row.cell.victim, ran: row.ran.ok() })
            .collect()
    }
}
