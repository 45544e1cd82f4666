//! The measurement of packets, and the time from which it runs.

use darkfiber_workload::play::Ratio;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::message::Arrived;

/// Range of the packets that count, in picoseconds of their creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
pub(crate) struct Measuring {
    /// Time of the first packet that counts.
    pub(crate) from: u64,
    /// Those from then on do not any more.
    pub(crate) to: u64,
}

impl Measuring {
    pub(crate) fn counts(&self, when: u64) -> bool {
        (self.from..self.to).contains(&when)
    }
}

/// Parts of the measured time whose means are compared.
pub const BATCHES: usize = 30;
/// Batches that are joined to one sample of the confidence interval, which has ten samples.
const JOINED: usize = 3;
/// Means of single parts that are more alike than this, by the correlation of each with the next one, make intervals too narrow: of as
/// many independent ones chance makes 1 in 30 so. A threshold of ours; the test is that of batch means (G. S. Fishman, "Grouping
/// observations in digital simulation", Management Science 24(5), 1978).
const ALIKE_PARTS: f64 = 0.3;
/// Fewer means say nothing of that.
const FEW: usize = 15;

/// Sources fall behind if this part of what they create lacks; of a measurement of twice the time, in which chance is less, if a part lacks
/// that is smaller by the root of two.
const LACKING: f64 = 0.03;
/// So many standard deviations of the packets that are under way.
const UNDER_WAY: f64 = 3.0;
/// Sources that send less than this part do, however long one looks, if they created enough for that to be no chance: so many standard
/// deviations of what is created at random.
const FAR: f64 = 0.9;
const CREATED: f64 = 3.0;

/// Results of the packets that count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Latencies from creation to the last byte at its destination, in nanoseconds, to three digits.
    #[serde(with = "darkfiber_workload::histogram")]
    pub latencies: Histogram<u64>,
    /// Packets that counted and arrived.
    pub packets: u64,
    /// Sum of their latencies in picoseconds.
    pub latency: u128,
    /// Maximum latency of a packet.
    pub longest: u64,
    /// Sum of the switches that they crossed.
    pub hops: u64,
    /// Of them, packets that took another than a shortest path.
    pub round: u64,
    /// Of them, with a reorder window, those that arrived before one of their pair that was sent before them.
    pub out_of_order: Option<OutOfOrder>,
    /// Bytes that arrived while it was measured, whenever they were created.
    pub bytes: u64,
    /// Packets that were created while it was measured.
    pub created: u64,
    /// Bytes of these packets.
    pub created_bytes: u64,
    /// Sum of latencies, and how many, of packets created in each part of that time.
    pub batches: [(u128, u64); BATCHES],
}

/// Packets that arrived out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutOfOrder {
    /// Number of such packets.
    pub packets: u64,
    /// By how many packets one was ahead of the oldest one that was missing, at most.
    pub furthest: u8,
}

impl Default for Measured {
    fn default() -> Self {
        Self::new()
    }
}

impl Measured {
    /// An empty measurement.
    #[expect(clippy::missing_panics_doc, reason = "three digits are fine")]
    pub fn new() -> Self {
        Self {
            latencies: Histogram::new(3).expect("three digits"),
            packets: 0,
            latency: 0,
            longest: 0,
            hops: 0,
            round: 0,
            out_of_order: None,
            bytes: 0,
            created: 0,
            created_bytes: 0,
            batches: [(0, 0); BATCHES],
        }
    }

    #[inline]
    pub(crate) fn arrived(&mut self, arrived: &Arrived, measuring: &Measuring) {
        let Arrived { packet, when, ahead } = arrived;
        let when = *when;
        if measuring.counts(when) {
            self.bytes += u64::from(packet.payload());
        }
        if !measuring.counts(packet.born) {
            return;
        }
        let took = when - packet.born;
        self.latencies.record((took + 500) / 1000).expect("it grows as needed");
        self.packets += 1;
        self.latency += u128::from(took);
        self.longest = self.longest.max(took);
        self.hops += u64::from(packet.hops);
        self.round += u64::from(packet.round);
        if let Some(ahead) = *ahead {
            let out_of_order = self.out_of_order.get_or_insert_default();
            out_of_order.packets += u64::from(ahead > 0);
            out_of_order.furthest = out_of_order.furthest.max(ahead);
        }
        let long = u128::from(measuring.to - measuring.from);
        let batch = u128::from(packet.born - measuring.from) * BATCHES as u128 / long;
        let batch = &mut self.batches[batch as usize];
        *batch = (batch.0 + u128::from(took), batch.1 + 1);
    }

    /// Adds a measurement of other packets over the same time.
    #[expect(clippy::missing_panics_doc, reason = "histograms grow as needed")]
    pub fn add(&mut self, other: &Self) {
        self.latencies.add(&other.latencies).expect("it grows as needed");
        self.count_since(other, None, Ratio::ONE);
    }

