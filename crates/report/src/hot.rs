//! The result of `darkfiber hot`: hot channels, their traffic, the jobs slowed down, and the entries to change.

use std::fmt::Write as _;

use darkfiber_analysis::ChannelName;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::canvas::nice_axis;
use crate::comma;
use crate::heat::{Map, Panel, Unit, loads_and_maps};
use crate::model::{FabricFacts, Provenance};
use crate::number::{counted, duration, group, percent};
use crate::quantity::{bytes, seconds};
use crate::reroute::Verdict;
use crate::style::Style;
use crate::table;

/// All of it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct HotResult<'a> {
    /// What the traffic is of.
    pub title: &'a str,
    /// The tables: their file, or the engine that made them.
    pub tables: &'a str,
    /// Pairs of terminals that send anything to each other over the fabric.
    pub pairs: usize,
    /// What they send.
    pub bytes: u64,
    /// Pairs without a route; their traffic is on no channel.
    pub lost: usize,
    /// Where the traffic is from, if from port counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counted>,
    /// Channels that carry more, in bytes as on the fastest cable, are hot; `null` if none was given.
    pub max_load: Option<u64>,
    /// What channels between switches carry.
    pub now: Loads,
    /// The same after the moves.
    pub then: Loads,
    /// The channel of a host that needs longest: no table can do anything about it.
    pub fullest_adapter: Option<Adapter>,
    /// Hot channels, or all that carry anything, the hottest first.
    pub channels: &'a [HotChannel],
    /// Jobs, those that lose most first.
    pub jobs: &'a [JobFate],
    /// Entries to change, in this order.
    pub moves: &'a [MoveRow],
    /// The most that were asked for.
    #[serde(skip)]
    pub most_moves: usize,
    /// Hot channels that no other entry relieves.
    pub stuck: &'a [ChannelName],
    /// Entries that differ in the end, one for each LID.
    pub entries_changed: usize,
    /// Blocks of 64 LIDs to send.
    pub blocks_changed: usize,
    /// Whether switches may be updated one by one while traffic flows.
    pub coexistence: Verdict,
    /// Seconds to read loads and dependencies from the tables, and to find the moves.
    pub seconds_prepare: f64,
    /// See `seconds_prepare`.
    pub seconds_compute: f64,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// Port counters, and how well the traffic that was estimated from them meets them.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Counted {
    /// Ports with counters.
    pub ports: usize,
    /// Readings of them.
    pub readings: usize,
    /// Seconds from the first to the last, if the counters tell times.
    pub seconds: Option<f64>,
    /// Channels whose bytes are known and that any pair crosses.
    pub channels: usize,
    /// Pairs of terminals that may have sent: those of one job.
    pub pairs: usize,
    /// By how much the estimate misses the counters, over their sum.
    pub residual: f64,
    /// The same for channels between switches whose counters were held back.
    pub held_out: Option<f64>,
    /// Share of the bytes that counters leave open between pairs.
    pub undetermined: f64,
}

/// What channels between switches carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Loads {
    /// Bytes on the fullest, as time of one of the fastest kind.
    pub most: f64,
    /// Mean over all.
    pub mean: f64,
    /// Hot channels.
    pub hot: usize,
    /// Channels that carry nothing.
    pub idle: usize,
    /// Seconds that the slowest needs at its full speed.
    pub seconds: f64,
}

/// The channel between a host and its switch.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Adapter {
    /// Its terminal.
    pub terminal: String,
    /// Whether it sends over it, or receives.
    pub sends: bool,
    /// Bytes.
    pub bytes: u64,
    /// Seconds that these need at its full speed.
    pub seconds: f64,
}

/// A channel between switches.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct HotChannel {
    /// Which.
    #[serde(flatten)]
    pub channel: ChannelName,
    /// Bytes on it.
    pub bytes: u64,
    /// Seconds that these need at its full speed.
    pub seconds: f64,
    /// What its ports counted, where the traffic is estimated from that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_bytes: Option<u64>,
    /// Bytes after the moves.
    pub then_bytes: u64,
    /// Whose they are, the most first.
    pub jobs: Vec<Share>,
    /// Who gets them, the most first; only of the 50 channels that need the longest.
    pub destinations: Vec<Dest>,
}

