//! The proof for tables with groups of ports (adaptive routing): whichever port of its group a switch picks for a packet, it arrives, and
//! no channels wait for each other; else the entry that breaks it.

use darkfiber_fabric::{ChannelId, Fabric, SwitchId};

use super::sets::{SetReport, Sets, homes};
use crate::next_hops::NextHops;
use crate::{Layers, Routes};

/// Properties that hold whichever ports switches pick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupReport {
    /// Properties that hold for the sets.
    pub sets: SetReport,
    /// Entries of tables that make the cycle, one for each of its channels: that of the switch at the end of the channel.
    pub entries: Vec<GroupEntry>,
    /// Index in `entries` of the one to remove against the cycle: that of the fewest destinations, among equals one that
    /// exists only by its group.
    pub breaks: Option<usize>,
    /// Whether there is no cycle without that entry.
    pub alone: bool,
}

/// An entry of a table: a port of the group that a switch has for a LID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupEntry {
    /// Switch of the entry.
    pub switch: SwitchId,
    /// Row of the routes, which is the LID.
    pub row: usize,
    /// The channel on which its packets come in.
    pub comes_in: ChannelId,
    /// The channel that it waits for, which leaves by the port.
    pub waits_for: ChannelId,
    /// Destinations (LIDs with equal groups count once) for which the switch does the same.
    pub destinations: usize,
}

/// Follows all ports of all groups of routes that have some, for all sources, in the lanes of their service levels. Where switches
/// choose lanes, all lanes are treated as one, which is the harder case. `None` if the routes have no groups.
///
/// Complexity: O(destinations x channels x channels of a switch), destinations with equal groups once.
pub fn check_groups(fabric: &Fabric, routes: &Routes) -> Option<GroupReport> {
    let hops = routes.groups.as_deref()?;
    let view = View::new(fabric, routes, hops);
    let set = |at: SwitchId, d: usize| hops.towards(at, view.numbers[d]).members();
    let report = view.check(&set);
    let Some(cycle) = &report.cycle else {
        return Some(GroupReport { sets: report, entries: Vec::new(), breaks: None, alone: false });
    };
    let next = cycle.channels.iter().cycle().skip(1);
    let entries: Vec<GroupEntry> = cycle
        .channels
        .iter()
        .zip(next)
        .zip(&cycle.waits)
        .map(|((&comes_in, &waits_for), wait)| GroupEntry {
            switch: fabric.head(comes_in),
            row: view.rows[wait.destination][0],
            comes_in,
            waits_for,
            destinations: wait.destinations,
        })
        .collect();
    // Of equal ones prefer one whose port is not that of the table: it exists only by its group.
    let is_of_table = |entry: &GroupEntry| {
        let port = routes.ports(entry.row)[entry.switch.index()];
        port == fabric.tail_ports()[entry.waits_for.index()]
    };
    let order = |&i: &usize| (entries[i].destinations, is_of_table(&entries[i]), i);
    let breaks = (0..entries.len()).min_by_key(order);
    let alone = breaks.is_some_and(|i| {
        let (entry, number) = (entries[i], cycle.waits[i].destination);
        let all = hops.towards(entry.switch, view.numbers[number]).members();
        let without: Vec<u32> = all.iter().copied().filter(|&c| c != entry.waits_for.0).collect();
        let mended = |at: SwitchId, d: usize| {
            if at == entry.switch && d == number { &without[..] } else { set(at, d) }
        };
        entry.destinations == 1 && view.check(&mended).deadlock_free()
    });
    Some(GroupReport { sets: report, entries, breaks, alone })
}

/// Destinations of terminals, those with equal groups once.
struct View<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    homes: Vec<SwitchId>,
    /// By destination its number among the sets.
    numbers: Vec<usize>,
    /// By destination its rows.
    rows: Vec<Vec<usize>>,
    sources: Vec<SwitchId>,
    component: Vec<u32>,
}

impl<'a> View<'a> {
    fn new(fabric: &'a Fabric, routes: &'a Routes, hops: &NextHops) -> Self {
        let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); hops.numbers()];
        for row in routes.terminal_rows() {
            if let Some(number) = hops.number(row) {
                rows_of[number].push(row);
            }
        }
        let numbers: Vec<usize> =
            (0..rows_of.len()).filter(|&number| !rows_of[number].is_empty()).collect();
        Self {
            fabric,
            routes,
            homes: numbers.iter().map(|&number| hops.home(number)).collect(),
            rows: numbers.iter().map(|&number| rows_of[number].clone()).collect(),
            numbers,
            sources: homes(fabric),
            component: fabric.component_labels(),
        }
    }

    fn check<'s>(&self, set: &(dyn Fn(SwitchId, usize) -> &'s [u32] + Sync)) -> SetReport {
        let sources = |d: usize| {
            let home = self.homes[d];
            let label = self.component[home.index()];
            let near = |s: &&SwitchId| **s != home && self.component[s.index()] == label;
            let sources = self.sources.iter().filter(near);
            sources.map(|&s| (s, self.lanes(s, d))).filter(|(_, lanes)| *lanes != 0).collect()
        };
        Sets { fabric: self.fabric, homes: &self.homes, sources: &sources, set }.check()
    }

    /// Lanes in which terminals of a switch send to a destination.
    fn lanes(&self, s: SwitchId, d: usize) -> u32 {
        if matches!(self.routes.layers, Layers::One | Layers::ByHop(_)) {
            return 1;
        }
        let mut lanes = 0;
        for &row in &self.rows[d] {
            for t in self.fabric.terminals_on(s).map(darkfiber_fabric::TerminalId::new) {
                lanes |= 1u32 << self.routes.layer_on(self.fabric, t, row).min(31);
            }
        }
        lanes
    }
}
