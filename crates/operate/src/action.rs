//! The actions that the machine requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::PlanId;

/// An action that the machine requests, in this order, once the step is in the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "action")]
pub enum Action {
    /// Compute something from the current fabric, tables and jobs; [`crate::Input::Done`] brings the result.
    Work {
        /// Number of the work.
        work: u64,
        /// To be brought back with the result.
        generation: u64,
        /// Task of the work.
        task: Task,
    },
    /// Drop running work; its result would be ignored.
    Forget {
        /// Number of the work.
        work: u64,
    },
    /// Read the tables in place back.
    ReadBack {
        /// The plan that should be there.
        expect: Option<PlanId>,
        /// All blocks, not only those that changed.
        whole: bool,
    },
    /// Put a stage of a plan where OpenSM finds it, whole or not at all.
    Commit {
        /// Number of the plan.
        plan: PlanId,
        /// The stage, from 0.
        stage: u32,
    },
    /// Request a heavy sweep of OpenSM.
    Sweep,
    /// Answer a question of OpenSM.
    Answer {
        /// Number of the question.
        question: u64,
        /// The plan, if there is one.
        plan: Option<PlanId>,
        /// The stage of it, from 0.
        #[serde(default, skip_serializing_if = "is_first")]
        stage: u32,
    },
    /// Let a job start.
    Release {
        /// Number of the job.
        job: u64,
    },
    /// Show a proposal: keep its tables, list it.
    Propose {
        /// Number of the plan.
        plan: PlanId,
    },
    /// Notify the operators.
    Alarm {
        /// Urgency of the alarm.
        level: Level,
        /// Text of the alarm.
        text: String,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it")]
fn is_first(stage: &u32) -> bool {
    *stage == 0
}

/// Work that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "task")]
pub enum Task {
    /// Evaluates the tables in place for the jobs.
    Measure,
    /// Few entries for the jobs that run.
    Ease {
        /// The plan that it makes.
        plan: PlanId,
    },
    /// Tables of the routing engine that the policy names, for the jobs that run and what hosts send.
    Route {
        /// The plan that it makes.
        plan: PlanId,
    },
    /// Few entries that relieve the hottest channel, if counters identify its traffic.
    Relieve {
        /// The plan that it makes.
        plan: PlanId,
    },
    /// Complete tables for the fabric, near those in place.
    Mend {
        /// The plan that it makes.
        plan: PlanId,
        /// Whether tables that faults have replaced are put back, where those in place are complete: not while OpenSM waits.
        #[serde(default)]
        restores: bool,
    },
    /// Take the tables of an earlier plan, or those that were in place before it.
    Recall {
        /// The plan that it makes.
        plan: PlanId,
        /// Number of the earlier plan.
        of: PlanId,
        /// Whether those before it are wanted.
        before: bool,
    },
    /// Judge the transition from the tables in place to a plan's, by other code than found them.
    Prove {
        /// Number of the plan.
        plan: PlanId,
    },
}

impl Task {
    /// The plan that it is about.
    pub fn plan(self) -> Option<PlanId> {
        match self {
            Self::Measure => None,
            Self::Ease { plan }
            | Self::Relieve { plan }
            | Self::Route { plan }
            | Self::Mend { plan, .. }
            | Self::Recall { plan, .. }
            | Self::Prove { plan } => Some(plan),
        }
    }

    /// Name of the task in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measure => "measuring",
            Self::Ease { .. } => "easing",
            Self::Relieve { .. } => "relieving",
            Self::Route { .. } => "routing",
            Self::Mend { .. } => "mending",
            Self::Recall { .. } => "recalling",
            Self::Prove { .. } => "proving",
        }
    }
}

/// Urgency of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// For information only.
    Notice,
    /// An operator should look at it.
    Warning,
    /// An operator must act.
    Critical,
}

impl Level {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}
