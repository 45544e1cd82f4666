//! Lanes that switches choose: SL2VL tables in the form of OpenSM's `opensm-sl2vl.dump`.
//!
//! ```text
//! Switch 0x0000500000200001, base LID 2, "g00r00"
//! #in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
//! #--------------------------------------------------------
//! 0   1   : 1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1
//! ```
//!
//! Below the GUID of a switch a line for each input and output port that have a cable, and for port 0: the virtual lane
//! (VL) of each of the 16 service levels. `ibdmchk -d` reads the same. An entry of VL 15 drops packets. Adapters may have
//! tables, too; how they come into their switch closes no cycle, so they are left out.
//! (OpenSM 3.3.23, `osm_dump.c`; InfiniBand specification, volume 1, 14.2.5.8.)

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{AtPort, Fabric, Guid, SwitchId, TerminalId};
use darkfiber_routing::{DestId, HopLanes, Layers, Lids, Routes, Step, step};

use crate::diagnostic::{counted, excerpt};
use crate::format::{Format, Reading, Writing};
use crate::guids::parse_guid;
use crate::input::said;
use crate::known_by::KnownBy;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "sl2vl",
    what: "SL2VL tables (opensm-sl2vl.dump)",
    summary: "lanes by input and output port, as OpenSM dumps them",
    hint: "give it with --sl2vl, beside forwarding tables",
    known_by: &[KnownBy::Line(|l| l.starts_with("#in out :"))],
    read: Reading::By("--sl2vl"),
    write: Writing::By("route -o"),
};

/// InfiniBand has this many service levels.
const LEVELS: usize = darkfiber_routing::LEVELS as usize;
/// Packets of this lane are management traffic; an entry of it drops all others.
const NO_LANE: u8 = 15;

/// Expected form of a line.
const EXPECTED: &str = "expected `IN OUT : VL of SL 0 to 15`, all decimal";

/// Pairs of ports between which switches discard packets of a service level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discards {
    /// By level, switch and ports in and out, the line that says so.
    lines: BTreeMap<(u8, SwitchId, u8, u8), usize>,
}

impl Discards {
    /// Says how many pairs of terminals are lost on routes with plain service levels, and where the first of them is; `None` if all
    /// packets pass.
    ///
    /// Complexity: O(1) where no pair has a level of these, else the hops of all pairs that have.
    pub fn lost(&self, fabric: &Fabric, routes: &Routes) -> Option<String> {
        let levels: BTreeSet<u8> = self.lines.keys().map(|at| at.0).collect();
        if levels.is_disjoint(&used_levels(&routes.layers)) {
            return None;
        }
        let (mut lost, mut first) = (0usize, None);
        let terminals = || (0..fabric.terminal_count()).map(TerminalId::new);
        for (from, to) in terminals().flat_map(|from| terminals().map(move |to| (from, to))) {
            let row = routes.row(DestId::terminal(to), routes.path_of(from));
            let level = routes.layer_on(fabric, from, row);
            if from == to || !levels.contains(&level) {
                continue;
            }
            if let Some(line) = self.on_way(fabric, routes.ports(row), level, [from, to]) {
                lost += 1;
                first.get_or_insert((line, level, from, to));
            }
        }
        let (line, level, from, to) = first?;
        let name = |t| fabric.adapter(fabric.terminal(t).adapter).description.clone();
        let pairs = counted(lost, "pair of ports is", "pairs of ports are");
        Some(format!(
            "line {line}: VL 15 of SL {level}: packets of it are discarded, and {pairs} lost, such as \"{}\" to \"{}\"",
            name(from),
            name(to)
        ))
    }

    /// The line of the first entry that discards the packets of a pair.
    fn on_way(
        &self,
        fabric: &Fabric,
        ports: &[u8],
        level: u8,
        [from, to]: [TerminalId; 2],
    ) -> Option<usize> {
        let ends = [from, to].map(|t| fabric.terminal(t));
        let (mut at, mut input) = (ends[0].switch, ends[0].switch_port);
        for _ in 0..=fabric.switch_count() {
            let (output, next) = match step(fabric, ports, to, at) {
                Step::Drops => return None,
                Step::Delivers => (ends[1].switch_port, None),
                Step::To(c) => (fabric.tail_port(c), Some(c)),
            };
            if let Some(&line) = self.lines.get(&(level, at, input, output)) {
                return Some(line);
            }
            let c = next?;
            (at, input) = (fabric.head(c), fabric.head_port(c));
        }
        None
    }
}

