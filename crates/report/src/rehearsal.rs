//! The result of `darkfiber operate rehearse`: the effect of a configuration on the jobs of a log, day by day.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::comma;
use crate::model::{FabricFacts, Provenance};
use crate::number::counted;
use crate::style::Style;
use crate::table;

/// What a configuration would have done for the jobs of a log.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RehearsalResult<'a> {
    /// The log.
    pub log: &'a str,
    /// `observe` or `advise`.
    pub mode: &'a str,
    /// A row for each day from the first one on.
    pub days: &'a [RehearsedDay],
    /// All days together; `worst` is the highest.
    pub total: RehearsedDay,
    /// Seconds that the computation took.
    pub seconds: f64,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// A day of a log.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct RehearsedDay {
    /// Jobs that started.
    pub started: u64,
    /// Times that the tables were measured or better ones were looked for.
    pub looked: u64,
    /// Proposals, each put in place at once.
    pub changes: u64,
    /// Entries that they changed.
    pub entries: u64,
    /// Blocks of 64 LIDs that they changed.
    pub blocks: u64,
    /// Mean over proposals of the share by which the maximum effective EFI fell; `None` without proposals.
    pub mean_gain: Option<f64>,
    /// Candidates whose transition was not proved safe.
    pub refused: u64,
    /// Highest maximum effective EFI that was found before a change.
    pub worst: u64,
}

impl RehearsedDay {
    fn row(&self, name: String) -> Vec<String> {
        let mut row = vec![name];
        let counts = [self.started, self.looked, self.changes, self.entries, self.blocks];
        row.extend(counts.map(|n| n.to_string()));
        row.push(self.mean_gain.map_or_else(String::new, |g| format!("{:.1} %", 100.0 * g)));
        row.extend([self.refused.to_string(), self.worst.to_string()]);
        row
    }
}

impl Report for RehearsalResult<'_> {
    fn text(&self, style: Style) -> String {
        let mut text = format!("{}\n", table::headline(self.fabric));
        let days = counted(self.days.len(), "day", "days");
        let _ok = writeln!(text, "{}: {days} in mode {}\n", self.log, self.mode);
        let mut rows: Vec<Vec<String>> =
            (1..).zip(self.days).map(|(n, day): (u32, _)| day.row(n.to_string())).collect();
        rows.push(self.total.row("all".to_owned()));
        let heading = [
            "day",
            "started",
            "looked",
            "changes",
            "entries",
            "blocks",
            "mean gain",
            "refused",
            "highest",
        ];
        text.push_str(&table::plain(&heading, &rows, &[0, 1, 2, 3, 4, 5, 6, 7, 8], style));
        text.push_str(
            "\nlooked: times that better tables were looked for; highest: maximum effective EFI before a\n\
             change; gain: share by which it fell\n",
        );
        text
    }

    // A line for each day.
    fn csv(&self) -> String {
        let heading = [
            "day",
            "started",
            "looked",
            "changes",
            "entries",
            "blocks",
            "mean_gain",
            "refused",
            "highest",
        ];
        let mut lines = vec![heading.map(str::to_owned).to_vec()];
        lines.extend((1..).zip(self.days).map(|(n, day): (u32, _)| {
            let mut row = day.row(n.to_string());
            row[6] = day.mean_gain.map_or_else(String::new, |gain| gain.to_string());
            row
        }));
        comma::text(&lines)
    }
}
