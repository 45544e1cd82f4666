//! A model of OpenSM with a plugin: sweeps, takes a plan that fits, asks, falls back to an engine of its own.

use darkfiber_operate::{Digest, Millis, PlanId};

use crate::network::{Net, Tables};

/// A plan as the plugin has it.
#[derive(Clone, Debug)]
pub(crate) struct PlanFile {
    pub(crate) plan: PlanId,
    pub(crate) fabric: Digest,
    pub(crate) tables: Tables,
    /// The tables from which the way to these was proved.
    pub(crate) from: Tables,
}

/// OpenSM.
pub(crate) struct OpenSm {
    /// What is programmed.
    pub(crate) tables: Tables,
    pub(crate) file: Option<PlanFile>,
    /// The question that it waits for, since when, and for which fabric.
    pub(crate) waits: Option<(u64, Millis, Net)>,
    /// Somebody has configured it to use an engine of its own.
    pub(crate) alone: bool,
    pub(crate) questions: u64,
}

impl OpenSm {
    pub(crate) fn new() -> Self {
        Self {
            tables: Self::engine(Net::WHOLE),
            file: None,
            waits: None,
            alone: false,
            questions: 0,
        }
    }

    /// What its own engine makes.
    pub(crate) fn engine(net: Net) -> Tables {
        Tables::up_down(net, 5, 0)
    }

    /// The plan that it takes without asking.
    pub(crate) fn fitting(&self, net: Net) -> Option<&PlanFile> {
        self.file.as_ref().filter(|f| f.fabric == net.digest() && !self.alone)
    }
}
