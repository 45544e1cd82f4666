//! The proof for tables of which some are in use at one switch and others at another, with all ports of their groups.

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};
use rayon::prelude::*;

use super::sets::{SetReport, Sets, homes};
use crate::routes::{DELIVER, NO_ROUTE};
use crate::{DestId, Routes};

/// Follows all ports that any of several tables of one fabric has for a LID, its static one and those of its group, whichever tables
/// each switch has, in the lanes that any of them gives: what holds for this holds while one is replaced by another, switch by switch
/// and entry by entry. Where switches choose lanes, all lanes are treated as one, which is the harder case.
///
/// Complexity: O(LIDs of terminals x channels x channels of a switch).
pub fn check_any_mix(fabric: &Fabric, tables: &[&Routes]) -> SetReport {
    let paths = tables.iter().map(|routes| routes.paths()).max().unwrap_or(0);
    let lids: Vec<(usize, usize)> = (0..fabric.terminal_count())
        .flat_map(|dest| (0..paths).map(move |path| (dest, path)))
        .collect();
    let home = |dest: usize| fabric.terminal(TerminalId::new(dest)).switch;
    let at_home: Vec<SwitchId> = lids.iter().map(|&(dest, _)| home(dest)).collect();
    let sets: Vec<Vec<Vec<u32>>> =
        lids.par_iter().map(|&lid| channels_towards(fabric, tables, lid)).collect();
    let component = fabric.component_labels();
    let senders = homes(fabric);
    let sources = |d: usize| {
        let near = |s: &&SwitchId| {
            **s != at_home[d] && component[s.index()] == component[at_home[d].index()]
        };
        let with_lanes =
            senders.iter().filter(near).map(|&s| (s, lanes(fabric, tables, s, lids[d])));
        with_lanes.filter(|(_, lanes)| *lanes != 0).collect()
    };
    let set = |s: SwitchId, d: usize| &sets[d][s.index()][..];
    Sets { fabric, homes: &at_home, sources: &sources, set: &set }.check()
}

/// By switch the channels that any of the tables has for a LID; none where one of them has none, as packets that any other leads there
/// are lost.
fn channels_towards(
    fabric: &Fabric,
    tables: &[&Routes],
    (dest, path): (usize, usize),
) -> Vec<Vec<u32>> {
    let mut found = vec![Vec::new(); fabric.switch_count()];
    let mut leads_nowhere = vec![false; fabric.switch_count()];
    for routes in tables.iter().filter(|routes| path < routes.paths()) {
        let row = routes.row(DestId::new(dest), path);
        let groups = routes.groups.as_deref();
        let group = groups.and_then(|groups| Some((groups, groups.number(row)?)));
        for (s, (found, &port)) in found.iter_mut().zip(routes.ports(row)).enumerate() {
            let (at, before) = (SwitchId::new(s), found.len());
            if !matches!(port, NO_ROUTE | DELIVER)
                && let AtPort::Switch(channel, _) = fabric.at_port(at, port)
            {
                found.push(channel.0);
            }
            if let Some((groups, number)) = group {
                found.extend_from_slice(groups.towards(at, number).members());
            }
            leads_nowhere[s] |= found.len() == before;
        }
    }
    for (found, leads_nowhere) in found.iter_mut().zip(leads_nowhere) {
        if leads_nowhere {
            found.clear();
        }
        found.sort_unstable();
        found.dedup();
    }
    found
}

/// Lanes in which terminals of a switch send to a LID by any of the tables.
fn lanes(fabric: &Fabric, tables: &[&Routes], s: SwitchId, (dest, path): (usize, usize)) -> u32 {
    let mut lanes = 0;
    for routes in tables.iter().filter(|routes| path < routes.paths()) {
        let row = routes.row(DestId::new(dest), path);
        for t in fabric.terminals_on(s).map(TerminalId::new).filter(|&t| routes.uses(t, path)) {
            lanes |= match routes.layers.by_hop() {
                Some(_) => 1,
                None => 1u32 << routes.layer_on(fabric, t, row).min(31),
            };
        }
    }
    lanes
}
