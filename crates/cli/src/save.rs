//! The files of `route -o DIR`.

use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::Fabric;
use darkfiber_formats::{
    fdbs, guid2lid, ibnetdiscover, lft, lid_choice, output, path_bits, sl, subnet_lst,
};
use darkfiber_routing::{Lids, Routes};

use crate::failure::Failure;

/// Forwarding tables, loadable by OpenSM's `file` engine.
pub(crate) const LFTS: &str = "lfts.dump";
/// LIDs of ports.
pub(crate) const GUID2LID: &str = "guid2lid";
/// Service levels of paths, where not all are 0: a line for each pair.
pub(crate) const PATH_SL: &str = "path-sl";
/// The same by source switch and LID, where that would be too long or could not say all.
pub(crate) const PATH_SL_ROWS: &str = "path-sl.rows";
/// Forwarding tables with hop counts, for `ibdmchk`.
const FDBS: &str = "fdbs";
/// Most pairs of a source and a LID of sets that are written in full. Larger ones have no [`FDBS`], no [`PATH_SL`] but
/// [`PATH_SL_ROWS`], and in [`LFTS`] nothing but LIDs and ports.
const MOST_PATHS: u64 = 10_000_000;

/// Which LID of its destinations a source uses, where sources choose.
pub(crate) const PATH_BITS: &str = "path-bits";
/// Which LID of its destination each message takes, where senders choose by message.
pub(crate) const LID_CHOICE: &str = "lid-choice";

/// Writes a file whole or not at all.
pub(crate) fn file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    output::replace(path, write)
        .map_err(|e| Failure::input(format!("cannot write {}: {e}", path.display())))
}

/// Removes what earlier tables left, if anything.
fn gone(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(Failure::input(format!("cannot remove the old {}: {e}", path.display())))
        }
        _ => Ok(()),
    }
}

/// Makes a directory and those above it.
pub(crate) fn directory(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path)
        .map_err(|e| Failure::input(format!("cannot make directory {}: {e}", path.display())))
}

/// Writes tables and all that goes with them.
pub(crate) fn routes(
    dir: &Path,
    fabric: &Fabric,
    routes: &Routes,
    lids: &Lids,
    summary: &str,
) -> Result<(), Failure> {
    directory(dir)?;
    let is_short = sl::path_count(fabric, lids) <= MOST_PATHS;
    file(&dir.join(LFTS), |out| {
        let write = if is_short { lft::write } else { lft::write_brief };
        write(out, fabric, routes, lids)
    })?;
    file(&dir.join(GUID2LID), |out| guid2lid::write(out, fabric, lids))?;
    file(&dir.join("fabric.topo"), |out| ibnetdiscover::write(out, fabric, Some(lids)))?;
    file(&dir.join("subnet.lst"), |out| subnet_lst::write(out, fabric, lids))?;
    if is_short {
        file(&dir.join(FDBS), |out| fdbs::write(out, fabric, routes, lids))?;
    } else {
        gone(&dir.join(FDBS))?;
    }
    let is_layered = routes.layer_count() > 1;
    if is_layered && is_short {
        file(&dir.join(PATH_SL), |out| sl::write_paths(out, fabric, routes, lids))?;
    } else {
        gone(&dir.join(PATH_SL))?;
    }
    if is_layered && !(is_short && sl::paths_say_all(fabric, routes)) {
        file(&dir.join(PATH_SL_ROWS), |out| sl::write_rows(out, fabric, routes, lids))?;
    } else {
        gone(&dir.join(PATH_SL_ROWS))?;
    }
    if routes.source_chooses() {
        file(&dir.join(PATH_BITS), |out| path_bits::write(out, fabric, routes))?;
    } else {
        gone(&dir.join(PATH_BITS))?;
    }
    match &routes.choice {
        Some(choice) => {
            file(&dir.join(LID_CHOICE), |out| lid_choice::write(out, choice, fabric, lids))?;
        }
        None => gone(&dir.join(LID_CHOICE))?,
    }
    file(&dir.join("route.json"), |out| out.write_all(summary.as_bytes()))
}
