//! The result of `darkfiber simulate`.

mod busy;
mod matrix;
mod pfc;
mod time;
mod update;

pub use busy::busy;
pub use matrix::{Matrix, matrices};
pub use pfc::{PausedChannel, PfcFacts};
pub use time::{Line, Lines, timeline};
pub use update::{PauseFacts, PhaseFacts, TransportFacts, UpdateFacts};

use std::fmt::Write as _;

use darkfiber_analysis::ChannelName;
use darkfiber_packetsim::Measured;
use darkfiber_scenario::{Depth, Effort, Job, Pair, Simulated};
use darkfiber_workload::histogram;
use darkfiber_workload::play::{Repeat, SECOND};
use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::comma;
use crate::model::{FabricFacts, Provenance};
use crate::number::{counted, group, percent};
use crate::quantity::{bytes, rate, seconds};
use crate::style::Style;
use crate::table;

/// All of it. Times are simulated seconds.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SimulateResult<'a> {
    /// What the scenario is called.
    pub title: &'a str,
    /// How deep it was looked at.
    pub depth: Depth,
    /// The engine that made the tables, or where they are from.
    pub routes: &'a str,
    /// What the engine had to give up.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub notes: &'a [String],
    /// Virtual layers of the routes.
    pub layers: usize,
    /// Host overheads.
    pub hosts: &'a str,
    /// At the depth of packets, what switches are like and where packets go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_model: Option<&'a PacketModel>,
    /// When the last job ended.
    pub seconds: f64,
    /// Jobs, as the scenario numbers them.
    pub jobs: &'a [JobRow],
    /// What jobs that are counted together sent, by the name of their class.
    #[serde(skip_serializing_if = "<[ClassRow]>::is_empty")]
    pub classes: &'a [ClassRow],
    /// What went over channels between switches.
    pub channels: ChannelFacts,
    /// The channels that carried most, for the time that anything ran.
    pub fullest: &'a [Carried],
    /// With priority flow control, who was paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pauses: Option<PfcFacts>,
    /// What an update of tables did, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<&'a UpdateFacts>,
    /// What it took, in the units of its depth.
    pub effort: Effort,
    /// Wall time of the simulation.
    pub wall_seconds: f64,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// A job.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct JobRow {
    /// Its name.
    pub name: String,
    /// Its ranks.
    pub ranks: u32,
    /// The hosts that they are on.
    pub nodes: usize,
    /// When it first began.
    pub begin: f64,
    /// When its last run ended.
    pub end: f64,
    /// Runs that came to their end.
    pub runs: usize,
    /// Of these, runs that ended before the time until which it is repeated.
    pub runs_in_time: usize,
    /// Mean time of a run.
    pub run_mean: f64,
    /// Time of a run with no other job there, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_isolated: Option<f64>,
    /// Time of the mean run over that in isolation: 2 for twice as long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<f64>,
    /// Shortest run.
    pub run_min: f64,
    /// Longest run.
    pub run_max: f64,
    /// Messages of all runs.
    #[serde(flatten)]
    pub sent: MessageFacts,
    /// Mean over pairs of ranks of the bandwidth of their messages, in bytes a second, without pairs whose messages were empty
    /// or took no time (on one host); `null` for jobs of more than 4,096 ranks with more than 128 pairs a rank, whose pairs are not kept.
    pub pair_bandwidth: Option<f64>,
    /// At the depth of packets, what became of its packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketFacts>,
}

impl JobRow {
    /// Job `j` of a run; `alone` is what one run of it takes in isolation, in picoseconds.
    pub fn of(job: &Job, simulated: &Simulated, alone: Option<u64>, j: usize) -> Self {
        let (runs, pairs) = (&simulated.runs[j], &simulated.pairs[j]);
        let s = |ps: u64| ps as f64 / SECOND as f64;
        let times: Vec<f64> = runs.iter().map(|r| s(r.end - r.begin)).collect();
        let until = match job.play.repeat {
            Repeat::Once => u64::MAX,
            Repeat::Until(until) => until,
        };
        let run_mean = times.iter().fold(0.0, |sum, t| sum + t) / times.len().max(1) as f64;
        let run_isolated = alone.map(s);
        Self {
            name: job.name.clone(),
            ranks: job.play.program.ranks(),
            nodes: job.hosts.len(),
            begin: runs.first().map_or(0.0, |r| s(r.begin)),
            end: runs.last().map_or(0.0, |r| s(r.end)),
            runs: runs.len(),
            runs_in_time: runs.iter().filter(|r| r.end <= until).count(),
            run_mean,
            run_isolated,
            slowdown: run_isolated.filter(|&alone| alone > 0.0).map(|alone| run_mean / alone),
            run_min: times.iter().copied().reduce(f64::min).unwrap_or(0.0),
            run_max: times.iter().copied().fold(0.0, f64::max),
            sent: MessageFacts::of(&pairs.total, pairs.time, &pairs.times),
            pair_bandwidth: pairs.mean_bandwidth(),
            packets: simulated.packets.get(j).map(PacketFacts::of),
        }
    }
}

