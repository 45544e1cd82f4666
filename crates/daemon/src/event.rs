//! Events for the owner of the state.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use darkfiber_operate::{Digest, InputSource, PlanId, WorkResult};

use crate::demands::DemandsValue;
use crate::fabric_guids::TooFewSharedGuids;
use crate::fault_book::Tally;
use crate::question::{Question, TakenPlan};
use crate::snapshot::Snapshot;
use crate::value::{CountersValue, FabricValue, JobsValue, TablesValue};

/// An event for the owner of the state.
pub(crate) enum Event {
    /// The fabric was read, and is another one.
    Fabric(Arc<FabricValue>),
    /// A fabric was read that may be that of another cluster.
    Stranger(Digest, TooFewSharedGuids, String),
    /// The tables in place were read, for the read-back of this number, and have changed or were requested.
    Tables(Arc<TablesValue>, u64),
    /// The tables in place could not be read for the read-back of this number.
    Unread(u64, String),
    /// The jobs were read, and are others.
    Jobs(Arc<JobsValue>),
    /// Demands were read, and are others.
    Demands(Arc<DemandsValue>),
    /// Counters were read, and have gone on.
    Counters(Arc<CountersValue>),
    /// An input could not be used.
    Bad(InputSource, String),
    /// An input was read, and is as it was.
    Same(InputSource),
    /// Some work is done.
    Done { work: u64, generation: u64, result: WorkResult },
    /// The tables of a proposal are on disk, or why not.
    Written { plan: PlanId, result: Result<(), String> },
    /// A stage of a plan was placed for OpenSM, or why not.
    Placed { plan: PlanId, stage: u32, result: Result<(), String> },
    /// OpenSM was ordered to sweep, or why not.
    Signaled(Result<(), String>),
    /// A stage of a plan is in the switches, written and read back by this program: the tables after it.
    InSwitches(Arc<TablesValue>),
    /// A stage of a plan could not be written into the switches by this program, and is left to OpenSM.
    LeftToOpenSm(PlanId, String),
    /// OpenSM has finished a sweep with an engine, and maybe with a plan.
    Swept(String, Option<PlanId>),
    /// OpenSM requests tables for the fabric that it has swept.
    Question(Question),
    /// OpenSM took a plan: after how many milliseconds, and whether it is from the fault book.
    Taken(TakenPlan, f64, bool),
    /// OpenSM did not take a plan: whether it looked at it, and why.
    Refused(PlanId, bool, String),
    /// A question was not answered, or the answer not taken, with the reason.
    Unanswered(String),
    /// What OpenSM reads was copied to the standby subnet managers, or why not.
    Standby(Result<(), String>),
    /// The fault book was made.
    Book(Tally),
    /// A request on the socket.
    Asked { request: Request, who: String, reply: SyncSender<Reply> },
    /// A request by HTTP.
    Page { page: Page, reply: SyncSender<Reply> },
    /// A page that another thread computes needs the current state.
    Snapshot { reply: SyncSender<Snapshot> },
    /// The program is to end.
    Stop,
}

/// A reply, or the error instead.
pub(crate) type Reply = Result<String, String>;

/// A request on the socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Status(Form),
    Explain(PlanId, Form),
    Pause,
    Resume,
    Propose,
    Deploy(PlanId),
    Rollback,
    Accept,
    /// A job is about to start on a list of nodes, and waits until its tables are in place, or will not be.
    Hold {
        job: u64,
        nodes: String,
    },
}

/// The format of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Lines of text for people.
    #[default]
    Text,
    /// A single JSON object.
    Json,
}

/// A page that is requested by HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Status,
    Metrics,
    Plan(PlanId),
}
