//! Statistics over runs that differ only in their seed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Measured, SweepRun};

/// Mean and range of a number over runs.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Stat {
    /// Mean.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Stat {
    /// Summary of some numbers; `None` of none.
    pub fn of(numbers: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut n, mut sum, mut min, mut max) = (0u64, 0.0, f64::INFINITY, f64::NEG_INFINITY);
        for x in numbers {
            n += 1;
            sum += x;
            min = x.min(min);
            max = x.max(max);
        }
        // A rounded mean must not leave the range.
        (n > 0).then(|| Self { mean: (sum / n as f64).clamp(min, max), min, max })
    }
}

/// All seeds of one fabric, chain and share of failed cables. Numbers are over the runs that were not
/// refused, and `None` if all were.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Summary {
    /// Name of the fabric.
    pub fabric: String,
    /// Name of the chain.
    pub engine: String,
    /// Share of cables that failed, in percent.
    pub percent: f64,
    /// Cables that failed.
    pub failed: usize,
    /// Number of runs.
    pub runs: usize,
    /// Runs that the engine refused.
    pub refused: usize,
    /// The reason of the first of them.
    pub reason: Option<String>,
    /// Runs that were routed and free of deadlock.
    pub deadlock_free: usize,
    /// Pairs that cannot talk.
    pub lost: Option<Stat>,
    /// Virtual layers.
    pub layers: Option<Stat>,
    /// Largest load of a channel.
    pub efi_max: Option<Stat>,
    /// The same as a multiple of that without faults.
    pub efi_max_relative: Option<Stat>,
    /// Mean hops.
    pub hops_mean: Option<Stat>,
    /// Wall time.
    pub seconds: Option<Stat>,
}

/// Sums up runs, in the order in which fabrics, shares and chains first appear.
pub fn summarise(runs: &[SweepRun]) -> Vec<Summary> {
    let mut groups: Vec<Vec<&SweepRun>> = Vec::new();
    let alike = |a: &SweepRun, b: &SweepRun| {
        a.fabric == b.fabric && a.percent.total_cmp(&b.percent).is_eq() && a.engine == b.engine
    };
    for run in runs {
        // Runs of one group are near each other: in the groups of their fabric and share.
        match groups.iter_mut().rev().find(|group| alike(group[0], run)) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups.iter().map(|group| of_group(group)).collect()
}

fn of_group(group: &[&SweepRun]) -> Summary {
    let measured: Vec<&Measured> = group.iter().filter_map(|run| run.measured()).collect();
    let stat = |f: fn(&Measured) -> Option<f64>| Stat::of(measured.iter().filter_map(|m| f(m)));
    let first = group[0];
    Summary {
        fabric: first.fabric.clone(),
        engine: first.engine.clone(),
        percent: first.percent,
        failed: first.failed,
        runs: group.len(),
        refused: group.len() - measured.len(),
        reason: group.iter().find_map(|run| match &run.outcome {
            crate::SweepOutcome::Refused { refused } => Some(refused.clone()),
            crate::SweepOutcome::Routed(_) => None,
        }),
        deadlock_free: measured.iter().filter(|m| m.deadlock_free).count(),
        lost: stat(|m| Some(m.lost as f64)),
        layers: stat(|m| Some(m.layers as f64)),
        efi_max: stat(|m| Some(m.efi_max as f64)),
        efi_max_relative: stat(|m| m.efi_max_relative),
        hops_mean: stat(|m| Some(m.hops_mean)),
        seconds: stat(|m| Some(m.seconds)),
    }
}