/// Messages.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct MessageFacts {
    /// How many.
    pub messages: u64,
    /// Their payload.
    pub bytes: u64,
    /// Mean time of a message, from the sender's adapter to its last byte.
    pub message_mean: f64,
    /// Half of the messages took at most this, to three digits.
    pub message_p50: f64,
    /// 95 % did.
    pub message_p95: f64,
    /// 99 % did.
    pub message_p99: f64,
    /// 99.9 % did.
    pub message_p999: f64,
    /// Longest time of a message.
    pub message_max: f64,
}

impl MessageFacts {
    /// Of their sums, their time in picoseconds, and how long they took, in nanoseconds.
    pub fn of(total: &Pair, time: u128, times: &Histogram<u64>) -> Self {
        let longest = total.longest as f64 * 1e-12;
        let at = |q: f64| histogram::quantile(times, q, 1e-9, longest);
        Self {
            messages: total.messages,
            bytes: total.bytes,
            message_mean: time as f64 * 1e-12 / total.messages.max(1) as f64,
            message_p50: at(0.5),
            message_p95: at(0.95),
            message_p99: at(0.99),
            message_p999: at(0.999),
            message_max: longest,
        }
    }
}

/// Messages of a class, of whichever jobs. Times as of jobs.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ClassRow {
    /// What the class is called.
    pub name: String,
    /// Jobs that have messages of it.
    pub jobs: usize,
    /// Its messages.
    #[serde(flatten)]
    pub sent: MessageFacts,
    /// At the depth of packets, what became of its packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketFacts>,
}

/// What switches are like and where packets go.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PacketModel {
    /// The switch model, of `darkfiber list switches`.
    pub switches: &'static str,
    /// Where packets go, of `darkfiber list routings`.
    pub routing: &'static str,
    /// What holds sources back, of `darkfiber list congestion`, with parameters that are not as in its paper.
    pub congestion: String,
    /// What packets have on channels beside data, of `darkfiber list framing`.
    pub framing: &'static str,
    /// Bytes of a packet at most.
    pub packet_bytes: u32,
    /// Bytes of buffer for each lane of an input.
    pub buffer_bytes: u32,
    /// With flowlet switching, how long a pair must have been silent for its packets to go another way, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flowlet: Option<f64>,
    /// With a reorder window, its packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder_window: Option<u8>,
    /// With priority flow control, bytes of a lane's buffer above which its sender is paused, and at which it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pfc: Option<[u32; 2]>,
    /// Pause storms.
    #[serde(skip_serializing_if = "is_none")]
    pub pause_storms: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Packets of a job or class. Times are in seconds, from when a packet left its terminal to its last byte.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PacketFacts {
    /// How many arrived.
    pub packets: u64,
    /// Mean time.
    pub mean: f64,
    /// Half of them took at most this, to three digits.
    pub p50: f64,
    /// 95 % did.
    pub p95: f64,
    /// 99 % did.
    pub p99: f64,
    /// 99.9 % did.
    pub p999: f64,
    /// All did.
    pub max: f64,
    /// Switches that they crossed, on average.
    pub hops: f64,
    /// Share of those that took another than a shortest path.
    pub round_percent: f64,
    /// With a reorder window, share of those that arrived before one that their pair sent before them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_order_percent: Option<f64>,
    /// The most packets that one of them was ahead of the oldest one that was missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_order_max: Option<u8>,
}

