//! The result of `darkfiber place`: hosts for a new job, and the predicted effect.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::comma;
use crate::model::{FabricFacts, Provenance};
use crate::number::{counted, duration};
use crate::quantity::{bytes, seconds};
use crate::style::Style;
use crate::table;

/// All of it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PlaceResult<'a> {
    /// What the traffic of the jobs that run is of.
    pub title: &'a str,
    /// The tables: their file, or the engine that made them.
    pub tables: &'a str,
    /// What the new job does.
    pub traffic: &'a str,
    /// Its ranks.
    pub ranks: u32,
    /// What it sends between hosts.
    pub bytes: u64,
    /// Jobs that run.
    pub jobs: usize,
    /// Hosts that none of them has.
    pub free: usize,
    /// Placements, that which is proposed last.
    pub placements: &'a [Placement],
    /// The number of the proposed one.
    pub proposed: usize,
    /// Its hosts, in the order of ranks.
    pub hosts: &'a [String],
    /// The same, short.
    pub hostlist: &'a str,
    /// Exchanges of hosts that led there.
    pub exchanges: usize,
    /// Seconds that the search took.
    pub seconds: f64,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// What a placement would do.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Placement {
    /// The allocator, or `proposed`.
    pub name: String,
    /// Seconds that the slowest channel of the job needs for what it sends itself.
    pub alone_seconds: f64,
    /// Seconds that the slowest of its channels needs for what the job sends and what the others send meanwhile, each at the
    /// rate at which it would send alone.
    pub together_seconds: f64,
    /// Time together over time alone: 2 for twice as long.
    pub slowdown: f64,
    /// How much longer the other job that loses most takes then than without the new one.
    pub others: f64,
    /// That job.
    pub loser: Option<String>,
    /// Bytes on the fullest channel between switches; where speeds differ, those that the fastest one would carry in its time.
    pub fullest: u64,
    /// Pairs of the job's terminals without a route: nothing that they send counts.
    pub lost: usize,
}

impl Report for PlaceResult<'_> {
    // For people.
    fn text(&self, style: Style) -> String {
        let mut text = format!("{}\n", table::headline(self.fabric));
        let _ok = writeln!(
            text,
            "{}: a job of {} sends {} on {}; {}, {} free, tables of {}\n",
            self.traffic,
            counted(self.ranks as usize, "rank", "ranks"),
            bytes(self.bytes as f64),
            counted(self.hosts.len(), "host", "hosts"),
            counted(self.jobs, "other job", "other jobs"),
            counted(self.free, "host", "hosts"),
            self.tables,
        );
        let longer = |x: f64| format!("{:.0} %", (100.0 * x).round() + 0.0);
        let rows: Vec<Vec<String>> = self
            .placements
            .iter()
            .map(|p| {
                vec![
                    p.name.clone(),
                    seconds(p.alone_seconds),
                    seconds(p.together_seconds),
                    format!("{:.2}", p.slowdown),
                    longer(p.others),
                    p.loser.clone().unwrap_or_default(),
                    bytes(p.fullest as f64),
                ]
            })
            .collect();
        let heading =
            ["placement", "alone", "together", "slowdown", "others lose", "who", "fullest channel"];
        text.push_str(&table::plain(&heading, &rows, &[1, 2, 3, 4, 6], style));
        for p in self.placements.iter().filter(|p| p.lost > 0) {
            let pairs = counted(p.lost, "pair of hosts has", "pairs of hosts have");
            let _ok = writeln!(text, "{}: {pairs} no route, and count as nothing", p.name);
        }
        let _ok = writeln!(
            text,
            "\nproposed: {}\n{} in {}; -o DIR writes hostfile and rankfile",
            self.hostlist,
            counted(self.exchanges, "exchange of hosts", "exchanges of hosts"),
            duration(self.seconds)
        );
        text
    }

    // A line for each placement.
    fn csv(&self) -> String {
        comma::table(
            self.placements,
            &[
                ("placement", &|p| p.name.clone()),
                ("alone_s", &|p| p.alone_seconds.to_string()),
                ("together_s", &|p| p.together_seconds.to_string()),
                ("slowdown", &|p| p.slowdown.to_string()),
                ("others", &|p| p.others.to_string()),
                ("loser", &|p| p.loser.clone().unwrap_or_default()),
                ("fullest", &|p| p.fullest.to_string()),
                ("lost", &|p| p.lost.to_string()),
            ],
        )
    }
}
