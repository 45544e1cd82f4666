//! Tables in the folders of plans.

use std::path::{Path, PathBuf};

use darkfiber_routing::{Lids, Routes};
use darkfiber_scenario::tables::TableFiles;

use crate::plan_files::tables_before;
use crate::value::FabricValue;

/// The tables in the folder of a plan: its own, or those that were in place before it.
pub(crate) fn kept_tables(
    dir: &Path,
    before: bool,
    fabric: &FabricValue,
) -> Result<(Routes, Lids), String> {
    let tables = if before { tables_before(dir) } else { dir.join("lfts.dump") };
    tables_at(tables, dir, fabric)
}

/// Tables with the LIDs and service levels in the folder of a plan.
pub(crate) fn tables_at(
    tables: PathBuf,
    dir: &Path,
    fabric: &FabricValue,
) -> Result<(Routes, Lids), String> {
    let beside = |name: &str| Some(dir.join(name)).filter(|path| path.exists());
    let files = TableFiles {
        tables,
        guid2lid: Some(dir.join("guid2lid")),
        sl: beside("path-sl.rows"),
        lid_choice: beside("lid-choice"),
        path_bits: beside("path-bits"),
        ..TableFiles::default()
    };
    if !files.tables.exists() {
        return Err(format!("{}: its tables are not kept", dir.display()));
    }
    let read = darkfiber_scenario::tables::read(&files, "fabric.topo", &fabric.loaded, &mut ());
    let read = read.map_err(|e| e.to_string())?;
    let lids = read.lids.ok_or_else(|| format!("{}: it has no LIDs", dir.display()))?;
    Ok((read.routes, lids))
}
