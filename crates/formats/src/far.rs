//! `ibdiagnet2.far`: tables of InfiniBand switches with their groups of ports for adaptive routing.
//!
//! ```text
//! File version: 1
//! Switch 0x0000500000200001
//! Groups Definition:
//! Group  Sub Group  WHBF  Ports
//! -----------------------------
//! 1      0          0     9,10,11,12,
//! LFT Definition:
//! PLFT_NUM: 0, top: 0x0010
//! LID     Static Port  Lid State  Group
//! -------------------------------------
//! 0x0003  9            Free       1
//! 0x0004  5            Static     0
//! ```
//!
//! A LID is forwarded by its static port (`Static`), by any port of its group (`Free`: at any time; `Bounded`: while packets stay in
//! order), or by a hash over it (`HBF`). A group has up to two subgroups, the second for the case that the first is full; all of their
//! ports count here. The static port counts with the group, as packets of service levels without adaptive routing take it.
//!
//! No public file of this kind is known, so this form is the one of a public reader of such files (CrackedPoly/Rapimt,
//! `ibfar.pest` and `far_extractor.py`); names of files and states are those of NVIDIA's public headers (`ibdiagnet2.far`,
//! `SMP_AR_LID_STATE`). Columns are in this order; other lines are counted and reported. Several private tables
//! (`PLFT_NUM`, as in dragonfly+) are combined: their ports are united.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{AtPort, Fabric, Guid, SwitchId};
use darkfiber_routing::next_hops::{Group, NextHops, NextHopsBuilder};
use darkfiber_routing::{DestId, Lids, Routes};

use crate::diagnostic::{counted, excerpt};
use crate::format::{Format, Reading, Writing};
use crate::guids::{parse_guid, parse_hex};
use crate::known_by::KnownBy;
use crate::tables::{self, Entry, SwitchTable, Tables, rows_by_lid};
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "far",
    what: "adaptive routing tables (ibdiagnet2.far)",
    summary: "ibdiagnet's tables with groups of ports (adaptive routing)",
    hint: tables::HINT,
    known_by: &[KnownBy::Line(|l| l.trim() == "Groups Definition:")],
    read: Reading::By("--routes"),
    write: Writing::By("route -o"),
};

/// Adaptive routing tables of a dump, not yet bound to a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FarTables {
    /// Tables of the static ports.
    pub tables: Tables,
    /// By switch, in the order of the dump, its groups and LIDs.
    pub switches: Vec<FarSwitch>,
}

/// The groups of one switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FarSwitch {
    /// Node GUID of the switch.
    pub guid: Option<Guid>,
    /// By group its ports, of all subgroups, rising.
    pub groups: BTreeMap<u32, Vec<u8>>,
    /// Entries that say more than the static ports of the tables.
    pub lids: Vec<FarLid>,
}

/// The ports of a LID, beside the static one of the first table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarLid {
    /// LID of the entry.
    pub lid: u16,
    /// Its group, if it is forwarded by one.
    pub group: Option<u32>,
    /// Its static port in a private table, which packets that came in by some ports follow.
    pub private: Option<u8>,
    /// Line of the file.
    pub line: usize,
}

/// The block of the current line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Outside,
    Groups,
    Lids,
}

/// Reads adaptive routing tables.
///
/// # Errors
/// If no switch has a table.
pub fn read(text: &str, path: &Path) -> Result<(FarTables, Diagnostics), ReadError> {
    let mut reader = Reader::default();
    for (i, line) in text.lines().enumerate() {
        reader.line(i + 1, line.trim());
    }
    let Reader { far, mut found, unknown, .. } = reader;
    if far.switches.iter().all(|s| s.lids.is_empty()) {
        return Err(ReadError::not_such(
            path,
            "no switch has a table of LIDs (`LFT Definition:`)",
            "adaptive routing tables as ibdiagnet dumps them (ibdiagnet2.far)",
            "ibdiagnet --routing writes them to ibdiagnet2.far",
        ));
    }
    if let Some((line, count, first)) = unknown {
        let lines = counted(count, "line is", "lines are");
        found.warn(line, format!("{lines} not understood, the first '{first}'"), "left out");
    }
    Ok((far, found))
}

