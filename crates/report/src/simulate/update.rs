//! Effect of an update of tables on the jobs that ran meanwhile.

use std::fmt::Write as _;

use darkfiber_packetsim::update::TransportCounts;
use darkfiber_scenario::{UpdateCase, UpdateOutcome};
use schemars::JsonSchema;
use serde::Serialize;

use crate::number::group;
use crate::quantity::{rate, seconds};
use crate::style::Style;
use crate::table;

/// What an update of tables did. Times are simulated seconds.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct UpdateFacts {
    /// How the tables were brought from one state to the next.
    pub how: String,
    /// The engine that made the new tables, or where they are from.
    pub to: String,
    /// When packets were found to wait for each other for ever, if they did: the run ended then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlock: Option<f64>,
    /// Buffers in that cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlock_buffers: Option<usize>,
    /// Whether the update came to its end while jobs ran.
    pub finished: bool,
    /// Whether it was abandoned before anything was written.
    pub aborted: bool,
    /// Whether tables were repaired for a cable that died, after the update or in its place.
    pub mended: bool,
    /// Packets of reliable connections.
    pub reliable: TransportFacts,
    /// Unreliable datagrams.
    pub datagrams: TransportFacts,
    /// Packets and acknowledgements lost on a dead cable, for want of a route, and in loops.
    pub lost_on_cable: u64,
    /// See `lost_on_cable`.
    pub lost_without_route: u64,
    /// See `lost_on_cable`.
    pub lost_in_loops: u64,
    /// Messages some of whose packets followed the old tables and others the new, where these differ.
    pub messages_met_both: u64,
    /// Packets that were sent again.
    pub sent_again: u64,
    /// Connections that were in error.
    pub broken: u64,
    /// Ends of connections, and how often one changed its path.
    pub ends: u64,
    /// See `ends`.
    pub migrations: u64,
    /// Blocks of tables that were written.
    pub blocks: u64,
    /// Hosts that did not answer.
    pub silent_hosts: u64,
    /// Bytes a second that arrived in order before, during and after the update.
    pub throughput: [f64; 3],
    /// By job, what its connections suffered.
    pub jobs: Vec<PauseFacts>,
    /// What was done when.
    pub phases: Vec<PhaseFacts>,
    /// Width of the intervals of `arrived`.
    pub interval: f64,
    /// Bytes that arrived in order, by interval.
    pub arrived: Vec<u64>,
}

/// Packets of one transport.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct TransportFacts {
    /// Packets that were sent.
    pub sent: u64,
    /// Packets that were lost.
    pub lost: u64,
    /// Packets that arrived after one that was sent later on the same connection.
    pub out_of_order: u64,
    /// Packets that followed an entry of the old tables and one of the new that differ.
    pub met_both: u64,
}

impl From<TransportCounts> for TransportFacts {
    fn from(c: TransportCounts) -> Self {
        Self { sent: c.sent, lost: c.lost, out_of_order: c.out_of_order, met_both: c.met_both }
    }
}

/// What the connections of a job suffered.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PauseFacts {
    /// The job.
    pub name: String,
    /// The longest that a connection with something to send was held because its path was changed.
    pub longest_pause: f64,
    /// All that its connections were held, together.
    pub held: f64,
    /// The longest that a connection with packets under way heard no acknowledgement.
    pub longest_silence: f64,
}

/// A part of an update.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PhaseFacts {
    /// What the manager does in it.
    pub name: String,
    /// When it began.
    pub begin: f64,
    /// When it ended.
    pub end: f64,
    /// Bytes a second that arrived in order in it.
    pub throughput: f64,
}

