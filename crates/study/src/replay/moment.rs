//! Moments: the places of jobs, and the loads under each engine.

use darkfiber_analysis::jobs::EffectiveFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One moment.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Moment {
    /// When, in the history's seconds.
    pub time: i64,
    /// Jobs that run.
    pub jobs: usize,
    /// Of these on two switches or more.
    pub multi_switch_jobs: usize,
    /// Terminals that run jobs, in percent of those that can.
    pub busy_percent: f64,
    /// Whether the places of jobs on several switches are others than at the moment before.
    pub changed: bool,
    /// What each engine makes of it, in the order of the plan.
    pub engines: Vec<EngineLoads>,
}

/// What an engine makes of a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct EngineLoads {
    /// `γ^e_max`: most routes inside jobs over one channel.
    pub efi_max: u64,
    /// Mean over multi-switch jobs of the most of its own routes over one channel.
    pub gamma_max_mean: f64,
    /// Share of channels that no route inside a job crosses, in percent.
    pub dark_fiber_percent: f64,
    /// Mean over multi-switch jobs of the channels that its routes cross.
    pub links_per_job_mean: f64,
    /// Entries of all tables that differ from those of the moment before.
    pub entries: usize,
    /// Blocks of 64 LIDs that differ, of all switches together.
    pub blocks: usize,
}

impl EngineLoads {
    pub(super) fn new(facts: &EffectiveFacts) -> Self {
        Self {
            efi_max: facts.effective_efi.max,
            gamma_max_mean: facts.gamma_max_mean,
            dark_fiber_percent: facts.effective_dark_fiber_percent,
            links_per_job_mean: facts.links_per_job_mean,
            ..Self::default()
        }
    }
}

/// Nodes of the jobs that run at a moment.
pub(super) struct RunningNodes {
    pub(super) time: i64,
    pub(super) jobs: usize,
    pub(super) busy_percent: f64,
    /// Places of jobs on two switches or more, and how many jobs each has.
    pub(super) places: Vec<(u32, u32)>,
    pub(super) changed: bool,
}
