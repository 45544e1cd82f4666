//! The result of `darkfiber replay`: the effect of each engine on a machine's jobs.

mod moments;
mod picture;

pub use moments::{heading, line, parse};
pub use picture::picture;

use std::fmt::Write as _;

use darkfiber_scenario::log_facts::LogFacts;
use darkfiber_study::replay::{BLOCK_SECONDS, Improvement, Measure, Moment, Reconfigurations};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::model::{FabricFacts, Provenance};
use crate::number::{counted, duration, group, mean, percent};
use crate::style::Style;
use crate::table;

/// Remarks about a log, a sentence each.
pub fn remarks(log: &LogFacts) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut say = |count: usize, one: &str, many: &str| {
        if count > 0 {
            let what = if count == 1 { one } else { many };
            remarks.push(format!("{} {what}", group(count as u64)));
        }
    };
    say(log.not_run, "job never ran", "jobs never ran");
    say(
        log.without_times,
        "job does not say when it began or ended; left out",
        "jobs do not say when they began or ended; left out",
    );
    say(
        log.without_duration,
        "job ended when it began, or before; left out",
        "jobs ended when they began, or before; left out",
    );
    say(
        log.still_running,
        "job still ran; taken to run to the end of the log",
        "jobs still ran; taken to run to the end of the log",
    );
    say(
        log.nowhere,
        "job does not say where it ran, or how large it is; left out (--place puts it somewhere if its size is known)",
        "jobs do not say where they ran, or how large they are; left out (--place puts those somewhere whose size is known)",
    );
    say(
        log.misplaced,
        "job ran on nodes that are not in the fabric; those are left out",
        "jobs ran on nodes that are not in the fabric; those are left out",
    );
    say(
        log.overlapping,
        "job had a node together with another at the same time",
        "jobs had a node together with another at the same time",
    );
    say(
        log.out_of_order,
        "job was handed in before the one above it; sorted",
        "jobs were handed in before the one above them; sorted",
    );
    if let Some(placed) = &log.placed {
        say(
            placed.too_large,
            "job is larger than the machine; left out",
            "jobs are larger than the machine; left out",
        );
        let late = format!(
            "began later than in the log for want of hosts, by {} at most",
            hours(placed.latest_seconds)
        );
        say(placed.late, &format!("job {late}"), &format!("jobs {late}"));
    }
    remarks
}

/// `5 min`, `3.2 h`, `1.5 d`.
fn hours(seconds: i64) -> String {
    if seconds < 120 {
        format!("{seconds} s")
    } else if seconds < 7200 {
        format!("{} min", (seconds + 30) / 60)
    } else if seconds < 172_800 {
        format!("{:.1} h", seconds as f64 / 3600.0)
    } else {
        format!("{:.1} d", seconds as f64 / 86_400.0)
    }
}

/// All of it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ReplayResult<'a> {
    /// The jobs.
    pub log: &'a LogFacts,
    /// The first moment: a date, or seconds of the log.
    pub from: String,
    /// Seconds between moments.
    pub every: i64,
    /// How many moments there are.
    pub moments: usize,
    /// Engines compared.
    pub engines: Vec<String>,
    /// Jobs at a moment, in the mean.
    pub jobs_mean: f64,
    /// Share of running jobs that are on two switches or more, in percent: jobs of all moments together.
    pub multi_switch_percent: f64,
    /// Terminals that run jobs, in percent of those that can, in the mean.
    pub busy_percent_mean: f64,
    /// The moments, one by one: rows of CSV.
    #[serde(skip)]
    pub rows: &'a [Moment],
    /// By engine the means over moments with multi-switch jobs.
    pub means: Vec<Means>,
    /// What the engine gains that all others are compared with.
    pub improvements: &'a [Improvement],
    /// How often tables would have been sent.
    pub reconfigurations: &'a Reconfigurations,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// Means of an engine over moments with multi-switch jobs.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Means {
    /// The engine.
    pub engine: String,
    /// Most routes inside jobs over one channel.
    pub efi_max: f64,
    /// Mean over multi-switch jobs of the most of its own routes over one channel.
    pub gamma_max_mean: f64,
    /// Share of channels that no route inside a job crosses, in percent.
    pub dark_fiber_percent: f64,
    /// Channels that a multi-switch job's routes cross.
    pub links_per_job_mean: f64,
}