#[derive(Default)]
struct Reader {
    far: FarTables,
    found: Diagnostics,
    block: Option<Block>,
    plft: u32,
    /// First line that was not understood, the number of such lines, and its text.
    unknown: Option<(usize, usize, String)>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        if line.is_empty() || line.starts_with(['#', '-']) || line.starts_with("File version:") {
            return;
        }
        if let Some(rest) = line.strip_prefix("Switch ") {
            self.switch(number, rest);
            return;
        }
        match line {
            "Groups Definition:" => self.block = Some(Block::Groups),
            "LFT Definition:" => self.block = Some(Block::Lids),
            _ if line.starts_with("PLFT_NUM:") => {
                let word = line["PLFT_NUM:".len()..].split(',').next().unwrap_or_default();
                if let Ok(number) = word.trim().parse() {
                    (self.plft, self.block) = (number, Some(Block::Lids));
                } else {
                    // The table of the following lines is not known.
                    self.block = Some(Block::Outside);
                    self.not_understood(number, line);
                }
            }
            _ if line.starts_with("Group ") || line.starts_with("LID ") => {}
            _ => {
                let is_read = match self.block.unwrap_or(Block::Outside) {
                    Block::Outside => None,
                    Block::Groups => self.group(line),
                    Block::Lids => self.lid(number, line),
                };
                if is_read.is_none() {
                    self.not_understood(number, line);
                }
            }
        }
    }

    fn not_understood(&mut self, number: usize, line: &str) {
        self.unknown.get_or_insert((number, 0, excerpt(line))).1 += 1;
    }

    fn switch(&mut self, number: usize, rest: &str) {
        let word = rest.split([' ', ',']).next().unwrap_or_default();
        let guid = word.strip_prefix("0x").and_then(parse_guid);
        if guid.is_none() {
            self.found.warn(number, "switch without a GUID", "its table cannot be used");
        }
        self.far.switches.push(FarSwitch { guid, ..FarSwitch::default() });
        self.far.tables.switches.push(SwitchTable { guid, line: number, ..SwitchTable::default() });
        (self.block, self.plft) = (None, 0);
    }

    /// `group subgroup weights ports,`; ports may be missing.
    fn group(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [group, sub, _, ports @ ..] = &words[..] else { return None };
        let (group, _): (u32, u32) = (group.parse().ok()?, sub.parse().ok()?);
        let mut own: Vec<u8> = Vec::new();
        for port in ports.iter().flat_map(|word| word.split(',')).filter(|word| !word.is_empty()) {
            own.push(port.parse().ok()?);
        }
        let all = self.far.switches.last_mut()?.groups.entry(group).or_default();
        all.extend(own);
        all.sort_unstable();
        all.dedup();
        Some(())
    }

    /// `0xLID port state group`.
    fn lid(&mut self, number: usize, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [lid, port, state, rest @ ..] = &words[..] else { return None };
        let lid = u16::try_from(parse_hex(lid)?).ok();
        let lid = lid.filter(|l| (1..=darkfiber_routing::MAX_UNICAST_LID).contains(l))?;
        let port: u8 = port.parse().ok()?;
        let group = match *state {
            "Static" => None,
            "Free" | "Bounded" | "HBF" => Some(rest.first()?.parse().ok()?),
            _ => return None,
        };
        let is_route = port != darkfiber_routing::NO_ROUTE;
        let private = (self.plft > 0 && is_route).then_some(port);
        self.far.switches.last_mut()?.lids.push(FarLid { lid, group, private, line: number });
        if self.plft == 0 && is_route {
            self.far.tables.switches.last_mut()?.entries.push(Entry::new(lid, port, None, number));
        }
        Some(())
    }
}

