//! Modes of the machine, and its rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::Millis;

/// Limit of the machine's actions; each mode includes the previous ones.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reads, measures and keeps the journal.
    Observe,
    /// Proposes changes, with proof and cost.
    #[default]
    Advise,
    /// Repairs tables after faults.
    ApplyFaults,
    /// Changes tables for the jobs that run, too.
    Apply,
}

impl Mode {
    /// The name in configuration and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Advise => "advise",
            Self::ApplyFaults => "apply-faults",
            Self::Apply => "apply",
        }
    }
}

/// The rules by which changes are made or proposed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Policy {
    /// Least share by which the maximum effective EFI falls.
    pub min_gain: f64,
    /// Most blocks of 64 LIDs of a change.
    pub max_blocks: u64,
    /// Most stages of a change, each complete before the next.
    pub max_stages: u32,
    /// Least time between two changes for jobs; faults do not wait.
    pub cooldown: Millis,
    /// Most changes for jobs within an hour.
    pub max_per_hour: u32,
    /// Maximum time for which a starting job is delayed.
    pub hold: Millis,
    /// No packet is under way longer, once entries are cleared.
    #[serde(default = "drain")]
    pub drain: Millis,
    /// OpenSM has used a plan after this time, or the tables in place are read back.
    pub confirm: Millis,
    /// All tables are read this often.
    pub audit: Millis,
    /// Work that takes longer is given up.
    pub work: Millis,
    /// A channel that carries a larger share of its bandwidth is hot.
    #[serde(default = "hot")]
    pub hot: f64,
    /// Counters show a hot channel for so long before something is done about it.
    #[serde(default = "hot_for")]
    pub hot_for: Millis,
    /// Changes are made even if a standby subnet manager does not have the plan.
    pub alone: bool,
    /// When tables of a routing engine take the place of few entries; `None` for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<FullRoute>,
    /// Demands are read: nothing is changed for jobs before they are known.
    #[serde(default, skip_serializing_if = "is_false")]
    pub demands: bool,
}

/// When tables of a routing engine take the place of few entries that are changed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct FullRoute {
    /// Name of the engine.
    pub engine: String,
    /// It routes where few entries leave a load that is larger than the bound by more than this share, or the bound is not known.
    pub beyond: f64,
    /// Most blocks of 64 LIDs of a change.
    pub max_blocks: u64,
    /// Most stages of a change.
    pub max_stages: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it")]
fn is_false(b: &bool) -> bool {
    !b
}

/// OpenSM's `subnet_timeout` of 18 promises hosts that no packet lives longer than 4.096 us x 2^18 = 1.07 s.
fn drain() -> Millis {
    1_100
}

fn hot() -> f64 {
    0.5
}

fn hot_for() -> Millis {
    60_000
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            min_gain: 0.05,
            max_blocks: 64,
            max_stages: 1,
            cooldown: 30_000,
            max_per_hour: 20,
            hold: 3_000,
            drain: drain(),
            confirm: 10_000,
            audit: 600_000,
            work: 60_000,
            hot: hot(),
            hot_for: hot_for(),
            alone: false,
            route: None,
            demands: false,
        }
    }
}
