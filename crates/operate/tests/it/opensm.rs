//! Models of OpenSM: with a plugin it takes a plan that fits, sends questions, and falls back to one of its own engines;
//! stock, with its engine `file`, it writes the content of a file, whatever the fabric is.

use darkfiber_operate::{Digest, Millis, PlanId};

use crate::network::{Net, Tables};

/// A plan as the plugin has it.
#[derive(Clone, Debug)]
pub(crate) struct PlanFile {
    pub(crate) plan: PlanId,
    pub(crate) fabric: Digest,
    pub(crate) tables: Tables,
    /// The tables from which the transition to these was proved.
    pub(crate) from: Tables,
    /// Others follow: the plugin does not keep it.
    pub(crate) is_stage: bool,
}

/// Model of OpenSM.
pub(crate) struct OpenSm {
    /// Tables that are programmed.
    pub(crate) tables: Tables,
    pub(crate) file: Option<PlanFile>,
    /// The question that it waits for, since when, and for which fabric.
    pub(crate) waits: Option<(u64, Millis, Net)>,
    /// It is configured to use one of its own engines.
    pub(crate) alone: bool,
    pub(crate) questions: u64,
    /// It has its engine `file` and no plugin.
    pub(crate) is_stock: bool,
    /// The life of the program that wrote the file.
    pub(crate) written_by: u64,
    /// When it last programmed a stage that others follow.
    pub(crate) staged: Millis,
}

impl OpenSm {
    pub(crate) fn new() -> Self {
        Self {
            tables: Self::engine(Net::WHOLE),
            file: None,
            waits: None,
            alone: false,
            questions: 0,
            is_stock: false,
            written_by: 0,
            staged: 0,
        }
    }

    /// Tables of its own engine.
    pub(crate) fn engine(net: Net) -> Tables {
        Tables::up_down(net, 5, 0)
    }

    /// Tables in the file of a stock OpenSM.
    pub(crate) fn in_file(&self) -> Tables {
        let first = || Self::engine(Net::WHOLE);
        self.file.as_ref().map_or_else(first, |f| f.tables.clone())
    }

    /// The plan that it takes without asking.
    pub(crate) fn fitting(&self, net: Net) -> Option<&PlanFile> {
        self.file.as_ref().filter(|f| f.fabric == net.digest() && !self.alone && !f.is_stage)
    }
}