/// What a job has of something.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Share {
    /// The job.
    pub job: String,
    /// Its bytes.
    pub bytes: u64,
}

/// What a terminal gets over a channel.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Dest {
    /// The terminal.
    pub terminal: String,
    /// Bytes.
    pub bytes: u64,
}

/// How a job fares.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct JobFate {
    /// The job.
    pub job: String,
    /// Its terminals.
    pub terminals: usize,
    /// Seconds that its slowest channel needs for what the job itself sends.
    pub alone_seconds: f64,
    /// Seconds that the slowest of its channels needs for what the job sends and what the others send meanwhile, each at the
    /// rate at which it would send alone.
    pub together_seconds: f64,
    /// Time together over time alone: 2 for twice as long.
    pub slowdown: f64,
    /// That channel.
    pub at: Option<String>,
    /// Who else is there, the most first.
    pub by: Vec<Share>,
    /// Seconds and slowdown after the moves, alone by the current tables.
    pub then_seconds: f64,
    /// See `then_seconds`.
    pub then_slowdown: f64,
}

/// A table entry to change.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct MoveRow {
    /// The switch.
    pub switch: String,
    /// Its GUID.
    pub guid: String,
    /// Terminals whose entry it is.
    pub destinations: Vec<String>,
    /// The LIDs of these entries.
    pub lids: Vec<u16>,
    /// Egress port now, and the switch behind it.
    pub old_port: u8,
    /// See `old_port`.
    pub old_to: String,
    /// Egress port then, and the switch behind it.
    pub new_port: u8,
    /// See `new_port`.
    pub new_to: String,
    /// Bytes that go another way.
    pub bytes: u64,
    /// The channel that this relieves.
    pub relieves: ChannelName,
    /// What that carried before.
    pub before: f64,
    /// Bytes on the fullest channel of all then.
    pub fullest: f64,
}

impl Report for HotResult<'_> {
    // Loads, hot channels, jobs, moves.
    fn text(&self, style: Style) -> String {
        let mut text = format!("{}\n", table::headline(self.fabric));
        let _ok = writeln!(
            text,
            "{}: {} between {} of terminals, by {}{}\n",
            self.title,
            bytes(self.bytes as f64),
            counted(self.pairs, "pair", "pairs"),
            self.tables,
            if self.lost > 0 {
                format!("; {} have no route", group(self.lost as u64))
            } else {
                String::new()
            },
        );
        if let Some(c) = &self.counters {
            counted_text(c, &mut text);
        }
        let row = |name: &str, l: &Loads| {
            let n = |x: usize| group(x as u64);
            let seconds = seconds(l.seconds);
            vec![name.to_owned(), bytes(l.most), bytes(l.mean), seconds, n(l.hot), n(l.idle)]
        };
        let mut rows = vec![row("now", &self.now)];
        if !self.moves.is_empty() {
            rows.push(row("then", &self.then));
        }
        let heading = ["channels", "fullest", "mean", "needs", "hot", "idle"];
        text.push_str(&table::plain(&heading, &rows, &[1, 2, 3, 4, 5], style));
        if let Some(a) = self.fullest_adapter.as_ref().filter(|a| a.seconds >= self.then.seconds) {
            let _ok = writeln!(
                text,
                "The adapter of {} needs {} to {}: no table makes that faster.",
                a.terminal,
                seconds(a.seconds),
                if a.sends { "send" } else { "receive" }
            );
        }
        text.push('\n');
        channels(self, style.most(), style, &mut text);
        jobs(self, style.most(), style, &mut text);
        moves(self, style.most(), style, &mut text);
        text
    }

    // Moves, one a line, in the order in which they were found.
    fn csv(&self) -> String {
        let moves = self
            .moves
            .iter()
            .flat_map(|m| m.lids.iter().zip(&m.destinations).map(move |(lid, to)| (m, lid, to)));
        comma::table(
            moves,
            &[
                ("switch", &|(m, ..)| m.switch.clone()),
                ("guid", &|(m, ..)| m.guid.clone()),
                ("lid", &|(_, lid, _)| lid.to_string()),
                ("destination", &|(.., to)| (*to).clone()),
                ("old_port", &|(m, ..)| m.old_port.to_string()),
                ("new_port", &|(m, ..)| m.new_port.to_string()),
                ("bytes", &|(m, ..)| m.bytes.to_string()),
                ("fullest_then", &|(m, ..)| m.fullest.to_string()),
            ],
        )
    }
}