impl UpdateFacts {
    /// Of an update and what came of it, with the names of the jobs.
    pub fn of<'n>(
        case: &UpdateCase,
        found: &UpdateOutcome,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Self {
        let s = |ps: u64| ps as f64 * 1e-12;
        let pauses = found.jobs.iter().copied().chain(std::iter::repeat(<_>::default()));
        let jobs = names.into_iter().zip(pauses).map(|(name, job)| PauseFacts {
            name: name.to_owned(),
            longest_pause: s(job.longest),
            held: s(job.held),
            longest_silence: s(job.silence),
        });
        let phases = found.phases.iter().map(|p| PhaseFacts {
            name: p.name.clone(),
            begin: s(p.begin),
            end: s(p.end),
            throughput: if p.end > p.begin { p.bytes as f64 / s(p.end - p.begin) } else { 0.0 },
        });
        Self {
            how: case.how.to_string(),
            to: case.to_name.clone(),
            deadlock: found.deadlock.as_ref().map(|d| s(d.when)),
            deadlock_buffers: found.deadlock.as_ref().map(|d| d.cycle.len()),
            finished: found.finished,
            aborted: found.aborted,
            mended: found.mended,
            reliable: found.reliable.into(),
            datagrams: found.datagrams.into(),
            lost_on_cable: found.lost_on_cable,
            lost_without_route: found.lost_without_route,
            lost_in_loops: found.lost_in_loops,
            messages_met_both: found.messages_met_both,
            sent_again: found.sent_again,
            broken: found.broken,
            ends: found.ends,
            migrations: found.migrations,
            blocks: found.blocks,
            silent_hosts: found.silent_hosts,
            throughput: found.throughput(),
            jobs: jobs.collect(),
            phases: phases.collect(),
            interval: s(found.interval),
            arrived: found.arrived.clone(),
        }
    }

    /// The text for people.
    pub(super) fn text(&self, style: Style) -> String {
        let mut text = format!("\nUpdate of the tables to {}, {}: ", self.to, self.how);
        let came_of_it = match (self.deadlock, self.finished, self.aborted) {
            (Some(when), ..) => {
                let buffers = self.deadlock_buffers.unwrap_or(0);
                format!("DEADLOCK of {buffers} buffers, seen at {}", seconds(when))
            }
            (None, true, true) if self.mended => {
                "abandoned; the old tables are mended for what failed".to_owned()
            }
            (None, true, true) => "abandoned, the old tables stay".to_owned(),
            (None, true, false) => "done".to_owned(),
            (None, false, _) => "not done when the last job ended".to_owned(),
        };
        let _ok = writeln!(text, "{came_of_it}; {} blocks written\n", group(self.blocks));
        let row = |name: &str, t: &TransportFacts| {
            let counts = [t.sent, t.lost, t.out_of_order, t.met_both];
            std::iter::once(name.to_owned()).chain(counts.map(group)).collect::<Vec<_>>()
        };
        let mut rows = vec![row("connections", &self.reliable)];
        if self.datagrams.sent > 0 {
            rows.push(row("datagrams", &self.datagrams));
        }
        let heading = ["packets", "sent", "lost", "out of order", "met both tables"];
        text.push_str(&table::plain(&heading, &rows, &[1, 2, 3, 4], style));
        let _ok = writeln!(
            text,
            "\n{} packets sent again, {} messages met both tables; {} ends of connections changed their paths {} times",
            group(self.sent_again),
            group(self.messages_met_both),
            group(self.ends),
            group(self.migrations)
        );
        let causes = [
            (self.lost_on_cable, "on a dead cable"),
            (self.lost_without_route, "without a route"),
            (self.lost_in_loops, "in a loop"),
        ];
        let causes: Vec<String> = causes
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, why)| format!("{} {why}", group(*count)))
            .collect();
        if !causes.is_empty() {
            let _ok = writeln!(text, "lost: {}", causes.join(", "));
        }
        if self.broken > 0 {
            let _ok = writeln!(text, "{} connections in error", group(self.broken));
        }
        if self.silent_hosts > 0 {
            let _ok = writeln!(text, "{} hosts did not answer", group(self.silent_hosts));
        }
        text.push('\n');
        let rows: Vec<Vec<String>> = self
            .phases
            .iter()
            .map(|p| {
                vec![p.name.clone(), seconds(p.begin), seconds(p.end - p.begin), rate(p.throughput)]
            })
            .collect();
        let heading = ["phase", "begin", "took", "throughput"];
        text.push_str(&table::plain(&heading, &rows, &[1, 2, 3], style));
        text.push('\n');
        let rows: Vec<Vec<String>> = self
            .jobs
            .iter()
            .map(|j| {
                let times = [j.longest_pause, j.held, j.longest_silence].map(seconds);
                std::iter::once(j.name.clone()).chain(times).collect()
            })
            .collect();
        let heading = ["job", "longest pause", "held in all", "longest silence"];
        text.push_str(&table::plain(&heading, &rows, &[1, 2, 3], style));
        text
    }
}
