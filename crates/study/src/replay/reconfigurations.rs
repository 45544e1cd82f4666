//! Number and size of the table updates that would have been sent.

use schemars::JsonSchema;
use serde::Serialize;

use super::{EngineLoads, Moment};

/// Seconds to send a block of 64 entries to a switch and have it acknowledged: Domke, Hoefler, SC'16, section 4.3.3.
pub const BLOCK_SECONDS: f64 = 4.6e-6;

/// How often tables would have been sent, and how much of them.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Reconfigurations {
    /// Moments at which the places of multi-switch jobs were others than before.
    pub changes: usize,
    /// As many in a day in the mean, from the first moment on: where that is less than a day, as many would be.
    pub per_day_mean: f64,
    /// The fewest in a whole day, if there is one.
    pub per_day_min: Option<usize>,
    /// The most in a whole day, if there is one.
    pub per_day_max: Option<usize>,
    /// Whole days.
    pub days: usize,
    /// Days without any.
    pub days_without: usize,
    /// For each engine that follows jobs what a change means.
    pub engines: Vec<Sent>,
}

/// What a reconfiguration sends.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Sent {
    /// The engine.
    pub engine: String,
    /// Mean entries that differ.
    pub entries_mean: f64,
    /// Mean blocks of 64 LIDs that differ, of all switches together.
    pub blocks_mean: f64,
    /// The most blocks.
    pub blocks_max: usize,
    /// Seconds to send the mean blocks, one after the other.
    pub seconds_mean: f64,
    /// Seconds to send the most blocks.
    pub seconds_max: f64,
}

/// Counts reconfigurations of moments that are `every` seconds apart; blocks take [`BLOCK_SECONDS`],
/// one after the other.
pub fn reconfigurations(
    moments: &[Moment],
    engines: &[(&str, bool)],
    every: i64,
) -> Reconfigurations {
    const DAY: u64 = 86_400;
    let every = u64::try_from(every).unwrap_or(1).max(1);
    // A moment stands for the time up to the next one, which may be no part of a day and begins in one.
    let mut days = vec![0; (moments.len() as u64).saturating_mul(every).div_euclid(DAY) as usize];
    for (i, _) in (0u64..).zip(moments).filter(|(_, m)| m.changed) {
        if let Some(day) = days.get_mut((i * every / DAY) as usize) {
            *day += 1;
        }
    }
    let changes = moments.iter().filter(|m| m.changed).count();
    let span = moments.len().max(1) as f64 * every as f64 / DAY as f64;
    let engines = (0..engines.len())
        .filter(|&e| engines[e].1)
        .map(|e| {
            let changed = || moments.iter().filter(|m| m.changed).map(|m| m.engines[e]);
            let mean = |pick: fn(&EngineLoads) -> usize| {
                changed().map(|o| pick(&o)).sum::<usize>() as f64 / changes.max(1) as f64
            };
            let blocks_max = changed().map(|o| o.blocks).max().unwrap_or(0);
            Sent {
                engine: engines[e].0.to_owned(),
                entries_mean: mean(|o| o.entries),
                blocks_mean: mean(|o| o.blocks),
                blocks_max,
                seconds_mean: mean(|o| o.blocks) * BLOCK_SECONDS,
                seconds_max: blocks_max as f64 * BLOCK_SECONDS,
            }
        })
        .collect();
    Reconfigurations {
        changes,
        per_day_mean: changes as f64 / span,
        per_day_min: days.iter().copied().min(),
        per_day_max: days.iter().copied().max(),
        days: days.len(),
        days_without: days.iter().filter(|&&d| d == 0).count(),
        engines,
    }
}
