//! Service levels of paths: the virtual layer of each pair of a source and a destination LID.
//!
//! OpenSM dumps none of them. Four text forms carry them:
//!
//! * **rows** of one hexadecimal digit a destination LID. A line `lids` lists LIDs and ranges of them
//!   (`lids 1-672 1000`); every other line is a source and its digits in that order. A source is a terminal
//!   by one of its LIDs, or a switch by its LID or GUID, for all terminals on it. Darkfiber writes these as
//!   `path-sl.rows`, by switch; a plugin inside OpenSM can write them by calling the engine's `path_sl` for
//!   every pair of base LIDs;
//! * the **path-SL list** that `ibdmchk -c` reads: `0x<CA node GUID> <DLID> <SL>` a line, LID and SL
//!   decimal. `ibdmchk` 1.5.7 takes a hexadecimal DLID for 0 without a word. It names a source by its
//!   node GUID, so the ports of one adapter cannot differ;
//! * **path records** as `saquery` prints them, one after the other;
//! * **hosts**: `0x<port GUID> <SL>` a line after the line `hosts`, where all traffic of a host has one service level.
//!   Darkfiber writes this as `host-sl`.

mod hosts;
mod levels;
mod paths;
mod records;
mod rows;

use std::path::Path;

use darkfiber_fabric::Fabric;
use darkfiber_routing::{Lids, Routes};

use crate::foreign::nothing_to_read;
use crate::format::{Format, Reading, Writing};
use crate::{Diagnostics, ReadError};
use levels::{LevelSource, Levels};

pub use hosts::{by_host, write_hosts};
pub use paths::{path_count, path_list_is_complete, write_paths};
pub use rows::write_rows;

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "path-sl",
    summary: "service level of every path, as ibdmchk reads it",
    read: Reading::By("--sl"),
    write: Writing::By("route -o"),
    ..Format::NONE
};

/// Reads service levels in any form and assigns them to the routes, which must have a row for each LID. Paths without
/// a level have SL 0 and are reported; a port with a level only for its base LID has that SL on all.
///
/// # Errors
/// If the text has none of the forms, or nothing in it belongs to the fabric.
///
/// # Panics
/// If destinations of the routes share rows, or the LIDs are those of other tables.
pub fn read(
    text: &str,
    path: &Path,
    fabric: &Fabric,
    lids: &Lids,
    routes: &mut Routes,
) -> Result<Diagnostics, ReadError> {
    assert_eq!(lids.width(), routes.paths(), "LIDs of other tables");
    let rows = fabric.terminal_count() * routes.paths() + fabric.switch_count();
    assert_eq!(routes.row_count(), rows, "each LID has a row of its own");
    let mut found = Diagnostics::default();
    let mut levels = Levels::new(fabric, routes);
    let at = &LevelSource { path, fabric, lids };
    if let Some(what) = nothing_to_read(text, path) {
        return Err(at.foreign(what, "each line is 0x<CA node GUID> <decimal DLID> <decimal SL>"));
    }
    if text.lines().any(|line| line.starts_with("lids ")) {
        rows::read(text, at, &mut levels, &mut found)?;
    } else if hosts::is_it(text) {
        hosts::read(text, at, &mut levels, &mut found)?;
    } else if text.lines().any(records::begins) {
        records::read(text, at, &mut levels, &mut found)?;
    } else {
        paths::read(text, at, &mut levels, &mut found)?;
    }
    routes.layers = levels.finish(fabric, routes, &mut found);
    routes.condense(fabric);
    Ok(found)
}