impl PacketFacts {
    /// Of what was measured.
    pub fn of(measured: &Measured) -> Self {
        let share = |count: u64| 100.0 * count as f64 / measured.packets.max(1) as f64;
        let longest = measured.longest as f64 * 1e-12;
        let at = |q: f64| histogram::quantile(&measured.latencies, q, 1e-9, longest);
        Self {
            packets: measured.packets,
            mean: measured.mean() * 1e-12,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: longest,
            hops: measured.mean_hops(),
            round_percent: share(measured.round),
            out_of_order_percent: measured.out_of_order.map(|found| share(found.packets)),
            out_of_order_max: measured.out_of_order.map(|found| found.furthest),
        }
    }
}

/// Channels between switches.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ChannelFacts {
    /// How many there are.
    pub channels: usize,
    /// Share of those that carried nothing.
    pub dark_percent: f64,
    /// Most bytes of a channel.
    pub bytes_max: u64,
    /// Mean bytes of a channel.
    pub bytes_mean: f64,
    /// The largest share of what it could have carried in that time.
    pub busy_max_percent: f64,
    /// The mean of these shares.
    pub busy_mean_percent: f64,
}

/// A channel and what it carried.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Carried {
    /// Which.
    #[serde(flatten)]
    pub channel: ChannelName,
    /// Bytes.
    pub bytes: u64,
    /// Share of what it could have carried in that time.
    pub busy_percent: f64,
}