/// Binds the groups of a dump to routes that were made of its static ports: by row and switch the channels of the group, including
/// that of the static port. Remarks report switches and LIDs that the fabric does not have, and ports that lead to no switch.
///
/// # Errors
/// If fewer than half of the switches are in the fabric, or a LID has a group that its switch does not define: a proof for fewer
/// ports than those of the groups would not hold for the switches.
pub fn to_groups(
    fabric: &Fabric,
    far: &FarTables,
    lids: &Lids,
    routes: &Routes,
    path: &Path,
) -> Result<(NextHops, Diagnostics), ReadError> {
    let mut found = Diagnostics::default();
    let n = fabric.switch_count();
    let by_guid: BTreeMap<Guid, usize> =
        (0..n).map(|s| (fabric.switch(SwitchId::new(s)).guid, s)).collect();
    let of_switch = |switch: &FarSwitch| switch.guid.and_then(|guid| by_guid.get(&guid).copied());
    let hits = far.switches.iter().filter_map(of_switch).count();
    if hits * 2 < far.switches.len() {
        return Err(ReadError::not_such(
            path,
            format!(
                "{hits} of the {} switches with groups are in fabric '{}'",
                far.switches.len(),
                fabric.name()
            ),
            "groups of ports of this fabric",
            "read the fabric from the same sweep as the groups, or check that the two files belong together",
        ));
    }
    // By row and switch the channels, where a dump has a group.
    let mut more: BTreeMap<usize, Vec<(usize, Vec<u32>)>> = BTreeMap::new();
    let (mut foreign, mut unowned, mut dark) = (None, None, None);
    for switch in &far.switches {
        let Some(s) = of_switch(switch) else {
            let line = switch.lids.first().map_or(0, |lid| lid.line);
            foreign.get_or_insert((line, 0usize)).1 += 1;
            continue;
        };
        for &FarLid { lid, group, private, line } in &switch.lids {
            if group.is_none() && private.is_none() {
                continue;
            }
            let Some((dest, index)) = lids.owner(lid) else {
                unowned.get_or_insert((line, 0usize)).1 += 1;
                continue;
            };
            let Some(terminal) = dest.as_terminal(fabric) else { continue };
            let is_home = dest.home(fabric).index() == s;
            let ports =
                group.map_or(Some(&[][..]), |group| switch.groups.get(&group).map(Vec::as_slice));
            let Some(ports) = ports else {
                let group = group.unwrap_or_default();
                return Err(ReadError::not_such(
                    path,
                    format!(
                        "line {line}: LID 0x{lid:04x} has group {group}, which its switch does not define"
                    ),
                    "a line for it under `Groups Definition:`",
                    "dump the tables again with ibdiagnet; lines that were not understood are reported above",
                ));
            };
            let mut channels = Vec::with_capacity(ports.len());
            for &port in ports.iter().chain(&private) {
                match fabric.at_port(SwitchId::new(s), port) {
                    AtPort::Terminal(t) if t == terminal => {}
                    // A packet that may go there is lost, or leaves the switch that it has to end at: no proof holds.
                    AtPort::Terminal(_) => {
                        return Err(astray(path, line, (lid, port), "to another host"));
                    }
                    AtPort::Switch(..) if is_home => {
                        return Err(astray(path, line, (lid, port), "away from its own switch"));
                    }
                    AtPort::Switch(c, _) => channels.push(c.0),
                    _ => dark.get_or_insert((line, 0usize)).1 += 1,
                }
            }
            if is_home {
                continue;
            }
            let row = routes.row(dest, index % routes.paths().max(1));
            more.entry(row).or_default().push((s, channels));
        }
    }
    if let Some((line, count)) = dark {
        let ports = counted(count, "port", "ports");
        let what = format!(
            "{ports} in the groups of a switch and a LID {} to no switch",
            if count == 1 { "leads" } else { "lead" }
        );
        found.warn(line, what, "left out of these groups; is that cable gone?");
    }
    for (what, tally) in [
        ("of a switch that the fabric does not have", foreign),
        ("of a LID that the fabric does not have", unowned),
    ] {
        if let Some((line, count)) = tally {
            let entries = counted(count, "group is", "groups are");
            found.warn(line, format!("{entries} {what}"), "left out; static ports are taken");
        }
    }
    Ok((united(fabric, routes, &more), found))
}

/// A group leads a LID where it must not.
fn astray(path: &Path, line: usize, (lid, port): (u16, u8), whither: &str) -> ReadError {
    ReadError::not_such(
        path,
        format!("line {line}: port {port} of the group of LID 0x{lid:04x} leads {whither}"),
        "ports that lead to the LID",
        "the switch may pick it, and packets are lost or loop: take the port out of the group, or make the tables again",
    )
}

