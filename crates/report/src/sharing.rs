//! The result of `darkfiber jobs report`: channels that jobs share, and the effect of each engine.

use std::fmt::Write as _;

use darkfiber_analysis::ChannelName;
use darkfiber_analysis::jobs::EffectiveFacts;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::comma;
use crate::model::{FabricFacts, Provenance};
use crate::number::{counted, duration, group, mean, percent};
use crate::style::Style;
use crate::table;

/// All of it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SharingResult<'a> {
    /// The tables that are in use: their file, or the engine that made them.
    pub tables: &'a str,
    /// What they do to the jobs.
    pub now: EffectiveFacts,
    /// Jobs, those first that meet the fullest channel.
    pub jobs: &'a [JobRow],
    /// Channels that carry something, the fullest first.
    pub channels: &'a [ChannelRow],
    /// Cables that carry nothing in either direction, by one of these.
    pub dark_cables: &'a [ChannelName],
    /// What engines would make of it.
    pub engines: &'a [Change],
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// One job.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct JobRow {
    /// Its id, in the words of the batch system.
    pub id: String,
    /// Who owns it.
    pub user: Option<String>,
    /// Its terminals.
    pub terminals: usize,
    /// Switches that these hang on. Jobs on one use no channel.
    pub switches: usize,
    /// Channels that its routes cross.
    pub links: usize,
    /// Of these, those that other jobs cross, too.
    pub shared_links: usize,
    /// Most of its own routes over one channel.
    pub gamma_max: u32,
    /// Most routes of all jobs over a channel that it crosses.
    pub meets: u64,
    /// Where that is.
    pub at: Option<ChannelName>,
    /// Jobs it shares channels with, the most first.
    pub with: Vec<With>,
}

/// Another job on the same channels.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct With {
    /// Its id.
    pub id: String,
    /// Channels that both cross.
    pub links: usize,
}

/// One channel.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ChannelRow {
    /// Which.
    #[serde(flatten)]
    pub channel: ChannelName,
    /// Routes inside jobs that cross it.
    pub routes: u64,
    /// Whose, the most first.
    pub jobs: Vec<Share>,
}

/// What a job has of a channel.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Share {
    /// Its id.
    pub id: String,
    /// Its routes.
    pub routes: u32,
}

/// What an engine would change.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Change {
    /// The engine.
    pub engine: String,
    /// Why it refuses, if it does; then all else is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What its tables would do to the jobs.
    pub then: Option<EffectiveFacts>,
    /// Jobs that would meet fewer routes of all jobs on their fullest channel.
    pub better: usize,
    /// Jobs that would meet more.
    pub worse: usize,
    /// Entries of tables that would change.
    pub entries: usize,
    /// Blocks of 64 LIDs that would be sent, to all switches together.
    pub blocks: usize,
    /// Wall time of making the tables.
    pub seconds: Option<f64>,
}

