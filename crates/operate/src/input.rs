//! The inputs of the machine.

use serde::{Deserialize, Serialize};

use crate::decision::{Candidate, Measure, Verdict};
use crate::mode::{Mode, Policy};
use crate::value::{Digest, InputSource, PlanId};

/// An input of the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "input")]
pub enum Input {
    /// The program began, maybe after it was killed.
    Started {
        /// Mode that limits its actions.
        mode: Mode,
        /// Rules of operation.
        policy: Policy,
        /// The engine list of OpenSM; looked at where something may be changed.
        engines: Vec<String>,
    },
    /// The current fabric.
    Fabric {
        /// Digest of the fabric.
        digest: Digest,
        /// Number of switches.
        switches: u32,
        /// Number of host ports.
        terminals: u32,
    },
    /// A fabric was read that shares almost nothing with the known one; the known one stays.
    Stranger {
        /// Digest of that fabric.
        digest: Digest,
        /// GUIDs that both have.
        shared: u32,
        /// Number of GUIDs of the known one.
        known: u32,
    },
    /// The tables in place, as read back.
    Tables {
        /// Digest of the tables.
        digest: Digest,
        /// While a plan is put in place: whether every entry is that of the plan or of the tables before it.
        between: bool,
    },
    /// The tables in place could not be read back. Their content is then unknown.
    Unread {
        /// Reason in words.
        why: String,
    },
    /// The jobs that run or are about to start.
    Jobs {
        /// Digest of the jobs.
        digest: Digest,
        /// Number of running jobs.
        running: u32,
        /// Number of new ones among them.
        started: u32,
        /// Number of jobs that are gone.
        ended: u32,
    },
    /// Port counters since the previous reading.
    Counters {
        /// Digest of the reading.
        digest: Digest,
        /// Share of its bandwidth that the fullest channel between switches carried.
        fullest: f64,
    },
    /// What hosts send to each other.
    Demands {
        /// Digest of the demands.
        digest: Digest,
        /// Number of pairs of host ports.
        pairs: u64,
    },
    /// A job waits to be released; the list of jobs with it came before.
    Starting {
        /// Number of the job.
        job: u64,
    },
    /// OpenSM requests a plan for the fabric that it has swept; the fabric came before.
    Asked {
        /// Number of the question.
        question: u64,
        /// Digest of the fabric.
        fabric: Digest,
        /// Time that it waits, in ms.
        budget: u64,
        /// Switches and host ports of the fabric, if the question itself contains the swept fabric. Otherwise the fabric
        /// came before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<(u32, u32)>,
        /// The tables in place as tables of this fabric, if known: those that OpenSM took last, or that were read back last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tables: Option<Digest>,
        /// Tables for this fabric from the fault book, if it has any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ready: Option<Box<Ready>>,
    },
    /// OpenSM did not take a plan that it was given, or it was not given in time.
    Refused {
        /// Number of the plan.
        plan: PlanId,
        /// It looked at it, and it does not fit.
        looked: bool,
        /// Reason in words.
        why: String,
    },
    /// OpenSM has finished a sweep.
    Routed {
        /// The plan that it used; `None` for one of its own engines.
        plan: Option<PlanId>,
    },
    /// Whether the standby subnet managers have the plan.
    Standby {
        /// All of them have it.
        has_plan: bool,
        /// Why they may not have it, in words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// Some work is done.
    Done {
        /// Number of the work.
        work: u64,
        /// The generation in which it was requested.
        generation: u64,
        /// Result of the work.
        result: WorkResult,
    },
    /// A stage of a plan was placed for OpenSM.
    Committed {
        /// Number of the plan.
        plan: PlanId,
        /// The stage, from 0.
        stage: u32,
    },
    /// A stage of a plan was not placed for OpenSM; the previous tables are still there.
    Unplaced {
        /// Number of the plan.
        plan: PlanId,
        /// The stage, from 0.
        stage: u32,
        /// Reason in words.
        why: String,
    },
    /// The state folder cannot be written, or can be again.
    Disk {
        /// Description of the problem.
        problem: Option<String>,
    },
    /// An input could not be used; the previous value stays.
    Bad {
        /// Source of the input.
        source: InputSource,
        /// Description of the problem.
        what: String,
    },
    /// Input could be used after it could not.
    Good {
        /// Source of the input.
        source: InputSource,
    },
    /// An operator wants something.
    Operator {
        /// Name of the operator.
        who: String,
        /// Command of the operator.
        command: Command,
    },
    /// Time has passed.
    Tick,
}

/// Tables that were made and proved before they were requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    /// The candidate that was found.
    pub candidate: Candidate,
    /// Verdict on the candidate.
    pub verdict: Verdict,
}

/// A command of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Changes and proposes nothing until `Resume`.
    Pause,
    /// Ends a pause, and a freeze.
    Resume,
    /// Searches for better tables now, regardless of the cooldown.
    Propose,
    /// Put the tables of a decision in place.
    Deploy {
        /// Number of the decision.
        plan: PlanId,
    },
    /// Put the tables in place that were there before the plan that is in place.
    Rollback,
    /// The fabric that was refused as that of another cluster is this one.
    Accept,
}

/// The result of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "result")]
pub enum WorkResult {
    /// Evaluation of the tables in place for the jobs.
    Measured {
        /// What the next two count.
        #[serde(default)]
        measure: Measure,
        /// The load.
        efi: u64,
        /// Lower bound for any tables; `None` if not known.
        bound: Option<u64>,
    },
    /// New tables were found.
    Found {
        /// The tables as a candidate.
        candidate: Candidate,
    },
    /// The transition to them was judged.
    Proved {
        /// Verdict on the transition.
        verdict: Verdict,
    },
    /// It could not be done.
    Failed {
        /// Reason in words.
        why: String,
    },
}
