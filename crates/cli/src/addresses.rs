//! The LIDs that tables are written with.

use darkfiber_fabric::{Fabric, Shape};
use darkfiber_formats::lid_choice::LidTable;
use darkfiber_routing::{LidBlocks, LidChoice, Lids, Routes};

use crate::failure::Failure;

/// LIDs of all ports, and what senders choose among them by.
pub(crate) struct Addresses {
    pub(crate) lids: Lids,
    /// Which LID of its destination each message takes, where senders choose by message.
    pub(crate) choice: Option<LidTable>,
}

impl Addresses {
    /// LIDs for some routes; at least 2^`lmc` a port.
    pub(crate) fn assign(
        fabric: &Fabric,
        shape: Option<&Shape>,
        routes: &Routes,
        lmc: u8,
    ) -> Result<Self, Failure> {
        let name = &routes.engine;
        let Some(needed) = routes.lmc() else {
            return Err(Failure::infeasible(format!(
                "{name}: {} LIDs a port would be needed, and InfiniBand has at most 128: nothing is written",
                routes.paths()
            ))
            .hint("these routes are for analysis; opt-rect is for real trees, dmodk needs one LID"));
        };
        let lmc = lmc.max(needed);
        let impossible = |e| Failure::infeasible(format!("{name}: nothing is written: {e}"));
        let choice = match shape {
            Some(Shape::Grid(grid)) => LidChoice::of_engine(&routes.engine, grid),
            _ => None,
        };
        // Senders tell orthants by LID.
        let Some(choice) = choice else {
            let lids = Lids::assign(fabric, lmc).map_err(impossible)?;
            return Ok(Self { lids, choice: None });
        };
        let (lids, blocks) = Lids::by_orthant(fabric, choice.orthants(), lmc, LidBlocks::STRIDE)
            .map_err(impossible)?;
        Ok(Self { lids, choice: Some(LidTable::of(&choice, fabric, Some(blocks))) })
    }
}
