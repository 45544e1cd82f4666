//! Service levels as rows of digits.

use std::collections::HashMap;
use std::io::{self, Write};

use darkfiber_fabric::{Fabric, Guid, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Layers, Lids, Routes};

use super::levels::{LevelSource, Levels};
use crate::diagnostic::counted;
use crate::guids::parse_guid;
use crate::input::said;
use crate::{Diagnostics, ReadError};

/// Columns of rows: terminal and index of the LID; `None` is an unassigned LID, or that of a switch.
type Columns = Vec<Option<(TerminalId, usize)>>;

pub(super) fn read(
    text: &str,
    at: &LevelSource<'_>,
    levels: &mut Levels,
    found: &mut Diagnostics,
) -> Result<(), ReadError> {
    let LevelSource { path, fabric, lids } = *at;
    let switch_of_guid: HashMap<Guid, SwitchId> =
        fabric.switches().iter().enumerate().map(|(s, x)| (x.guid, SwitchId::new(s))).collect();
    let mut columns: Option<Columns> = None;
    // The last line, if it has no end: the file may have been cut there.
    let unended = if text.ends_with('\n') { 0 } else { text.lines().count() };
    for (number, line) in said(text) {
        if let Some(list) = line.strip_prefix("lids ") {
            let owners = read_columns(list, number, fabric, lids, found);
            if owners.iter().all(Option::is_none) {
                let what =
                    format!("line {number}: none of its {} LIDs is a terminal's", owners.len());
                return Err(at.foreign(what, "columns are LIDs of terminals"));
            }
            let known = owners.iter().flatten().count();
            let strange = owners.len() - known;
            at.expect_most(strange, owners.len(), "LIDs", "columns are LIDs of terminals")?;
            let terminals = fabric.terminal_count();
            if 2 * known < terminals {
                let what = format!(
                    "line {number}: its LIDs are of {}, and the fabric has {terminals}",
                    counted(known, "terminal", "terminals")
                );
                return Err(at.foreign(what, "columns are LIDs of terminals"));
            }
            columns = Some(owners);
            continue;
        }
        let (Some(columns), Some((source, row))) = (&columns, line.split_once(' ')) else {
            if columns.is_none() {
                break;
            }
            found.warn(number, "line without a row of digits", "left out");
            continue;
        };
        let sources = match parse_source(source) {
            Some(RowSource::Guid(guid)) => {
                switch_of_guid.get(&guid).map(|&s| fabric.terminals_on(s))
            }
            Some(RowSource::Lid(lid)) => {
                lids.owner(lid).map(|(dest, _)| match dest.as_terminal(fabric) {
                    Some(t) => t.index()..t.index() + 1,
                    None => fabric.terminals_on(dest.home(fabric)),
                })
            }
            None => None,
        };
        let Some(sources) = sources else {
            found.warn(
                number,
                format!(
                    "'{source}' is not the LID of a terminal or switch, nor the GUID of a switch"
                ),
                "left out",
            );
            continue;
        };
        let row = row.trim();
        let digits = row.chars().count();
        if number == unended && digits < columns.len() {
            return Err(ReadError::not_such(
                path,
                format!(
                    "line {number}: the file was cut short: {digits} digits for {} destinations",
                    columns.len()
                ),
                "a digit for each LID of the line 'lids'",
                "the service levels of the other pairs are unknown: dump them again",
            ));
        }
        if digits != columns.len() {
            found.warn(
                number,
                format!("{digits} digits for {} destinations", columns.len()),
                "the file was cut or edited",
            );
        }
        let (mut broken, mut second) = (0, 0);
        for (digit, dest) in row.chars().zip(columns) {
            match (digit.to_digit(16), dest) {
                (Some(sl), &Some((dest, index))) => {
                    for source in sources.clone().map(TerminalId::new) {
                        second += usize::from(levels.set(source, dest, index, sl as u8));
                    }
                }
                (None, _) => broken += 1,
                (_, None) => {}
            }
        }
        if second > 0 {
            let paths = counted(second, "path has", "paths have");
            let what = format!("{paths} another service level above");
            found.warn(number, what, "the last one counts; are two lists in one file?");
        }
        if broken > 0 {
            found.warn(
                number,
                format!("{} not hexadecimal", counted(broken, "digit is", "digits are")),
                "SL 0 is taken for these destinations",
            );
        }
    }
    if columns.is_none() {
        return Err(ReadError::not_such(
            path,
            "no line starts with 'lids ' before the first row",
            "service levels by row",
            "",
        ));
    }
    Ok(())
}

