//! LLDP neighbours of devices (IEEE 802.1AB), in any printed form; and the cables that result.
//!
//! Both ends report a cable, if both devices were queried. Ends name the other's port by its name, its description, or a MAC
//! address; so two reports are of one cable if each names the other's port by any of these, or one does and the other names no port of
//! that device. If the remaining reports between two devices are equally many in both directions they are paired in the natural order
//! of ports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use darkfiber_fabric::{Topology, natural_order};

use super::build::{CableEnd, CableList};
use super::ports::{is_mac, is_of_host, is_of_management};
use super::sheet::finish;
use crate::diagnostic::counted;
use crate::format::Options;
use crate::{Diagnostics, ReadError};

/// A neighbour that a device reports at one of its ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LldpNeighbor {
    /// Line number, 0 where there are no lines.
    pub(super) line: usize,
    /// The device that was queried, and its port.
    pub(super) device: String,
    pub(super) port: String,
    /// Name of the neighbour.
    pub(super) neighbour: String,
    /// Id and description of the neighbour's port.
    pub(super) port_id: String,
    pub(super) port_description: String,
    /// Whether it bridges; `None` if it does not report its capabilities.
    pub(super) bridges: Option<bool>,
}

impl LldpNeighbor {
    fn names(&self, port: &str) -> bool {
        self.port_id == port || self.port_description == port
    }

    /// The best name of the neighbour's port.
    fn neighbour_port(&self) -> &str {
        let description = &self.port_description;
        let is_name = !description.is_empty() && !description.contains(' ');
        if is_mac(&self.port_id) && is_name { description } else { &self.port_id }
    }
}

/// The fabric of all that was heard.
pub(super) fn fabric(
    lldp_neighbors: Vec<LldpNeighbor>,
    path: &Path,
    options: &Options,
    mut d: Diagnostics,
    expected: &'static str,
) -> Result<(Topology, Diagnostics), ReadError> {
    let lldp_neighbors = without_management(by_known_names(lldp_neighbors), &mut d);
    let mut list = CableList::default();
    for h in &lldp_neighbors {
        if let Some(bridges) = h.bridges {
            // Linux hosts route, but do not bridge; switches of layer 3 say both. A router with ports of a switch is one.
            list.set_is_switch(
                &h.neighbour,
                bridges || !is_of_host(h.neighbour_port()) && !is_mac(h.neighbour_port()),
            );
        }
    }
    let mut is_used = vec![false; lldp_neighbors.len()];
    let mut between: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (i, h) in lldp_neighbors.iter().enumerate() {
        between.entry((&h.device, &h.neighbour)).or_default().push(i);
    }
    // Reports that name each other; then those of which one names the other, which names no port of that device itself.
    let mut cables: Vec<(usize, [CableEnd; 2])> = Vec::new();
    let end =
        |device: &str, port: &str| CableEnd { device: device.to_owned(), port: port.to_owned() };
    for is_mutual in [true, false] {
        for (i, h) in lldp_neighbors.iter().enumerate() {
            let back = between.get(&(h.neighbour.as_str(), h.device.as_str()));
            let ahead = &between[&(h.device.as_str(), h.neighbour.as_str())];
            let names_any =
                |j: usize| ahead.iter().any(|&k| lldp_neighbors[j].names(&lldp_neighbors[k].port));
            let answers =
                |j: usize| if is_mutual { lldp_neighbors[j].names(&h.port) } else { !names_any(j) };
            let found = back.into_iter().flatten().copied().find(|&j| {
                j != i
                    && !is_used[i]
                    && !is_used[j]
                    && h.names(&lldp_neighbors[j].port)
                    && answers(j)
            });
            if let Some(j) = found {
                (is_used[i], is_used[j]) = (true, true);
                let there = &lldp_neighbors[j];
                cables.push((h.line, [end(&h.device, &h.port), end(&there.device, &there.port)]));
            }
        }
    }
    // The same number in both directions.
    let mut by_order = 0;
    for (&(a, b), ahead) in &between {
        let left = |all: &Vec<usize>, is_used: &[bool]| {
            let mut left: Vec<usize> = all.iter().copied().filter(|&i| !is_used[i]).collect();
            left.sort_by(|&x, &y| {
                natural_order(&lldp_neighbors[x].port, &lldp_neighbors[y].port).then(x.cmp(&y))
            });
            left
        };
        let back = between.get(&(b, a)).map(|back| left(back, &is_used)).unwrap_or_default();
        let ahead = left(ahead, &is_used);
        if a < b && !ahead.is_empty() && ahead.len() == back.len() {
            for (&i, &j) in ahead.iter().zip(&back) {
                (is_used[i], is_used[j]) = (true, true);
                by_order += 1;
                cables.push((
                    lldp_neighbors[i].line,
                    [end(a, &lldp_neighbors[i].port), end(b, &lldp_neighbors[j].port)],
                ));
            }
        }
    }
    if by_order > 0 {
        let cables = counted(by_order, "cable is", "cables are");
        d.note(
            0,
            format!("{cables} paired in the order of ports: their ends do not name each other's"),
            "",
        );
    }
    // Only one end reports it: the other device was not queried, or did not reply.
    let mut one_sided = 0;
    for (h, _) in lldp_neighbors.iter().zip(&is_used).filter(|(_, used)| !**used) {
        one_sided += usize::from(between.keys().any(|&(device, _)| device == h.neighbour));
        cables.push((h.line, [end(&h.device, &h.port), end(&h.neighbour, h.neighbour_port())]));
    }
    if one_sided > 0 {
        let cables = counted(one_sided, "cable is", "cables are");
        d.warn(
            0,
            format!("{cables} seen from one side only, although the other side was asked"),
            "a neighbour that is gone, or LLDP switched off at a port",
        );
    }
    cables.sort_by_key(|cable| cable.0);
    for (line, ends) in cables {
        list.cable(line, ends, None, &mut d);
    }
    finish(&list, path, options, d, expected)
}

