//! Sampling of patterns until the mean is known precisely enough.

use darkfiber_routing::unwind_if_asked;
use darkfiber_workload::{Extent, Pattern, Stream};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::counter::Counter;
use super::paths::{Channels, with_channels};
use super::{Costs, Paths, fair_rates, finish_time};

/// Samples that one task draws.
const BLOCK: u64 = 64;
/// 99.5 % of a normal distribution lie below this many standard deviations: the bounds of a 99 % interval.
const DEVIATIONS: f64 = 2.575_829_303_548_901;
/// The confidence of all intervals.
const CONFIDENCE: f64 = 0.99;
/// From this many samples on means are normally distributed.
const MANY: usize = 1000;

/// As [`DEVIATIONS`], where the deviation itself is that of few samples (Student, "The probable error of a mean", Biometrika 6, 1908).
fn student_t(freedom: f64) -> f64 {
    distrs::StudentsT::ppf(f64::midpoint(1.0, CONFIDENCE), freedom)
}

/// The bandwidth of a pattern under its definitions in the literature. All are shares of the capacity of a terminal's
/// link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bandwidth {
    /// 1 / largest load of a channel: the share of the slowest pair. ABB, AFPB and ADB of Nienaber, Mahapatra, Yuan.
    Share,
    /// The mean over the pairs of 1 / (flows on the worst channel of the path): effective bisection bandwidth as ORCS
    /// counts it (Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars", CLUSTER'08; Schneider,
    /// Hoefler, Lumsdaine, "ORCS", 2009). Capacity that others leave is not used.
    PairShare,
    /// The mean of the max-min fair rates: capacity that others leave is used.
    FairRate,
    /// 1 / time until the last of equal messages has arrived at fair rates.
    FinishRate,
}

impl Bandwidth {
    /// All kinds of bandwidth.
    pub const ALL: [Self; 4] = [Self::Share, Self::PairShare, Self::FairRate, Self::FinishRate];

    /// Definition in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Share => {
                "of a pattern: 1 / flows on the fullest channel, what the slowest pair gets"
            }
            Self::PairShare => {
                "of a pattern: mean over the pairs of 1 / flows on the fullest channel of the path"
            }
            Self::FairRate => "of a pattern: mean of the max-min fair rates",
            Self::FinishRate => {
                "of a pattern: 1 / time until the last of equal messages has arrived at fair rates"
            }
        }
    }

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Share => "share",
            Self::PairShare => "pair_share",
            Self::FairRate => "fair_rate",
            Self::FinishRate => "finish_rate",
        }
    }
}

/// Quantities to compute in addition to [`Bandwidth::Share`].
#[derive(Clone, Debug, Default)]
pub struct Quantities {
    /// Other kinds of bandwidth.
    pub bandwidths: Vec<Bandwidth>,
    /// The load of every channel.
    pub loads: bool,
}

/// When to stop drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Initial number of samples; doubled until the mean is known precisely enough.
    pub first: u64,
    /// Samples to end with in any case.
    pub most: u64,
    /// Width of the 99 % confidence interval, as a share of the mean, that is narrow enough.
    pub width: f64,
}

impl Default for Precision {
    /// The rule of Nienaber, Mahapatra, Yuan, section IV: 1000 samples, doubled until the 99 % confidence
    /// interval is narrower than 1 % of the mean (read as its full width).
    fn default() -> Self {
        Self { first: 1000, most: 1 << 22, width: 0.01 }
    }
}

impl Precision {
    /// Exactly this many samples.
    pub fn exactly(samples: u64) -> Self {
        Self { first: samples, most: samples, width: 0.0 }
    }
}

/// A mean and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Estimate {
    /// Mean over the samples or phases.
    pub mean: f64,
    /// Lower end of the confidence interval of the mean; the mean itself if all phases were counted. One sample has none.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Probability that the interval holds the true mean; 1 if all phases were counted.
    pub confidence: f64,
    /// Samples drawn, or phases counted.
    pub samples: u64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl Estimate {
    fn of(values: &[f64], all: bool) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        let half = match values.len() {
            _ if all => Some(0.0),
            0 | 1 => None,
            samples => {
                let deviations = if samples < MANY { student_t(n - 1.0) } else { DEVIATIONS };
                Some(deviations * (squares / (n - 1.0) / n).sqrt())
            }
        };
        Self {
            mean,
            ci_low: half.map(|half| mean - half),
            ci_high: half.map(|half| mean + half),
            confidence: if all { 1.0 } else { CONFIDENCE },
            samples: values.len() as u64,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    fn is_precise(&self, precision: &Precision) -> bool {
        self.samples >= precision.most
            || self.width().is_some_and(|width| width < precision.width * self.mean.abs())
    }

    /// Width of the confidence interval, if there is one.
    pub fn width(&self) -> Option<f64> {
        Some(self.ci_high? - self.ci_low?)
    }
}

/// Loads of a pattern on the channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The bandwidths, [`Bandwidth::Share`] first, then those wanted.
    pub bandwidths: Vec<(Bandwidth, Estimate)>,
    /// Most flows on a channel: mean over the samples or phases.
    pub most_mean: f64,
    /// Samples or phases by their largest load.
    pub by_most: Vec<u64>,
    /// Mean flows of every switch-to-switch channel; empty if not wanted.
    pub heat: Vec<f64>,
    /// Channels by load, summed over samples or phases; empty if not wanted.
    pub by_load: Vec<u64>,
}

impl Measured {
    /// Most flows on a channel in any sample.
    pub fn most(&self) -> usize {
        self.by_most.iter().rposition(|&n| n > 0).unwrap_or(0)
    }

