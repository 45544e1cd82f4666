//! The shares of concurrent jobs in the bytes that all receive.

use darkfiber_scenario::Error;
use darkfiber_workload::play::{Record as Message, SECOND};

use super::runs;
use crate::grid::params::Params;
use crate::grid::question::{CellContext, ColumnOf, Question};
use crate::grid::row::Answer;

/// Time after which runs have settled, and of an interval, in picoseconds.
const SETTLE: u64 = 1_000_000_000;
const INTERVAL: u64 = 100_000_000;

/// Least number of intervals in which all jobs run: of fewer none is certain to lie between the last begin and the first end.
const LEAST: usize = 4;

pub(in crate::grid) struct Shares;

/// Bytes that jobs receive, by interval.
struct Received {
    interval: u64,
    bins: Vec<Vec<u64>>,
    /// When each job's last message arrived, in picoseconds.
    ends: Vec<u64>,
}

impl Received {
    /// Received bytes are spread over the time since the message departed.
    fn add(&mut self, message: &Message) {
        let job = message.job as usize;
        self.ends[job] = self.ends[job].max(message.arrived);
        let (from, to) = (message.departed, message.arrived.max(message.departed + 1));
        let bins = &mut self.bins[job];
        bins.resize(bins.len().max((to / self.interval) as usize + 1), 0);
        for (b, bin) in bins.iter_mut().enumerate().skip((from / self.interval) as usize) {
            let (begin, end) =
                (from.max(b as u64 * self.interval), to.min((b as u64 + 1) * self.interval));
            let part = u128::from(end.saturating_sub(begin)) * u128::from(message.bytes);
            *bin += (part / u128::from(to - from)) as u64;
        }
    }

    /// Mean of a job over intervals, in bytes an interval.
    fn mean(&self, job: usize, from: usize, to: usize) -> Option<f64> {
        let bins = &self.bins[job];
        let sum: u64 = (from..to).map(|b| bins.get(b).copied().unwrap_or(0)).sum();
        (from < to).then(|| sum as f64 / (to - from) as f64)
    }
}

fn times(params: &Params) -> Result<[u64; 2], Error> {
    let settle = params.time("settle")?.unwrap_or(SETTLE);
    let interval = params.time("interval")?.unwrap_or(INTERVAL);
    if interval == 0 {
        return Err(Error::usage("interval: it must be above 0").hint("interval = \"100us\""));
    }
    Ok([settle, interval])
}

impl Question for Shares {
    fn name(&self) -> &'static str {
        "shares"
    }

    fn summary(&self) -> &'static str {
        "what each job gets of what all receive together while they run beside each other, and before and after"
    }

    fn parameters(&self) -> &'static [ColumnOf] {
        &[
            ("settle", "time after the last job began that is left out; 1ms without"),
            ("interval", "how fine times are looked at; 100us without"),
            ("series", "whether there is a row for each job and interval, too"),
        ]
    }

    fn columns(&self) -> &'static [ColumnOf] {
        &[
            (
                "share_percent",
                "while all run and have settled, up to three quarters of that time: its part of what all receive, \
                 where a message's bytes count evenly from when it departs to when it has arrived",
            ),
            (
                "before_percent",
                "what the first job gets before the last begins, in percent of that",
            ),
            ("after_percent", "what the last job gets after the first ended, in percent of that"),
            (
                "received_percent",
                "of a series: what the job gets in an interval, in percent of that",
            ),
            ("time", "when the interval begins, in seconds"),
            ("job", "whose it is"),
        ]
    }

    fn check(&self, params: &Params) -> Result<(), Error> {
        params.flag("series")?;
        times(params).map(|_| ())
    }

    fn answer(&self, context: &CellContext<'_>, params: &Params) -> Result<Vec<Answer>, Error> {
        let [settle, interval] = times(params)?;
        let case = runs::case(context)?;
        let jobs = case.jobs.len();
        let mut got = Received { interval, bins: vec![Vec::new(); jobs], ends: vec![0; jobs] };
        case.run(None, &mut |message| got.add(message))
            .map_err(|e| Error::infeasible(e.describe(&case.jobs, case.topology())))?;

        // All run from the last begin to the first end.
        let bin = |ps: u64| (ps / interval) as usize;
        let last_begin = case.jobs.iter().map(|job| job.play.start).max().unwrap_or(0);
        let first_end = got.ends.iter().copied().min().unwrap_or(0);
        let begin = last_begin.div_ceil(interval) as usize;
        if bin(first_end) < begin + LEAST {
            let us = |ps: u64| ps as f64 / 1e6;
            let shared = first_end.saturating_sub(last_begin);
            return Err(Error::infeasible(format!(
                "all jobs run beside each other for {:.3} us, less than {LEAST} intervals of {} us",
                us(shared),
                us(interval)
            ))
            .hint("give a shorter interval, or let jobs run for longer"));
        }
        let to = begin + bin(first_end).saturating_sub(begin) * 3 / 4;
        let from = begin + bin(settle).min(to.saturating_sub(begin + 1));
        let beside = |job: usize| got.mean(job, from, to).unwrap_or(0.0);
        let all: f64 = (0..jobs).map(beside).sum();
        if all <= 0.0 {
            return Err(Error::infeasible("no time in which all jobs run beside each other"));
        }
        let percent = |mean: f64| 100.0 * mean / all;
        let answers = case.jobs.iter().enumerate().map(|(j, job)| {
            // Alone before the others, or after them; the interval of a change is left out.
            let is_first = job.play.start < last_begin;
            let before = is_first.then(|| got.mean(j, begin / 2, begin)).flatten();
            let is_last = got.ends[j] > first_end;
            let after = is_last
                .then(|| got.mean(j, bin(first_end) + 2, bin(got.ends[j]).saturating_sub(2)))
                .flatten();
            Answer::of(job.name.as_str())
                .with("share_percent", percent(beside(j)))
                .with_some("before_percent", before.map(percent))
                .with_some("after_percent", after.map(percent))
        });
        let mut answers: Vec<Answer> = answers.collect();
        if params.flag("series")? {
            let s = |bin: usize| bin as f64 * interval as f64 / SECOND as f64;
            for (j, job) in case.jobs.iter().enumerate() {
                answers.extend((0..got.bins[j].len()).map(|bin| {
                    Answer::of(format!("{} at {:.6} s", job.name, s(bin)))
                        .with_some("received_percent", got.mean(j, bin, bin + 1).map(percent))
                        .with("time", s(bin))
                        .with("job", job.name.clone())
                }));
            }
        }
        Ok(answers)
    }
}
