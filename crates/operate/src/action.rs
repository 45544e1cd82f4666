//! What the machine wants done.

use serde::{Deserialize, Serialize};

use crate::value::PlanId;

/// What the machine wants done, in this order, once the step is in the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "action")]
pub enum Action {
    /// Compute something from the fabric, tables and jobs that are known now; [`crate::Input::Done`] brings the result.
    Work {
        /// Number of the work.
        work: u64,
        /// To be brought back with the result.
        generation: u64,
        /// What.
        task: Task,
    },
    /// Forget work that is under way; its result would be dropped.
    Forget {
        /// Its number.
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
        /// The plan.
        plan: PlanId,
        /// The stage, from 0.
        stage: u32,
    },
    /// Ask OpenSM for a heavy sweep.
    Sweep,
    /// Answer a question of OpenSM.
    Answer {
        /// Its number.
        question: u64,
        /// The plan, or none.
        plan: Option<PlanId>,
        /// The stage of it, from 0.
        #[serde(default, skip_serializing_if = "is_first")]
        stage: u32,
    },
    /// Let a job start.
    Release {
        /// Its number.
        job: u64,
    },
    /// Show a proposal: keep its tables, list it.
    Propose {
        /// The plan.
        plan: PlanId,
    },
    /// Tell people.
    Alarm {
        /// How urgently.
        level: Level,
        /// What.
        text: String,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it")]
fn is_first(stage: &u32) -> bool {
    *stage == 0
}

/// Work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "task")]
pub enum Task {
    /// How the tables in place serve the jobs.
    Measure,
    /// Few entries for the jobs that run.
    Ease {
        /// The plan that it makes.
        plan: PlanId,
    },
    /// Few entries that cool down the hottest channel, if counters tell whose traffic it carries.
    Relieve {
        /// The plan that it makes.
        plan: PlanId,
    },
    /// Complete tables for the fabric, near those in place.
    Mend {
        /// The plan that it makes.
        plan: PlanId,
    },
    /// Take the tables of an earlier plan, or those that were in place before it.
    Recall {
        /// The plan that it makes.
        plan: PlanId,
        /// The earlier plan.
        of: PlanId,
        /// Those before it.
        before: bool,
    },
    /// Judge the way from the tables in place to a plan's, by other code than found them.
    Prove {
        /// The plan.
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
            | Self::Mend { plan }
            | Self::Recall { plan, .. }
            | Self::Prove { plan } => Some(plan),
        }
    }

    /// What it does, in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measure => "measuring",
            Self::Ease { .. } => "easing",
            Self::Relieve { .. } => "relieving",
            Self::Mend { .. } => "mending",
            Self::Recall { .. } => "recalling",
            Self::Prove { .. } => "proving",
        }
    }
}

/// How urgent an alarm is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Good to know.
    Notice,
    /// Somebody should look.
    Warning,
    /// Somebody must act.
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