    /// One of the bandwidths, if it was wanted.
    pub fn bandwidth(&self, which: Bandwidth) -> Option<&Estimate> {
        self.bandwidths.iter().find(|(b, _)| *b == which).map(|(_, e)| e)
    }
}

/// Counts a pattern: all of its phases, or samples of it until their mean is known precisely enough.
///
/// Sample `i` depends only on the seed and `i`, and sums are made in the order of samples: the result does not depend
/// on the number of threads, nor on the other requested quantities.
pub fn measure(
    paths: &Paths<'_>,
    costs: Option<&Costs>,
    pattern: &dyn Pattern,
    wanted: &Quantities,
    precision: &Precision,
    seed: u64,
) -> Measured {
    with_channels!(paths, channels => {
        SampleRun { paths, channels, costs, pattern, seed }.all(wanted, precision)
    })
}

struct SampleRun<'a, C> {
    paths: &'a Paths<'a>,
    channels: &'a C,
    costs: Option<&'a Costs>,
    pattern: &'a dyn Pattern,
    seed: u64,
}

/// Results of some consecutive samples.
#[derive(Default)]
struct Block {
    /// Of the share, then of each open bandwidth: values by sample.
    values: Vec<Vec<f64>>,
    by_most: Vec<u64>,
    heat: Vec<u64>,
    by_load: Vec<u64>,
}

impl<C: Channels> SampleRun<'_, C> {
    fn all(&self, wanted: &Quantities, precision: &Precision) -> Measured {
        let (phases, mut end) = match self.pattern.extent() {
            Extent::Phases(phases) => (true, phases),
            Extent::Samples => (false, precision.first.max(1)),
        };
        let mut kinds = vec![Bandwidth::Share];
        kinds.extend(Bandwidth::ALL[1..].iter().filter(|b| wanted.bandwidths.contains(b)));
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); kinds.len()];
        let mut done = vec![false; kinds.len()];
        let mut total = Block::default();
        let mut begin = 0;
        loop {
            // Loads are of the samples that the share needs, whatever else is requested.
            let loads = wanted.loads && !done[0];
            let open: Vec<usize> = (0..kinds.len()).filter(|&k| !done[k]).collect();
            let of: Vec<Bandwidth> = open.iter().map(|&k| kinds[k]).collect();
            let starts: Vec<u64> = (begin..end).step_by(BLOCK as usize).collect();
            let blocks: Vec<Block> = starts
                .into_par_iter()
                .with_max_len(1)
                // Whoever stops one block stops all.
                .panic_fuse()
                .map(|from| self.block(from, end.min(from + BLOCK), &of, loads))
                .collect();
            for block in blocks {
                for (&k, more) in open.iter().zip(block.values) {
                    values[k].extend(more);
                }
                if !done[0] {
                    add(&mut total.by_most, &block.by_most);
                }
                add(&mut total.heat, &block.heat);
                add(&mut total.by_load, &block.by_load);
            }
            for &k in &open {
                done[k] = phases || Estimate::of(&values[k], false).is_precise(precision);
            }
            if done.iter().all(|&d| d) {
                break;
            }
            begin = end;
            end = (2 * end).min(precision.most);
        }
        let samples = values[0].len() as f64;
        let flows: f64 = total.by_most.iter().enumerate().map(|(n, &k)| n as f64 * k as f64).sum();
        Measured {
            most_mean: flows / samples,
            by_most: total.by_most,
            heat: total.heat.iter().map(|&sum| sum as f64 / samples).collect(),
            by_load: total.by_load,
            bandwidths: kinds
                .into_iter()
                .zip(values.iter().map(|v| Estimate::of(v, phases)))
                .collect(),
        }
    }

    fn block(&self, begin: u64, end: u64, kinds: &[Bandwidth], loads: bool) -> Block {
        let mut counter = Counter::new(self.paths, self.channels, self.costs);
        let once = self.pattern.is_permutation();
        let mut pairs = Vec::new();
        let mut block = Block { values: vec![Vec::new(); kinds.len()], ..Block::default() };
        for index in begin..end {
            unwind_if_asked();
            self.pattern.fill(index, &mut Stream::new(self.seed, index), &mut pairs);
            counter.count(&pairs, once);
            let most = counter.most(once);
            tally(&mut block.by_most, most);
            for (kind, values) in kinds.iter().zip(&mut block.values) {
                values.push(match kind {
                    _ if pairs.is_empty() => 1.0,
                    Bandwidth::Share => 1.0 / counter.slowest(most),
                    Bandwidth::PairShare => counter.pair_share(&pairs, once),
                    Bandwidth::FairRate => {
                        let rates = fair_rates(self.paths, self.costs, &pairs);
                        rates.iter().sum::<f64>() / rates.len() as f64
                    }
                    Bandwidth::FinishRate => 1.0 / finish_time(self.paths, self.costs, &pairs),
                });
            }
            if loads {
                block.heat.resize(counter.load().len(), 0);
                for (sum, &n) in block.heat.iter_mut().zip(counter.load()) {
                    *sum += u64::from(n);
                }
                counter.load().iter().for_each(|&n| tally(&mut block.by_load, n));
            }
        }
        block
    }
}

/// One more of size `n`.
fn tally(counts: &mut Vec<u64>, n: u32) {
    let n = n as usize;
    if counts.len() <= n {
        counts.resize(n + 1, 0);
    }
    counts[n] += 1;
}

fn add(sum: &mut Vec<u64>, more: &[u64]) {
    sum.resize(sum.len().max(more.len()), 0);
    sum.iter_mut().zip(more).for_each(|(a, b)| *a += b);
}
