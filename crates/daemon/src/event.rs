//! What the owner of the state hears.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use darkfiber_operate::{PlanId, Source, WorkResult};

use crate::value::{FabricValue, JobsValue, TablesValue};

/// What the owner of the state hears.
pub(crate) enum Event {
    /// The fabric was read, and is another one.
    Fabric(Arc<FabricValue>),
    /// The tables in place were read, and are others.
    Tables(Arc<TablesValue>),
    /// The jobs were read, and are others.
    Jobs(Arc<JobsValue>),
    /// An input could not be used.
    Bad(Source, String),
    /// An input was read, and is as it was.
    Same(Source),
    /// Work is done.
    Done { work: u64, generation: u64, result: WorkResult },
    /// The tables of a proposal are on disk, or why not.
    Written { plan: PlanId, result: Result<(), String> },
    /// Somebody asks on the socket.
    Asked { request: Request, who: String, reply: SyncSender<Reply> },
    /// Somebody asks by HTTP.
    Page { page: Page, reply: SyncSender<Reply> },
    /// The program is to end.
    Stop,
}

/// An answer, or why there is none.
pub(crate) type Reply = Result<String, String>;

/// What is asked on the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Status,
    Explain(PlanId),
    Pause,
    Resume,
    Propose,
}

/// What is asked by HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Status,
    Metrics,
    Plan(PlanId),
}
