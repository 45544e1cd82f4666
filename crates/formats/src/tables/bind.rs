//! Binding dumped tables to a fabric: the row of each entry, and diagnostics for entries without one.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use darkfiber_fabric::{AtPort, Fabric, Guid, Switch, SwitchId};
use darkfiber_routing::{DestId, Lids, NO_ROUTE, Routes};

use super::{Entry, SwitchTable, Tables, dest_by_guid, entries, lids_of, rows_by_lid};
use crate::diagnostic::counted;
use crate::{Diagnostics, ReadError};

/// Binds dumped tables to a fabric. `lids` are the LIDs of the fabric, by default [`lids_of`] the
/// tables; `engine` becomes the name of the routes.
///
/// Switches are matched by GUID, without one by LID or a description that only one switch has; destinations by port
/// GUID, else by LID. With an LMC the low bits of an entry's LID choose the row among those of its port, and each of
/// them has its own. Remarks report switches that are not in the fabric or not in the dump, unassigned LIDs, ports
/// that do not exist (such entries are left out) or have no cable (they are kept: the packet is lost, as the checker
/// will report), and LIDs without an entry.
///
/// # Errors
/// If fewer than half of the dumped switches are in the fabric: then it is the dump of another one.
pub fn to_routes(
    fabric: &Fabric,
    tables: &Tables,
    lids: Option<&Lids>,
    engine: &str,
    path: &Path,
) -> Result<(Routes, Diagnostics), ReadError> {
    let mut found = Diagnostics::default();
    let derived;
    let lids = if let Some(lids) = lids {
        lids
    } else {
        let (own, remarks) = lids_of(fabric, tables);
        found = remarks;
        derived = own;
        &derived
    };
    let matched = match_switches(fabric, tables, lids, &mut found);
    let hits = matched.iter().flatten().count();
    if hits == 0 || hits * 2 < tables.switches.len() {
        return Err(ReadError::not_such(
            path,
            format!(
                "{hits} of the {} switches of this dump are in fabric '{}' with its {} switches",
                tables.switches.len(),
                fabric.name(),
                fabric.switch_count()
            ),
            "tables of this fabric",
            "read the fabric from the same sweep as the tables, or check that the two files belong \
             together",
        ));
    }
    let mut routes = Routes::empty(engine, fabric, lids.width());
    let mut binder = Binder::new(fabric, lids);
    let mut done = vec![false; fabric.switch_count()];
    for (table, s) in tables.switches.iter().zip(&matched) {
        if let Some(s) = *s {
            if std::mem::replace(&mut done[s.index()], true) {
                found.warn(
                    table.line,
                    format!("second table of {}", table.label()),
                    "its entries replace those of the first",
                );
            }
            binder.bind(table, s, &mut routes, &mut found);
        }
    }
    binder.report(&mut found);
    let bare: Vec<&Switch> =
        (fabric.switches().iter().zip(&done)).filter(|(_, done)| !**done).map(|(s, _)| s).collect();
    if let Some(first) = bare.first() {
        let text = match bare.len() {
            1 => {
                format!("switch {} \"{}\" has no table in the dump", first.guid, first.description)
            }
            n => format!(
                "{n} of {} switches have no table in the dump, for example {} \"{}\"",
                done.len(),
                first.guid,
                first.description
            ),
        };
        let hint = "they drop everything, and OpenSM's file engine would clear their tables; if the dump was cut short, make it anew";
        found.warn_left_out(0, text, hint);
    }
    found.0.sort_by_key(|d| d.line);
    Ok((routes, found))
}

