//! A question of OpenSM, and its answer.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use darkfiber_operate::PlanId;

use crate::fault_book::{Base, Entry};
use crate::plan_image::PlanImage;
use crate::value::{FabricValue, TablesValue};

/// A question that waits for its answer.
pub(crate) struct Question {
    /// The swept fabric, and what is missing of the whole.
    pub(crate) fabric: Arc<FabricValue>,
    /// The tables in place as tables of it.
    pub(crate) tables: Option<Arc<TablesValue>>,
    /// The entry of the fault book, for the tables of this digest.
    pub(crate) ready: Option<Arc<Entry>>,
    pub(crate) budget: Duration,
    pub(crate) reply: SyncSender<Option<OfferedStage>>,
}

/// A stage of a plan that is given to OpenSM.
pub(crate) struct OfferedStage {
    pub(crate) plan: PlanId,
    pub(crate) stage: u32,
    /// Whether no other follows. Tables of earlier stages may lose pairs, and must not stay if this program dies.
    pub(crate) is_last: bool,
    pub(crate) image: PlanImage,
}

/// The plan that OpenSM took.
pub(crate) struct TakenPlan {
    pub(crate) plan: PlanId,
    pub(crate) base: Base,
}