    /// Adds what another one is beyond what it was before, multiplied. The longest are those of all of it.
    #[expect(clippy::missing_panics_doc, reason = "histograms grow as needed")]
    pub fn add_since(&mut self, now: &Self, before: Option<&Self>, by: Ratio) {
        for step in now.latencies.iter_recorded() {
            let took = step.value_iterated_to();
            let known = before.map_or(0, |before| before.latencies.count_at(took));
            let count = by.of(step.count_at_value() - known);
            self.latencies.record_n(took, count).expect("it grows as needed");
        }
        self.count_since(now, before, by);
    }

    /// The same, without the histogram.
    fn count_since(&mut self, now: &Self, before: Option<&Self>, by: Ratio) {
        let more = |to: &mut u64, of: fn(&Self) -> u64| {
            let new = of(now) - before.map_or(0, of);
            *to = to.saturating_add(by.of(new));
        };
        let wide = |to: &mut u128, now: u128, before: Option<u128>| {
            let new = now - before.unwrap_or(0);
            *to = to.saturating_add(by.of_sum(new));
        };
        more(&mut self.packets, |m| m.packets);
        wide(&mut self.latency, now.latency, before.map(|m| m.latency));
        self.longest = self.longest.max(now.longest);
        more(&mut self.hops, |m| m.hops);
        more(&mut self.round, |m| m.round);
        if let Some(late) = now.out_of_order {
            let to = self.out_of_order.get_or_insert_default();
            more(&mut to.packets, |m| m.out_of_order.map_or(0, |o| o.packets));
            to.furthest = to.furthest.max(late.furthest);
        }
        more(&mut self.bytes, |m| m.bytes);
        more(&mut self.created, |m| m.created);
        more(&mut self.created_bytes, |m| m.created_bytes);
        for (i, (to, now)) in self.batches.iter_mut().zip(&now.batches).enumerate() {
            let before = before.map(|m| m.batches[i]);
            wide(&mut to.0, now.0, before.map(|b| b.0));
            let new = now.1 - before.map_or(0, |b| b.1);
            to.1 = to.1.saturating_add(by.of(new));
        }
    }

    /// Mean latency in picoseconds.
    pub fn mean(&self) -> f64 {
        self.latency as f64 / self.packets.max(1) as f64
    }

    /// Mean latencies of ten parts of the time, each of several [batches](Self::batches), in picoseconds; those in which no packets were
    /// created that arrived are left out.
    pub fn batch_means(&self) -> Vec<f64> {
        let parts = self
            .batches
            .chunks(JOINED)
            .map(|part| part.iter().fold((0, 0), |sum, batch| (sum.0 + batch.0, sum.1 + batch.1)));
        parts.filter(|part| part.1 > 0).map(|part| part.0 as f64 / part.1 as f64).collect()
    }

    /// Whether less arrived in a measurement of `long` than was created, by more than chance: compared with the created, not the
    /// requested load, which few packets miss at random; and packets under way, which are the difference, vary by about the root of
    /// their number.
    ///
    /// The measurement is one of 2^`doublings` times the usual time.
    pub(crate) fn is_behind(&self, long: u64, doublings: u32) -> bool {
        let under_way = self.latency as f64 / long.max(1) as f64;
        let created = self.created as f64;
        let lacking = (1.0 - self.bytes as f64 / self.created_bytes as f64) * created;
        let much = LACKING / f64::from(1 << doublings).sqrt();
        lacking > much * created && lacking > UNDER_WAY * under_way.sqrt() + 1.0
    }

    /// Whether the means of parts are so alike that an interval of them is too narrow: queues that grow and shrink for longer than a
    /// part, or still grow.
    pub(crate) fn are_parts_alike(&self) -> bool {
        let some = self.batches.iter().filter(|batch| batch.1 > 0);
        let means: Vec<f64> = some.map(|batch| batch.0 as f64 / batch.1 as f64).collect();
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        let off: Vec<f64> = means.iter().map(|m| m - mean).collect();
        let together: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let all: f64 = off.iter().map(|x| x * x).sum();
        off.len() >= FEW && together > ALIKE_PARTS * all
    }

    /// Whether a measurement of `long` says too little: of the mean, or of whether sources fall behind, which they seemed to, and
    /// hardly do.
    pub(crate) fn is_short(&self, long: u64, doublings: u32, seemed_behind: bool) -> bool {
        let is_behind = self.is_behind(long, doublings);
        let arrived = self.bytes as f64 / self.created_bytes as f64;
        let no_chance =
            (1.0 - arrived) * self.created as f64 > CREATED * (self.created as f64).sqrt();
        let is_far = is_behind && arrived < FAR && no_chance;
        !is_far && (seemed_behind || is_behind || self.are_parts_alike())
    }

    /// Mean number of switches that packets crossed.
    pub fn mean_hops(&self) -> f64 {
        self.hops as f64 / self.packets.max(1) as f64
    }
}

/// Packets of an interval, whether they count or not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// Those that were created.
    pub(crate) created: u64,
    /// Those that arrived, and the sum of their latencies.
    pub(crate) arrived: u64,
    pub(crate) latency: u128,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.created += other.created;
        self.arrived += other.arrived;
        self.latency += other.latency;
    }

    /// A packet arrived.
    #[inline]
    pub(crate) fn arrived(&mut self, took: u64) {
        self.arrived += 1;
        self.latency += u128::from(took);
    }

    /// Mean latency in picoseconds.
    fn mean(&self) -> f64 {
        self.latency as f64 / self.arrived.max(1) as f64
    }
}

