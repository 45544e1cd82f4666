//! What was thought of, what was proved of it, and what came of it.

use darkfiber_routing::transition::Rung;
use serde::{Deserialize, Serialize};

use crate::value::{Digest, Millis, PlanId};

/// Why something was thought of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// Jobs started.
    Jobs,
    /// An operator asked.
    Operator,
    /// Counters show a hot channel.
    Counters,
    /// The fabric changed, or other tables are in place than were put there.
    Fault,
    /// OpenSM asked.
    Question,
    /// An operator wants the tables of an earlier plan, or those before it.
    Recall,
}

impl Trigger {
    /// What [`Candidate::kept`] and [`Candidate::proposed`] are of decisions with this trigger.
    pub fn measure(self) -> &'static str {
        match self {
            Self::Counters => "bytes on the fullest channel",
            _ => "maximum effective EFI",
        }
    }
}

/// Tables that were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The tables.
    pub tables: Digest,
    /// The tables after each stage, each free of deadlock and loops; the last are [`Self::tables`]. After a fault those before the
    /// last may be incomplete: they lose pairs that the fault cut, and where packets are drained all pairs whose entries change.
    pub stages: Vec<Digest>,
    /// Maximum effective EFI with the tables in place; for counters, the bytes of the fullest channel in the window, as they
    /// are estimated.
    pub kept: u64,
    /// And with these.
    pub proposed: u64,
    /// No tables have less; `None` if not known.
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

/// What is proved of the way from the tables in place to new ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The fabric.
    pub fabric: Digest,
    /// The tables in place.
    pub from: Digest,
    /// The new tables.
    pub to: Digest,
    /// What is proved. Of a plan of one stage: the first rung on which its tables may be written. Of one of several:
    /// [`Rung::Stages`] if each stage may be written in any order over the one before it, [`Rung::DropDrain`] if so after packets of
    /// cleared entries are gone, and a worse one if not.
    pub rung: Rung,
    /// O1 to O5: which hold, and why others do not.
    pub obligations: Vec<String>,
    /// Pairs whose path or service level changes.
    pub pairs_changed: u64,
}

impl Verdict {
    /// Whether a plan of so many stages may be put in place, a sweep for each. One sweep writes switches in no known order:
    /// that some order of them is proved does not help.
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

/// What came of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Outcome {
    /// Under way.
    Open,
    /// The tables in place stay: why.
    Kept {
        /// Why.
        why: String,
    },
    /// What it was about has changed meanwhile.
    Dropped {
        /// What.
        why: String,
    },
    /// Proposed to whoever reads it.
    Proposed,
    /// The tables in place became those that were proposed, by whomever.
    Taken,
    /// Being put in place.
    Deploying,
    /// In place, as read back.
    Confirmed,
    /// Not found in place after two attempts.
    Failed,
}

impl Outcome {
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

/// A decision from what caused it to what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Its number, and that of its plan.
    pub id: PlanId,
    /// When it began.
    pub at: Millis,
    /// Why.
    pub trigger: Trigger,
    /// The fabric.
    pub fabric: Digest,
    /// The tables in place.
    pub from: Digest,
    /// The jobs.
    pub jobs: Option<Digest>,
    /// How many ran.
    pub running: u32,
    /// What was found.
    pub candidate: Option<Candidate>,
    /// What was proved of it.
    pub verdict: Option<Verdict>,
    /// What came of it.
    pub outcome: Outcome,
    /// When that was known.
    pub ended: Option<Millis>,
}
