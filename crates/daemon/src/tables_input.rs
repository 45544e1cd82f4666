//! The tables in place as an input: a file or folder that is watched, or the output of a command.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use darkfiber_formats::output;
use darkfiber_operate::Digest;
use darkfiber_scenario::tables::TableFiles;

use crate::children::Children;
use crate::config::{Origin, Watched};
use crate::fetch::fetch;
use crate::value::FabricValue;

/// A file, its length, and when it was last written.
type Stamp = (PathBuf, u64, Option<SystemTime>);

/// Properties by which tables are recognised before they are read.
#[derive(PartialEq)]
pub(crate) struct TablesStamp {
    fabric: Digest,
    stamps: Vec<Stamp>,
    printed: Vec<u8>,
}

/// Time stamps of a path: of a file, or of all files of a directory.
fn stamps(path: &Path) -> Vec<Stamp> {
    let one = |path: PathBuf| {
        let about = std::fs::metadata(&path).ok();
        let length = about.as_ref().map_or(0, std::fs::Metadata::len);
        (path, length, about.and_then(|m| m.modified().ok()))
    };
    let mut all = vec![one(path.to_owned())];
    let inside = std::fs::read_dir(path).into_iter().flatten().flatten();
    all.extend(inside.map(|entry| one(entry.path())));
    all.sort();
    all
}

/// When the newest of the files of the tables was written, if they are files.
pub(crate) fn written(watched: &Watched) -> Option<SystemTime> {
    match &watched.origin {
        Origin::File(path) | Origin::Folder(path) | Origin::Socket(path) => {
            stamps(path).into_iter().filter_map(|(_, _, at)| at).max()
        }
        Origin::Command(_) => None,
    }
}

/// The files of the tables, and their stamps; `None` if they equal those seen last. The output of a command is stored
/// in `copy`.
pub(crate) fn locate(
    watched: &Watched,
    copy: &Path,
    fabric: &FabricValue,
    children: &Children,
    last: Option<&TablesStamp>,
) -> Result<Option<(TableFiles, TablesStamp)>, String> {
    let mut files = TableFiles {
        sl: watched.sl.clone(),
        guid2lid: watched.guid2lid.clone(),
        // It is there once tables with a choice were put in place.
        lid_choice: watched.lid_choice.clone().filter(|path| path.exists()),
        ..TableFiles::default()
    };
    let beside = [&watched.sl, &watched.guid2lid, &watched.lid_choice];
    let mut seen = TablesStamp {
        fabric: fabric.digest,
        stamps: beside.into_iter().flatten().flat_map(|p| stamps(p)).collect(),
        printed: Vec::new(),
    };
    match &watched.origin {
        Origin::File(path) | Origin::Folder(path) | Origin::Socket(path) => {
            files.tables.clone_from(path);
            seen.stamps.extend(stamps(path));
        }
        Origin::Command(_) => {
            copy.clone_into(&mut files.tables);
            seen.printed = fetch(watched, children)?;
        }
    }
    if last == Some(&seen) {
        return Ok(None);
    }
    if let Origin::Command(_) = watched.origin {
        let written = output::replace_as_is(copy, |out| out.write_all(&seen.printed));
        written.map_err(|e| format!("{}: {e}", copy.display()))?;
    }
    Ok(Some((files, seen)))
}
