//! Problems of groups of ports, by the operator's names: switch, LID, port.

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_routing::check::{GroupEntry, GroupReport};
use darkfiber_routing::{DestId, Lids, Routes};
use schemars::JsonSchema;
use serde::Serialize;

use crate::finding::{Finding, FindingKind, Places, Severity};
use crate::names::Names;
use crate::number::group;

/// An entry of a table with a group: packets on a channel wait for a port of it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct GroupWait {
    /// The switch.
    pub switch: String,
    /// Its GUID.
    pub guid: String,
    /// The LID, where it is known.
    pub lid: Option<u16>,
    /// Whose LID it is.
    pub destination: String,
    /// The port of the group.
    pub port: u8,
    /// The channel on which packets come in.
    pub comes_in: String,
    /// The channel that they wait for.
    pub waits_for: String,
    /// Destinations for which the switch does the same, those with equal groups once.
    pub destinations: usize,
}

impl GroupWait {
    /// The entry in the words of operators.
    fn entry(&self) -> String {
        let lid = self.lid.map_or_else(String::new, |lid| format!("LID 0x{lid:04x}, "));
        format!("{} ({lid}{}) port {}", self.switch, self.destination, self.port)
    }
}

/// The entries that make a cycle, named. LIDs are those that are given, else those of the fabric.
pub fn named_cycle(
    fabric: &Fabric,
    routes: &Routes,
    entries: &[GroupEntry],
    lids: Option<&Lids>,
) -> Vec<GroupWait> {
    let names = Names::new(fabric);
    let owner = |row: usize| {
        let all = (0..fabric.terminal_count()).map(TerminalId::new);
        let mut lids = all.flat_map(|t| (0..routes.paths()).map(move |path| (t, path)));
        lids.find(|&(t, path)| routes.row(DestId::terminal(t), path) == row)
    };
    let wait = |entry: &GroupEntry| {
        let owner = owner(entry.row);
        let lid = owner.and_then(|(t, path)| {
            let base = lids.map(|l| l.terminal(t)).or(fabric.terminal(t).lid)?;
            base.checked_add(path as u16)
        });
        GroupWait {
            switch: names.switch(entry.switch),
            guid: fabric.switch(entry.switch).guid.to_string(),
            lid: lid.filter(|&lid| lid > 0),
            destination: owner.map_or_else(String::new, |(t, _)| names.terminal(t)),
            port: fabric.tail_ports()[entry.waits_for.index()],
            comes_in: names.channel(entry.comes_in).to_string(),
            waits_for: names.channel(entry.waits_for).to_string(),
            destinations: entry.destinations,
        }
    };
    entries.iter().map(wait).collect()
}

/// Findings about properties that do not hold for every choice among groups of ports.
pub fn of_groups(report: &GroupReport, waits: &[GroupWait]) -> Vec<Finding> {
    let mut found = Vec::new();
    let error = |kind, message, hint, places| Finding {
        kind,
        severity: Severity::Error,
        message,
        hint,
        places,
    };
    let nothing = |count| Places::Nodes { count, examples: Vec::new() };
    let sets = &report.sets;
    if sets.unreachable > 0 {
        let message = format!(
            "groups of ports: some choice loses packets; pairs of a switch and a LID: {}",
            group(sets.unreachable)
        );
        let hint = "look for ports of groups that lead to no switch or to one without an entry";
        found.push(error(FindingKind::Unreachable, message, hint, nothing(sets.unreachable)));
    }
    if sets.loops > 0 {
        let message = format!(
            "groups of ports: some choice is a forwarding loop; destinations, LIDs with equal groups counted once: {}",
            group(sets.loops)
        );
        let hint = "ports of a group must lead nearer to the LID";
        found.push(error(FindingKind::Loops, message, hint, nothing(sets.loops)));
    }
    if let (Some(cycle), Some(i)) = (&sets.cycle, report.breaks) {
        let wait = &waits[i];
        let how = match (report.alone, wait.destinations) {
            (true, _) => ", without which there is no cycle".to_owned(),
            (false, 1) => ", and others: without it there is another cycle".to_owned(),
            (false, n) => format!(", as for {} destinations in all", group(n as u64)),
        };
        let message = format!(
            "groups of ports: {} channels of lane {} can wait for each other, so packets can deadlock; the entry that breaks it: {}{how}",
            cycle.channels.len(),
            cycle.lane,
            wait.entry()
        );
        let examples = waits.iter().map(GroupWait::entry).collect();
        let places = Places::Nodes { count: waits.len() as u64, examples };
        let hint =
            "take the port out of the group, or take ar_updn or ar_ftree, whose groups are proved";
        found.push(error(FindingKind::CreditLoop, message, hint, places));
    }
    found
}
