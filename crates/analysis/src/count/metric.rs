//! The registry of metrics with a name in the literature.

use darkfiber_fabric::Registry;

use super::Bandwidth;

/// The subject of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricSource {
    /// The worst permutation of all.
    Worst,
    /// The mean bandwidth of a pattern.
    Pattern {
        /// Its name in [`PATTERNS`](darkfiber_workload::PATTERNS).
        pattern: &'static str,
        /// Kind of bandwidth.
        bandwidth: Bandwidth,
    },
}

/// A metric of the counting depth.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name of the metric.
    pub name: &'static str,
    /// Subject of the metric.
    pub of: MetricSource,
    /// Meaning of the metric, and its paper.
    pub summary: &'static str,
}

const fn mean(
    name: &'static str,
    pattern: &'static str,
    bandwidth: Bandwidth,
    summary: &'static str,
) -> Metric {
    Metric { name, of: MetricSource::Pattern { pattern, bandwidth }, summary }
}

/// The registry of metrics.
pub static METRICS: Registry<Metric> = Registry::new(
    "metric",
    &[
        Metric {
            name: "worst",
            of: MetricSource::Worst,
            summary: "most flows of any permutation on one channel, exactly (Nienaber, Mahapatra, Yuan: WORST)",
        },
        mean(
            "abb",
            "bisect",
            Bandwidth::Share,
            "random bisections: mean of 1 / largest load, what the slowest pair gets (Nienaber, Mahapatra, \
         Yuan: average bisection bandwidth)",
        ),
        mean(
            "afpb",
            "permutation",
            Bandwidth::Share,
            "as abb, of random full permutations (Nienaber, Mahapatra, Yuan)",
        ),
        mean(
            "adb",
            "dissemination",
            Bandwidth::Share,
            "as abb, of random exchanges between partners (Nienaber, Mahapatra, Yuan)",
        ),
        mean(
            "ebb",
            "bisect",
            Bandwidth::PairShare,
            "random bisections: mean over the pairs of 1 / flows on the worst channel of the path (Hoefler, \
         Schneider, Lumsdaine; ORCS; Domke et al.: effective bisection bandwidth)",
        ),
        mean(
            "fair",
            "bisect",
            Bandwidth::FairRate,
            "random bisections: mean of the max-min fair rates",
        ),
        mean(
            "finish",
            "bisect",
            Bandwidth::FinishRate,
            "random bisections: 1 / time until the last of equal messages has arrived at fair rates",
        ),
    ],
);

darkfiber_fabric::named!(Metric);
