//! LIDs as the dump has them.

use std::collections::BTreeMap;

use darkfiber_fabric::{Fabric, Planes, SwitchId, TerminalId};
use darkfiber_routing::Lids;

use super::exam::{Area, Exam, Verdict};
use crate::{Names, group};

/// The first LID that is no unicast LID (InfiniBand Architecture Specification, volume 1, 4.1.3).
const FIRST_MULTICAST: u32 = 0xc000;

/// Looks for LIDs that are missing, out of range, of two ports of a plane, or other ones than `tables` have.
///
/// Complexity: O(n log n) in LIDs.
pub fn lids(fabric: &Fabric, tables: Option<&Lids>) -> Exam {
    let names = Names::new(fabric);
    let switches = (0..fabric.switch_count()).map(SwitchId::new);
    let terminals = (0..fabric.terminal_count()).map(TerminalId::new);
    // Each plane is a subnet with LIDs of its own.
    let planes = Planes::of(fabric);
    let of_switches =
        switches.map(|s| (names.switch(s), fabric.switch(s).lid, 0, planes.of_switch(s)));
    let of_terminals = terminals.map(|t| {
        let terminal = fabric.terminal(t);
        (names.terminal(t), terminal.lid, terminal.lmc, planes.of_terminal(fabric, t))
    });
    let ports: Vec<(String, Option<u16>, u8, usize)> = of_switches.chain(of_terminals).collect();
    let has_lid = |lid: Option<u16>| lid.is_some_and(|lid| lid != 0);
    if !ports.iter().any(|(_, lid, ..)| has_lid(*lid)) {
        return Exam::not_asked(Area::Lids, "the file has no LIDs; ibnetdiscover prints them");
    }
    let mut places = Vec::new();
    let mut owner: BTreeMap<(usize, u32), &str> = BTreeMap::new();
    let (mut without, mut outside, mut twice) = (0, 0, 0);
    for (name, lid, lmc, plane) in &ports {
        let Some(lid) = lid.filter(|&lid| lid != 0).map(u32::from) else {
            without += 1;
            places.push(format!("{name}: no LID"));
            continue;
        };
        for lid in lid..lid + (1 << lmc.min(&7)) {
            if lid >= FIRST_MULTICAST {
                outside += 1;
                places.push(format!("{name}: LID {lid} is no unicast LID"));
            } else if fabric.reserved_lids().binary_search(&(lid as u16)).is_ok() {
                twice += 1;
                places.push(format!(
                    "{name}: LID {lid} is of a router, too, or of a port that is left out"
                ));
            } else if let Some(other) = owner.insert((*plane, lid), name) {
                twice += 1;
                places.push(format!("{name}: LID {lid} is of {other}, too"));
            }
        }
    }
    let wider = fabric.terminals().iter().map(|t| t.lmc).max().unwrap_or(0);
    let narrow = tables.map(Lids::lmc).filter(|&lmc| lmc < wider);
    if let Some(lmc) = narrow {
        places.push(format!("LMC {wider} in the fabric, LMC {lmc} in the tables"));
    }
    let unlike = tables.map_or_else(Vec::new, |tables| tables.unlike(fabric));
    // Terminals come before switches there, and after them here.
    let (n, m) = (fabric.switch_count(), fabric.terminal_count());
    places.extend(unlike.iter().map(|(dest, theirs, ours)| {
        let (name, ..) = &ports[(dest.index() + n) % (n + m)];
        format!("{name}: LID {theirs}, in the tables {ours}")
    }));
    if places.is_empty() {
        let count = group(owner.len() as u64);
        return Exam::good(Area::Lids, format!("{count} LIDs, each of one port"));
    }
    let parts: Vec<String> = [
        (without, "without a LID"),
        (outside, "beyond the unicast range"),
        (twice, "taken twice"),
        (unlike.len(), "other than in the tables"),
        (usize::from(narrow.is_some()), "LMC other than in the tables"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    let grave = outside + twice + unlike.len() > 0 || narrow.is_some();
    Exam {
        area: Area::Lids,
        verdict: if grave { Verdict::Error } else { Verdict::Warning },
        message: format!("{}: {}", parts.join(", "), places[0]),
        action: if outside + twice == 0 && grave {
            "fabric and tables are of different times: read both from the same sweep"
        } else if grave {
            "two subnets in one file, or two subnet managers: `sminfo` shows who is master"
        } else {
            "did the subnet manager finish its sweep? Take the dump again"
        }
        .to_owned(),
        places,
    }
}
