//! Dumped forwarding tables, and how they are bound to a fabric.
//!
//! A dump speaks of GUIDs and LIDs of the moment it was made. Binding follows OpenSM's `file` engine:
//! a switch is found by its GUID, an entry's destination by its port GUID and only without a known one
//! by its LID, so that tables survive a renumbering of LIDs.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use darkfiber_fabric::{AtPort, Fabric, Guid, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Lids, NO_ROUTE, Routes};

use crate::guid2lid::Bases;
use crate::{Diagnostics, ReadError};

/// Forwarding tables as they stand in a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// One a switch, in the order of the dump.
    pub switches: Vec<SwitchTable>,
}

/// The dumped table of one switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchTable {
    /// Node GUID, where the dump has it.
    pub guid: Option<Guid>,
    /// LID, where the dump has it.
    pub lid: Option<u16>,
    /// Node description, or empty.
    pub name: String,
    /// The line that opens it.
    pub line: usize,
    /// Its entries in the order of the dump.
    pub entries: Vec<Entry>,
}

/// One entry of a dumped table; 24 bytes, as a large fabric has twenty million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Destination LID.
    pub lid: u16,
    /// Egress port, 0 = the switch itself.
    pub port: u8,
    /// Hops, where the dump has them.
    pub hops: Option<u8>,
    line: u32,
    /// 0 = none.
    guid: Guid,
}

impl Entry {
    pub(crate) fn new(lid: u16, port: u8, portguid: Option<Guid>, line: usize) -> Self {
        Self {
            lid,
            port,
            hops: None,
            line: u32::try_from(line).unwrap_or(u32::MAX),
            guid: portguid.unwrap_or_default(),
        }
    }

    /// GUID of the port that owns the LID, where the dump has it.
    pub fn portguid(&self) -> Option<Guid> {
        (self.guid.0 != 0).then_some(self.guid)
    }

    /// Its line in the dump.
    pub fn line(&self) -> usize {
        self.line as usize
    }
}

impl SwitchTable {
    /// The switch for people: name and GUID, or what there is of them.
    pub fn label(&self) -> String {
        match (self.name.as_str(), self.guid, self.lid) {
            ("", Some(guid), _) => format!("switch {guid}"),
            (name, Some(guid), _) => format!("switch {guid} \"{name}\""),
            ("", None, Some(lid)) => format!("switch with LID {lid}"),
            ("", None, None) => "switch without a name".to_owned(),
            (name, None, _) => format!("switch \"{name}\""),
        }
    }
}

impl Tables {
    /// Number of entries in all tables.
    pub fn entry_count(&self) -> usize {
        self.switches.iter().map(|s| s.entries.len()).sum()
    }
}

/// A LID and the table row that serves it.
#[derive(Clone, Copy)]
pub(crate) struct LidRow {
    pub(crate) lid: u16,
    pub(crate) dest: DestId,
    pub(crate) path: usize,
}

/// All LIDs in use by rising number. A port with more LIDs than the routes have paths uses those paths
/// in turn.
pub(crate) fn rows_by_lid(fabric: &Fabric, routes: &Routes, lids: &Lids) -> Vec<LidRow> {
    (1..=lids.top())
        .filter_map(|lid| {
            let (dest, index) = lids.owner(lid)?;
            let path = match dest.as_terminal(fabric) {
                Some(_) => index % routes.paths().max(1),
                None => 0,
            };
            Some(LidRow { lid, dest, path })
        })
        .collect()
}

/// The destinations of a fabric by port GUID.
fn dest_by_guid(fabric: &Fabric) -> HashMap<Guid, DestId> {
    let switches = (0..fabric.switch_count())
        .map(SwitchId::new)
        .map(|s| (fabric.switch(s).guid, DestId::switch(fabric, s)));
    let terminals = (0..fabric.terminal_count())
        .map(TerminalId::new)
        .map(|t| (fabric.terminal(t).guid, DestId::terminal(t)));
    switches.chain(terminals).collect()
}

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
    let own = fabric.terminals().iter().map(|t| t.lmc.min(7)).max();
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
        // Tables may lack the first LIDs of a port.
        let mask = if d < terminals { (1 << lmc) - 1 } else { 0 };
        if let Some(lid) = range.map(|(_, first, _)| first & !mask).or(input) {
            bases.set(DestId::new(d), lid, 0);
        }
    }
    if named.is_none() && own.unwrap_or(0) == 0 {
        lmc = (0..=7).find(|&lmc| bases.cover(lmc, &nameless)).unwrap_or(lmc);
    }
    let lids = bases.settle(lmc, &mut found);
    (lids, found)
}

/// The LMC that gives a port at least `count` LIDs.
fn lmc_of(count: usize) -> u8 {
    count.next_power_of_two().trailing_zeros() as u8
}

/// Binds dumped tables to a fabric. `lids` are the LIDs of the fabric, by default [`lids_of`] the
/// tables; `engine` becomes the name of the routes.
///
/// Switches are matched by GUID, without one by LID or a description that only one switch has;
/// destinations by port GUID, else by LID. With an LMC the low bits of an entry's LID choose the row
/// among those of its port, and each of them has its own. Remarks speak of switches that are not in the
/// fabric or not in the dump, LIDs that nobody owns, ports that do not exist (such entries are left out)
/// or have no cable (they are kept: the packet is lost, as the checker will say), and LIDs without an
/// entry.
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
    for s in (0..done.len()).filter(|&s| !done[s]) {
        let switch = &fabric.switches()[s];
        found.warn(
            0,
            format!("switch {} \"{}\" has no table in the dump", switch.guid, switch.description),
            "it drops everything; OpenSM's file engine would clear its table",
        );
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
            // A GUID that the fabric lacks is another switch, whatever its LID says.
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

/// What a LID of the dump stands for.
#[derive(Clone, Copy)]
enum Target {
    Row {
        dest: DestId,
        path: usize,
        /// The entry named a port that the fabric lacks; only its LID is known.
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

    /// LIDs that a table says nothing about.
    fn report_gaps(
        &self,
        table: &SwitchTable,
        s: SwitchId,
        routes: &Routes,
        found: &mut Diagnostics,
    ) {
        let label = table.label();
        let mut gaps = [0usize; 2];
        let mut first = [0u16; 2];
        for row in rows_by_lid(self.fabric, routes, self.lids) {
            let at = routes.row(row.dest, row.path);
            // An earlier table of the same switch may have the entry.
            if self.filled[at] == self.table || routes.ports(at)[s.index()] != NO_ROUTE {
                continue;
            }
            let kind = usize::from(row.dest.as_terminal(self.fabric).is_none());
            if gaps[kind] == 0 {
                first[kind] = row.lid;
            }
            gaps[kind] += 1;
        }
        if gaps[0] > 0 {
            found.warn(
                table.line,
                format!(
                    "{label} has no entry for {} of hosts, the first 0x{:04x}",
                    lids_text(gaps[0]),
                    first[0]
                ),
                "they cannot be reached from there",
            );
        }
        if gaps[1] > 0 {
            found.note(
                table.line,
                format!(
                    "{label} has no entry for {} of switches, the first 0x{:04x}",
                    lids_text(gaps[1]),
                    first[1]
                ),
                "only management traffic goes there",
            );
        }
    }

    /// What is the same in many tables, once a LID.
    fn report(&self, found: &mut Diagnostics) {
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

/// A number of entries for people.
pub(crate) fn entries(count: usize) -> String {
    counted(count, "entry", "entries")
}

fn lids_text(count: usize) -> String {
    counted(count, "LID", "LIDs")
}

/// A number of things for people.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