/// The service levels that some pair has.
fn used_levels(layers: &Layers) -> BTreeSet<u8> {
    match layers {
        Layers::One => BTreeSet::from([0]),
        Layers::ByRow(of) | Layers::BySourceSwitch(of) | Layers::BySource(of) => {
            of.iter().copied().collect()
        }
        Layers::ByHop(lanes) => used_levels(lanes.levels().unwrap_or(&Layers::One)),
    }
}

/// Reads SL2VL tables. Senders have the service levels that are given: without, 0, the default, and if other levels have other lanes,
/// that is reported. Pairs of ports without an entry have VL 0 and are reported.
///
/// # Errors
/// If no switch of the fabric has a table.
pub fn read(
    text: &str,
    path: &Path,
    fabric: &Fabric,
    levels: Layers,
) -> Result<(Layers, Discards, Diagnostics), ReadError> {
    let switches = fabric.switches().iter().enumerate();
    let by_guid: HashMap<Guid, SwitchId> =
        switches.map(|(s, switch)| (switch.guid, SwitchId::new(s))).collect();
    let mut reading = Reader {
        fabric,
        lanes: match levels {
            Layers::One => HopLanes::new(fabric),
            levels => HopLanes::with_levels(fabric, levels),
        },
        given: HashMap::new(),
        others: (0, 0),
        discards: Discards::default(),
        found: Diagnostics::default(),
    };
    let (mut titles, mut known) = (0usize, 0usize);
    let mut at = None;
    for (number, line) in said(text) {
        if let Some(title) = title(line, "Switch") {
            titles += 1;
            let guid = guid_of(title);
            at = guid.and_then(|guid| by_guid.get(&guid).copied());
            match (at, guid) {
                (Some(_), _) => known += 1,
                (None, Some(guid)) => reading.found.warn(
                    number,
                    format!("switch {guid} is not in the fabric"),
                    "its table is left out; fabric and tables must be of one sweep",
                ),
                (None, None) => {
                    let what = format!("'{}' has no GUID", excerpt(line));
                    reading.found.error(number, what, "its table is left out");
                }
            }
        } else if title(line, "Channel Adapter").is_some() || title(line, "Router").is_some() {
            at = None;
        } else if let Some(s) = at {
            reading.entry(number, line, s);
        }
    }
    if known == 0 {
        let tables = counted(titles, "table of a switch", "tables of switches");
        let what = format!("none of this fabric among {tables}");
        return Err(ReadError::not_such(
            path,
            what,
            format!("SL2VL tables of the switches of fabric '{}'", fabric.name()),
            "each begins with `Switch 0xGUID,`, as OpenSM dumps them (-D 0x43, -Q)",
        ));
    }
    Ok(reading.finish())
}

/// The text after the kind of node in a title of this kind, if it is one.
fn title<'a>(line: &'a str, kind: &str) -> Option<&'a str> {
    line.strip_prefix(kind)?.strip_prefix(' ')
}

/// The GUID with which a title begins.
fn guid_of(title: &str) -> Option<Guid> {
    title.split([',', ' ']).next()?.strip_prefix("0x").and_then(parse_guid)
}

struct Reader<'a> {
    fabric: &'a Fabric,
    lanes: HopLanes,
    /// Lines of the entries that were given.
    given: HashMap<(SwitchId, u8, u8), usize>,
    /// Entries whose lanes depend on the service level, and the line of the first.
    others: (usize, usize),
    discards: Discards,
    found: Diagnostics,
}

