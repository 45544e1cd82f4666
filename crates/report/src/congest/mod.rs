//! The result of `darkfiber congest`: the slowdown of victims by aggressors.

mod heat;
mod spread;
mod violin;

pub use heat::heat;
pub use spread::{Spread, spread};
pub use violin::violins;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use darkfiber_study::congest::TimesSummary;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::comma;
use crate::model::{FabricFacts, Provenance};
use crate::quantity::seconds;
use crate::style::Style;
use crate::table;

/// All of it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct CongestResult<'a> {
    /// What switches are like: a name of `darkfiber list switches`.
    pub switches: &'a str,
    /// Host overheads: a name of `darkfiber list hosts`.
    pub hosts: &'a str,
    /// Bytes of a packet at most.
    pub packet_bytes: u32,
    /// Hosts that take part.
    pub nodes: u32,
    /// Whether these were drawn at random instead of being the first ones.
    pub scattered: bool,
    /// How often an aggressor runs side by side on its hosts.
    pub aggressors_per_node: u32,
    /// When a victim has been timed for long enough.
    pub rule: RuleFacts,
    /// What victims do: spec by name.
    pub victims: &'a [NamedTraffic],
    /// What aggressors do.
    pub aggressors: &'a [NamedTraffic],
    /// A line for each mechanism and allocation.
    pub mechanisms: &'a [MechanismRow],
    /// Every victim beside every aggressor.
    pub cells: &'a [CellRow],
    /// Seconds that it took.
    pub wall_seconds: f64,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// A name and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct NamedTraffic {
    /// What users wrote.
    pub name: String,
    /// The spec of its traffic.
    pub traffic: String,
}

/// When a victim has been timed for long enough.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RuleFacts {
    /// Iterations or requests at least.
    pub iterations: usize,
    /// Runs of an application at least.
    pub runs: usize,
    /// How far both ends of the confidence interval of 95 % of the median are from it at most, in percent.
    pub precision_percent: f64,
    /// Simulated seconds after which it ends all the same.
    pub limit: f64,
    /// Simulated seconds that aggressors run before victims begin.
    pub warmup: f64,
}

/// What came of all cells of a mechanism and an allocation.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct MechanismRow {
    /// Congestion control.
    pub congestion: String,
    /// Where packets go.
    pub routing: String,
    /// Which hosts each gets.
    pub allocation: String,
    /// Cells with a congestion impact.
    pub cells: usize,
    /// Cells without.
    pub refused: usize,
    /// Cells that met the limit on simulated time first.
    pub at_limit: usize,
    /// Median of the congestion impacts; lower bounds count as they are.
    pub median: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// What the scheme costs a quiet machine: by how much longer a victim takes in isolation than without congestion control,
    /// with the same routing and hosts, at most; nothing where `none` is not among the schemes.
    pub quiet_cost: Option<f64>,
}

/// A victim beside an aggressor.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct CellRow {
    /// The victim.
    pub victim: String,
    /// The aggressor.
    pub aggressor: String,
    /// Congestion control.
    pub congestion: String,
    /// Where packets go.
    pub routing: String,
    /// Which hosts each gets.
    pub allocation: String,
    /// Hosts of the victim.
    pub victim_nodes: u32,
    /// Hosts of the aggressor.
    pub aggressor_nodes: u32,
    /// The aggressor's share of both, in percent.
    pub aggressor_percent: f64,
    /// What is timed: iterations, runs or requests.
    pub timed: &'static str,
    /// Congestion impact C: the mean time beside the aggressor, by that of the victim alone. Where nothing ended beside the
    /// aggressor before the limit, at least this.
    pub impact: Option<f64>,
    /// Whether it is a lower bound.
    pub is_bound: bool,
    /// The same of the times that 95 % do not exceed.
    pub p95_inflation: Option<f64>,
    /// The same of 99 %.
    pub p99_inflation: Option<f64>,
    /// The victim in isolation.
    pub isolated: Option<TimesSummary>,
    /// Beside the aggressor.
    pub congested: Option<TimesSummary>,
    /// Why there is no result.
    pub refused: Option<String>,
}

impl CellRow {
    /// Whether the limit on simulated time came first, with the aggressor or alone.
    pub fn is_at_limit(&self) -> bool {
        let open = |t: &Option<TimesSummary>| t.as_ref().is_some_and(|t| !t.settled);
        self.is_bound || open(&self.isolated) || open(&self.congested)
    }

    fn column(&self) -> (String, u32, u32) {
        (self.aggressor.clone(), self.victim_nodes, self.aggressor_nodes)
    }