/// Whether a run has settled: packets that arrive in one interval after the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Settling {
    /// Counts of the previous interval.
    before: Counts,
    /// Consecutive intervals whose latencies equal the previous ones; in which the same number arrived, and fewer than
    /// were created.
    alike: u32,
    behind: u32,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Latencies still change.
    NotYet,
    /// Latencies are in steady state.
    Yes,
    /// Packets arrive at the maximum rate, and fewer than are created: latencies grow as long as the run lasts.
    Saturated,
}

/// Means that differ less are alike, and this many in a row are enough.
const ALIKE: f64 = 0.02;
const ENOUGH: u32 = 3;
/// If fewer than this part of the packets arrive, they pile up.
const BEHIND: f64 = 0.98;
/// So many standard deviations of what is created by chance.
const CHANCE: f64 = 2.0;

impl Settling {
    /// An interval is over.
    pub(crate) fn over(&mut self, counts: &Counts) -> Settled {
        let arrived = counts.arrived as f64;
        let near = |a: f64, b: f64| a > 0.0 && (a - b).abs() <= ALIKE * b;
        let alike = near(counts.mean(), self.before.mean());
        // By more than chance: created packets vary by the root of their number.
        let created = counts.created as f64;
        let is_behind = near(arrived, self.before.arrived as f64)
            && arrived < BEHIND * created
            && arrived < created - CHANCE * created.sqrt();
        let count = |holds: bool, so_far: u32| if holds { so_far + 1 } else { 0 };
        self.alike = count(alike, self.alike);
        self.behind = count(is_behind, self.behind);
        self.before = counts.clone();
        if self.alike >= ENOUGH {
            Settled::Yes
        } else if self.behind >= ENOUGH {
            Settled::Saturated
        } else {
            Settled::NotYet
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_settles_when_nothing_changes() {
        let mut settling = Settling::default();
        let mut over = |created: u64, took: u64| {
            let mut counts = Counts { created, ..Counts::default() };
            (0..1000).for_each(|_| counts.arrived(took));
            settling.over(&counts)
        };
        assert!([100, 200, 300, 303, 300].iter().all(|&took| over(1000, took) == Settled::NotYet));
        assert_eq!(over(1000, 301), Settled::Yes);
        assert_eq!(over(1000, 400), Settled::NotYet, "it rises");
        // A thousand arrive each time, of twelve hundred, later and later.
        assert!([500, 600].iter().all(|&took| over(1200, took) == Settled::NotYet));
        assert_eq!(over(1200, 700), Settled::Saturated);
    }

    #[test]
    fn a_measurement_is_short_where_its_parts_are_alike_or_the_verdict_is_open() {
        // 25 packets in each of 30 parts of 1,000, of which some arrive; they take 1,000 and `more` by part.
        let of = |arrived: u64, more: &dyn Fn(usize) -> u64| {
            let mut m = Measured::new();
            m.batches = std::array::from_fn(|i| (u128::from(25 * (1000 + more(i))), 25));
            m.latency = m.batches.iter().map(|b| b.0).sum();
            (m.created, m.created_bytes, m.bytes) = (1000, 64_000, 64 * arrived);
            m
        };
        let [up_and_down, rising] = [|i: usize| 10 * (i as u64 % 2), |i: usize| 10 * i as u64];
        assert!(!of(1000, &up_and_down).is_short(30_000, 0, false));
        assert!(of(1000, &up_and_down).is_short(30_000, 0, true), "it seemed to be behind");
        assert!(
            of(1000, &rising).are_parts_alike() && of(1000, &rising).is_short(30_000, 0, false)
        );
        assert!(!of(1000, &|_| 0).are_parts_alike(), "nothing varies");
        // 60 of 1,000 lack, and 25 packets are under way, whose root is 5; 150 are too many for any doubt.
        assert!(of(940, &up_and_down).is_behind(30_000, 0));
        assert!(of(940, &up_and_down).is_short(30_000, 0, false));
        assert!(
            of(850, &rising).is_behind(30_000, 0) && !of(850, &rising).is_short(30_000, 0, true)
        );
        assert!(!of(975, &up_and_down).is_behind(30_000, 0));
        // Of 16 times as long a measurement a smaller part is no chance.
        assert!(of(975, &up_and_down).is_behind(30_000, 4));
    }

    #[test]
    fn ten_parts_have_the_packets_of_three_each() {
        let mut m = Measured::new();
        m.batches = std::array::from_fn(|i| if i < 6 { (i as u128 + 1, 1) } else { (0, 0) });
        assert_eq!(m.batch_means(), [2.0, 5.0]);
    }

    #[test]
    fn few_packets_are_late_by_chance() {
        let mut settling = Settling::default();
        for took in [500, 600, 700, 800, 900] {
            let mut counts = Counts { created: 20, ..Counts::default() };
            (0..19).for_each(|_| counts.arrived(took));
            assert_eq!(settling.over(&counts), Settled::NotYet);
        }
    }
}
