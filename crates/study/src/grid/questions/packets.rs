//! A cell at packet depth, whatever the depth of its scenario, with or without jobs.

use std::sync::Arc;

use darkfiber_scenario::{Case, Depth, Error, Scenario, Tables};

use crate::grid::question::CellContext;

/// The fabric of a cell with its switches; the tables are those of the cell, where its routing goes by some.
pub(super) fn open(context: &CellContext<'_>) -> Result<Case<()>, Error> {
    let scenario = Scenario {
        depth: Depth::Packet,
        jobs: Vec::new(),
        update: None,
        ..context.scenario.clone()
    };
    scenario.open_on(Arc::clone(context.loaded), context.files, &mut ())
}

/// The tables of a cell; `None` if its packet routing does not use any.
pub(super) fn tables<'a>(context: &'a CellContext<'_>) -> Result<Option<&'a Tables>, Error> {
    if context.scenario.packets.routing().name != "tables" {
        return Ok(None);
    }
    context.tables.as_ref().map(Some).map_err(Clone::clone)
}
