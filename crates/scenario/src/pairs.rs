//! Messages by sender and receiver, and their times.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use darkfiber_workload::play::Record;
use darkfiber_workload::schedule::Program;

use crate::Job;

/// Messages received of all jobs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Received {
    /// Pairs by job.
    pub(crate) pairs: Vec<Pairs>,
    /// By job with messages of several classes, the most bytes that those of each have, and totals of them.
    pub(crate) of_classes: Vec<Vec<(u64, Pairs)>>,
    /// Whether all messages are kept, and those.
    keeps: bool,
    pub(crate) messages: Vec<Record>,
}

impl Received {
    /// Empty counts for these jobs.
    pub(crate) fn new(jobs: &[Job], keeps: bool) -> Self {
        let pairs = jobs.iter().map(|j| Pairs::new(j.play.program.ranks())).collect();
        let of_job = |job: &Job| {
            let classes = if job.classes.len() > 1 { &job.classes[..] } else { &[] };
            classes.iter().map(|class| (class.up_to, Pairs::totals())).collect()
        };
        Self { pairs, of_classes: jobs.iter().map(of_job).collect(), keeps, messages: Vec::new() }
    }

    /// Empty counts for the same jobs.
    pub(crate) fn apart(&self) -> Self {
        let pairs = self.pairs.iter().map(|p| Pairs::new(p.ranks)).collect();
        let of_job = |of: &Vec<(u64, Pairs)>| of.iter().map(|c| (c.0, Pairs::totals())).collect();
        let of_classes = self.of_classes.iter().map(of_job).collect();
        Self { pairs, of_classes, keeps: self.keeps, messages: Vec::new() }
    }

    /// Adds separate counts `times` times.
    pub(crate) fn join(&mut self, apart: &Self, times: u64) {
        for (pairs, more) in self.pairs.iter_mut().zip(&apart.pairs) {
            pairs.join_all(more, times);
        }
        let classes = self.of_classes.iter_mut().flatten();
        for ((_, totals), (_, more)) in classes.zip(apart.of_classes.iter().flatten()) {
            totals.join_totals(more, times);
        }
        self.messages.extend_from_slice(&apart.messages);
    }

    pub(crate) fn add(&mut self, record: &Record) {
        let job = record.job as usize;
        self.pairs[job].add(record);
        if let Some(of) = self.of_class(job, record.bytes) {
            of.add(record);
        }
        if self.keeps {
            self.messages.push(*record);
        }
    }

    /// Totals of the class of a job's messages of this size, if there are several.
    fn of_class(&mut self, job: usize, bytes: u64) -> Option<&mut Pairs> {
        let found = self.of_classes[job].iter_mut().find(|(up_to, _)| bytes <= *up_to);
        found.map(|(_, of)| of)
    }

    /// Counts this number of messages of a job, of unknown duration.
    pub(crate) fn count(&mut self, job: usize, [from, to]: [u32; 2], bytes: u64, messages: u64) {
        self.pairs[job].count(from, to, bytes, messages);
        if let Some(of) = self.of_class(job, bytes) {
            of.count(from, to, bytes, messages);
        }
    }

    /// Counts the messages of the only job, which was run once and partly estimated; times are those of the estimate.
    pub(crate) fn recount(&mut self, program: &Program) {
        self.pairs[0].recount(program, |_| true);
        let mut above = None;
        for (up_to, of) in &mut self.of_classes[0] {
            of.recount(program, |bytes| bytes <= *up_to && above.is_none_or(|above| bytes > above));
            above = Some(*up_to);
        }
    }
}

/// The messages of a job, by pairs of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pairs {
    ranks: u32,
    /// By sender; empty where pairs are not kept.
    rows: Vec<Row>,
    /// Pairs in the rows.
    count: u64,
    /// All of them; of their time see [`Pairs::time`].
    pub total: Pair,
    /// Sum of the times of all messages, in picoseconds: more than a pair's clock holds.
    pub time: u128,
    /// Times of the messages in nanoseconds, to three digits.
    #[serde(with = "darkfiber_workload::histogram")]
    pub times: Histogram<u64>,
}

/// Messages from one rank to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Number of messages.
    pub messages: u64,
    /// Payload in bytes.
    pub bytes: u64,
    /// Sum of the times of the messages, in picoseconds.
    pub time: u64,
    /// Longest time of a message.
    pub longest: u64,
}

/// The pairs of a sender, by receiver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Row {
    /// In order: rings and stencils have few.
    Few(Vec<(u32, Pair)>),
    /// A cell for every rank.
    All(Vec<Pair>),
    /// For jobs of more ranks than [`DENSE`].
    Many(BTreeMap<u32, Pair>),
}

