//! The LIDs that tables are written with.

use darkfiber_fabric::{Fabric, Shape, SwitchId, TerminalId};
use darkfiber_report::number;
use darkfiber_routing::{LidBlocks, Lids, Orthants, Routes};

use crate::failure::Failure;

/// Says which ports have other LIDs in tables than in the fabric's file, if any: those whose LID
/// another port has there, too, and those whose LID is not aligned to the LMC.
pub(crate) fn moved(fabric: &Fabric, lids: &Lids) -> Option<String> {
    let hosts = fabric.terminals().iter().enumerate().filter_map(|(t, terminal)| {
        let id = TerminalId::new(t);
        let name = || fabric.host(fabric.host_of(id)).name.clone();
        let lid = terminal.lid.filter(|&lid| lid != lids.terminal(id))?;
        Some((name(), lid, lids.terminal(id)))
    });
    let switches = fabric.switches().iter().enumerate().filter_map(|(s, switch)| {
        let id = SwitchId::new(s);
        let lid = switch.lid.filter(|&lid| lid != lids.switch(id))?;
        Some((switch.description.clone(), lid, lids.switch(id)))
    });
    let all: Vec<(String, u16, u16)> = hosts.chain(switches).collect();
    let (name, old, new) = all.first()?;
    let ports = number::counted(all.len(), "port has another LID", "ports have other LIDs");
    Some(format!(
        "{ports} in these tables than in the fabric's file, the first '{name}': {new} instead of \
         {old}; LIDs there are not aligned to the LMC, or two ports have the same (`darkfiber doctor` \
         names them)"
    ))
}

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