/// Replaces neighbours' names by those of the queried devices, where one is the other with its domain: what precedes a dot may be a
/// rack, or part of an address, so that devices are not the same since their names begin alike.
fn by_known_names(mut lldp_neighbors: Vec<LldpNeighbor>) -> Vec<LldpNeighbor> {
    let asked: BTreeSet<String> = lldp_neighbors.iter().map(|h| h.device.clone()).collect();
    // By name without one part after the other, the devices that are called so.
    let mut by_host: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for name in &asked {
        for (dot, _) in name.match_indices('.') {
            by_host.entry(&name[..dot]).or_default().insert(name);
        }
    }
    let known = |name: &str| -> Option<String> {
        if asked.contains(name) || is_mac(name) {
            return None;
        }
        // The neighbour has a domain, of which the device has less.
        let longest = name.rmatch_indices('.').find_map(|(dot, _)| asked.get(&name[..dot]));
        if let Some(device) = longest {
            return Some(device.clone());
        }
        let mut devices = by_host.get(name)?.iter();
        // Of several devices with this name in other domains none is meant for sure.
        match (devices.next(), devices.next()) {
            (Some(device), None) => Some((*device).to_owned()),
            _ => None,
        }
    };
    for h in &mut lldp_neighbors {
        if let Some(known) = known(&h.neighbour) {
            h.neighbour = known;
        }
    }
    lldp_neighbors
}

/// Leaves out ports for management, `eth0` of switches among them.
fn without_management(lldp_neighbors: Vec<LldpNeighbor>, d: &mut Diagnostics) -> Vec<LldpNeighbor> {
    let mut has_others: BTreeMap<String, bool> = BTreeMap::new();
    for h in &lldp_neighbors {
        *has_others.entry(h.device.clone()).or_default() |= !is_of_host(&h.port);
    }
    let before = lldp_neighbors.len();
    let is_of_fabric = |h: &LldpNeighbor| {
        let is_own = h.port == "eth0" && has_others.get(&h.device) == Some(&true);
        !is_own && !is_of_management(&h.port) && !is_of_management(&h.port_id)
    };
    let left: Vec<LldpNeighbor> = lldp_neighbors.into_iter().filter(is_of_fabric).collect();
    if left.len() < before {
        let reports = counted(before - left.len(), "neighbour", "neighbours");
        d.note(0, format!("{reports} at ports for management left out"), "");
    }
    left
}
