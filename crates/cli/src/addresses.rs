//! The LIDs that tables are written with.

use darkfiber_fabric::{Fabric, Shape};
use darkfiber_routing::{LidBlocks, Lids, Orthants, Routes};

use crate::failure::Failure;

/// LIDs for some routes; at least 2^`lmc` a port. Where senders choose among LIDs by orthants, LIDs encode the
/// orthant.
pub(crate) fn assign(
    fabric: &Fabric,
    shape: Option<&Shape>,
    routes: &Routes,
    lmc: u8,
) -> Result<Lids, Failure> {
    let name = &routes.engine;
    let Some(needed) = routes.lmc() else {
        return Err(Failure::infeasible(format!(
            "{name}: {} LIDs a port would be needed, and InfiniBand has at most 128: nothing is written",
            routes.paths()
        ))
        .hint("these routes are for analysis; opt-rect is for real trees, dmodk needs one LID"));
    };
    let lmc = lmc.max(needed);
    let orthants = match shape {
        Some(Shape::Grid(grid)) if routes.choice.is_some() => Orthants::new(grid),
        _ => None,
    };
    match orthants {
        Some(orthants) => {
            Lids::by_orthant(fabric, &orthants, lmc, LidBlocks::STRIDE).map(|(lids, _)| lids)
        }
        None => Lids::assign(fabric, lmc),
    }
    .map_err(|e| Failure::infeasible(format!("{name}: nothing is written: {e}")))
}
