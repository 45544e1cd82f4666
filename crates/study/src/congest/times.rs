//! Times of a victim that runs repeatedly.

use std::collections::VecDeque;

use darkfiber_workload::play::{Player, SECOND};
use darkfiber_workload::traffic::Timed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::{Rule, interval, median, quantile};

/// Times of a victim that runs repeatedly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Iterations or runs in the order of their ends, in picoseconds; requests in that of their numbers, as many of each client.
    pub samples: Vec<u64>,
    /// Whether the rule was met before its limit.
    pub settled: bool,
    /// From the victim's begin to the end of the simulation, in picoseconds.
    pub simulated: u64,
}

/// What is told of times: in seconds.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct TimesSummary {
    /// Iterations, runs or requests that ended.
    pub iterations: usize,
    /// Whether there were enough, and the confidence interval of the median narrow enough, before the limit on simulated time.
    pub settled: bool,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Confidence interval of 95 % of the median.
    pub ci_low: f64,
    /// Its upper end.
    pub ci_high: f64,
    /// Shortest.
    pub min: f64,
    /// 95 % took at most this.
    pub p95: f64,
    /// 99 % did.
    pub p99: f64,
    /// Longest.
    pub max: f64,
    /// Simulated time, without what came before the victim began.
    pub simulated: f64,
}

impl Times {
    /// Statistics of the times; `None` if nothing ended.
    pub fn summary(&self) -> Option<TimesSummary> {
        let s = |ps: f64| ps / SECOND as f64;
        let mut sorted = self.samples.clone();
        sorted.sort_unstable();
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let sum: u128 = sorted.iter().map(|&t| u128::from(t)).sum();
        let [ci_low, ci_high] = interval(&sorted).map(|t| s(t as f64));
        Some(TimesSummary {
            iterations: sorted.len(),
            settled: self.settled,
            mean: s(sum as f64 / sorted.len() as f64),
            median: s(median(&sorted)),
            ci_low,
            ci_high,
            min: s(min as f64),
            p95: s(quantile(&sorted, 0.95) as f64),
            p99: s(quantile(&sorted, 0.99) as f64),
            max: s(max as f64),
            simulated: s(self.simulated as f64),
        })
    }
}

/// Times a victim while it runs.
pub(super) struct Stopwatch {
    rule: Rule,
    timed: Timed,
    /// The victim is the first job, and begins then.
    begin: u64,
    /// Of each client, requests that wait for those of the others: as many of each count, or clients that are delayed would count
    /// for less than others.
    ahead: Vec<VecDeque<u64>>,
    /// Runs or laps that were looked at.
    seen: usize,
    /// Number of samples at which the rule is checked next.
    next: usize,
    pub(super) times: Times,
}

impl Stopwatch {
    pub(super) fn new(rule: Rule, timed: Timed, ranks: u32, begin: u64) -> Self {
        let ahead = vec![VecDeque::new(); timed.clients(ranks).unwrap_or(0) as usize];
        Self { rule, timed, begin, ahead, seen: 0, next: 1, times: Times::default() }
    }

    /// Reads the progress of the player; returns whether there are enough samples. The result depends only on the victim's runs or
    /// laps, not on the number of calls: a resumed run ends as it would have without the interruption.
    pub(super) fn look(&mut self, player: &Player<'_>) -> bool {
        let now = player.now();
        while !self.times.settled
            && let Some(end) = self.next_moment(player, now)
        {
            self.times.simulated = end.saturating_sub(self.begin);
            self.ask_rule();
        }
        if !self.times.settled {
            self.times.simulated = now.saturating_sub(self.begin);
        }
        self.times.settled || self.times.simulated >= self.rule.limit
    }

    /// Takes everything that ended at the next time at which anything did, if that is past: simultaneous ends count together.
    fn next_moment(&mut self, player: &Player<'_>, now: u64) -> Option<u64> {
        let samples = &mut self.times.samples;
        if self.timed == Timed::Requests {
            let laps = &player.laps()[self.seen..];
            let end = laps.first().map(|lap| lap.end).filter(|&end| end < now)?;
            for lap in laps.iter().take_while(|lap| lap.end == end) {
                self.seen += 1;
                if let Some(of) = self.ahead.get_mut(lap.rank as usize) {
                    of.push_back(lap.end - lap.begin);
                }
            }
            while !self.ahead.is_empty() && self.ahead.iter().all(|of| !of.is_empty()) {
                samples.extend(self.ahead.iter_mut().filter_map(VecDeque::pop_front));
            }
            Some(end)
        } else {
            let runs = &player.runs(0)[self.seen..];
            let end = runs.first().map(|run| run.end).filter(|&end| end < now)?;
            let together = runs.iter().take_while(|run| run.end == end);
            samples.extend(together.inspect(|_| self.seen += 1).map(|run| run.end - run.begin));
            Some(end)
        }
    }

    fn ask_rule(&mut self) {
        let samples = &self.times.samples;
        if samples.len() < self.next {
            return;
        }
        let least = if self.timed == Timed::Runs { self.rule.runs } else { self.rule.iterations };
        self.times.settled = self.rule.settled(samples, least);
        // Often enough to end soon, seldom enough to sort for no time.
        self.next = (samples.len() + (samples.len() / 16).max(1)).max(least);
    }
}
