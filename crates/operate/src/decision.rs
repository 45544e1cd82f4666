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
    /// Whether damaged tables are to be repaired.
    pub fn is_damage(self) -> bool {
        matches!(self, Self::Fault | Self::Question)
    }
}

/// What [`Candidate::kept`], [`Candidate::proposed`] and [`Candidate::bound`] count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Maximum effective EFI: routes of one job on a channel between switches, the most of them.
    #[default]
    EffectiveEfi,
    /// Bytes on the fullest channel in a window of counters, as they are estimated.
    Bytes,
    /// Demand on the fullest channel, in the unit in which demands are given.
    Demand,
}

impl Measure {
    /// Its words in reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::EffectiveEfi => "maximum effective EFI",
            Self::Bytes => "bytes on the fullest channel",
            Self::Demand => "demand on the fullest channel",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it")]
    fn is_default(&self) -> bool {
        *self == Self::default()
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
    /// What the next three count.
    #[serde(default, skip_serializing_if = "Measure::is_default")]
    pub measure: Measure,
    /// The measure with the tables in place.
    pub kept: u64,
    /// The measure with the proposed tables.
    pub proposed: u64,
    /// Lower bound for any tables; `None` if not known.
    pub bound: Option<u64>,
    /// Entries that change, one for each LID.
    pub entries: u64,
    /// Blocks of 64 LIDs that change.
    pub blocks: u64,
    /// Changes that were found beyond these and would take more stages, or are safe in none: moves of few entries, entries of tables
    /// made anew.
    pub withheld: u64,
}

impl Candidate {
    /// The share by which the measure falls.
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
    /// Digest of the demands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demands: Option<Digest>,
    /// The decision about few entries whose place a full route may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<PlanId>,
    /// Candidate that was found.
    pub candidate: Option<Candidate>,
    /// Verdict on the candidate.
    pub verdict: Option<Verdict>,
    /// Outcome of the decision.
    pub outcome: DecisionOutcome,
    /// Time of the outcome.
    pub ended: Option<Millis>,
}
