//! Traces of DUMPI (SST): every MPI call of a rank with its arguments and times.
//!
//! A file is of one rank; a `.meta` file beside those of a run says how many there are. Read are the binary form
//! (from version 0.6.9 on; `dumpi/common/dumpiio.c` there is the layout) and what `dumpi2ascii` prints. The rank is what
//! `MPI_Comm_rank` of the world returned, or the number at the end of the file's name.
//!
//! The gaps between calls are computation. Requests that were found to be done become waits (of `MPI_Waitsome` and tests
//! those that they found), receives from any source get the source that the status tells, persistent requests become
//! ordinary ones. Communicators are followed through `MPI_Comm_dup`, `_split`, `_create` (of groups made by
//! `MPI_Group_incl`) and `MPI_Cart_create`; those of which files of members are missing, and others, have no members.
//! Files, windows and ports are left out, with a warning if they move data.

mod binary;
mod calls;
mod collectives;
mod groups;
mod layout;
mod record;
mod text;

use std::path::Path;

use darkfiber_workload::trace::{Call, MpiTrace};

use super::{File, MOST_RANKS, open, tell_missing};
use crate::{Diagnostics, ReadError, input};
use calls::Rank;

const EXPECTED: &str = "a trace of DUMPI";

/// Bytes of datatypes.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes(Vec<Option<u64>>);

/// Those of C that traces without sizes have: from `MPI_CHAR`, which is number 2, on.
const USUAL: [u64; 26] =
    [1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20];

impl Sizes {
    fn set(&mut self, datatype: i64, size: i64) {
        // Numbers have 16 bits.
        let (Ok(at @ 0..=0xffff), Ok(size)) = (usize::try_from(datatype), u64::try_from(size))
        else {
            return;
        };
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(size);
    }

    fn of(&self, datatype: i64) -> Option<u64> {
        let at = usize::try_from(datatype).ok()?;
        self.0.get(at).copied().flatten().or_else(|| USUAL.get(at.checked_sub(2)?).copied())
    }
}

/// Whether a file begins like a binary trace.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(&binary::MAGIC)
}

/// Whether a text begins like output of dumpi2ascii.
pub(super) fn is_text(text: &str) -> bool {
    text::is_first(text)
}

/// Whether a text is like a meta file.
pub(super) fn is_meta(text: &str) -> bool {
    let has = |name: &str| text.lines().any(|l| l.starts_with(name));
    has("numprocs=") && has("fileprefix=")
}

/// What the names of the files of the ranks begin with.
pub(super) fn prefix(meta: &str) -> Option<String> {
    meta.lines().find_map(|l| l.strip_prefix("fileprefix=")).map(|p| p.trim().to_owned())
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
        if is_binary(&file.bytes) {
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
        let named = open::number(&file.path).and_then(|n| u32::try_from(n).ok());
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