/// By row the entries of the tables, and the channels of groups.
fn united(
    fabric: &Fabric,
    routes: &Routes,
    more: &BTreeMap<usize, Vec<(usize, Vec<u32>)>>,
) -> NextHops {
    let n = fabric.switch_count();
    let mut made = NextHopsBuilder::new(n, routes.row_count());
    for t in 0..fabric.terminal_count() {
        let dest = DestId::new(t);
        for path in 0..routes.paths() {
            let row = routes.row(dest, path);
            let mut sets: Vec<Vec<u32>> = (routes.ports(row).iter().enumerate())
                .map(|(s, &port)| match fabric.at_port(SwitchId::new(s), port) {
                    AtPort::Switch(c, _) => vec![c.0],
                    _ => Vec::new(),
                })
                .collect();
            for (s, channels) in more.get(&row).into_iter().flatten() {
                sets[*s].extend(channels);
            }
            let sets = sets.into_iter().map(|mut set| {
                set.sort_unstable();
                set.dedup();
                Group::even(set)
            });
            made.push(dest.home(fabric), &[row], sets.collect());
        }
    }
    made.finish()
}

/// Writes tables with groups of ports: every LID that has a route, `Free` with its group where it has more than one port, else `Static`.
///
/// # Errors
/// Any error of `out`.
pub fn write(
    out: &mut dyn Write,
    fabric: &Fabric,
    routes: &Routes,
    hops: &NextHops,
    lids: &Lids,
) -> io::Result<()> {
    let rows = rows_by_lid(fabric, routes, lids);
    writeln!(out, "File version: 1")?;
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        // Groups by rising ports.
        let ports_of = |row: usize| -> Option<Vec<u8>> {
            let members = hops.towards(s, hops.number(row)?).members();
            (members.len() > 1)
                .then(|| members.iter().map(|&c| fabric.tail_ports()[c as usize]).collect())
        };
        let mut groups: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        for row in &rows {
            if let Some(ports) = ports_of(routes.row(row.dest, row.path)) {
                groups.insert(ports, 0);
            }
        }
        groups.values_mut().enumerate().for_each(|(i, number)| *number = i + 1);
        writeln!(out, "\nSwitch {}", fabric.switch(s).guid)?;
        writeln!(out, "Groups Definition:\nGroup  Sub Group  WHBF  Ports")?;
        writeln!(out, "-----------------------------")?;
        for (ports, number) in &groups {
            write!(out, "{number:<6} 0          0     ")?;
            ports.iter().try_for_each(|port| write!(out, "{port},"))?;
            writeln!(out)?;
        }
        writeln!(out, "LFT Definition:\nPLFT_NUM: 0, top: 0x{:04x}", lids.top())?;
        writeln!(out, "LID     Static Port  Lid State  Group")?;
        writeln!(out, "-------------------------------------")?;
        for row in &rows {
            let Some(port) = routes.lft_entry(fabric, s, row.dest, row.path) else { continue };
            let group = ports_of(routes.row(row.dest, row.path)).map(|ports| groups[&ports]);
            let state = if group.is_some() { "Free" } else { "Static" };
            let group = group.unwrap_or(0);
            writeln!(out, "0x{:04x}  {port:<11}  {state:<9}  {group}", row.lid)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::open;
    use darkfiber_routing::check::check_groups;
    use darkfiber_routing::{Request, find_engine};

    use super::*;

    fn routed(spec: &str, engine: &str) -> (Fabric, Routes, Lids) {
        let topology = open(spec).expect(spec);
        let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
        let engine = find_engine(engine).expect(engine);
        let routes = engine.route(&topology.fabric, &request).expect("routes");
        let lids = Lids::assign(&topology.fabric, 0).expect("LIDs");
        (topology.fabric, routes, lids)
    }

    fn written(spec: &str, engine: &str) -> (String, Fabric, Routes, Lids) {
        let (fabric, routes, lids) = routed(spec, engine);
        let mut out = Vec::new();
        let hops = routes.groups.clone().expect("groups");
        write(&mut out, &fabric, &routes, &hops, &lids).expect("written");
        (String::from_utf8(out).expect("text"), fabric, routes, lids)
    }

    #[test]
    fn what_is_written_is_read() {
        for (spec, engine) in [
            ("kary:k=4,n=3", "ar_updn"),
            ("rails:hosts_per_unit=4,units=2,nics=2,spines=2,trunk=2", "ar_ftree"),
            ("torus:dims=3x4,t=1", "ar_updn"),
        ] {
            let (text, fabric, routes, lids) = written(spec, engine);
            let path = Path::new("ibdiagnet2.far");
            let (far, found) = read(&text, path).expect(spec);
            assert!(found.0.is_empty(), "{spec}: {found:?}");
            let bound = tables::to_routes(&fabric, &far.tables, Some(&lids), "far", path);
            let (back, found) = bound.expect(spec);
            assert!(found.0.is_empty(), "{spec}: {found:?}");
            assert_eq!(back.table(), routes.table(), "{spec}");
            let (hops, found) = to_groups(&fabric, &far, &lids, &back, path).expect(spec);
            assert!(found.0.is_empty(), "{spec}: {found:?}");
            let own = routes.groups.as_ref().expect("groups");
            for row in routes.terminal_rows() {
                let numbers = [&hops, own].map(|h| h.number(row).expect("a number"));
                for s in (0..fabric.switch_count()).map(SwitchId::new) {
                    assert_eq!(hops.towards(s, numbers[0]), own.towards(s, numbers[1]), "{spec}");
                }
            }
        }
    }

    /// One port too many in a group of a switch: the checker reports the entry and the switch.
    #[test]
    fn the_entry_that_breaks_it_is_named() {
        let (text, fabric, _, lids) = written("fattree2:n=4,m=2,r=3", "ar_ftree");
        // The first spine sends packets for the second leaf's first host also to the third leaf, which sends them up again.
        let spine = SwitchId(3);
        let guid = fabric.switch(spine).guid.to_string();
        let lid = lids.terminal(darkfiber_fabric::TerminalId(4));
        let (mut out, mut here) = (String::new(), false);
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("Switch ") {
                here = rest == guid;
            }
            if here && line.starts_with("LFT Definition") {
                out.push_str("9      0          0     2,3,\n");
            }
            if here && line.starts_with(&format!("0x{lid:04x} ")) {
                out.extend([&format!("0x{lid:04x}"), "  2            Free       9\n"]);
            } else {
                out.push_str(line);
                out.push('\n');
            }
        }
        let path = Path::new("ibdiagnet2.far");
        let (far, _) = read(&out, path).expect("tables");
        let bound = tables::to_routes(&fabric, &far.tables, Some(&lids), "far", path);
        let (mut routes, _) = bound.expect("routes");
        let (hops, found) = to_groups(&fabric, &far, &lids, &routes, path).expect("groups");
        assert!(found.0.is_empty(), "{found:?}");
        routes.groups = Some(std::sync::Arc::new(hops));
        let report = check_groups(&fabric, &routes).expect("groups");
        assert!(!report.sets.deadlock_free() || report.sets.loops > 0);
        let entry = report.entries[report.breaks.expect("an entry")];
        assert!(entry.destinations == 1 && report.alone, "{report:?}");
        let row = routes.row(DestId::new(4), 0);
        assert_eq!(entry.row, row);
    }

    /// Static ports of a private table count as those of groups do: clockwise round a ring of switches they deadlock, whatever the
    /// first table says.
    #[test]
    fn static_ports_of_private_tables_are_ports_that_packets_take() {
        let on = darkfiber_fabric::open("torus:dims=6,t=1").expect("a spec");
        let engine = darkfiber_routing::find_engine("updn").expect("an engine");
        let routes = engine.route(&on.fabric, &Request::default()).expect("routes");
        let lids = Lids::assign(&on.fabric, 0).expect("LIDs");
        let onward = |s: usize| {
            let next = SwitchId::new((s + 1) % 6);
            let ports = 1..=on.fabric.switch(SwitchId::new(s)).ports;
            let leads = |p: &u8| matches!(on.fabric.at_port(SwitchId::new(s), *p), AtPort::Switch(c, _) if on.fabric.head(c) == next);
            ports.into_iter().find(leads).expect("a ring")
        };
        let mut text = String::new();
        for s in 0..6 {
            let _ok = std::fmt::Write::write_fmt(
                &mut text,
                format_args!(
                    "Switch {}, x\nGroups Definition:\nLFT Definition:\nPLFT_NUM: 0, top: 0x10\n",
                    on.fabric.switch(SwitchId::new(s)).guid
                ),
            );
            for table in 0..2 {
                if table == 1 {
                    text.push_str("PLFT_NUM: 1, top: 0x10\n");
                }
                for t in (0..6).map(darkfiber_fabric::TerminalId::new) {
                    let dest = DestId::terminal(t);
                    let own =
                        routes.lft_entry(&on.fabric, SwitchId::new(s), dest, 0).expect("an entry");
                    let is_home = dest.home(&on.fabric).index() == s;
                    let port = if table == 1 && !is_home { onward(s) } else { own };
                    text.extend([
                        &format!("0x{:04x}", lids.terminal(t)),
                        " ",
                        &port.to_string(),
                        " Static\n",
                    ]);
                }
            }
        }
        let path = Path::new("ibdiagnet2.far");
        let (far, _) = read(&text, path).expect("tables");
        let (mut read, _) =
            tables::to_routes(&on.fabric, &far.tables, Some(&lids), "far", path).expect("routes");
        assert!(darkfiber_routing::check::check(&on.fabric, &read).deadlock_free());
        let (hops, _) = to_groups(&on.fabric, &far, &lids, &read, path).expect("groups");
        read.groups = Some(std::sync::Arc::new(hops));
        let report = check_groups(&on.fabric, &read).expect("groups");
        assert!(!report.sets.deadlock_free() || report.sets.loops > 0);
    }

    /// Neither groups of another fabric nor less than all groups are ever proved as if they were these.
    #[test]
    fn groups_that_do_not_fit_are_refused() {
        let (text, fabric, routes, lids) = written("kary:k=4,n=3", "ar_updn");
        let path = Path::new("ibdiagnet2.far");
        let bound = |text: &str| {
            let (far, _) = read(text, path).expect("tables");
            to_groups(&fabric, &far, &lids, &routes, path).map(|(_, found)| found)
        };
        assert!(bound(&text).expect("its own").0.is_empty());
        let other = text.replace("Switch 0x0000", "Switch 0x7777");
        assert!(
            bound(&other).expect_err("another fabric").to_string().contains("0 of the 48 switches")
        );
        let one = text.replacen("Switch 0x0000", "Switch 0x7777", 1);
        let found = bound(&one).expect("nearly its own");
        assert!(found.0[0].what.contains("a switch that the fabric does not have"), "{found:?}");
        // A port that does not exist: the group is not understood, and its LIDs have none.
        let line = text.lines().find(|l| l.starts_with("1 ") && l.contains(',')).expect("a group");
        let torn = text.replacen(line, &line.replace(',', "00,"), 1);
        assert!(bound(&torn).expect_err("torn").to_string().contains("does not define"), "{torn}");
        let unnumbered = text.replace("PLFT_NUM: 0", "PLFT_NUM: 99999999999");
        assert!(read(&unnumbered, path).is_err());
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let text = "Switch 0x1, x\nGroups Definition:\n1 0 0 1,2,\nnonsense\n1 0 0\nLFT Definition:\n\
                    PLFT_NUM: 0, top: 0x10\n0x0003 1 Free 1\n0x0004 1 Wild 1\n0xc001 1 Free 1\n";
        let (far, found) = read(text, Path::new("f")).expect("tables");
        assert_eq!(far.switches[0].groups[&1], [1, 2]);
        let only = FarLid { lid: 3, group: Some(1), private: None, line: 8 };
        assert_eq!(far.switches[0].lids, [only]);
        assert_eq!(found.0.len(), 1);
        assert_eq!((found.0[0].line, &found.0[0].what[..11]), (4, "3 lines are"));
        assert!(read("Switch 0x1\n", Path::new("f")).is_err());
    }
}
