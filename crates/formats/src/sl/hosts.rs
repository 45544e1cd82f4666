//! One service level for each host.

use std::collections::HashMap;
use std::io::{self, Write};

use darkfiber_fabric::{Fabric, Guid, TerminalId};
use darkfiber_routing::{DestId, Routes};

use super::levels::{LevelSource, Levels};
use crate::guids::parse_guid;
use crate::input::said;
use crate::{Diagnostics, ReadError};

/// The first line that is not a comment.
const HEADING: &str = "hosts";
/// InfiniBand has this many service levels.
const LEVELS: u8 = 16;

/// Whether a text is of this form.
pub(super) fn is_it(text: &str) -> bool {
    said(text).next().is_some_and(|(_, line)| line == HEADING)
}

pub(super) fn read(
    text: &str,
    at: &LevelSource<'_>,
    levels: &mut Levels,
    found: &mut Diagnostics,
) -> Result<(), ReadError> {
    let fabric = at.fabric;
    let all = || (0..fabric.terminal_count()).map(TerminalId::new);
    let of_guid: HashMap<Guid, TerminalId> = all().map(|t| (fabric.terminal(t).guid, t)).collect();
    let (mut lines, mut known) = (0, 0);
    let mut given: HashMap<TerminalId, usize> = HashMap::new();
    for (number, line) in said(text).skip(1) {
        lines += 1;
        let mut words = line.split_whitespace();
        let guid = words.next().and_then(|w| w.strip_prefix("0x")).and_then(parse_guid);
        let level = words.next().and_then(|w| w.parse::<u8>().ok()).filter(|&sl| sl < LEVELS);
        let (Some(guid), Some(level)) = (guid, level) else {
            found.error(
                number,
                format!("'{line}' is not the GUID of a port and a service level from 0 to 15"),
                "left out",
            );
            continue;
        };
        let Some(&source) = of_guid.get(&guid) else {
            found.error(
                number,
                format!("{guid} is no port of the fabric"),
                "left out; fabric, tables and service levels must be of one sweep",
            );
            continue;
        };
        if let Some(before) = given.insert(source, number) {
            found.error(
                number,
                format!("{guid} has a service level in line {before} already"),
                "the last one is taken",
            );
        }
        known += 1;
        for dest in all() {
            for index in 0..at.lids.width() {
                levels.set(source, dest, index, level);
            }
        }
    }
    if known == 0 {
        let what = format!("none of its {lines} lines names a port");
        return Err(at.foreign(what, "lines are `0xGUID SL`, of ports of hosts"));
    }
    at.expect_most(lines - known, lines, "lines", "lines are `0xGUID SL`, of ports of hosts")
}

/// The service level of each terminal, if that of its paths depends only on it.
pub fn by_host(fabric: &Fabric, routes: &Routes) -> Option<Vec<u8>> {
    let all = || (0..fabric.terminal_count()).map(TerminalId::new);
    let of = |source: TerminalId| {
        let paths = (0..routes.paths()).filter(|&path| routes.uses(source, path));
        let mut each = paths.flat_map(|path| {
            all().filter(move |&dest| dest != source).map(move |dest| {
                routes.layer_on(fabric, source, routes.row(DestId::terminal(dest), path))
            })
        });
        let first = each.next().unwrap_or(0);
        each.all(|level| level == first).then_some(first)
    };
    all().map(of).collect()
}

/// Writes the service level of each host: `0x<port GUID> <SL> <name>` a line.
///
/// # Errors
/// Any error of `out`.
pub fn write_hosts(out: &mut dyn Write, fabric: &Fabric, levels: &[u8]) -> io::Result<()> {
    writeln!(
        out,
        "# Service level of all that a host sends, whatever its peer: UCX_IB_SL of its tasks."
    )?;
    writeln!(out, "# 0x<GUID of its port> <SL> <name>")?;
    writeln!(out, "{HEADING}")?;
    for (t, level) in levels.iter().enumerate() {
        let t = TerminalId::new(t);
        let name = &fabric.host(fabric.host_of(t)).name;
        writeln!(out, "{} {level} {name}", fabric.terminal(t).guid)?;
    }
    Ok(())
}