/// Estimates with more uncertainty than this are marked as guesses.
const GUESSED: f64 = 0.3;

/// Description of the counters, and the reliability of the estimate.
fn counted_text(c: &Counted, text: &mut String) {
    let share = |x: f64| percent(100.0 * x);
    let time = c.seconds.map_or_else(String::new, |s| format!(" over {}", seconds(s)));
    let _ok = writeln!(
        text,
        "Estimated from {} of {}{time}: the traffic of {}. It misses the counters of {} by {}{}; {} of it or more might \
         be between other pairs.{}\n",
        counted(c.readings, "reading", "readings"),
        counted(c.ports, "port", "ports"),
        counted(c.pairs, "pair", "pairs"),
        counted(c.channels, "channel", "channels"),
        share(c.residual),
        c.held_out
            .map_or_else(String::new, |x| format!(", counters that are held back by {}", share(x))),
        share(c.undetermined),
        if c.undetermined > GUESSED {
            " Channels are sure; destinations, jobs that share them, and moves are guesses: records of what was sent \
             (--sent) tell."
        } else {
            ""
        },
    );
}

fn channels(r: &HotResult<'_>, most: usize, style: Style, text: &mut String) {
    let rows: Vec<Vec<String>> = r
        .channels
        .iter()
        .take(most)
        .map(|c| {
            let who = c.jobs.iter().map(|s| (s.job.as_str(), s.bytes));
            let whom = c.destinations.iter().map(|d| (d.terminal.as_str(), d.bytes));
            let counted = c.counted_bytes.map(|b| bytes(b as f64));
            let mut row = vec![c.channel.to_string()];
            row.extend(r.counters.map(|_| counted.unwrap_or_default()));
            row.extend([
                bytes(c.bytes as f64),
                bytes(c.then_bytes as f64),
                shares(who, c.bytes),
                shares(whom, c.bytes),
            ]);
            row
        })
        .collect();
    if !rows.is_empty() {
        let mut heading = vec!["hottest channels", "now", "then", "whose", "to whom"];
        let mut numbers = vec![1, 2];
        if r.counters.is_some() {
            heading.insert(1, "counted");
            numbers.push(3);
        }
        text.push_str(&table::plain(&heading, &rows, &numbers, style));
        table::more(text, r.channels.len(), most, "channels");
        text.push('\n');
    }
}

