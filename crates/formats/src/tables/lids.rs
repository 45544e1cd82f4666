//! The LIDs that dumped tables speak of.

use darkfiber_fabric::{Fabric, Guid};
use darkfiber_routing::{DestId, Lids};

use super::{Tables, dest_by_guid};
use crate::Diagnostics;
use crate::diagnostic::counted;
use crate::guid2lid::Bases;

/// The LIDs that dumped tables speak of: by port GUID from the tables, and for ports that they do not
/// name the LIDs of the fabric's own input. The LMC follows from the number of LIDs of a port; where no
/// entry names its port, it is the smallest one that gives every LID of the tables an owner.
pub fn lids_of(fabric: &Fabric, tables: &Tables) -> (Lids, Diagnostics) {
    let by_guid = dest_by_guid(fabric);
    let mut found = Diagnostics::default();
    let dests = fabric.terminal_count() + fabric.switch_count();
    // First and last LID of a port in the first table that names it: a later table may be of another
    // sweep.
    let mut seen: Vec<Option<(usize, u16, u16)>> = vec![None; dests];
    let mut cache: Vec<(Guid, Option<DestId>)> = vec![(Guid(0), None); 1 << 16];
    let mut nameless = vec![false; 1 << 16];
    for (i, table) in tables.switches.iter().enumerate() {
        for entry in &table.entries {
            let Some(guid) = entry.portguid() else {
                nameless[usize::from(entry.lid)] = true;
                continue;
            };
            let slot = &mut cache[usize::from(entry.lid)];
            if slot.0 != guid {
                *slot = (guid, by_guid.get(&guid).copied());
            }
            let Some(dest) = slot.1 else { continue };
            match &mut seen[dest.index()] {
                Some((first_table, first, last)) if *first_table == i => {
                    *first = (*first).min(entry.lid);
                    *last = (*last).max(entry.lid);
                }
                Some(_) => {}
                none => *none = Some((i, entry.lid, entry.lid)),
            }
        }
    }
    let terminals = fabric.terminal_count();
    let own = lmc_of_fabric(fabric);
    let named = seen[..terminals]
        .iter()
        .flatten()
        .map(|&(_, first, last)| lmc_of(usize::from(last - first) + 1))
        .filter(|&lmc| lmc <= 7)
        .max();
    let mut lmc = named.or(own).unwrap_or(0);
    let mut bases = Bases::new(fabric);
    for (d, &range) in seen.iter().enumerate() {
        let input = match DestId::new(d).as_terminal(fabric) {
            Some(t) => fabric.terminal(t).lid,
            None => fabric.switches()[d - terminals].lid,
        };
        // The first LIDs of a port may be missing in tables.
        let mask = if d < terminals { (1 << lmc) - 1 } else { 0 };
        if let Some(lid) = range.map(|(_, first, _)| first & !mask).or(input) {
            bases.set(DestId::new(d), lid, 0);
        }
    }
    if named.is_none() && own.unwrap_or(0) == 0 {
        lmc = (0..=7).find(|&lmc| bases.cover(lmc, &nameless)).unwrap_or(lmc);
    }
    let lids = bases.settle(fabric, lmc, &mut found);
    (lids, found)
}

/// A warning if ports have more LIDs in the fabric's own input than in its tables: no table leads to the others.
pub fn fewer_lids(fabric: &Fabric, lids: &Lids) -> Diagnostics {
    let mut found = Diagnostics::default();
    let own = lmc_of_fabric(fabric).unwrap_or(0);
    let (theirs, ours) = (lids.width(), 1 << own);
    if theirs < ours {
        found.warn(
            0,
            format!(
                "ports have {ours} LIDs each in the fabric's file (LMC {own}), and {theirs} in these tables"
            ),
            "others are not looked at; tables in use have no way to them, unless the two are of different times",
        );
    }
    found
}

/// A warning if ports have other LIDs in the fabric's own input than in its tables: then one of the two files is of another time.
pub fn other_lids(fabric: &Fabric, lids: &Lids) -> Diagnostics {
    let mut found = Diagnostics::default();
    let unlike = lids.unlike(fabric);
    if let Some((_, theirs, ours)) = unlike.first() {
        let ports = counted(unlike.len(), "port has another LID", "ports have other LIDs");
        found.warn(
            0,
            format!(
                "{ports} in the fabric's file than here, for example {theirs} instead of {ours}"
            ),
            "those of the tables are taken; read fabric and tables from the same sweep",
        );
    }
    found
}

/// The LMC in the fabric's own input, if it has terminals.
fn lmc_of_fabric(fabric: &Fabric) -> Option<u8> {
    fabric.terminals().iter().map(|t| t.lmc.min(7)).max()
}

/// The LMC that gives a port at least `count` LIDs.
fn lmc_of(count: usize) -> u8 {
    count.next_power_of_two().trailing_zeros() as u8
}
