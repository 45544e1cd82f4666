//! Demands of nodes, for routing that follows them.
//!
//! One line for each node that sends (Domke et al., "HyperX Topology: First At-Scale Implementation and Comparison to
//! the Fat-Tree", SC'19, Algorithm 1): its name, a colon, and its receivers with weights.
//!
//! ```text
//! # source: destination=weight ...
//! node01: node02=255 node17=3
//! node02: node01=255
//! ```
//!
//! Weights are whole numbers: 0 (nothing) to 255 (the maximum), or bytes. Names are those of hosts in the fabric, aliases of them, or
//! GUIDs of ports or adapters (`0x..`), resolved by [`Places`]; a host with several ports stands for all of them. `#` starts a comment.
//! Nodes that send nothing need no line, and several lines of one node add their destinations.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_routing::Demand;

use crate::diagnostic::counted;
use crate::places::{Aliases, Places};
use crate::{Diagnostics, ReadError};

/// Reads demands, by rising (source, destination). Unknown names are reported, one remark a line, and left out, as
/// are weights out of range. A pair that occurs twice is reported, and the last weight counts. Demands of a node on
/// itself are ignored.
///
/// # Errors
/// If there are lines but none of that form, or no name of the fabric: then the file is for other nodes.
pub fn read(
    text: &str,
    path: &Path,
    places: &Places,
) -> Result<(Vec<Demand>, Diagnostics), ReadError> {
    let mut reading = Reading { places, of_pair: BTreeMap::new(), known: 0, unknown: None };
    let mut found = Diagnostics::default();
    let (mut lines, mut formed) = (0, 0);
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        lines += 1;
        if let Some((source, rest)) = line.split_once(':') {
            formed += 1;
            reading.line(i + 1, source.trim(), rest, &mut found);
        } else {
            let shown: String = line.chars().take(60).collect();
            found.warn(
                i + 1,
                format!("no colon in '{shown}'"),
                "expected source: destination=weight ...; left out",
            );
        }
    }
    let refused = |what: String, hint: &str| {
        let expected = "demands, 'source: destination=weight ...' on each line";
        Err(ReadError::not_such(path, what, expected, hint))
    };
    match reading.unknown {
        _ if lines > 0 && formed == 0 => return refused("no line has a colon".to_owned(), ""),
        Some(name) if reading.known == 0 => {
            return refused(
                format!(
                    "no name in it is one of the fabric's hosts, the first is '{name}'{}",
                    shared_by(places, &name)
                ),
                "the file is for other node names; give aliases, or write it for these",
            );
        }
        _ => {}
    }
    let demand = |((from, to), weight)| Demand { from, to, weight };
    Ok((reading.of_pair.into_iter().map(demand).collect(), found))
}

/// Number of hosts that share a name, if they do, as the end of a message.
pub(crate) fn shared_by(places: &Places, name: &str) -> String {
    match places.shared(name) {
        0 => String::new(),
        n => format!(", the description of {n} hosts and the name of none"),
    }
}

struct Reading<'a> {
    places: &'a Places,
    of_pair: BTreeMap<(TerminalId, TerminalId), u64>,
    /// Names that the fabric has, as often as they occur.
    known: usize,
    /// The first that it has not.
    unknown: Option<String>,
}

impl Reading<'_> {
    /// The terminals of a name; unknown names are recorded.
    fn terminals(&mut self, name: &str, strange: &mut Vec<String>) -> Vec<TerminalId> {
        let terminals = self.places.of(name).to_vec();
        if terminals.is_empty() {
            let shown: String = name.chars().take(60).collect();
            self.unknown.get_or_insert_with(|| shown.clone());
            strange.push(shown);
        } else {
            self.known += 1;
        }
        terminals
    }

    fn line(&mut self, number: usize, source: &str, rest: &str, found: &mut Diagnostics) {
        let mut strange = Vec::new();
        let mut twice = 0;
        let sources = self.terminals(source, &mut strange);
        for word in rest.split_whitespace() {
            let Some((dest, weight)) = word.rsplit_once('=') else {
                let shown: String = word.chars().take(60).collect();
                let expected = "expected destination=weight; left out";
                found.warn(number, format!("no '=' in '{shown}'"), expected);
                continue;
            };
            let dests = self.terminals(dest, &mut strange);
            let Ok(weight) = weight.parse::<u64>() else {
                let shown: String = word.chars().take(60).collect();
                let expected = "weights are whole numbers from 0; left out";
                found.warn(number, format!("no weight in '{shown}'"), expected);
                continue;
            };
            if sources == dests {
                continue;
            }
            let pairs = sources.iter().flat_map(|&s| dests.iter().map(move |&d| (s, d)));
            let mut again = false;
            for pair in pairs {
                again |= self.of_pair.insert(pair, weight).is_some();
            }
            twice += usize::from(again);
        }
        if let Some(first) = strange.first() {
            let names = counted(strange.len(), "name is no host's", "names are no hosts'");
            let shared = shared_by(self.places, first);
            let what = format!("{names} in the fabric, the first is '{first}'{shared}");
            found.warn(number, what, "demands from and to others are left out");
        }
        if twice > 0 {
            let pairs = counted(twice, "pair occurs", "pairs occur");
            found.warn(number, format!("{pairs} again"), "the last weight counts");
        }
    }
}