/// Receivers of a row that is kept in order.
const FEW: usize = 64;

/// Jobs of at most this many ranks have rows with a cell for every rank, and all of their pairs are kept.
const DENSE: u32 = 4096;

/// Of larger jobs pairs are kept while they are no more than this for each rank: as many as in rings, trees and stencils, not
/// the square of the ranks.
const KEPT: u64 = 128;

/// Bytes of memory at most that the pairs of a job of this many ranks and messages take.
pub(crate) fn memory_of(ranks: u32, messages: u128) -> u128 {
    let ranks = u128::from(ranks);
    let most = if ranks <= u128::from(DENSE) { ranks * ranks } else { ranks * u128::from(KEPT) };
    // A row of some pairs may have a cell for every rank.
    let cells = messages.saturating_mul(ranks / FEW as u128 + 1).min(most);
    cells * size_of::<Pair>() as u128
}

impl Row {
    fn cell(&mut self, ranks: u32, to: u32) -> &mut Pair {
        if let Self::Few(pairs) = self
            && pairs.len() == FEW
            && pairs.binary_search_by_key(&to, |p| p.0).is_err()
        {
            let pairs = std::mem::take(pairs);
            *self = if ranks <= DENSE {
                let mut all = vec![Pair::default(); ranks as usize];
                for (to, pair) in pairs {
                    all[to as usize] = pair;
                }
                Self::All(all)
            } else {
                Self::Many(pairs.into_iter().collect())
            };
        }
        match self {
            Self::Few(pairs) => {
                let found = pairs.binary_search_by_key(&to, |p| p.0);
                let at = found.unwrap_or_else(|at| {
                    pairs.insert(at, (to, Pair::default()));
                    at
                });
                &mut pairs[at].1
            }
            Self::All(pairs) => &mut pairs[to as usize],
            Self::Many(pairs) => pairs.entry(to).or_default(),
        }
    }

    /// Receivers in order, and the messages to them.
    fn sent(&self) -> Box<dyn Iterator<Item = (u32, Pair)> + '_> {
        match self {
            Self::Few(pairs) => Box::new(pairs.iter().copied()),
            Self::All(pairs) => {
                Box::new((0..).zip(pairs.iter().copied()).filter(|(_, p)| p.messages > 0))
            }
            Self::Many(pairs) => Box::new(pairs.iter().map(|(&to, &pair)| (to, pair))),
        }
    }
}

impl Pair {
    /// Adds the counts of others.
    pub fn join(&mut self, other: &Self) {
        self.messages = self.messages.saturating_add(other.messages);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time = self.time.saturating_add(other.time);
        self.longest = self.longest.max(other.longest);
    }

    /// These messages as often as this.
    #[must_use]
    fn often(&self, times: u64) -> Self {
        let all = |one: u64| one.saturating_mul(times);
        Self {
            messages: all(self.messages),
            bytes: all(self.bytes),
            time: all(self.time),
            longest: self.longest,
        }
    }

    /// Mean bandwidth of a message, in bytes a second; 0 without messages.
    pub fn bandwidth(&self) -> f64 {
        if self.time == 0 { 0.0 } else { self.bytes as f64 / self.time as f64 * 1e12 }
    }
}

impl Pairs {
    /// No messages among this many ranks.
    #[expect(clippy::missing_panics_doc, reason = "three digits are fine")]
    pub fn new(ranks: u32) -> Self {
        let rows = vec![Row::Few(Vec::new()); ranks as usize];
        let times = Histogram::new(3).expect("three digits");
        Self { ranks, rows, count: 0, total: Pair::default(), time: 0, times }
    }

    /// Totals of messages without pairs.
    pub(crate) fn totals() -> Self {
        Self::new(0)
    }