enum RowSource {
    Guid(Guid),
    Lid(u16),
}

fn parse_source(word: &str) -> Option<RowSource> {
    match word.strip_prefix("0x") {
        Some(digits) => parse_guid(digits).map(RowSource::Guid),
        None => word.parse().ok().map(RowSource::Lid),
    }
}

/// The owners of LIDs and ranges of LIDs (`1-672 1000`).
fn read_columns(
    list: &str,
    line: usize,
    fabric: &Fabric,
    lids: &Lids,
    found: &mut Diagnostics,
) -> Columns {
    let mut columns = Columns::new();
    for word in list.split_whitespace() {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let range = first.parse::<u16>().ok().zip(last.parse::<u16>().ok());
        let Some((first, last)) = range.filter(|(first, last)| first <= last) else {
            found.warn(line, format!("'{word}' is not a LID or a range of LIDs"), "left out");
            columns.push(None);
            continue;
        };
        // Other files repeat LIDs; no file needs more columns than there are LIDs.
        if columns.len() > usize::from(u16::MAX) {
            found.warn(line, "more LIDs than there can be", "the rest of the line is left out");
            break;
        }
        let before = columns.len();
        columns.extend((first..=last).map(|lid| {
            let (dest, index) = lids.owner(lid)?;
            Some((dest.as_terminal(fabric)?, index))
        }));
        let strange = columns[before..].iter().filter(|c| c.is_none()).count();
        if strange > 0 && first == last {
            found.warn(
                line,
                format!("'{word}' is not the LID of a terminal of the fabric"),
                "left out",
            );
        } else if strange > 0 {
            found.warn(
                line,
                format!("{strange} of the LIDs {word} are not those of terminals of the fabric"),
                "left out",
            );
        }
    }
    columns
}

/// Writes service levels as rows: a digit for every LID of terminals, by source switch, or by source terminal where the
/// terminals of one switch may differ ([`Layers::BySource`]).
///
/// # Errors
/// Any error of `out`.
pub fn write_rows(
    out: &mut dyn Write,
    fabric: &Fabric,
    routes: &Routes,
    lids: &Lids,
) -> io::Result<()> {
    writeln!(out, "# Service level by source switch (or source port) and destination LID.")?;
    writeln!(out, "# lids <LID or first-last ...>, then a line for each source:")?;
    writeln!(out, "#   <GUID of a switch, or LID of a port> <a hexadecimal digit for each LID>")?;
    let mut columns: Vec<(u16, usize)> = Vec::new();
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        let base = lids.terminal(t);
        for index in (0..lids.width()).filter(|_| base > 0) {
            let row = routes.row(DestId::terminal(t), index % routes.paths().max(1));
            columns.push((base + index as u16, row));
        }
    }
    columns.sort_unstable();
    write!(out, "lids")?;
    for run in columns.chunk_by(|a, b| a.0 + 1 == b.0) {
        let (first, last) = (run[0].0, run[run.len() - 1].0);
        if first == last { write!(out, " {first}")? } else { write!(out, " {first}-{last}")? }
    }
    writeln!(out)?;
    let by_source = matches!(routes.layers, Layers::BySource(_));
    let mut line = Vec::with_capacity(columns.len() + 32);
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        let on = fabric.terminals_on(s).map(TerminalId::new);
        // Terminals of one switch differ only in tables of other origin.
        for source in on.take(if by_source { usize::MAX } else { 1 }) {
            line.clear();
            if by_source && lids.terminal(source) > 0 {
                write!(line, "{} ", lids.terminal(source))?;
            } else {
                write!(line, "{} ", fabric.switch(s).guid)?;
            }
            line.extend(columns.iter().map(|&(_, row)| {
                let sl = routes.layer_on(fabric, source, row);
                char::from_digit(u32::from(sl), 16).map_or(b'?', |digit| digit as u8)
            }));
            line.push(b'\n');
            out.write_all(&line)?;
        }
    }
    Ok(())
}
