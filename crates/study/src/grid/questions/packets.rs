//! A cell at the depth of packets, whatever the depth of its scenario, and whether it has jobs or not.

use std::sync::Arc;

use darkfiber_scenario::{Case, Depth, Error, Scenario, Tables};

use crate::grid::question::Asked;

/// The fabric of a cell with its switches; the tables are those of the cell, where its routing goes by some.
pub(super) fn open(asked: &Asked<'_>) -> Result<Case<()>, Error> {
    let scenario =
        Scenario { depth: Depth::Packet, jobs: Vec::new(), update: None, ..asked.scenario.clone() };
    scenario.open_on(Arc::clone(asked.loaded), asked.files, &mut ())
}

/// The tables of a cell; nothing if packets of its routing do not go by any.
pub(super) fn tables<'a>(asked: &'a Asked<'_>) -> Result<Option<&'a Tables>, Error> {
    if asked.scenario.packets.routing().name != "tables" {
        return Ok(None);
    }
    asked.tables.as_ref().map(Some).map_err(Clone::clone)
}