    /// For people: two or three digits; `>` a lower bound, `*` at the limit.
    fn short(&self) -> String {
        let Some(c) = self.impact else { return "-".to_owned() };
        let bound = if self.is_bound { ">" } else { "" };
        let star = if self.is_at_limit() && !self.is_bound { "*" } else { "" };
        format!("{bound}{}{star}", number(c))
    }
}

/// A congestion impact for people.
fn number(c: f64) -> String {
    if c >= 99.95 {
        format!("{c:.0}")
    } else if c >= 9.995 {
        format!("{c:.1}")
    } else {
        format!("{c:.2}")
    }
}

/// Cells of one mechanism and allocation as a table: rows are victims, columns aggressors and splits, both in the order in which they
/// first appear.
struct Sheet<'a> {
    columns: Vec<(String, u32, u32)>,
    rows: Vec<(String, Vec<Option<&'a CellRow>>)>,
}

impl<'a> Sheet<'a> {
    fn of(r: &CongestResult<'a>, m: &MechanismRow) -> Self {
        let (mut columns, mut rows): (Vec<_>, Vec<(String, Vec<&CellRow>)>) =
            (Vec::new(), Vec::new());
        for cell in r.cells.iter().filter(|c| {
            (&c.congestion, &c.routing, &c.allocation) == (&m.congestion, &m.routing, &m.allocation)
        }) {
            columns.push(cell.column());
            match rows.iter_mut().find(|row| row.0 == cell.victim) {
                Some(row) => row.1.push(cell),
                None => rows.push((cell.victim.clone(), vec![cell])),
            }
        }
        // Aggressor by aggressor, the larger shares later.
        let order = |name: &str| r.aggressors.iter().position(|a| a.name == name);
        let shares = |c: &(String, u32, u32)| {
            r.cells.iter().position(|x| (x.victim_nodes, x.aggressor_nodes) == (c.1, c.2))
        };
        columns.sort_by_key(|c| (order(&c.0), shares(c)));
        columns.dedup();
        let rows = rows
            .into_iter()
            .map(|(name, cells)| {
                let at = |c: &(String, u32, u32)| cells.iter().find(|x| x.column() == *c).copied();
                let line = columns.iter().map(at).collect();
                (name, line)
            })
            .collect();
        Self { columns, rows }
    }
}

impl Sheet<'_> {
    /// Hosts of victims, each number once.
    fn sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = Vec::new();
        for (_, nodes, _) in &self.columns {
            if !sizes.contains(nodes) {
                sizes.push(*nodes);
            }
        }
        sizes
    }
}