impl Report for SimulateResult<'_> {
    // For people.
    fn text(&self, style: Style) -> String {
        let mut text = format!("{}\n", table::headline(self.fabric));
        let _ok = writeln!(
            text,
            "{}: {}, {} simulated",
            self.title,
            made_by(self),
            seconds(self.seconds)
        );
        for note in self.notes {
            let _ok = writeln!(text, "note: {note}");
        }
        text.push('\n');
        // Jobs, and classes of jobs.
        let heading = [
            "job", "ranks", "nodes", "runs", "mean run", "isolated", "slowdown", "min", "max",
            "messages", "bytes", "message", "pair",
        ];
        let is_known = |name: &&str| match *name {
            "isolated" | "slowdown" => self.jobs.iter().any(|j| j.run_isolated.is_some()),
            _ => true,
        };
        let heading: Vec<&str> = heading.into_iter().filter(is_known).collect();
        let rows: Vec<Vec<String>> = self.jobs.iter().map(|j| row(j, heading.len())).collect();
        let numbers: Vec<usize> = (1..heading.len()).collect();
        text.push_str(&table::plain(&heading, &rows, &numbers, style));
        if !self.classes.is_empty() {
            let heading =
                ["class", "jobs", "messages", "mean", "p50", "p95", "p99", "p99.9", "max"];
            let row = |c: &ClassRow| {
                let mut row = vec![c.name.clone(), c.jobs.to_string(), group(c.sent.messages)];
                let quantiles = [
                    c.sent.message_p50,
                    c.sent.message_p95,
                    c.sent.message_p99,
                    c.sent.message_p999,
                ];
                row.push(seconds(c.sent.message_mean));
                row.extend(quantiles.map(seconds));
                row.push(seconds(c.sent.message_max));
                row
            };
            let rows: Vec<Vec<String>> = self.classes.iter().map(row).collect();
            let numbers: Vec<usize> = (1..heading.len()).collect();
            text.push('\n');
            text.push_str(&table::plain(&heading, &rows, &numbers, style));
        }
        // At the depth of packets, packets of both.
        let jobs = self.jobs.iter().map(|j| (&j.name, &j.packets));
        let classes = self.classes.iter().map(|c| (&c.name, &c.packets));
        let packets: Vec<Vec<String>> = jobs.chain(classes).filter_map(packets_row).collect();
        if !packets.is_empty() {
            let heading = [
                "job or class",
                "packets",
                "mean",
                "p50",
                "p95",
                "p99",
                "p99.9",
                "max",
                "hops",
                "round",
                "out of order",
                "ahead by",
            ];
            // Only reorder windows count packets out of order.
            let columns = packets.iter().map(Vec::len).max().unwrap_or(0);
            let heading = &heading[..columns];
            let numbers: Vec<usize> = (1..heading.len()).collect();
            text.push('\n');
            text.push_str(&table::plain(heading, &packets, &numbers, style));
        }
        if let Some(update) = self.update {
            text.push_str(&update.text(style));
        }
        // Channels, and those that carried most.
        let c = &self.channels;
        let _ok = writeln!(
            text,
            "\n{} channels between switches: {} dark, {} busy on average, at most {}",
            group(c.channels as u64),
            percent(c.dark_percent),
            percent(c.busy_mean_percent),
            percent(c.busy_max_percent)
        );
        if !self.fullest.is_empty() {
            let rows: Vec<Vec<String>> = self
                .fullest
                .iter()
                .take(5)
                .map(|c| {
                    vec![c.channel.to_string(), bytes(c.bytes as f64), percent(c.busy_percent)]
                })
                .collect();
            text.push('\n');
            text.push_str(&table::plain(
                &["fullest channels", "carried", "busy"],
                &rows,
                &[1, 2],
                style,
            ));
        }
        if self.depth == Depth::Count {
            let divided = matches!(self.effort, Effort::Count { divided: true, .. });
            text.push_str(match (self.jobs.len() > 1, divided) {
                (false, false) => {
                    "\nTimes are lower bounds: what the fullest channel of the job needs for its bytes.\n"
                }
                (true, false) => {
                    "\nAlone, no job takes less than what its fullest channel needs for its bytes. Times beside others are estimates: each is \
                     taken to send at the rate that it has alone until all end.\n"
                }
                (_, true) => {
                    "\nTimes are estimates: what the fullest channel needs for its bytes, each message divided evenly over the paths of which it \
                     takes one.\n"
                }
            });
        }
        if let Some(pauses) = &self.pauses {
            text.push_str(&pauses.text(style));
        }
        // Effort of the simulation.
        let what = match self.effort {
            Effort::Count { paths, .. } => format!("{} paths counted", group(paths)),
            Effort::Flow { flows, solves, events, repeated, .. } => format!(
                "{} flows, rates recomputed {}, {} events{}",
                group(flows),
                counted(solves as usize, "time", "times"),
                group(events),
                multiplied(repeated, events)
            ),
            Effort::Formula { events, repeated } => {
                format!("{} events{}", group(events), multiplied(repeated, events))
            }
            Effort::Packet { packets, hops, dropped, events, repeated, error } => format!(
                "{} packets{}, {} switches crossed, {} events{}{}",
                group(packets),
                match dropped {
                    0 => String::new(),
                    n => format!(", {} dropped and sent again", group(n)),
                },
                group(hops),
                group(events),
                multiplied(repeated, events),
                if repeated > 0 { estimated(error) } else { String::new() }
            ),
        };
        let _ok = writeln!(text, "\n{what} in {:.2} s", self.wall_seconds);
        text
    }

    // A line for each job.
    fn csv(&self) -> String {
        let packets =
            |j: &JobRow, value: fn(&PacketFacts) -> f64| comma::some(j.packets.as_ref().map(value));
        comma::table(
            self.jobs,
            &[
                ("job", &|j| j.name.clone()),
                ("ranks", &|j| j.ranks.to_string()),
                ("nodes", &|j| j.nodes.to_string()),
                ("begin", &|j| j.begin.to_string()),
                ("end", &|j| j.end.to_string()),
                ("runs", &|j| j.runs.to_string()),
                ("runs_in_time", &|j| j.runs_in_time.to_string()),
                ("run_mean", &|j| j.run_mean.to_string()),
                ("run_min", &|j| j.run_min.to_string()),
                ("run_max", &|j| j.run_max.to_string()),
                ("messages", &|j| j.sent.messages.to_string()),
                ("bytes", &|j| j.sent.bytes.to_string()),
                ("message_mean", &|j| j.sent.message_mean.to_string()),
                ("message_max", &|j| j.sent.message_max.to_string()),
                ("pair_bandwidth", &|j| comma::some(j.pair_bandwidth)),
                ("run_isolated", &|j| comma::some(j.run_isolated)),
                ("slowdown", &|j| comma::some(j.slowdown)),
                ("message_p50", &|j| j.sent.message_p50.to_string()),
                ("message_p95", &|j| j.sent.message_p95.to_string()),
                ("message_p99", &|j| j.sent.message_p99.to_string()),
                ("message_p999", &|j| j.sent.message_p999.to_string()),
                ("packets", &|j| comma::some(j.packets.as_ref().map(|p| p.packets))),
                ("packet_mean", &|j| packets(j, |p| p.mean)),
                ("packet_p50", &|j| packets(j, |p| p.p50)),
                ("packet_p95", &|j| packets(j, |p| p.p95)),
                ("packet_p99", &|j| packets(j, |p| p.p99)),
                ("packet_p999", &|j| packets(j, |p| p.p999)),
                ("packet_max", &|j| packets(j, |p| p.max)),
                ("packet_hops", &|j| packets(j, |p| p.hops)),
                ("packet_round_percent", &|j| packets(j, |p| p.round_percent)),
                ("packet_out_of_order_percent", &|j| {
                    comma::some(j.packets.as_ref().and_then(|p| p.out_of_order_percent))
                }),
                ("packet_out_of_order_max", &|j| {
                    comma::some(j.packets.as_ref().and_then(|p| p.out_of_order_max))
                }),
            ],
        )
    }
}