fn match_switches(
    fabric: &Fabric,
    tables: &Tables,
    lids: &Lids,
    found: &mut Diagnostics,
) -> Vec<Option<SwitchId>> {
    let mut by_guid = HashMap::new();
    let mut by_name: HashMap<&str, Option<SwitchId>> = HashMap::new();
    for (i, switch) in fabric.switches().iter().enumerate() {
        let s = SwitchId::new(i);
        by_guid.insert(switch.guid, s);
        by_name
            .entry(switch.description.as_str())
            .and_modify(|unique| *unique = None)
            .or_insert(Some(s));
    }
    let switch_of_lid = |lid: u16| {
        let (dest, _) = lids.owner(lid)?;
        dest.as_terminal(fabric).is_none().then(|| dest.home(fabric))
    };
    tables
        .switches
        .iter()
        .map(|table| {
            // A GUID that is missing in the fabric is another switch, whatever its LID is.
            let s = match table.guid {
                Some(guid) => by_guid.get(&guid).copied(),
                None => table
                    .lid
                    .and_then(switch_of_lid)
                    .or_else(|| by_name.get(table.name.as_str()).copied().flatten()),
            };
            if s.is_none() {
                found.warn(
                    table.line,
                    format!(
                        "{} is not in the fabric; its table of {} was left out",
                        table.label(),
                        entries(table.entries.len())
                    ),
                    "was it added after the fabric was read?",
                );
            }
            s
        })
        .collect()
}

/// The destination of a LID of the dump.
#[derive(Clone, Copy)]
enum Target {
    Row {
        dest: DestId,
        path: usize,
        /// The entry named a port that is missing in the fabric; only its LID is known.
        strange: bool,
    },
    Nobody,
}

/// Entries that were left out for one reason: how many, and the line of the first.
#[derive(Clone, Copy, Default)]
struct Tally {
    count: usize,
    line: usize,
}

impl Tally {
    fn add(&mut self, line: usize) {
        if self.count == 0 {
            self.line = line;
        }
        self.count += 1;
    }
}

struct Binder<'a> {
    fabric: &'a Fabric,
    lids: &'a Lids,
    by_guid: HashMap<Guid, DestId>,
    /// By LID of the dump, for the port GUID that it last came with; the same in nearly every table.
    cache: Vec<Option<(Guid, Target)>>,
    /// By row: number of the last table that filled it.
    filled: Vec<u32>,
    table: u32,
    unknown: BTreeMap<(u16, Guid), Tally>,
    strange: BTreeMap<(u16, Guid), Tally>,
    gaps: Option<Gaps>,
}

/// LIDs of switches without entries.
struct Gaps {
    /// The first such table: its line, and its name.
    line: usize,
    label: String,
    tables: usize,
    entries: usize,
}

impl<'a> Binder<'a> {
    fn new(fabric: &'a Fabric, lids: &'a Lids) -> Self {
        let rows = fabric.terminal_count() * lids.width() + fabric.switch_count();
        Self {
            fabric,
            lids,
            by_guid: dest_by_guid(fabric),
            cache: vec![None; 1 << 16],
            filled: vec![0; rows],
            table: 0,
            unknown: BTreeMap::new(),
            strange: BTreeMap::new(),
            gaps: None,
        }
    }

    fn resolve(&mut self, entry: &Entry) -> Target {
        let slot = usize::from(entry.lid);
        if let Some((guid, target)) = self.cache[slot]
            && guid == entry.guid
        {
            return target;
        }
        let by_guid = entry.portguid().map(|g| self.by_guid.get(&g).copied());
        let target = match by_guid.flatten() {
            Some(dest) => Target::Row {
                dest,
                path: match dest.as_terminal(self.fabric) {
                    Some(_) => slot & (self.lids.width() - 1),
                    None => 0,
                },
                strange: false,
            },
            None => match self.lids.owner(entry.lid) {
                Some((dest, path)) => Target::Row { dest, path, strange: entry.guid.0 != 0 },
                None => Target::Nobody,
            },
        };
        self.cache[slot] = Some((entry.guid, target));
        target
    }