fn jobs(r: &HotResult<'_>, most: usize, style: Style, text: &mut String) {
    let rows: Vec<Vec<String>> = r
        .jobs
        .iter()
        .take(most)
        .map(|j| {
            let all: u64 = j.by.iter().map(|s| s.bytes).sum();
            // Of a job that no channel carries a byte of, nothing is known.
            let of = |text: String| if j.alone_seconds > 0.0 { text } else { "-".to_owned() };
            vec![
                j.job.clone(),
                of(seconds(j.alone_seconds)),
                of(seconds(j.together_seconds)),
                of(format!("{:.2}", j.slowdown)),
                of(format!("{:.2}", j.then_slowdown)),
                shares(j.by.iter().map(|s| (s.job.as_str(), s.bytes)), all),
                j.at.clone().unwrap_or_default(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let heading = ["job", "alone", "together", "slowdown", "then", "by (of others)", "at"];
        text.push_str(&table::plain(&heading, &rows, &[1, 2, 3, 4], style));
        table::more(text, r.jobs.len(), most, "jobs");
        text.push('\n');
    }
}

fn moves(r: &HotResult<'_>, most: usize, style: Style, text: &mut String) {
    let rows: Vec<Vec<String>> = r
        .moves
        .iter()
        .take(most)
        .map(|m| {
            let other = if m.destinations.len() > 1 { ", ..." } else { "" };
            let to = m.destinations.first().map_or("", String::as_str);
            vec![
                m.switch.clone(),
                format!("{to}{other}"),
                format!("{} ({})", m.old_port, m.old_to),
                format!("{} ({})", m.new_port, m.new_to),
                bytes(m.bytes as f64),
                bytes(m.before),
                bytes(m.fullest),
            ]
        })
        .collect();
    if rows.is_empty() {
        let _ok = writeln!(
            text,
            "no change: {}",
            if r.max_load.is_some() && r.now.hot == 0 {
                "no channel is hot"
            } else if r.most_moves == 0 {
                "none was asked for (--moves 0)"
            } else {
                "no other entry helps"
            }
        );
    } else {
        let heading =
            ["at switch", "send to", "not by port", "but by port", "bytes", "from", "fullest then"];
        text.push_str(&table::plain(&heading, &rows, &[4, 5, 6], style));
        table::more(text, r.moves.len(), most, "entries");
        let _ok = writeln!(
            text,
            "\n{} in {} of tables; {}. Found in {}, after {} of reading the tables.",
            counted(r.entries_changed, "entry", "entries"),
            counted(r.blocks_changed, "block", "blocks"),
            r.coexistence.reason,
            duration(r.seconds_compute),
            duration(r.seconds_prepare),
        );
    }
    if !r.stuck.is_empty() {
        let _ok = writeln!(
            text,
            "{} hot whatever is changed, for example {}",
            counted(r.stuck.len(), "channel stays", "channels stay"),
            r.stuck[0]
        );
    }
}

/// The first three of a list, in percent of all.
fn shares<'s>(all: impl Iterator<Item = (&'s str, u64)>, sum: u64) -> String {
    let mut all = all.peekable();
    let mut first: Vec<String> = Vec::new();
    while let Some((name, bytes)) = all.next_if(|_| first.len() < 3) {
        first.push(format!("{name} {}", percent(100.0 * bytes as f64 / sum.max(1) as f64)));
    }
    format!("{}{}", first.join(", "), if all.peek().is_some() { ", ..." } else { "" })
}

/// Channels by their bytes, and where they are, one panel for each set of tables.
pub fn picture(title: &str, subtitle: &str, map: &Map, panels: &[(&str, &[u64])]) -> String {
    const STEPS: u32 = 20;
    const UNITS: [(u64, &str, &str); 4] = [
        (1, "bytes on a channel, at most", "bytes"),
        (1_000, "kB on a channel, at most", "kB"),
        (1_000_000, "MB on a channel, at most", "MB"),
        (1_000_000_000, "GB on a channel, at most", "GB"),
    ];
    let most = panels.iter().flat_map(|p| p.1).copied().max().unwrap_or(0).max(1);
    let unit = UNITS.iter().rev().find(|u| most >= 10 * u.0).unwrap_or(&UNITS[0]);
    #[expect(clippy::cast_sign_loss, reason = "a step is positive")]
    let step = nice_axis(most as f64 / unit.0 as f64, STEPS).1.ceil().max(1.0) as u64;
    let of = |load: &[u64]| {
        let mut by_load = vec![0u64; (most.div_ceil(step * unit.0) + 1) as usize];
        for bytes in load {
            by_load[bytes.div_ceil(step * unit.0) as usize] += 1;
        }
        let heat: Vec<f64> = load.iter().map(|&b| b as f64 / unit.0 as f64).collect();
        (by_load, heat)
    };
    let drawn: Vec<(Vec<u64>, Vec<f64>)> = panels.iter().map(|p| of(p.1)).collect();
    let panels: Vec<Panel<'_>> = (panels.iter().zip(&drawn))
        .map(|(p, (by_load, heat))| Panel { title: p.0, by_load, heat })
        .collect();
    let unit = Unit { load: unit.1, step: step as usize, heat: unit.2 };
    loads_and_maps(title, subtitle, map, &panels, unit)
}