/// The means of all engines.
pub fn means(moments: &[Moment], engines: &[&str]) -> Vec<Means> {
    let busy: Vec<&Moment> = moments.iter().filter(|m| m.multi_switch_jobs > 0).collect();
    let mean = |e: usize, measure: Measure| {
        // An empty sum of floating-point numbers is -0.
        let sum = busy.iter().map(|m| measure.of(&m.engines[e])).fold(0.0, |a, b| a + b);
        sum / busy.len().max(1) as f64
    };
    (0..engines.len())
        .map(|e| Means {
            engine: engines[e].to_owned(),
            efi_max: mean(e, Measure::EfiMax),
            gamma_max_mean: mean(e, Measure::GammaMaxMean),
            dark_fiber_percent: mean(e, Measure::DarkFiberPercent),
            links_per_job_mean: mean(e, Measure::LinksPerJobMean),
        })
        .collect()
}

impl Report for ReplayResult<'_> {
    fn csv(&self) -> String {
        let names: Vec<&str> = self.engines.iter().map(String::as_str).collect();
        heading(&names) + &self.rows.iter().map(line).collect::<String>()
    }

    // For people: the means, the improvements in the form of the paper's Table 1, reconfigurations.
    fn text(&self, style: Style) -> String {
        let mut text = format!("{}\n", table::headline(self.fabric));
        let _ok = writeln!(
            text,
            "{} moments from {}, every {}: {} jobs run ({} % of them on several switches), {} of the machine is busy\n",
            group(self.moments as u64),
            self.from,
            hours(self.every),
            mean(self.jobs_mean),
            mean(self.multi_switch_percent),
            percent(self.busy_percent_mean),
        );
        if self.multi_switch_percent == 0.0 {
            text.push_str(
                "at no moment a job runs on several switches: engines make no difference\n",
            );
            return text;
        }
        let with_some = self.rows.iter().filter(|m| m.multi_switch_jobs > 0).count();
        if with_some < self.moments {
            let _ok = writeln!(
                text,
                "The means below are of the {} at which a job runs on several switches.\n",
                counted(with_some, "moment", "moments")
            );
        }
        let heading = [
            "mean over moments",
            "max effective EFI",
            "mean max EFI of a job",
            "dark fiber, %",
            "links per job",
        ];
        let rows: Vec<Vec<String>> = self
            .means
            .iter()
            .map(|m| {
                vec![
                    m.engine.clone(),
                    mean(m.efi_max),
                    mean(m.gamma_max_mean),
                    mean(m.dark_fiber_percent),
                    mean(m.links_per_job_mean),
                ]
            })
            .collect();
        text.push_str(&table::plain(&heading, &rows, &[1, 2, 3, 4], style));
        if let Some(first) = self.improvements.first() {
            let _ok = writeln!(
                text,
                "\nWhat {} gains (below zero: loses), at most and in the mean:\n",
                first.of
            );
            text.push_str(&gains(self.improvements, style));
        }
        let often = self.reconfigurations;
        let _ok = writeln!(
            text,
            "\n{} times other places than before: {} a day{}",
            group(often.changes as u64),
            mean(often.per_day_mean),
            match (often.per_day_min, often.per_day_max) {
                (Some(min), Some(max)) => format!(
                    ", from {min} to {max} ({} of {} days without)",
                    often.days_without, often.days
                ),
                _ => " if it went on like this (less than a day)".to_owned(),
            }
        );
        for sent in &often.engines {
            let _ok = writeln!(
                text,
                "{}: a change sends {} blocks of tables ({} at most): {} ({}) at {} a block, one after the other",
                sent.engine,
                mean(sent.blocks_mean),
                group(sent.blocks_max as u64),
                duration(sent.seconds_mean),
                duration(sent.seconds_max),
                duration(BLOCK_SECONDS),
            );
        }
        text
    }
}

/// Domke, Hoefler, SC'16, Table 1: a row a measure, two columns an engine.
fn gains(rows: &[Improvement], style: Style) -> String {
    let mut others: Vec<&str> = Vec::new();
    for row in rows {
        if !others.contains(&row.over.as_str()) {
            others.push(&row.over);
        }
    }
    let mut heading = vec!["gain over".to_owned()];
    for other in &others {
        heading.extend([format!("{other}: max"), format!("{other}: mean")]);
    }
    let both = |x: f64, share: Option<f64>| match share {
        Some(share) => format!("{x:.1} / {share:.1} %"),
        None => format!("{x:.2}"),
    };
    let lines: Vec<Vec<String>> = Measure::ALL
        .iter()
        .map(|&measure| {
            let mut line = vec![measure.label().to_owned()];
            for row in rows.iter().filter(|r| r.measure == measure) {
                line.push(both(row.max, row.max_percent));
                line.push(both(row.mean, row.mean_percent));
            }
            line
        })
        .collect();
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let numbers: Vec<usize> = (1..heading.len()).collect();
    table::plain(&heading, &lines, &numbers, style)
}
