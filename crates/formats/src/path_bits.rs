//! The LID of its destinations that each source uses: `path-bits`.
//!
//! Routes that depend on the source reach InfiniBand through LID mask control: every port has `2^LMC` LIDs, which
//! tables route differently, and a source sends to the base LID of its destination plus its own **path bits**. No
//! file of OpenSM states these; this one does, a line for each port: `0x<port GUID> <path bits>`, decimal. The
//! service that answers path queries, or the MPI library that chooses among the paths of a pair, has to follow it.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{Fabric, Guid, TerminalId};
use darkfiber_routing::Routes;

use crate::diagnostic::counted;
use crate::format::{Format, Reading, Writing};
use crate::guids::parse_guid;
use crate::input::said;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "path-bits",
    summary: "LID of its destinations that each port uses, with LMC",
    read: Reading::By("--routes"),
    write: Writing::By("route -o"),
    ..Format::NONE
};

/// Reads the path bits of every terminal, for routes with this number of LIDs a port. Terminals that are missing in
/// the file use the base LID and are reported.
///
/// # Errors
/// If there are lines, but none names a terminal of the fabric.
pub fn read(
    text: &str,
    path: &Path,
    fabric: &Fabric,
    routes: &Routes,
) -> Result<(Vec<u16>, Diagnostics), ReadError> {
    let mut found = Diagnostics::default();
    let by_guid: HashMap<Guid, usize> =
        fabric.terminals().iter().enumerate().map(|(t, x)| (x.guid, t)).collect();
    let mut select: Vec<Option<u16>> = vec![None; fabric.terminal_count()];
    for (number, line) in said(text) {
        match entry(line, routes.paths(), &by_guid) {
            Ok((terminal, bits)) => {
                if select[terminal].replace(bits).is_some_and(|before| before != bits) {
                    found.warn(number, "other path bits of a port above", "the last line counts");
                }
            }
            Err(problem) => {
                found.warn(number, problem, "expected 0x<port GUID> <path bits>; left out");
            }
        }
    }
    let silent = select.iter().filter(|s| s.is_none()).count();
    if silent == select.len() && !found.is_empty() {
        return Err(ReadError::not_such(
            path,
            "no line names a port of the fabric and its path bits",
            format!("path bits for fabric '{}'", fabric.name()),
            "tables and path bits must be of one sweep",
        ));
    }
    if silent > 0 {
        let terminals = counted(silent, "terminal has", "terminals have");
        found.warn(0, format!("{terminals} no path bits"), "the base LID is taken for these");
    }
    Ok((select.into_iter().map(|s| s.unwrap_or(0)).collect(), found))
}

fn entry(line: &str, paths: usize, by_guid: &HashMap<Guid, usize>) -> Result<(usize, u16), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[guid, bits] = words.as_slice() else {
        let shown: String = line.chars().take(60).collect();
        return Err(format!("{} words in '{shown}'", words.len()));
    };
    let guid = parse_guid(guid).ok_or_else(|| format!("'{guid}' is not a GUID"))?;
    let terminal = *by_guid
        .get(&guid)
        .ok_or_else(|| format!("no linked port of the fabric has GUID {guid}"))?;
    let bits = bits
        .parse()
        .ok()
        .filter(|&b: &u16| usize::from(b) < paths)
        .ok_or_else(|| format!("'{bits}' is not below {paths}, the LIDs of a port"))?;
    Ok((terminal, bits))
}

/// Writes the path bits of every terminal.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, fabric: &Fabric, routes: &Routes) -> io::Result<()> {
    writeln!(out, "# a port sends to the base LID of its destination + its own path bits")?;
    writeln!(out, "# port GUID, path bits")?;
    for (t, terminal) in fabric.terminals().iter().enumerate() {
        writeln!(out, "{} {}", terminal.guid, routes.path_of(TerminalId::new(t)))?;
    }
    Ok(())
}
