//! What work rests on.

use std::sync::Arc;

use crate::demands::DemandsValue;
use crate::value::{CountersValue, FabricValue, JobsValue, TablesValue};

/// Layers that new paths may use in addition to those of the tables: every path keeps its own.
pub(crate) const LAYERS: u8 = 1;

/// The inputs at the time when the work was requested.
#[derive(Clone)]
pub(crate) struct Values {
    pub(crate) fabric: Arc<FabricValue>,
    pub(crate) tables: Arc<TablesValue>,
    pub(crate) jobs: Arc<JobsValue>,
    pub(crate) counters: Option<Arc<CountersValue>>,
    pub(crate) demands: Option<Arc<DemandsValue>>,
    /// The tables that were complete last, on the fabric that there was then.
    pub(crate) whole: Option<WholeTables>,
}

/// Complete tables, and their fabric.
#[derive(Clone)]
pub(crate) struct WholeTables {
    pub(crate) fabric: Arc<FabricValue>,
    pub(crate) tables: Arc<TablesValue>,
}
