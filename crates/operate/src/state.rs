//! All that the machine remembers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::action::Task;
use crate::decision::Decision;
use crate::mode::{Mode, Policy};
use crate::value::{Digest, Millis, PlanId, Source};

/// Decisions that are remembered.
pub(crate) const REMEMBERED: usize = 50;

/// All that the machine remembers. Two states that are equal go on alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is remembered by itself")]
pub struct State {
    /// How often the program began.
    pub boots: u64,
    /// How far it may go.
    pub mode: Mode,
    /// The rules.
    pub policy: Policy,
    /// What it does.
    pub phase: Phase,
    /// No changes and no proposals until somebody says so.
    pub paused: bool,
    /// Rises with whatever makes work that is under way void.
    pub generation: u64,
    /// The next number of work.
    pub next_work: u64,
    /// The next number of a plan.
    pub next_plan: PlanId,
    /// The fabric, once known.
    pub fabric: Option<Digest>,
    /// Switches and ports of hosts of it.
    pub size: (u32, u32),
    /// The tables in place, once known.
    pub tables: Option<Digest>,
    /// The jobs, once known.
    pub jobs: Option<Digest>,
    /// How many run.
    pub running: u32,
    /// What was read since the program began.
    pub fresh: BTreeSet<Source>,
    /// Jobs started since tables were last looked for.
    pub wanted: bool,
    /// Jobs ended since: tables may be improved, but nobody waits for it.
    pub may_improve: bool,
    /// An operator asked for a proposal.
    pub asked_by_hand: bool,
    /// The fabric or its tables changed, and nobody has looked yet whether the tables are whole.
    pub unwell: bool,
    /// How the tables in place serve the jobs, if that was measured for these.
    pub measured: Option<Measured>,
    /// Decisions, oldest first.
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
    /// When OpenSM used another engine though nobody told it to, within the last ten minutes.
    pub foreign: Vec<Millis>,
    /// The next sweep may use another engine: a question was answered with none, or nobody was there.
    pub excused: bool,
    /// All standby subnet managers have the plan, as far as known.
    pub standby: bool,
    /// When all tables were last read.
    pub audited: Millis,
    /// Input that could not be used, by source.
    pub bad: BTreeMap<Source, BadInput>,
    /// What is wrong with the state folder.
    pub disk: Option<String>,
    /// Since when counters have shown a hot channel.
    #[serde(default)]
    pub hot_since: Option<Millis>,
    /// Counters have shown one for long enough, and nobody has looked what to do.
    #[serde(default)]
    pub too_hot: bool,
    /// A fabric that was refused as that of another cluster.
    #[serde(default)]
    pub stranger: Option<Digest>,
}

/// What the machine does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "phase")]
pub enum Phase {
    /// It has heard nothing yet.
    #[default]
    Starting,
    /// Reads back what is in place.
    Auditing {
        /// A plan that was being put in place when the program ended.
        flight: Option<Flight>,
    },
    /// Waits for something to happen.
    Watching,
    /// Work is under way.
    Working {
        /// Its number.
        work: u64,
        /// What.
        task: Task,
        /// It is given up then.
        until: Millis,
    },
    /// A stage of a plan is written.
    Committing {
        /// Which.
        flight: Flight,
    },
    /// A stage of a plan is being programmed and read back.
    Confirming {
        /// Which.
        flight: Flight,
        /// Tables are read back then, whatever OpenSM says.
        until: Millis,
        /// They were found different once.
        again: bool,
    },
    /// Entries are cleared, and packets that went by them die out before the next stage is written.
    Draining {
        /// The next stage.
        flight: Flight,
        /// No packet is older then.
        until: Millis,
    },
    /// Changes nothing until an operator says so.
    Frozen {
        /// Why.
        why: Why,
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
    pub fn flight(&self) -> Option<Flight> {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flight {
    /// The plan.
    pub plan: PlanId,
    /// The stage, from 0.
    pub stage: u32,
    /// How many there are.
    pub of: u32,
}

/// Why nothing is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Two plans were not found in place within ten minutes, or one twice.
    Mismatch,
    /// OpenSM used another engine twice within ten minutes.
    Foreign,
    /// The engine list of OpenSM ends in `minhop`.
    Engines,
}

/// How tables serve jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Maximum effective EFI.
    pub efi: u64,
    /// No tables have less; `None` if not known.
    pub bound: Option<u64>,
}

/// A question of OpenSM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its number.
    pub id: u64,
    /// The fabric that it is about.
    pub fabric: Digest,
    /// OpenSM waits until then.
    pub until: Millis,
}

/// Input that could not be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadInput {
    /// How often since it last could.
    pub in_a_row: u32,
    /// How often in all.
    pub total: u64,
    /// What was wrong the last time.
    pub what: String,
}

impl State {
    /// A decision that is remembered.
    pub fn decision(&self, id: PlanId) -> Option<&Decision> {
        self.decisions.iter().find(|d| d.id == id)
    }
}
