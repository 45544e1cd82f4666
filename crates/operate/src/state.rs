//! All that the machine remembers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Task;
use crate::decision::{Decision, Measure};
use crate::mode::{Mode, Policy};
use crate::value::{Digest, InputSource, Millis, PlanId};

/// Decisions that are remembered.
pub(crate) const REMEMBERED: usize = 50;

/// The complete memory of the machine. Two states that are equal have equal futures for equal inputs.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is remembered by itself")]
pub struct State {
    /// Number of starts of the program.
    pub boots: u64,
    /// Mode that limits its actions.
    pub mode: Mode,
    /// Rules of operation.
    pub policy: Policy,
    /// Current phase of the machine.
    pub phase: Phase,
    /// No changes and no proposals until an operator allows them.
    pub paused: bool,
    /// Incremented by every change that makes running work void.
    pub generation: u64,
    /// The next number of work.
    pub next_work: u64,
    /// The next number of a plan.
    pub next_plan: PlanId,
    /// Digest of the fabric, once known.
    pub fabric: Option<Digest>,
    /// Switches and ports of hosts of it.
    pub size: (u32, u32),
    /// Digest of the tables in place, once known.
    pub tables: Option<Digest>,
    /// Digest of the jobs, once known.
    pub jobs: Option<Digest>,
    /// Number of running jobs.
    pub running: u32,
    /// Sources that were read since the program started.
    pub fresh: BTreeSet<InputSource>,
    /// Jobs started since tables were last looked for.
    pub wanted: bool,
    /// Jobs ended since: tables may be improved, but that is not urgent.
    pub may_improve: bool,
    /// An operator requested a proposal.
    pub asked_by_hand: bool,
    /// The fabric or its tables changed, and the tables have not been checked yet.
    pub unwell: bool,
    /// A plan for another fabric was given to OpenSM, which waited for it: whether tables that faults have replaced are complete again
    /// is to be seen.
    #[serde(default)]
    pub looks_back: bool,
    /// Whether pairs are lost, and no safe way to mended tables was found or they could not be written, until the fabric or the tables
    /// change.
    #[serde(default)]
    pub damaged: bool,
    /// Fabric and tables of the last alarm about that, until they are repaired: questions of OpenSM about the same raise no other.
    #[serde(default)]
    pub alarmed_for: Option<(Digest, Digest)>,
    /// When a repair that could not be written is tried again.
    #[serde(default)]
    pub retry: Option<Millis>,
    /// Evaluation of the tables in place for the jobs, if these were measured.
    pub measured: Option<Measured>,
    /// Past decisions, oldest first.
    pub decisions: VecDeque<Decision>,
    /// The plan in place, as read back.
    pub in_place: Option<PlanId>,
    /// Questions that are not answered yet.
    pub questions: Vec<Question>,
    /// Jobs that wait, and until when at most.
    pub held: BTreeMap<u64, Millis>,
    /// When tables were changed or proposed for jobs, within the last hour.
    pub changes: Vec<Millis>,
    /// When plans were not found in place, within the last ten minutes.
    pub mismatches: Vec<Millis>,
    /// Times at which OpenSM used another engine without an order, within the last ten minutes.
    pub foreign: Vec<Millis>,
    /// The next sweep may use another engine: a question was answered with none, or the program was not running.
    pub excused: bool,
    /// Whether all standby subnet managers have the plan, as far as known.
    pub standby: bool,
    /// When all tables were last read.
    pub audited: Millis,
    /// Input that could not be used, by source.
    pub bad: BTreeMap<InputSource, BadInput>,
    /// Problem of the state folder, if any.
    pub disk: Option<String>,
    /// Since when counters have shown a hot channel.
    #[serde(default)]
    pub hot_since: Option<Millis>,
    /// A channel was hot for long enough in counters, and no work was started for it.
    #[serde(default)]
    pub too_hot: bool,
    /// A fabric that was refused as that of another cluster.
    #[serde(default)]
    pub stranger: Option<Digest>,
    /// Digest of the demands, once known.
    #[serde(default)]
    pub demands: Option<Digest>,
}

/// The activity of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "phase")]
pub enum Phase {
    /// No input has arrived yet.
    #[default]
    Starting,
    /// The tables in place are read back.
    Auditing {
        /// A plan that was being put in place when the program ended.
        flight: Option<PlanInFlight>,
    },
    /// Waits for something to happen.
    Watching,
    /// Some work is running.
    Working {
        /// Number of the work.
        work: u64,
        /// Task of the work.
        task: Task,
        /// It is given up then.
        until: Millis,
    },
    /// A stage of a plan is written.
    Committing {
        /// The plan and its stage.
        flight: PlanInFlight,
    },
    /// A stage of a plan is being programmed and read back.
    Confirming {
        /// The plan and its stage.
        flight: PlanInFlight,
        /// Tables are read back at this time, whatever OpenSM reports.
        until: Millis,
        /// They were found different once.
        again: bool,
    },
    /// Entries are cleared, and packets that went by them die out before the next stage is written.
    Draining {
        /// The next stage.
        flight: PlanInFlight,
        /// No packet is older then.
        until: Millis,
    },
    /// Changes nothing until an operator allows it.
    Frozen {
        /// Reason of the freeze.
        why: FreezeReason,
    },
}

impl Phase {
    /// The name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Auditing { .. } => "auditing",
            Self::Watching => "watching",
            Self::Working { task: Task::Prove { .. }, .. } => "proving",
            Self::Working { .. } => "working",
            Self::Committing { .. } => "committing",
            Self::Confirming { .. } => "confirming",
            Self::Draining { .. } => "draining",
            Self::Frozen { .. } => "frozen",
        }
    }

    /// The plan that is being put in place.
    pub fn flight(&self) -> Option<PlanInFlight> {
        match self {
            Self::Committing { flight }
            | Self::Confirming { flight, .. }
            | Self::Draining { flight, .. } => Some(*flight),
            Self::Auditing { flight } => *flight,
            _ => None,
        }
    }
}

/// A plan that is being put in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct PlanInFlight {
    /// Number of the plan.
    pub plan: PlanId,
    /// The stage, from 0.
    pub stage: u32,
    /// Number of stages of the plan.
    pub of: u32,
}

/// Why nothing is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FreezeReason {
    /// Two plans were not found in place within ten minutes, or one twice.
    Mismatch,
    /// OpenSM used another engine twice within ten minutes.
    Foreign,
    /// The engine list of OpenSM ends in `minhop`.
    Engines,
}

/// Evaluation of tables for jobs, or for what hosts send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Measured {
    /// What the next two count.
    #[serde(default)]
    pub measure: Measure,
    /// The load.
    pub efi: u64,
    /// Lower bound for any tables; `None` if not known.
    pub bound: Option<u64>,
}

/// A question of OpenSM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Question {
    /// Number of the question.
    pub id: u64,
    /// The fabric that it is about.
    pub fabric: Digest,
    /// OpenSM waits until then.
    pub until: Millis,
}

/// Input that could not be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct BadInput {
    /// Number of failures since it could last be used.
    pub in_a_row: u32,
    /// Number of failures in total.
    pub total: u64,
    /// Description of the last problem.
    pub what: String,
}

impl State {
    /// A decision that is remembered.
    pub fn decision(&self, id: PlanId) -> Option<&Decision> {
        self.decisions.iter().find(|d| d.id == id)
    }
}
