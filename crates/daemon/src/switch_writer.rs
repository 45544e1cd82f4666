//! Writing blocks of forwarding tables into switches through a program on this host (`plugin/blocks`), without a sweep of OpenSM.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use darkfiber_fabric::{AtPort, Fabric, SwitchId};
use darkfiber_routing::{Lids, Routes};

use crate::children::Children;
use crate::fetch::{run, run_with_input};
use crate::plan_image::NO_ROUTE;
use crate::value::entry;

/// Time limit of the program for its port.
const PORT: Duration = Duration::from_secs(5);
/// Time limit of the program for all blocks of a stage.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most bytes of its output, beyond the blocks.
const MOST: u64 = 1 << 12;
/// LIDs of a block.
const BLOCK: usize = 64;

/// Writes all blocks by which two sets of tables differ, in any order, and reads each back from its switch.
pub(crate) fn write(
    command: &[String],
    fabric: &Fabric,
    lids: &Lids,
    (from, to): (&Routes, &Routes),
    children: &Children,
) -> Result<(), String> {
    let blocks = changed_blocks(fabric, lids, from, to);
    if blocks.is_empty() {
        return Ok(());
    }
    let ask: Vec<String> = command.iter().cloned().chain(["-g".to_owned()]).collect();
    let guid = run(&ask, PORT, MOST, children)?;
    let guid = String::from_utf8_lossy(&guid).trim().to_owned();
    let number = guid.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
    let host = fabric.terminals().iter().find(|t| Some(t.guid.0) == number);
    let host = host.ok_or_else(|| format!("its port {guid} is not in the fabric"))?;
    let routes = directed_routes(fabric, host.switch);
    let mut list = String::new();
    for (s, block, ports) in &blocks {
        let route = routes[s.index()].as_ref();
        let route =
            route.ok_or_else(|| format!("{} has no path from {guid}", fabric.switch(*s).guid))?;
        let hex = ports.iter().fold(String::new(), |mut hex, port| {
            let _strings_take_all = write!(hex, "{port:02x}");
            hex
        });
        let _strings_take_all = writeln!(list, "{route} {block} {hex}");
    }
    let _strings_take_all = writeln!(list, "end {}", blocks.len());
    let given = list.into_bytes();
    let most = given.len() as u64 + MOST;
    let found = run_with_input(command, given.clone(), PATIENCE, most, children)?;
    if found != given {
        let (found, given) = (String::from_utf8_lossy(&found), String::from_utf8_lossy(&given));
        let mut both = found.lines().chain(std::iter::repeat("")).zip(given.lines());
        let (line, _) = both.find(|(found, given)| found != given).unwrap_or_default();
        let line: String = line.chars().take(80).collect();
        return Err(format!("it read back \"{line}\", which is not what it was given"));
    }
    Ok(())
}

/// Switch, number and new entries of each block that changes.
fn changed_blocks(
    fabric: &Fabric,
    lids: &Lids,
    from: &Routes,
    to: &Routes,
) -> Vec<(SwitchId, usize, [u8; BLOCK])> {
    let mut blocks = Vec::new();
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        for block in 0..=usize::from(lids.top()) / BLOCK {
            let mut ports = [NO_ROUTE; BLOCK];
            let mut differs = false;
            for (i, port) in ports.iter_mut().enumerate() {
                let Some(of) = lids.owner((block * BLOCK + i) as u16) else { continue };
                let new = entry(fabric, to, s, of);
                differs |= new != entry(fabric, from, s, of);
                *port = new.unwrap_or(NO_ROUTE);
            }
            if differs {
                blocks.push((s, block, ports));
            }
        }
    }
    blocks
}

/// The ports by which a shortest path leaves each switch on the way from `first` to every other one, separated by commas; `-` for
/// `first` itself, nothing for a switch that is not connected with it.
fn directed_routes(fabric: &Fabric, first: SwitchId) -> Vec<Option<String>> {
    let mut routes = vec![None; fabric.switch_count()];
    routes[first.index()] = Some("-".to_owned());
    let mut queue = VecDeque::from([first]);
    while let Some(s) = queue.pop_front() {
        let route = routes[s.index()].clone().unwrap_or_default();
        for port in 1..=fabric.switch(s).ports {
            if let AtPort::Switch(_, next) = fabric.at_port(s, port)
                && routes[next.index()].is_none()
            {
                let is_first = route == "-";
                let longer = if is_first { port.to_string() } else { format!("{route},{port}") };
                routes[next.index()] = Some(longer);
                queue.push_back(next);
            }
        }
    }
    routes
}
