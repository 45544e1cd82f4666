//! What the machine hears.

use serde::{Deserialize, Serialize};

use crate::decision::{Candidate, Verdict};
use crate::mode::{Mode, Policy};
use crate::value::{Digest, PlanId, Source};

/// What the machine hears.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "input")]
pub enum Input {
    /// The program began, maybe after it was killed.
    Started {
        /// How far it may go.
        mode: Mode,
        /// The rules.
        policy: Policy,
        /// The engine list of OpenSM; looked at where something may be changed.
        engines: Vec<String>,
    },
    /// The fabric as it is now.
    Fabric {
        /// Its digest.
        digest: Digest,
        /// Switches.
        switches: u32,
        /// Ports of hosts.
        terminals: u32,
    },
    /// A fabric was read that shares next to nothing with the one that is known; what was known stays.
    Stranger {
        /// Its digest.
        digest: Digest,
        /// GUIDs that both have.
        shared: u32,
        /// GUIDs that the known one has.
        known: u32,
    },
    /// The tables in place, as read back.
    Tables {
        /// Their digest.
        digest: Digest,
        /// While a plan is put in place: whether every entry is that of the plan or of the tables before it.
        between: bool,
    },
    /// The tables in place could not be read back. That says nothing of what they are.
    Unread {
        /// Why.
        why: String,
    },
    /// The jobs that run or are about to start.
    Jobs {
        /// Their digest.
        digest: Digest,
        /// How many.
        running: u32,
        /// How many of them are new.
        started: u32,
        /// How many are gone.
        ended: u32,
    },
    /// What ports counted since the reading before.
    Counters {
        /// Its digest.
        digest: Digest,
        /// Share of its bandwidth that the fullest channel between switches carried.
        fullest: f64,
    },
    /// A job waits to be released; the list of jobs with it came before.
    Starting {
        /// Its number.
        job: u64,
    },
    /// OpenSM asks for a plan for the fabric that it has swept; the fabric came before.
    Asked {
        /// Number of the question.
        question: u64,
        /// The fabric.
        fabric: Digest,
        /// How long it waits, in ms.
        budget: u64,
        /// Switches and ports of hosts of the fabric, if the question itself says what was swept. Otherwise the fabric came
        /// before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<(u32, u32)>,
        /// The tables in place as tables of this fabric, if that is known: what OpenSM took last, or what was read back last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tables: Option<Digest>,
        /// Tables for this fabric from the fault book, if it has any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ready: Option<Box<Ready>>,
    },
    /// OpenSM did not take a plan that it was given, or it was not given in time.
    Refused {
        /// The plan.
        plan: PlanId,
        /// It looked at it, and it does not fit.
        looked: bool,
        /// Why.
        why: String,
    },
    /// OpenSM has finished a sweep.
    Routed {
        /// The plan that it used; `None` for an engine of its own.
        plan: Option<PlanId>,
    },
    /// Whether the standby subnet managers have the plan.
    Standby {
        /// All of them have it.
        has_plan: bool,
    },
    /// Work is done.
    Done {
        /// Its number.
        work: u64,
        /// The generation that it was asked for in.
        generation: u64,
        /// What came of it.
        result: WorkResult,
    },
    /// A stage of a plan lies where OpenSM finds it.
    Committed {
        /// The plan.
        plan: PlanId,
        /// The stage, from 0.
        stage: u32,
    },
    /// A stage of a plan was not put where OpenSM finds it; what was there still is.
    Unplaced {
        /// The plan.
        plan: PlanId,
        /// The stage, from 0.
        stage: u32,
        /// Why.
        why: String,
    },
    /// The state folder cannot be written, or can be again.
    Disk {
        /// What is wrong with it.
        problem: Option<String>,
    },
    /// Input could not be used; what was known stays.
    Bad {
        /// Where it came from.
        source: Source,
        /// What was wrong.
        what: String,
    },
    /// Input could be used after it could not.
    Good {
        /// Where it came from.
        source: Source,
    },
    /// An operator wants something.
    Operator {
        /// Who.
        who: String,
        /// What.
        command: Command,
    },
    /// Time went on.
    Tick,
}

/// Tables that were made and proved before anybody asked for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    /// What was found.
    pub candidate: Candidate,
    /// What was proved of it.
    pub verdict: Verdict,
}

/// What an operator wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Nothing is changed or proposed until `Resume`.
    Pause,
    /// Ends a pause, and a freeze.
    Resume,
    /// Look for better tables now, whatever the cooldown.
    Propose,
    /// Put the tables of a decision in place.
    Deploy {
        /// The decision.
        plan: PlanId,
    },
    /// Put the tables in place that were there before the plan that is in place.
    Rollback,
    /// The fabric that was refused as that of another cluster is this one.
    Accept,
}

/// What came of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "result")]
pub enum WorkResult {
    /// How the tables in place serve the jobs.
    Measured {
        /// Maximum effective EFI.
        efi: u64,
        /// No tables have less; `None` if not known.
        bound: Option<u64>,
    },
    /// Tables were found.
    Found {
        /// These.
        candidate: Candidate,
    },
    /// The way to them was judged.
    Proved {
        /// As.
        verdict: Verdict,
    },
    /// It could not be done.
    Failed {
        /// Why.
        why: String,
    },
}
