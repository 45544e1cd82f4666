//! Traces of DUMPI (SST): every MPI call of a rank with its arguments and times.
//!
//! A file is of one rank; a `.meta` file next to those of a run gives their number. The binary form (from version 0.6.9
//! on; layout in `dumpi/common/dumpiio.c` of DUMPI) and the output of `dumpi2ascii` are read. The rank is the result of
//! `MPI_Comm_rank` of the world, or the number at the end of the file's name.
//!
//! The gaps between calls are computation. Requests that were found complete become waits (of `MPI_Waitsome` and tests
//! those that they found), receives from any source get the source from the status, persistent requests become ordinary
//! ones. Communicators are followed through `MPI_Comm_dup`, `_split`, `_create` (of groups made by `MPI_Group_incl`) and
//! `MPI_Cart_create`; those of which files of members are missing, and others, have no members. Files, windows and ports
//! are left out, with a warning if they move data.

mod binary;
mod calls;
mod collectives;
mod groups;
mod layout;
mod record;
mod sizes;
mod text;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use darkfiber_workload::trace::{Call, MpiTrace};

use super::run::{File, Options, Read, ReadBy, ReadRun, ScheduleFormat, folder};
use super::values::{self, MOST_RANKS, tell_missing};
use calls::Rank;
use darkfiber_formats::{Diagnostics, ReadError, input};
use sizes::{EXPECTED, Sizes};

/// The entry of the binary form.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "dumpi",
    what: "a trace of DUMPI",
    is_such: |h| h.bytes.starts_with(&binary::MAGIC),
    read: ReadBy::Ranks(read_run),
};

/// The registry entry of the output of `dumpi2ascii`.
pub const TEXT: ScheduleFormat = ScheduleFormat {
    name: "dumpi-text",
    what: "output of dumpi2ascii",
    is_such: |h| text::is_first(&h.lines),
    read: ReadBy::Ranks(read_run),
};

/// The registry entry of the meta file next to the files of the ranks.
pub const META: ScheduleFormat = ScheduleFormat {
    name: "dumpi-meta",
    what: "the meta file of DUMPI",
    is_such: |h| {
        let has = |name: &str| h.lines.lines().any(|l| l.starts_with(name));
        has("numprocs=") && has("fileprefix=")
    },
    read: ReadBy::Elsewhere(beside),
};

fn read_run(files: &[File], _: &Options) -> ReadRun {
    read(files).map(|(trace, d)| (Read::Trace(trace), d))
}

/// The files with the name prefix that a meta file gives.
fn beside(file: &File) -> Result<Vec<PathBuf>, ReadError> {
    let text = input::text(&file.bytes);
    let prefix = text.lines().find_map(|l| l.strip_prefix("fileprefix=")).unwrap_or_default();
    let prefix = format!("{}-", prefix.trim());
    let mut near = folder(file.path.parent().unwrap_or(Path::new("")))?;
    near.retain(|path| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with(&prefix) && *path != file.path
    });
    // What `dumpi2ascii` made of a file may lie beside it.
    let binary: HashSet<PathBuf> = near.iter().filter(|p| has_end(p, "bin")).cloned().collect();
    near.retain(|path| !(has_end(path, "txt") && binary.contains(&path.with_extension("bin"))));
    if near.is_empty() {
        let what = format!("there are no files `{prefix}*` beside it");
        let hint = "give the files of the ranks";
        return Err(ReadError::not_such(&file.path, what, META.what, hint));
    }
    Ok(near)
}

fn has_end(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|e| e == end)
}

/// Reads a trace from the files of its ranks, or some of them.
///
/// # Errors
/// If a file is cut off or damaged, or two are of the same rank.
pub fn read(files: &[File]) -> Result<(MpiTrace, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut read: Vec<(u32, Rank, &Path)> = Vec::new();
    let mut size = files.len() as u32;
    for (i, file) in files.iter().enumerate() {
        let mut rank = Rank::new(&file.path);
        let mut each = |record: &record::Record, sizes: &Sizes| rank.call(record, sizes);
        if file.bytes.starts_with(&binary::MAGIC) {
            binary::read(&file.bytes, &file.path, &mut each)?;
        } else {
            text::read(&input::text(&file.bytes), &file.path, &mut each)?;
        }
        if rank.counts.is_empty() {
            let hint = "is the file cut off?";
            return Err(ReadError::not_such(
                &file.path,
                "there are no calls in it",
                EXPECTED,
                hint,
            ));
        }
        let named = values::number(&file.path).and_then(|n| u32::try_from(n).ok());
        // A lone file's name says little.
        let number = rank.number.or(named.filter(|_| files.len() > 1)).unwrap_or(i as u32);
        if rank.number.is_none() && files.len() == 1 {
            d.note(0, "the file does not say its rank", "taken as rank 0");
        }
        size = size.max(rank.world.unwrap_or(0)).max(number.saturating_add(1)).max(rank.highest);
        if size > MOST_RANKS {
            let what = format!("a world of {size} ranks");
            return Err(ReadError::not_such(&file.path, what, EXPECTED, "is the file damaged?"));
        }
        read.push((number, rank, &file.path));
    }
    let mut trace = MpiTrace::new(size);
    for (number, rank, path) in &mut read {
        for (name, count) in &rank.counts {
            trace.count(name, *count);
        }
        let calls = std::mem::take(&mut rank.calls);
        if trace.ranks[*number as usize].replace(calls).is_some() {
            let what = format!("this is of rank {number}, but another file is, too");
            return Err(ReadError::not_such(path, what, EXPECTED, "give the files of one run"));
        }
    }
    let lost: u64 = read.iter().map(|r| r.1.lost).sum();
    if lost > 0 {
        d.warn(0, format!("{lost} calls move data through windows or files"), "they are left out");
    }
    let unsized_types: u64 = read.iter().map(|r| r.1.unsized_types).sum();
    if unsized_types > 0 {
        d.warn(
            0,
            format!("{unsized_types} calls have datatypes of unknown size"),
            "taken as one byte each",
        );
    }
    let ranks: Vec<(u32, &Rank)> = read.iter().map(|(number, rank, _)| (*number, rank)).collect();
    let numbers = groups::resolve(&ranks, &mut trace.communicators);
    for (number, map) in numbers {
        for call in trace.ranks[number as usize].iter_mut().flatten() {
            renumber(call, &map);
        }
    }
    tell_missing(&trace, &mut d);
    Ok((trace, d))
}

/// Gives communicators the numbers that they have in the whole trace.
fn renumber(call: &mut Call, map: &[u32]) {
    let change = |number: &mut u32| *number = map[*number as usize];
    match call {
        Call::Send(m) | Call::Recv(m) | Call::Isend(m, _) | Call::Irecv(m, _) => {
            change(&mut m.communicator);
        }
        Call::Sendrecv(both) => both.iter_mut().for_each(|m| change(&mut m.communicator)),
        Call::Collective(c) => change(&mut c.communicator),
        Call::Compute { .. } | Call::Wait(_) => {}
    }
}