    /// Whether pairs are kept: of a job of more than 4,096 ranks only while they are 128 for each rank or fewer.
    pub fn are_kept(&self) -> bool {
        self.rows.len() == self.ranks as usize
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Adds to the messages from a rank to another, where pairs are kept.
    fn join(&mut self, from: u32, to: u32, more: &Pair) {
        let Some(row) = self.rows.get_mut(from as usize) else { return };
        let cell = row.cell(self.ranks, to);
        self.count += u64::from(cell.messages == 0);
        cell.join(more);
        if self.ranks > DENSE && self.count > KEPT * u64::from(self.ranks) {
            self.rows = Vec::new();
        }
    }

    /// Adds all of others of the same job, this often.
    fn join_all(&mut self, others: &Self, times: u64) {
        if times == 0 {
            return;
        }
        if !others.are_kept() {
            self.rows = Vec::new();
        }
        for ((from, to), pair) in others.sent() {
            self.join(from, to, &pair.often(times));
        }
        self.join_totals(others, times);
    }

    /// Adds the totals of others, this often.
    pub(crate) fn join_totals(&mut self, others: &Self, times: u64) {
        if times == 0 {
            return;
        }
        self.total.join(&others.total.often(times));
        self.time = self.time.saturating_add(others.time.saturating_mul(times.into()));
        // The first time as they were, since that keeps the least and the largest as such.
        self.times.add(&others.times).expect("it grows as needed");
        for step in others.times.iter_recorded() {
            let count = step.count_since_last_iteration().saturating_mul(times - 1);
            let time = step.value_iterated_to();
            self.times.record_n(time, count).expect("it grows as needed");
        }
    }

    fn add(&mut self, record: &Record) {
        let time = record.arrived - record.departed;
        let one = Pair { messages: 1, bytes: record.bytes, time, longest: time };
        self.join(record.from, record.to, &one);
        self.total.join(&one);
        self.time += u128::from(time);
        self.times.record((time + 500) / 1000).expect("it grows as needed");
    }

    /// Counts the messages of these sizes of a program that was run once, of which some were estimated; times are those of the estimate.
    fn recount(&mut self, program: &Program, counts: impl Fn(u64) -> bool) {
        let mut all = Self::new(self.ranks);
        for (block, times) in program.counts() {
            program.blocks()[block].each_message(|from, to, bytes, alike| {
                if counts(bytes) {
                    all.count(from, to, bytes, alike.saturating_mul(times));
                }
            });
        }
        let scaled = |time: u128, to: u64, from: u64| {
            time.saturating_mul(to.into()) / u128::from(from.max(1))
        };
        let of = |to: &mut Pair, from: &Pair| {
            let time = scaled(from.time.into(), to.messages, from.messages);
            (to.time, to.longest) = (u64::try_from(time).unwrap_or(u64::MAX), from.longest);
        };
        for ((from, to), pair) in self.sent() {
            if let Some(row) = all.rows.get_mut(from as usize) {
                of(row.cell(self.ranks, to), &pair);
            }
        }
        of(&mut all.total, &self.total);
        self.time = scaled(self.time, all.total.messages, self.total.messages);
        (self.rows, self.count, self.total) = (all.rows, all.count, all.total);
    }

    /// This number of messages of this size, of unknown duration.
    fn count(&mut self, from: u32, to: u32, bytes: u64, messages: u64) {
        let all = Pair { messages, bytes: bytes.saturating_mul(messages), time: 0, longest: 0 };
        self.join(from, to, &all);
        self.total.join(&all);
    }

    /// Pairs with messages, by sender and receiver; none where they are not kept.
    pub fn sent(&self) -> impl Iterator<Item = ((u32, u32), Pair)> + '_ {
        (0..)
            .zip(&self.rows)
            .flat_map(|(from, row)| row.sent().map(move |(to, pair)| ((from, to), pair)))
    }

    /// The mean over pairs of the bandwidth of their messages, in bytes a second, without pairs whose messages were empty or
    /// took no time, as in the memory of one host; `None` where pairs are not kept.
    pub fn mean_bandwidth(&self) -> Option<f64> {
        if !self.are_kept() {
            return None;
        }
        let (mut sum, mut count) = (0.0, 0u64);
        for (_, pair) in self.sent().filter(|(_, pair)| pair.bytes > 0 && pair.time > 0) {
            sum += pair.bandwidth();
            count += 1;
        }
        Some(if count == 0 { 0.0 } else { sum / count as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(ranks: u32, peers: u32) -> Pairs {
        let mut pairs = Pairs::new(ranks);
        for from in 0..ranks {
            (1..=peers).for_each(|by| pairs.count(from, (from + by) % ranks, 10, 2));
        }
        pairs
    }

    /// Small jobs keep all pairs and large ones few; totals are all there in any case.
    #[test]
    fn pairs_of_large_jobs_are_kept_while_they_are_few() {
        for (ranks, peers, kept) in
            [(300, 299, true), (4096, 200, true), (4097, 128, true), (4097, 129, false)]
        {
            let pairs = sent(ranks, peers);
            let all = u64::from(ranks) * u64::from(peers);
            assert_eq!(pairs.are_kept(), kept, "{ranks} {peers}");
            assert_eq!(pairs.mean_bandwidth().is_some(), kept);
            assert_eq!((pairs.total.messages, pairs.total.bytes), (2 * all, 20 * all));
            assert_eq!(pairs.sent().count() as u64, if kept { all } else { 0 });
        }
    }
}
