//! Path records as `saquery` prints them.

use super::levels::{LevelSource, Levels, UnassignedLids};
use crate::diagnostic::counted;
use crate::{Diagnostics, ReadError};

/// The fields of a record that are known so far.
#[derive(Default)]
struct Record {
    line: usize,
    slid: Option<u16>,
    dlid: Option<u16>,
    sl: Option<u8>,
}

/// Whether a record begins on this line (`PathRecord dump:`).
pub(super) fn begins(line: &str) -> bool {
    line.trim_start().starts_with("PathRecord dump")
}

/// Reads records: of each the source LID, the destination LID and the service level.
pub(super) fn read(
    text: &str,
    at: &LevelSource<'_>,
    levels: &mut Levels,
    found: &mut Diagnostics,
) -> Result<(), ReadError> {
    let mut records: Vec<Record> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if begins(line) {
            records.push(Record { line: i + 1, ..Record::default() });
            continue;
        }
        let (Some(record), Some((name, value))) = (records.last_mut(), field(line)) else {
            continue;
        };
        match name {
            "slid" => record.slid = number(value),
            "dlid" => record.dlid = number(value),
            "sl" => record.sl = number(value).filter(|&sl| sl < 16).map(|sl| sl as u8),
            _ => {}
        }
    }
    let mut given = 0usize;
    let mut nobodys = UnassignedLids::default();
    for record in &records {
        let (Some(slid), Some(dlid), Some(sl)) = (record.slid, record.dlid, record.sl) else {
            found.warn(
                record.line,
                "a path record without slid, dlid or sl",
                "left out; was the file cut?",
            );
            continue;
        };
        let owner = |lid: u16| at.lids.owner(lid);
        let (Some((from, _)), Some((to, index))) = (owner(slid), owner(dlid)) else {
            nobodys.add(record.line, if owner(slid).is_none() { slid } else { dlid });
            continue;
        };
        // Paths from and to switches carry no traffic of jobs.
        if let Some((from, to)) = from.as_terminal(at.fabric).zip(to.as_terminal(at.fabric)) {
            if levels.set(from, to, index, sl) {
                found.warn(
                    record.line,
                    format!("a second service level of the path from LID {slid} to LID {dlid}"),
                    "the last one counts; are two dumps in one file?",
                );
            }
            given += 1;
        }
    }
    nobodys.report(found);
    if given == 0 {
        let among = counted(records.len(), "path record", "path records");
        let what = format!("none of this fabric among {among}");
        return Err(at.foreign(what, "saquery --src-to-dst prints one for a pair"));
    }
    let form = "saquery --src-to-dst prints one for a pair";
    at.expect_most(nobodys.count(), records.len(), "path records", form)
}

/// Parses `sl......................0x1`.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim().split_once('.')?;
    Some((name, rest.trim_start_matches('.').trim()))
}

/// A decimal or, with `0x`, hexadecimal number.
fn number(text: &str) -> Option<u16> {
    match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
