//! Gain of one engine over another, in the form of the paper's Table 1.

use schemars::JsonSchema;
use serde::Serialize;

use super::{EngineLoads, Moment};

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
    pub fn of(self, outcome: &EngineLoads) -> f64 {
        match self {
            Self::EfiMax => outcome.efi_max as f64,
            Self::GammaMaxMean => outcome.gamma_max_mean,
            Self::DarkFiberPercent => outcome.dark_fiber_percent,
            Self::LinksPerJobMean => outcome.links_per_job_mean,
        }
    }

    /// Label for users.
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