/// The settings behind a result: tables, hosts, depth and, of packets, switches, routing and congestion control, and the
/// seed. Results that differ in one of these never have the same heading.
pub fn made_by(result: &SimulateResult<'_>) -> String {
    let layers =
        if result.layers == 1 { "1 layer".to_owned() } else { format!("{} layers", result.layers) };
    let mut text = format!(
        "routes of {} ({layers}), hosts {}, depth {}",
        result.routes, result.hosts, result.depth
    );
    if let Some(m) = result.packet_model {
        let _ok = write!(
            text,
            ", switches {}, routing {}, congestion control {}, packets of {}",
            m.switches,
            m.routing,
            m.congestion,
            bytes(m.packet_bytes.into())
        );
        if m.framing != "none" {
            let _ok = write!(text, ", framing {}", m.framing);
        }
        if let Some(gap) = m.flowlet {
            let _ok = write!(text, ", flowlets {}", seconds(gap));
        }
        if let Some(window) = m.reorder_window {
            let _ok = write!(text, ", reorder window {window}");
        }
        if let Some([xoff, xon]) = m.pfc {
            let [xoff, xon] = [xoff, xon].map(|b| bytes(b.into()));
            let _ok = write!(text, ", pauses at {xoff} until {xon}");
        }
        if m.pause_storms > 0 {
            let _ok = write!(text, ", pause storms {}", m.pause_storms);
        }
    }
    let _ok = write!(text, ", seed {}", result.provenance.seed);
    text
}

/// Number of events that were multiplied from others, if any.
fn multiplied(repeated: u64, events: u64) -> String {
    match 100.0 * repeated as f64 / events.max(1) as f64 {
        _ if repeated == 0 => String::new(),
        percent => format!(" ({percent:.1} % of them repeats, multiplied)"),
    }
}

/// How wrong the end may be where iterations were multiplied that were not exactly the same.
fn estimated(error: f64) -> String {
    format!("; the end within {:.2} %", 100.0 * error)
}

/// Whether durations of messages were measured.
fn timed(job: &JobRow) -> Option<()> {
    (job.sent.messages == 0 || job.sent.message_max > 0.0).then_some(())
}

fn row(job: &JobRow, columns: usize) -> Vec<String> {
    let runs = if job.runs == job.runs_in_time {
        group(job.runs as u64)
    } else {
        format!("{} of {}", group(job.runs_in_time as u64), group(job.runs as u64))
    };
    let mut row = vec![
        job.name.clone(),
        group(u64::from(job.ranks)),
        group(job.nodes as u64),
        runs,
        seconds(job.run_mean),
        job.run_isolated.map(seconds).unwrap_or_default(),
        job.slowdown.map(|s| format!("{s:.3}")).unwrap_or_default(),
        seconds(job.run_min),
        seconds(job.run_max),
        group(job.sent.messages),
        bytes(job.sent.bytes as f64),
        // At depths without time, messages have no durations to print.
        timed(job).map(|()| seconds(job.sent.message_mean)).unwrap_or_default(),
        timed(job).and(job.pair_bandwidth).map(rate).unwrap_or_default(),
    ];
    if columns < row.len() {
        // No job was simulated in isolation.
        row.drain(5..7);
    }
    row
}

fn packets_row((name, packets): (&String, &Option<PacketFacts>)) -> Option<Vec<String>> {
    let p = packets.as_ref()?;
    let mut row = vec![name.clone(), group(p.packets)];
    row.extend([p.mean, p.p50, p.p95, p.p99, p.p999, p.max].map(seconds));
    row.extend([format!("{:.2}", p.hops), percent(p.round_percent)]);
    if let (Some(share), Some(most)) = (p.out_of_order_percent, p.out_of_order_max) {
        row.extend([percent(share), format!("{most} packets")]);
    }
    Some(row)
}