impl Report for SharingResult<'_> {
    // For people: the current state, the fullest channels, the jobs, the effect of each engine. `most`: lines of each
    // list.
    fn text(&self, style: Style) -> String {
        let now = &self.now;
        let mut text = format!("{}\n", table::headline(self.fabric));
        let _ok = writeln!(
            text,
            "{}, {} on several switches; by {} {} of channels are dark, and the fullest carries {} routes inside jobs\n",
            counted(self.jobs.len(), "job", "jobs"),
            group(now.multi_switch_jobs as u64),
            self.tables,
            percent(now.effective_dark_fiber_percent),
            group(now.effective_efi.max),
        );
        let channels: Vec<Vec<String>> = self
            .channels
            .iter()
            .take(style.most())
            .map(|c| {
                let who: Vec<String> =
                    c.jobs.iter().take(4).map(|s| format!("{} ({})", s.id, s.routes)).collect();
                let more = if c.jobs.len() > 4 { ", ..." } else { "" };
                let jobs = format!("{}{more}", who.join(", "));
                vec![c.channel.to_string(), group(c.routes), c.jobs.len().to_string(), jobs]
            })
            .collect();
        if !channels.is_empty() {
            let heading = ["fullest channels", "routes", "jobs", "whose (routes)"];
            text.push_str(&table::plain(&heading, &channels, &[1, 2], style));
            table::more(&mut text, self.channels.len(), style.most(), "channels");
            text.push('\n');
        }
        let several = || self.jobs.iter().filter(|j| j.switches > 1);
        let jobs: Vec<Vec<String>> = several()
            .take(style.most())
            .map(|j| {
                let with: Vec<String> =
                    j.with.iter().take(3).map(|w| format!("{} ({})", w.id, w.links)).collect();
                let more = if j.with.len() > 3 { ", ..." } else { "" };
                vec![
                    j.id.clone(),
                    j.terminals.to_string(),
                    j.switches.to_string(),
                    j.links.to_string(),
                    j.shared_links.to_string(),
                    j.gamma_max.to_string(),
                    j.meets.to_string(),
                    format!("{}{more}", with.join(", ")),
                ]
            })
            .collect();
        if !jobs.is_empty() {
            let heading = [
                "job",
                "terminals",
                "switches",
                "links",
                "shared",
                "own max",
                "meets",
                "with (links)",
            ];
            text.push_str(&table::plain(&heading, &jobs, &[1, 2, 3, 4, 5, 6], style));
            table::more(&mut text, several().count(), style.most(), "jobs");
            text.push('\n');
        }
        let _ok = writeln!(
            text,
            "{} dark in both directions{}",
            counted(self.dark_cables.len(), "cable is", "cables are"),
            self.dark_cables.first().map_or(String::new(), |c| format!(", for example {c}"))
        );
        if !self.engines.is_empty() {
            text.push('\n');
            text.push_str(&engines(self, style));
        }
        text
    }

    // Channels, one a line, dark ones not among them.
    fn csv(&self) -> String {
        let whose = |row: &ChannelRow| -> Vec<String> {
            row.jobs.iter().map(|s| format!("{}:{}", s.id, s.routes)).collect()
        };
        comma::table(
            self.channels.iter().map(|row| (row, &row.channel)),
            &[
                ("from", &|(_, c)| c.from.clone()),
                ("from_guid", &|(_, c)| c.from_guid.0.to_string()),
                ("from_port", &|(_, c)| c.from_port.to_string()),
                ("to", &|(_, c)| c.to.clone()),
                ("to_guid", &|(_, c)| c.to_guid.0.to_string()),
                ("to_port", &|(_, c)| c.to_port.to_string()),
                ("routes", &|(row, _)| row.routes.to_string()),
                ("jobs", &|(row, _)| row.jobs.len().to_string()),
                ("whose", &|(row, _)| whose(row).join(" ")),
            ],
        )
    }
}

fn engines(result: &SharingResult<'_>, style: Style) -> String {
    let heading = [
        "tables",
        "fullest",
        "own max",
        "dark %",
        "links/job",
        "better",
        "worse",
        "entries",
        "blocks",
        "seconds",
    ];
    let row = |name: &str, facts: &EffectiveFacts, rest: [String; 5]| {
        let mut row = vec![
            name.to_owned(),
            group(facts.effective_efi.max),
            mean(facts.gamma_max_mean),
            mean(facts.effective_dark_fiber_percent),
            mean(facts.links_per_job_mean),
        ];
        row.extend(rest);
        row
    };
    let mut rows = vec![row("now", &result.now, std::array::from_fn(|_| String::new()))];
    let mut refused = String::new();
    for change in result.engines {
        match (&change.then, &change.refused) {
            (Some(then), _) => rows.push(row(
                &change.engine,
                then,
                [
                    change.better.to_string(),
                    change.worse.to_string(),
                    group(change.entries as u64),
                    group(change.blocks as u64),
                    change.seconds.map_or(String::new(), duration),
                ],
            )),
            (None, reason) => {
                let reason = reason.as_deref().unwrap_or_default();
                let _ok = writeln!(refused, "{}: {reason}", change.engine);
            }
        }
    }
    let mut text = table::plain(&heading, &rows, &[1, 2, 3, 4, 5, 6, 7, 8, 9], style);
    text.push_str(&refused);
    text
}
