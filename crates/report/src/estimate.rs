//! The result of `darkfiber simulate --estimate`: how long a run will take.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{FabricFacts, Provenance};
use crate::number::{duration, group};
use crate::quantity::bytes;
use crate::style::Style;
use crate::{Report, comma, table};

/// How long a run will take.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct EstimateResult<'a> {
    /// The scenario.
    pub title: &'a str,
    /// `flow`, `loggp` or `packet`.
    pub depth: String,
    /// Messages of one run of all jobs.
    pub messages: u64,
    /// Their payload.
    pub bytes: u64,
    /// Whether jobs are repeated until some time: these are the messages of one run of each, where the time is that of all runs.
    pub is_repeated: bool,
    /// Seconds for which the run was looked at.
    pub looked_seconds: f64,
    /// The share of it that was done then.
    pub done: f64,
    /// Seconds that all of it takes, if it goes on like that.
    pub wall_seconds: f64,
    /// Whether that is the most: what repeats itself may be multiplied later on.
    pub is_at_most: bool,
    /// Seconds that reading, routing and writing out the messages took before, which are no part of it.
    pub prepared_seconds: f64,
    /// Most memory so far, and of what is kept of the run; `null` where the system does not say it.
    pub memory_bytes: Option<u64>,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

impl Report for EstimateResult<'_> {
    fn text(&self, _: Style) -> String {
        let mut text = format!("{}\n", table::headline(self.fabric));
        let memory = self
            .memory_bytes
            .map_or(String::new(), |b| format!(" and {} of memory", bytes(b as f64)));
        let _infallible = writeln!(
            text,
            "{}: {} messages, {}{}, at depth {}\n{} {}{memory}: {:.1} % was done in {}, after {} of preparation",
            self.title,
            group(self.messages),
            bytes(self.bytes as f64),
            if self.is_repeated { " in one run of each job" } else { "" },
            self.depth,
            if self.is_at_most { "at most about" } else { "about" },
            duration(self.wall_seconds),
            100.0 * self.done,
            duration(self.looked_seconds),
            duration(self.prepared_seconds),
        );
        if self.is_at_most {
            text.push_str(
                "less if its iterations turn out to be alike: then they are multiplied\n",
            );
        }
        text
    }

    fn csv(&self) -> String {
        comma::table(
            std::slice::from_ref(self),
            &[
                ("title", &|r| r.title.to_owned()),
                ("depth", &|r| r.depth.clone()),
                ("messages", &|r| r.messages.to_string()),
                ("bytes", &|r| r.bytes.to_string()),
                ("is_repeated", &|r| r.is_repeated.to_string()),
                ("looked_seconds", &|r| r.looked_seconds.to_string()),
                ("done", &|r| r.done.to_string()),
                ("wall_seconds", &|r| r.wall_seconds.to_string()),
                ("is_at_most", &|r| r.is_at_most.to_string()),
                ("prepared_seconds", &|r| r.prepared_seconds.to_string()),
                ("memory_bytes", &|r| comma::some(r.memory_bytes)),
            ],
        )
    }
}