impl Report for CongestResult<'_> {
    // For people.
    fn text(&self, style: Style) -> String {
        let mut text = format!(
            "{}\nswitches as {}, hosts {}, packets of {} B; C = time beside the aggressor / time alone, Ti\n",
            table::headline(self.fabric),
            self.switches,
            self.hosts,
            self.packet_bytes
        );
        let mut reasons = BTreeSet::new();
        let mut is_starred = false;
        for m in self.mechanisms {
            let sheet = Sheet::of(self, m);
            let _ok = writeln!(
                text,
                "\ncongestion {}, routing {}, {} allocation",
                m.congestion, m.routing, m.allocation
            );
            let mut heading = vec!["victim".to_owned()];
            heading.extend(sheet.sizes().iter().map(|nodes| format!("Ti {nodes}")));
            heading.extend(sheet.columns.iter().map(|(name, v, a)| format!("{name} {v}/{a}")));
            let line = |(name, cells): &(String, Vec<Option<&CellRow>>)| -> Vec<String> {
                let cell = |c: Option<&CellRow>| c.map_or_else(String::new, CellRow::short);
                let alone = |nodes: &u32| {
                    let of = cells.iter().flatten().find(|c| c.victim_nodes == *nodes);
                    of.and_then(|c| c.isolated.as_ref())
                        .map_or_else(String::new, |t| seconds(t.mean))
                };
                let alone: Vec<String> = sheet.sizes().iter().map(alone).collect();
                let line = [name.clone()].into_iter().chain(alone);
                line.chain(cells.iter().copied().map(cell)).collect()
            };
            let rows: Vec<Vec<String>> = sheet.rows.iter().map(line).collect();
            is_starred |=
                sheet.rows.iter().flat_map(|row| row.1.iter().flatten()).any(|c| c.is_at_limit());
            reasons.extend(sheet.rows.iter().flat_map(|row| row.1.iter().flatten()).filter_map(
                |c| {
                    c.refused.as_ref().map(|why| {
                        format!(
                            "{} on {} beside {} on {}: {why}",
                            c.victim, c.victim_nodes, c.aggressor, c.aggressor_nodes
                        )
                    })
                },
            ));
            let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
            let numbers: Vec<usize> = (1..heading.len()).collect();
            text.push_str(&table::plain(&heading, &rows, &numbers, style));
            if let (Some(median), Some(max)) = (m.median, m.max) {
                let _ok = write!(text, "median C {}, largest {}", number(median), number(max));
                if let Some(cost) = m.quiet_cost.filter(|_| m.congestion != "none") {
                    let _ok = write!(
                        text,
                        "; alone at most {:.1} % longer than without control",
                        (100.0 * cost).max(0.0)
                    );
                }
                text.push('\n');
            }
        }
        let services: Vec<&CellRow> =
            self.cells.iter().filter(|c| c.timed == "requests" && c.impact.is_some()).collect();
        if !services.is_empty() {
            text.push_str("\nrequests of services, alone and beside the aggressor\n");
            let rows: Vec<Vec<String>> = services.iter().map(|c| service(c)).collect();
            let heading =
                ["victim", "aggressor", "congestion", "p50", "", "p95", "", "x", "p99", "", "x"];
            text.push_str(&table::plain(&heading, &rows, &[3, 4, 5, 6, 7, 8, 9, 10], style));
        }
        if is_starred {
            let _ok = writeln!(
                text,
                "\n* after {} simulated the confidence interval was not narrow enough, or iterations too few; > none had ended",
                seconds(self.rule.limit)
            );
        }
        if !reasons.is_empty() {
            text.push_str("\n- not run:\n");
            for why in reasons {
                let _ok = writeln!(text, "  {why}");
            }
        }
        let _ok = writeln!(text, "\n{} cells in {}", self.cells.len(), seconds(self.wall_seconds));
        text
    }

    // A line for each cell.
    fn csv(&self) -> String {
        let told = |times: &Option<TimesSummary>, value: fn(&TimesSummary) -> String| {
            times.as_ref().map(value).unwrap_or_default()
        };
        comma::table(
            self.cells,
            &[
                ("victim", &|c| c.victim.clone()),
                ("aggressor", &|c| c.aggressor.clone()),
                ("congestion", &|c| c.congestion.clone()),
                ("routing", &|c| c.routing.clone()),
                ("allocation", &|c| c.allocation.clone()),
                ("victim_nodes", &|c| c.victim_nodes.to_string()),
                ("aggressor_nodes", &|c| c.aggressor_nodes.to_string()),
                ("aggressor_percent", &|c| c.aggressor_percent.to_string()),
                ("timed", &|c| c.timed.to_owned()),
                ("impact", &|c| comma::some(c.impact)),
                ("is_bound", &|c| c.is_bound.to_string()),
                ("p95_inflation", &|c| comma::some(c.p95_inflation)),
                ("p99_inflation", &|c| comma::some(c.p99_inflation)),
                ("isolated_iterations", &|c| told(&c.isolated, |t| t.iterations.to_string())),
                ("isolated_settled", &|c| told(&c.isolated, |t| t.settled.to_string())),
                ("isolated_mean", &|c| told(&c.isolated, |t| t.mean.to_string())),
                ("isolated_median", &|c| told(&c.isolated, |t| t.median.to_string())),
                ("isolated_p95", &|c| told(&c.isolated, |t| t.p95.to_string())),
                ("isolated_p99", &|c| told(&c.isolated, |t| t.p99.to_string())),
                ("congested_iterations", &|c| told(&c.congested, |t| t.iterations.to_string())),
                ("congested_settled", &|c| told(&c.congested, |t| t.settled.to_string())),
                ("congested_mean", &|c| told(&c.congested, |t| t.mean.to_string())),
                ("congested_median", &|c| told(&c.congested, |t| t.median.to_string())),
                ("congested_p95", &|c| told(&c.congested, |t| t.p95.to_string())),
                ("congested_p99", &|c| told(&c.congested, |t| t.p99.to_string())),
                ("refused", &|c| c.refused.clone().unwrap_or_default()),
            ],
        )
    }
}

fn service(c: &CellRow) -> Vec<String> {
    let mut row = vec![
        c.victim.clone(),
        format!("{} {}/{}", c.aggressor, c.victim_nodes, c.aggressor_nodes),
        format!("{}, {}, {}", c.congestion, c.routing, c.allocation),
    ];
    let time = |t: &Option<TimesSummary>, of: fn(&TimesSummary) -> f64| {
        t.as_ref().map_or_else(|| "-".to_owned(), |t| seconds(of(t)))
    };
    let times = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), number);
    let of: [fn(&TimesSummary) -> f64; 3] = [|t| t.median, |t| t.p95, |t| t.p99];
    for (of, inflation) in of.into_iter().zip([None, Some(c.p95_inflation), Some(c.p99_inflation)])
    {
        row.extend([time(&c.isolated, of), time(&c.congested, of)]);
        row.extend(inflation.map(times));
    }
    row
}