    fn bind(
        &mut self,
        table: &SwitchTable,
        s: SwitchId,
        routes: &mut Routes,
        found: &mut Diagnostics,
    ) {
        self.table += 1;
        let ports = self.fabric.switch(s).ports;
        let mut above: BTreeMap<u8, Tally> = BTreeMap::new();
        let mut lost: BTreeMap<u8, Tally> = BTreeMap::new();
        let mut twice = Tally::default();
        for entry in &table.entries {
            let target = self.resolve(entry);
            let Target::Row { dest, path, strange } = target else {
                let tally = self.unknown.entry((entry.lid, entry.guid)).or_default();
                tally.add(entry.line());
                continue;
            };
            if strange {
                let tally = self.strange.entry((entry.lid, entry.guid)).or_default();
                tally.add(entry.line());
            }
            if entry.port > ports {
                above.entry(entry.port).or_default().add(entry.line());
                continue;
            }
            let fine = match self.fabric.at_port(s, entry.port) {
                AtPort::Nothing => entry.port == 0 && dest == DestId::switch(self.fabric, s),
                AtPort::Loopback => false,
                AtPort::Switch(..) => true,
                AtPort::Terminal(t) => dest == DestId::terminal(t),
            };
            if !fine {
                lost.entry(entry.port).or_default().add(entry.line());
            }
            let row = routes.row(dest, path);
            if std::mem::replace(&mut self.filled[row], self.table) == self.table {
                twice.add(entry.line());
            }
            routes.set_lft_entry(self.fabric, s, dest, path, entry.port);
        }
        let label = table.label();
        for (port, tally) in above {
            found.error(
                tally.line,
                format!(
                    "{} for port {port} of {label}, which has {ports} ports",
                    entries(tally.count)
                ),
                "left out; OpenSM refuses a whole file for one such entry",
            );
        }
        for (port, tally) in lost {
            let why = match self.fabric.at_port(s, port) {
                _ if port == 0 => "the switch itself, which does not own the LID",
                AtPort::Terminal(_) => "where another host is",
                AtPort::Loopback => "whose cable leads back to the switch",
                AtPort::Nothing | AtPort::Switch(..) => "which has no cable",
            };
            found.warn(
                tally.line,
                format!("{} for port {port} of {label}, {why}", entries(tally.count)),
                "such packets are lost",
            );
        }
        if twice.count > 0 {
            found.warn(
                twice.line,
                format!("{} of {label} for a LID that it already has", entries(twice.count)),
                "the last one counts",
            );
        }
        self.report_gaps(table, s, routes, found);
    }

    /// Reports the LIDs without an entry in a table.
    fn report_gaps(
        &mut self,
        table: &SwitchTable,
        s: SwitchId,
        routes: &Routes,
        found: &mut Diagnostics,
    ) {
        let label = table.label();
        let (mut to_hosts, mut to_switches) = (0usize, 0usize);
        let mut first = 0u16;
        for row in rows_by_lid(self.fabric, routes, self.lids) {
            let at = routes.row(row.dest, row.path);
            // An earlier table of the same switch may have the entry.
            if self.filled[at] == self.table || routes.ports(at)[s.index()] != NO_ROUTE {
                continue;
            }
            if row.dest.as_terminal(self.fabric).is_none() {
                to_switches += 1;
                continue;
            }
            if to_hosts == 0 {
                first = row.lid;
            }
            to_hosts += 1;
        }
        if to_hosts > 0 {
            found.warn(
                table.line,
                format!(
                    "{label} has no entry for {} of hosts, the first 0x{first:04x}",
                    lids_text(to_hosts)
                ),
                "they cannot be reached from there",
            );
        }
        if to_switches > 0 {
            let none = Gaps { line: table.line, label, tables: 0, entries: 0 };
            let gaps = self.gaps.get_or_insert(none);
            gaps.tables += 1;
            gaps.entries += to_switches;
        }
    }

    /// Reports findings that many tables share, once a LID.
    fn report(&self, found: &mut Diagnostics) {
        if let Some(Gaps { line, label, tables, entries }) = &self.gaps {
            let text = match tables {
                1 => format!("{label} has no entry for {} of switches", lids_text(*entries)),
                n => format!(
                    "{n} tables lack entries for LIDs of switches, {entries} in all; the first: {label}"
                ),
            };
            found.note(*line, text, "only management traffic goes there");
        }
        for (&(lid, guid), tally) in &self.unknown {
            let whose = match guid.0 {
                0 => String::new(),
                _ => format!(" (port GUID {guid})"),
            };
            found.warn(
                tally.line,
                format!(
                    "LID 0x{lid:04x}{whose} belongs to no port of the fabric; {} left out",
                    entries(tally.count)
                ),
                "",
            );
        }
        for (&(lid, guid), tally) in &self.strange {
            found.warn(
                tally.line,
                format!(
                    "port GUID {guid} of LID 0x{lid:04x} is not in the fabric ({})",
                    entries(tally.count)
                ),
                "the port that has this LID now is taken instead, as OpenSM does",
            );
        }
    }
}

fn lids_text(count: usize) -> String {
    counted(count, "LID", "LIDs")
}
