//! What one engine gains over another, in the form of the paper's Table 1.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Moment, Outcome};

/// The rows of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// `γ^e_max`; lower is better.
    EfiMax,
    /// Mean of `γ_max(j)`; lower is better.
    GammaMaxMean,
    /// Dark fiber in percent; lower is better. Its improvements are in percentage points.
    DarkFiberPercent,
    /// Links a job; higher is better.
    LinksPerJobMean,
}

impl Measure {
    /// All rows, from the top.
    pub const ALL: [Self; 4] =
        [Self::EfiMax, Self::GammaMaxMean, Self::DarkFiberPercent, Self::LinksPerJobMean];

    /// The number of an outcome.
    pub fn of(self, outcome: &Outcome) -> f64 {
        match self {
            Self::EfiMax => outcome.efi_max as f64,
            Self::GammaMaxMean => outcome.gamma_max_mean,
            Self::DarkFiberPercent => outcome.dark_fiber_percent,
            Self::LinksPerJobMean => outcome.links_per_job_mean,
        }
    }

    /// Words for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::EfiMax => "max effective EFI",
            Self::GammaMaxMean => "mean max EFI of a job",
            Self::DarkFiberPercent => "dark fiber, %",
            Self::LinksPerJobMean => "links per job",
        }
    }

    /// Whether more is better.
    pub fn is_higher_better(self) -> bool {
        self == Self::LinksPerJobMean
    }
}

/// How much better an engine is than another, over all moments with multi-switch jobs. Negative: worse.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Improvement {
    /// What is measured.
    pub measure: Measure,
    /// The engine.
    pub of: String,
    /// The one it is compared with.
    pub over: String,
    /// The most at any moment.
    pub max: f64,
    /// The most at any moment, in percent of the other's number then; not of dark fiber.
    pub max_percent: Option<f64>,
    /// The mean over moments.
    pub mean: f64,
    /// The mean over moments of the improvement in percent; not of dark fiber.
    pub mean_percent: Option<f64>,
    /// The least at any moment.
    pub min: f64,
    /// Share of moments at which it is worse, in percent.
    pub worse_percent: f64,
}

/// The improvements of engine number `of` over all others.
pub fn improvements(moments: &[Moment], engines: &[&str], of: usize) -> Vec<Improvement> {
    let mut rows = Vec::new();
    for measure in Measure::ALL {
        for over in (0..engines.len()).filter(|&e| e != of) {
            let (mut gains, mut percents) = (Vec::new(), Vec::new());
            for moment in moments.iter().filter(|m| m.multi_switch_jobs > 0) {
                let (ours, theirs) =
                    (measure.of(&moment.engines[of]), measure.of(&moment.engines[over]));
                let gain = if measure.is_higher_better() { ours - theirs } else { theirs - ours };
                gains.push(gain);
                if theirs > 0.0 {
                    percents.push(100.0 * gain / theirs);
                }
            }
            let most = |x: &[f64]| x.iter().copied().reduce(f64::max).unwrap_or(0.0);
            let mean = |x: &[f64]| x.iter().fold(0.0, |a, b| a + b) / x.len().max(1) as f64;
            let relative = measure != Measure::DarkFiberPercent;
            let worse = gains.iter().filter(|g| **g < 0.0).count();
            rows.push(Improvement {
                measure,
                of: engines[of].to_owned(),
                over: engines[over].to_owned(),
                max: most(&gains),
                max_percent: relative.then(|| most(&percents)),
                mean: mean(&gains),
                mean_percent: relative.then(|| mean(&percents)),
                min: gains.iter().copied().reduce(f64::min).unwrap_or(0.0),
                worse_percent: 100.0 * worse as f64 / gains.len().max(1) as f64,
            });
        }
    }
    rows
}

/// How often tables would have been sent, and how much of them.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Reconfigurations {
    /// Moments at which the places of multi-switch jobs were others than before.
    pub changes: usize,
    /// By whole day from the first moment on.
    pub per_day_mean: f64,
    /// The fewest in a day.
    pub per_day_min: usize,
    /// The most in a day.
    pub per_day_max: usize,
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

/// Counts reconfigurations of moments that are `every` seconds apart; `block` is how many seconds a block takes to
/// be sent and acknowledged.
pub fn reconfigurations(
    moments: &[Moment],
    engines: &[(&str, bool)],
    every: i64,
    block: f64,
) -> Reconfigurations {
    let a_day = usize::try_from(86_400 / every.clamp(1, 86_400)).unwrap_or(1);
    let days: Vec<usize> =
        moments.chunks_exact(a_day).map(|day| day.iter().filter(|m| m.changed).count()).collect();
    let changes = moments.iter().filter(|m| m.changed).count();
    let span = moments.len().max(1) as f64 / a_day as f64;
    let engines = (0..engines.len())
        .filter(|&e| engines[e].1)
        .map(|e| {
            let changed = || moments.iter().filter(|m| m.changed).map(|m| m.engines[e]);
            let mean = |pick: fn(&Outcome) -> usize| {
                changed().map(|o| pick(&o)).sum::<usize>() as f64 / changes.max(1) as f64
            };
            let blocks_max = changed().map(|o| o.blocks).max().unwrap_or(0);
            Sent {
                engine: engines[e].0.to_owned(),
                entries_mean: mean(|o| o.entries),
                blocks_mean: mean(|o| o.blocks),
                blocks_max,
                seconds_mean: mean(|o| o.blocks) * block,
                seconds_max: blocks_max as f64 * block,
            }
        })
        .collect();
    Reconfigurations {
        changes,
        per_day_mean: changes as f64 / span,
        per_day_min: days.iter().copied().min().unwrap_or(changes),
        per_day_max: days.iter().copied().max().unwrap_or(changes),
        days: days.len(),
        days_without: days.iter().filter(|d| **d == 0).count(),
        engines,
    }
}
