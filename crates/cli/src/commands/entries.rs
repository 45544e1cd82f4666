//! Table entries that change, as they are reported: switches by name, rows by LID.

use std::collections::BTreeSet;

use darkfiber_analysis::Names;
use darkfiber_fabric::{Fabric, SwitchId};
use darkfiber_report::ease::{EaseEntry, EaseStep};
use darkfiber_routing::reroute::Change;
use darkfiber_routing::{DestId, Lids, Routes};

/// The entries of a step, one for each LID of a row.
pub(super) fn step(fabric: &Fabric, routes: &Routes, lids: &Lids, changes: &[Change]) -> EaseStep {
    let names = Names::new(fabric);
    let rows: BTreeSet<u32> = changes.iter().map(|c| c.row).collect();
    let mut whose: Vec<(u32, u16)> = Vec::new();
    for d in (0..routes.dest_count()).map(DestId::new) {
        let (base, paths) = match d.as_terminal(fabric) {
            Some(t) => (lids.terminal(t), routes.paths()),
            None => (lids.switch(d.home(fabric)), 1),
        };
        for path in 0..paths {
            let row = routes.row(d, path) as u32;
            if rows.contains(&row) {
                whose.push((row, base.saturating_add(path as u16)));
            }
        }
    }
    whose.sort_unstable();
    let mut entries = Vec::new();
    let mut blocks = BTreeSet::new();
    for change in changes {
        let first = whose.partition_point(|(row, _)| *row < change.row);
        for &(_, lid) in whose[first..].iter().take_while(|(row, _)| *row == change.row) {
            blocks.insert((change.switch, lid / 64));
            entries.push((change.switch, lid, change));
        }
    }
    entries.sort_by_key(|&(switch, lid, _)| (switch, lid));
    let entry = |(switch, lid, change): (SwitchId, u16, &Change)| EaseEntry {
        switch: names.switch(switch),
        guid: fabric.switch(switch).guid.to_string(),
        lid,
        old_port: change.old,
        new_port: change.new,
    };
    EaseStep { blocks: blocks.len(), entries: entries.into_iter().map(entry).collect() }
}