/// Writes demands, a line for each source, by rising id. Hosts with one port are named, others are identified by the
/// GUIDs of their ports. Demands of 0 are left out.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, fabric: &Fabric, demands: &[Demand]) -> io::Result<()> {
    let places = Places::new(fabric, Aliases::new());
    let name = |t: TerminalId| {
        let name = &fabric.host(fabric.host_of(t)).name;
        let is_plain = !name.contains(|c: char| c.is_whitespace() || "#:=".contains(c));
        if is_plain && places.of(name) == [t] {
            name.clone()
        } else {
            fabric.terminal(t).guid.to_string()
        }
    };
    let mut all: Vec<&Demand> = demands.iter().filter(|d| d.weight > 0 && d.from != d.to).collect();
    all.sort_unstable();
    writeln!(out, "# source: destination=weight ...")?;
    for of_source in all.chunk_by(|a, b| a.from == b.from) {
        write!(out, "{}:", name(of_source[0].from))?;
        for d in of_source {
            write!(out, " {}={}", name(d.to), d.weight)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::open;
    use proptest::prelude::*;

    use super::*;

    fn fabric() -> Fabric {
        open("hyperx:dims=3x2,t=2").expect("a spec").fabric
    }

    fn read_for(fabric: &Fabric, text: &str) -> Result<(Vec<Demand>, Diagnostics), ReadError> {
        read(text, Path::new("demands"), &Places::new(fabric, Aliases::new()))
    }

    fn name(fabric: &Fabric, t: u32) -> &str {
        &fabric.host(fabric.host_of(TerminalId(t))).name
    }

    fn demand(from: u32, to: u32, weight: u64) -> Demand {
        Demand { from: TerminalId(from), to: TerminalId(to), weight }
    }

    #[test]
    fn what_is_odd_is_reported_and_the_rest_is_read() {
        let fabric = fabric();
        let [a, b, c] = [0, 1, 2].map(|t| name(&fabric, t));
        let guid = fabric.terminal(TerminalId(3)).guid;
        let text = format!(
            "# who: whom\n{b}: {a}=255 {guid}=1 # more\n\n{a} : {c}=0 {c}=2.5 nobody=3 {b}=-1 {b}\n\
             somebody: {a}=3\nno line\n{b}: {a}=7 {b}=9\n{c}:\n"
        );
        let (demands, found) = read_for(&fabric, &text).expect("some are known");
        assert_eq!(demands, [demand(0, 2, 0), demand(1, 0, 7), demand(1, 3, 1)]);
        let messages: Vec<(usize, &str)> =
            found.0.iter().map(|d| (d.line, d.what.as_str())).collect();
        let has =
            |line, part: &str| messages.iter().any(|(l, what)| *l == line && what.contains(part));
        assert!(has(4, "=2.5'") && has(4, "=-1'") && has(4, "no '='"), "{messages:?}");
        assert!(has(4, "1 name is no host's in the fabric, the first is 'nobody'"), "{messages:?}");
        assert!(has(5, "'somebody'") && has(6, "no colon") && has(7, "1 pair"), "{messages:?}");
        assert_eq!(messages.len(), 7, "{messages:?}");
    }

    #[test]
    fn a_file_for_other_nodes_is_refused() {
        let error = read_for(&fabric(), "r1i0n0: r1i0n1=4\n").expect_err("none is known");
        let text = error.to_string();
        assert!(text.contains("'r1i0n0'") && text.contains("other node names"), "{text}");
        assert!(read_for(&fabric(), "a matrix\n0 1 2\n").is_err());
        let (none, found) = read_for(&fabric(), "# nothing\n").expect("empty");
        assert!(none.is_empty() && found.is_empty());
    }

    #[test]
    fn hosts_with_several_ports_stand_for_all_and_are_written_by_port() {
        let fabric = open("rails:hosts_per_unit=2,units=1,nics=2,spines=1").expect("a spec").fabric;
        let host = |t| fabric.host_of(TerminalId(t));
        let other = (0..fabric.terminal_count() as u32).find(|&t| host(t) != host(0));
        let other = other.expect("two hosts");
        let text = format!("{}: {}=9", name(&fabric, 0), name(&fabric, other));
        let (demands, found) = read_for(&fabric, &text).expect("known");
        assert!(found.is_empty());
        assert_eq!(demands.len(), 4);
        let mut out = Vec::new();
        write(&mut out, &fabric, &demands).expect("memory");
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains("0x"), "{text}");
        assert_eq!(read_for(&fabric, &text).expect("ours").0, demands);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            some in prop::collection::btree_map((0u32..12, 0u32..12), 1u64.., 0..40),
        ) {
            let fabric = fabric();
            let some = some.into_iter().filter(|((from, to), _)| from != to);
            let demands: Vec<Demand> = some.map(|((s, d), w)| demand(s, d, w)).collect();
            let mut out = Vec::new();
            write(&mut out, &fabric, &demands).expect("memory");
            let text = String::from_utf8(out).expect("text");
            let (again, found) = read_for(&fabric, &text).expect("ours");
            prop_assert!(found.is_empty(), "{:?}", found);
            prop_assert_eq!(again, demands);
        }

        #[test]
        fn no_text_makes_it_panic(text in "[a-z0-9:=# \n]{0,80}") {
            let _ = read_for(&fabric(), &text);
        }
    }
}
