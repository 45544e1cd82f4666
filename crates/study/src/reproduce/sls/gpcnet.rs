//! Victims beside aggressors on the paper's machines: section III-A.

use darkfiber_packetsim::{Congestion, Tuning, routing};
use darkfiber_scenario::Case;
use darkfiber_workload::collective::Library;
use darkfiber_workload::placement::allocator;

use crate::congest::{CongestPlan, Contender, Hosts, Impact, Mechanism, Ran, Rule, Split, run};
use crate::reproduce::{Context, Table, machine};

/// Picoseconds of a millisecond.
pub(super) const MS: u64 = 1_000_000_000;
/// The paper's 90/10, 50/50 and 10/90 % of 512 nodes: of the victim, of the aggressor.
pub(super) const SPLITS: [(u32, u32); 3] = [(460, 52), (256, 256), (53, 459)];

/// A machine, and what it does about congestion.
pub(super) struct System {
    pub(super) name: &'static str,
    pub(super) case: Case,
    mechanism: Mechanism,
}

impl System {
    /// Crystal: Aries, nothing about congestion but adaptive routing. Decision: packets of 512 B, not of 64 B as Aries has them, of
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

/// What is run on a machine.
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

/// A victim beside an aggressor.
pub(super) struct Cell {
    pub(super) allocation: usize,
    pub(super) split: usize,
    pub(super) victim: usize,
    pub(super) aggressor: usize,
    /// Nothing where it cannot be run: odd numbers of nodes where powers of two are asked for.
    pub(super) impact: Option<Impact>,
    pub(super) ran: Option<Ran>,
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
            .filter_map(|row| {
                Some(Cell {
                    allocation: row.cell.allocation,
                    split: row.cell.split,
                    victim: row.cell.victim,
                    aggressor: row.cell.aggressor?,
                    impact: row.impact(),
                    ran: row.ran.ok(),
                })
            })
            .collect()
    }
}

/// What stands in a picture for an impact.
pub(super) fn text(impact: Option<Impact>) -> String {
    let Some(Impact { times, is_bound }) = impact else { return "-".to_owned() };
    let more = if is_bound { ">" } else { "" };
    if times >= 99.95 { format!("{more}{times:.0}") } else { format!("{more}{times:.2}") }
}

/// The largest impact of some cells, and the median.
pub(super) fn most<'a>(cells: impl Iterator<Item = &'a Cell>) -> (f64, f64) {
    let mut all: Vec<f64> = cells.filter_map(|c| c.impact).map(|i| i.times).collect();
    all.sort_unstable_by(f64::total_cmp);
    let middle = match all.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => all[n / 2],
        n => f64::midpoint(all[n / 2 - 1], all[n / 2]),
    };
    (all.last().copied().unwrap_or(f64::NAN), middle)
}

/// Cells as a table: victims, by the columns that a cell is in.
pub(super) fn table(
    title: String,
    victims: &[&str],
    columns: Vec<String>,
    cells: &[Cell],
    column: impl Fn(&Cell) -> Option<usize>,
) -> Table {
    let mut found = vec![None; victims.len() * columns.len()];
    for cell in cells {
        if let Some(c) = column(cell) {
            found[cell.victim * columns.len() + c] = cell.impact;
        }
    }
    Table {
        title,
        rows: victims.iter().map(|v| (*v).to_owned()).collect(),
        cells: found.iter().map(|i| i.map(|i| i.times)).collect(),
        texts: found.iter().map(|i| text(*i)).collect(),
        columns,
    }
}
