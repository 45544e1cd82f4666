//! Decisions: their candidates, the proofs, and the outcomes.

use darkfiber_routing::transition::Rung;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::{Digest, Millis, PlanId};

/// Why something was thought of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// Jobs started.
    Jobs,
    /// An operator requested it.
    Operator,
    /// Counters show a hot channel.
    Counters,
    /// The fabric changed, or other tables are in place than were put there.
    Fault,
    /// OpenSM sent a question.
    Question,
    /// An operator wants the tables of an earlier plan, or those before it.
    Recall,
}

impl Trigger {
    /// The unit of [`Candidate::kept`] and [`Candidate::proposed`] for decisions with this trigger.
    pub fn measure(self) -> &'static str {
        match self {
            Self::Counters => "bytes on the fullest channel",
            _ => "maximum effective EFI",
        }
    }
}

/// Tables that were found.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Candidate {
    /// Digest of the tables.
    pub tables: Digest,
    /// The tables after each stage, each free of deadlock and loops; the last are [`Self::tables`]. After a fault those before the
    /// last may be incomplete: they lose pairs that the fault cut, and where packets are drained all pairs whose entries change.
    pub stages: Vec<Digest>,
    /// Maximum effective EFI with the tables in place; for counters, the bytes of the fullest channel in the window, as they
    /// are estimated.
    pub kept: u64,
    /// The measure with the proposed tables.
    pub proposed: u64,
    /// Lower bound for any tables; `None` if not known.
    pub bound: Option<u64>,
    /// Entries that change, one for each LID.
    pub entries: u64,
    /// Blocks of 64 LIDs that change.
    pub blocks: u64,
    /// Moves that were considered beyond these and would take more stages.
    pub withheld: u64,
}

impl Candidate {
    /// The share by which the maximum effective EFI falls.
    pub fn gain(&self) -> f64 {
        if self.kept == 0 {
            0.0
        } else {
            (self.kept as f64 - self.proposed as f64) / self.kept as f64
        }
    }
}

/// The proof about the transition from the tables in place to new ones.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Verdict {
    /// Digest of the fabric.
    pub fabric: Digest,
    /// The tables in place.
    pub from: Digest,
    /// Digest of the new tables.
    pub to: Digest,
    /// The proved method. Of a plan of one stage: the first level of the ladder on which its tables may be written. Of one of several:
    /// [`Rung::Stages`] if each stage may be written in any order over the previous one, [`Rung::DropDrain`] if so after packets of
    /// cleared entries are gone, and a worse one if not.
    #[schemars(with = "String")]
    pub rung: Rung,
    /// O1 to O5: which hold, and why others do not.
    pub obligations: Vec<String>,
    /// Number of pairs whose path or service level changes.
    pub pairs_changed: u64,
}

impl Verdict {
    /// Whether a plan of this number of stages may be put in place, a sweep for each. One sweep writes switches in an
    /// unknown order: a proof for some order of them does not help.
    pub fn allows(&self, stages: usize) -> bool {
        match stages {
            0 => false,
            1 => self.rung <= Rung::AnyOrder,
            2 => self.rung == Rung::Stages || self.drains(),
            _ => self.rung == Rung::Stages,
        }
    }

    /// Whether packets must be gone before the second stage.
    pub fn drains(&self) -> bool {
        self.rung == Rung::DropDrain
    }
}

/// The outcome of a decision.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum DecisionOutcome {
    /// The decision is in progress.
    Open,
    /// The tables in place stay: why.
    Kept {
        /// Reason in words.
        why: String,
    },
    /// Its subject has changed meanwhile.
    Dropped {
        /// Reason in words.
        why: String,
    },
    /// The plan was proposed to the operators.
    Proposed,
    /// The tables in place became the proposed ones, by any means.
    Taken,
    /// Being put in place.
    Deploying,
    /// In place, as read back.
    Confirmed,
    /// Not found in place after two attempts.
    Failed,
}

impl DecisionOutcome {
    /// The name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Kept { .. } => "kept",
            Self::Dropped { .. } => "dropped",
            Self::Proposed => "proposed",
            Self::Taken => "taken",
            Self::Deploying => "deploying",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
        }
    }
}

/// A decision from its trigger to its outcome.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Decision {
    /// Its number, and that of its plan.
    pub id: PlanId,
    /// Time of its start.
    pub at: Millis,
    /// Trigger of the decision.
    pub trigger: Trigger,
    /// Digest of the fabric.
    pub fabric: Digest,
    /// The tables in place.
    pub from: Digest,
    /// Digest of the jobs.
    pub jobs: Option<Digest>,
    /// Number of running jobs.
    pub running: u32,
    /// Candidate that was found.
    pub candidate: Option<Candidate>,
    /// Verdict on the candidate.
    pub verdict: Option<Verdict>,
    /// Outcome of the decision.
    pub outcome: DecisionOutcome,
    /// Time of the outcome.
    pub ended: Option<Millis>,
}