impl Reader<'_> {
    fn entry(&mut self, number: usize, line: &str, s: SwitchId) {
        let Some((input, output, lanes)) = parse(line) else {
            let what = format!("'{}' is no entry of an SL2VL table", excerpt(line));
            self.found.error(number, what, format!("left out; {EXPECTED}"));
            return;
        };
        let ports = self.fabric.switch(s).ports;
        if input.max(output) > ports {
            let name = &self.fabric.switch(s).description;
            self.found.error(
                number,
                format!("port {} of switch \"{name}\", which has {ports}", input.max(output)),
                "left out; fabric and tables must be of one sweep",
            );
            return;
        }
        if let Some(before) = self.given.insert((s, input, output), number) {
            self.found.error(
                number,
                format!("ports {input} and {output} have an entry in line {before} already"),
                "the last one is taken",
            );
        }
        if lanes.iter().any(|&lane| lane != lanes[0]) {
            if self.others.0 == 0 {
                self.others.1 = number;
            }
            self.others.0 += 1;
        }
        // Unless senders have levels, all have level 0.
        let count = if self.lanes.levels().is_some() { LEVELS } else { 1 };
        for (level, &lane) in (0..).zip(&lanes[..count]) {
            if lane >= NO_LANE {
                self.discards.lines.insert((level, s, input, output), number);
            } else {
                self.discards.lines.remove(&(level, s, input, output));
            }
            self.lanes.set(level, s, input, output, if lane < NO_LANE { lane } else { 0 });
        }
    }

    /// Whether packets of jobs may come in at one port and leave for another switch at the other one.
    fn matters(&self, s: SwitchId, input: u8, output: u8) -> bool {
        let leads = |port| self.fabric.at_port(s, port);
        input != 0
            && input != output
            && matches!(leads(output), AtPort::Switch(..))
            && matches!(leads(input), AtPort::Switch(..) | AtPort::Terminal(_))
    }

    fn finish(mut self) -> (Layers, Discards, Diagnostics) {
        let missing = (0..self.fabric.switch_count())
            .map(SwitchId::new)
            .flat_map(|s| {
                let ports = self.fabric.switch(s).ports;
                (1..=ports).flat_map(move |i| (1..=ports).map(move |o| (s, i, o)))
            })
            .filter(|&(s, i, o)| self.matters(s, i, o) && !self.given.contains_key(&(s, i, o)))
            .count();
        if missing > 0 {
            let pairs = counted(missing, "pair of ports has", "pairs of ports have");
            self.found.warn(0, format!("{pairs} no entry"), "VL 0 is taken");
        }
        if self.others.0 > 0 && self.lanes.levels().is_none() {
            let entries = counted(self.others.0, "entry has", "entries have");
            self.found.warn(
                self.others.1,
                format!("{entries} other lanes for other service levels"),
                "those of SL 0 are taken, which all senders have; --sl FILE gives them others",
            );
        }
        let layers = if self.lanes.is_one() { Layers::One } else { Layers::ByHop(self.lanes) };
        (layers, self.discards, self.found)
    }
}

/// Whether every pair of ports has lane = service level, for the levels up to 7 that OpenSM's engines use; false if there is no entry.
pub fn is_identity(text: &str) -> bool {
    let mut entries = said(text).filter_map(|(_, line)| parse(line)).peekable();
    entries.peek().is_some()
        && entries.all(|(_, _, lanes)| (0..).zip(&lanes[..8]).all(|(level, &lane)| level == lane))
}

fn parse(line: &str) -> Option<(u8, u8, [u8; LEVELS])> {
    let (ports, lanes) = line.split_once(':')?;
    let mut ports = ports.split_whitespace().map(str::parse::<u8>);
    let (Some(Ok(input)), Some(Ok(output)), None) = (ports.next(), ports.next(), ports.next())
    else {
        return None;
    };
    let mut words = lanes.split_whitespace();
    let mut all = [0; LEVELS];
    for lane in &mut all {
        *lane = words.next()?.parse().ok().filter(|&lane: &u8| lane <= NO_LANE)?;
    }
    words.next().is_none().then_some((input, output, all))
}

/// Writes the SL2VL tables of all switches.
///
/// # Errors
/// Any error of `out`.
pub fn write(
    out: &mut dyn Write,
    fabric: &Fabric,
    lanes: &HopLanes,
    lids: &Lids,
) -> io::Result<()> {
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        let switch = fabric.switch(s);
        writeln!(
            out,
            "Switch {}, base LID {}, \"{}\"",
            switch.guid,
            lids.switch(s),
            switch.description
        )?;
        write!(out, "#in out :")?;
        for level in 0..LEVELS {
            write!(out, " {level:<2}")?;
        }
        writeln!(out, "\n#--------------------------------------------------------")?;
        let has_cable = |&port: &u8| fabric.at_port(s, port) != AtPort::Nothing;
        let ports: Vec<u8> = (1..=switch.ports).filter(has_cable).collect();
        for &output in &ports {
            for &input in std::iter::once(&0).chain(&ports) {
                write!(out, "{input:<3} {output:<3} :")?;
                for level in 0..darkfiber_routing::LEVELS {
                    write!(out, " {:<2}", lanes.get(level, s, input, output))?;
                }
                writeln!(out)?;
            }
        }
    }
    Ok(())
}
