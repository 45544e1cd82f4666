//! Which LID of its destination a message goes to: a table for MPI libraries.
//!
//! Routes with several LIDs a port, some with minimal paths and some with detours (engines `parx` and
//! `parx-opposite`), are worth as much as the choice among them, which senders make (Domke et al., "HyperX
//! Topology: First At-Scale Implementation and Comparison to the Fat-Tree", SC'19, section 3.2.4). This file says
//! all that they need:
//!
//! ```text
//! threshold 512
//! 0 0 small 1|3 large 0|2
//! 0 1 small 1 large 0
//! lids 0-999 -> 0
//! node cn17 -> 1
//! ```
//!
//! A message of at most `threshold` bytes is small. A line of two **quadrants** (orthants, in more dimensions),
//! that of the source and that of the destination, lists what may be added to the base LID of the destination,
//! for small and for large messages; of several numbers one is taken at random. `lids` tells the quadrant of
//! ports by their LIDs, first and last; `node` that of nodes by name, or of ports by GUID, where LIDs do not tell
//! it. `#` begins a comment.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_routing::{LidBlocks, LidChoice};

use crate::guids::one_line;
use crate::places::{Aliases, Places};
use crate::{Diagnostics, ReadError};

/// What may be added to a base LID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alternatives {
    /// For small messages.
    pub small: Vec<u8>,
    /// For large ones.
    pub large: Vec<u8>,
}

/// The table. Read or made by [`of`](Self::of).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LidTable {
    /// The largest message that is small, in bytes.
    pub threshold: u64,
    /// By quadrant of the source and quadrant of the destination.
    pub between: BTreeMap<(u16, u16), Alternatives>,
    /// Quadrants by LIDs: first, last, quadrant.
    pub lids: Vec<(u16, u16, u16)>,
    /// Quadrants by names of nodes, or GUIDs of ports.
    pub nodes: BTreeMap<String, u16>,
}

impl LidTable {
    /// The table of a choice. Where ports are is told by their LIDs if these are in blocks, else by names.
    pub fn of(choice: &LidChoice, fabric: &Fabric, blocks: Option<LidBlocks>) -> Self {
        let count = choice.orthants().count() as u16;
        let large = choice.threshold().saturating_add(1);
        let pairs = (0..count).flat_map(|s| (0..count).map(move |d| (s, d)));
        let alternatives = |(s, d): (u16, u16)| {
            let list = |bytes| choice.between(s.into(), d.into(), bytes).to_vec();
            ((s, d), Alternatives { small: list(0), large: list(large) })
        };
        let range = |blocks: LidBlocks| {
            let first = move |q: u16| q.saturating_mul(blocks.stride);
            (0..count).map(move |q| (first(q), first(q + 1).saturating_sub(1), q))
        };
        let mut nodes = BTreeMap::new();
        if blocks.is_none() {
            let places = Places::new(fabric, Aliases::new());
            for t in (0..fabric.terminal_count()).map(TerminalId::new) {
                let quadrant = choice.orthants().of(fabric.terminal(t).switch) as u16;
                let name = &fabric.host(fabric.host_of(t)).name;
                let is_plain = name == one_line(name).trim() && !name.contains('#');
                if is_plain && places.of(name) == [t] {
                    nodes.insert(name.clone(), quadrant);
                } else {
                    nodes.insert(fabric.terminal(t).guid.to_string(), quadrant);
                }
            }
        }
        Self {
            threshold: choice.threshold(),
            between: pairs.map(alternatives).collect(),
            lids: blocks.into_iter().flat_map(range).collect(),
            nodes,
        }
    }

    /// What may be added to the base LID of the destination; `None` for quadrants that are not in the table.
    pub fn alternatives(&self, from: u16, to: u16, bytes: u64) -> Option<&[u8]> {
        let lists = self.between.get(&(from, to))?;
        Some(if bytes <= self.threshold { &lists.small } else { &lists.large })
    }

    /// The quadrant of the port with this LID.
    pub fn quadrant_of_lid(&self, lid: u16) -> Option<u16> {
        self.lids.iter().find(|(first, last, _)| (*first..=*last).contains(&lid)).map(|l| l.2)
    }
}

/// Reads a table. Lines that say nothing known are reported and left out.
///
/// # Errors
/// If no line speaks of two quadrants.
pub fn read(text: &str, path: &Path) -> Result<(LidTable, Diagnostics), ReadError> {
    let mut table = LidTable::default();
    let mut threshold = None;
    let mut found = Diagnostics::default();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(bytes) = line.strip_prefix("threshold ").and_then(|w| w.trim().parse().ok()) {
            threshold = Some(bytes);
        } else if let Some((pair, lists)) = pair(line) {
            if table.between.insert(pair, lists).is_some() {
                let what = format!("quadrants {} and {} again", pair.0, pair.1);
                found.warn(i + 1, what, "the last line counts");
            }
        } else if let Some(range) = lids(line) {
            table.lids.push(range);
        } else if let Some((name, quadrant)) = node(line) {
            table.nodes.insert(name, quadrant);
        } else {
            let shown: String = line.chars().take(60).collect();
            found.warn(
                i + 1,
                format!("'{shown}' says nothing known"),
                "expected threshold, two quadrants with small and large, lids or node; left out",
            );
        }
    }
    if table.between.is_empty() {
        return Err(ReadError::not_such(
            path,
            "no line speaks of two quadrants",
            "a choice of LIDs, '0 1 small 1 large 0|2' on each line",
            "",
        ));
    }
    if threshold.is_none() {
        found.warn(0, "no threshold", format!("{} bytes are taken", LidChoice::THRESHOLD));
    }
    table.threshold = threshold.unwrap_or(LidChoice::THRESHOLD);
    Ok((table, found))
}

/// `0 1 small 1|3 large 0`.
fn pair(line: &str) -> Option<((u16, u16), Alternatives)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[from, to, "small", small, "large", large] = words.as_slice() else { return None };
    let list = |word: &str| word.split('|').map(|n| n.parse().ok()).collect::<Option<Vec<u8>>>();
    let lists = Alternatives { small: list(small)?, large: list(large)? };
    Some(((from.parse().ok()?, to.parse().ok()?), lists))
}

/// `lids 1000-1999 -> 1`.
fn lids(line: &str) -> Option<(u16, u16, u16)> {
    let (range, quadrant) = line.strip_prefix("lids ")?.split_once("->")?;
    let (first, last) = range.split_once('-')?;
    let number = |word: &str| word.trim().parse::<u16>().ok();
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some((first, last, number(quadrant)?))
}

/// `node cn17 -> 1`.
fn node(line: &str) -> Option<(String, u16)> {
    let (name, quadrant) = line.strip_prefix("node ")?.rsplit_once("->")?;
    let name = name.trim();
    (!name.is_empty()).then_some((name.to_owned(), quadrant.trim().parse().ok()?))
}

/// Writes a table, with words on how to use it.
///
/// # Errors
/// Whatever `out` says.
pub fn write(out: &mut dyn Write, table: &LidTable) -> io::Result<()> {
    writeln!(out, "# Which LID a message goes to, by its size and the quadrants of both ends.")?;
    writeln!(
        out,
        "# A message of at most 'threshold' bytes is small. It goes to the base LID of its"
    )?;
    writeln!(out, "# destination plus one of the numbers below, each as likely:")?;
    writeln!(out, "#   <quadrant of source> <quadrant of destination> small <i|j> large <i|j>")?;
    writeln!(out, "# Where a port is:")?;
    writeln!(out, "#   lids <first>-<last> -> <quadrant>, by any of its LIDs")?;
    writeln!(out, "#   node <name of the node, or GUID of the port> -> <quadrant>")?;
    writeln!(out, "threshold {}", table.threshold)?;
    for ((from, to), lists) in &table.between {
        let list = |list: &[u8]| list.iter().map(u8::to_string).collect::<Vec<_>>().join("|");
        let (small, large) = (list(&lists.small), list(&lists.large));
        writeln!(out, "{from} {to} small {small} large {large}")?;
    }
    for (first, last, quadrant) in &table.lids {
        writeln!(out, "lids {first}-{last} -> {quadrant}")?;
    }
    for (name, quadrant) in &table.nodes {
        writeln!(out, "node {name} -> {quadrant}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{Shape, Topology, open};
    use darkfiber_routing::{Lids, Orthants};
    use proptest::prelude::*;

    use super::*;

    fn choice(engine: &str, on: &Topology) -> LidChoice {
        let Some(Shape::Grid(grid)) = &on.shape else { panic!("no lattice") };
        LidChoice::of_engine(engine, grid).expect("few dimensions")
    }

    fn again(table: &LidTable) -> (String, LidTable) {
        let mut out = Vec::new();
        write(&mut out, table).expect("memory");
        let text = String::from_utf8(out).expect("text");
        let (read, found) = read(&text, Path::new("x")).expect("ours");
        assert!(found.is_empty(), "{found:?}");
        (text, read)
    }

    #[test]
    fn the_table_of_a_machine_is_written_and_read_back() {
        let on = open("@t2hx-hyperx").expect("a preset");
        for engine in ["parx", "parx-opposite"] {
            let choice = choice(engine, &on);
            let blocks =
                Lids::by_orthant(&on.fabric, choice.orthants(), 2, LidBlocks::STRIDE).expect("few");
            let table = LidTable::of(&choice, &on.fabric, Some(blocks.1));
            let (text, read) = again(&table);
            assert_eq!(read, table);
            assert!(text.contains("\nthreshold 512\n0 0 small 1|3 large 0|2\n"), "{text}");
            assert!(text.contains("\nlids 3000-3999 -> 3\n"), "{text}");
            for t in (0..on.fabric.terminal_count()).map(TerminalId::new) {
                let orthant = choice.orthants().of(on.fabric.terminal(t).switch);
                let told = table.quadrant_of_lid(blocks.0.terminal(t) + 3);
                assert_eq!(told.map(usize::from), Some(orthant));
            }
            for (bytes, from, to) in [(512, 0, 1), (513, 2, 2), (1 << 20, 1, 3)] {
                let told = table.alternatives(from, to, bytes);
                assert_eq!(told, Some(choice.between(from.into(), to.into(), bytes)));
            }
            assert_eq!(table.alternatives(4, 0, 1), None);
        }
    }

    #[test]
    fn without_blocks_nodes_are_named() {
        let on = open("hyperx:dims=3x4x5,t=1").expect("a spec");
        let choice = choice("parx", &on).with_threshold(4096);
        let table = LidTable::of(&choice, &on.fabric, None);
        assert_eq!((table.nodes.len(), table.between.len()), (60, 64));
        let (text, read) = again(&table);
        assert_eq!(read, table);
        assert!(text.contains("\nthreshold 4096\n"), "{text}");
        let t = TerminalId(59);
        let name = &on.fabric.host(on.fabric.host_of(t)).name;
        let orthant = Orthants::of(choice.orthants(), on.fabric.terminal(t).switch);
        assert_eq!(usize::from(table.nodes[name]), orthant);
    }

    #[test]
    fn what_is_odd_is_told() {
        let text = "0 0 small 1 large 0\n0 0 small 1 large 2\n0 1 small 1 large\nlids 9-3 -> 1\n\
                    threshold many\nnode -> 3\n1 0 small 300 large 1\nnode cn 1 -> 2 # words\n";
        let (table, found) = read(text, Path::new("x")).expect("one pair");
        assert_eq!(table.threshold, 512);
        assert_eq!(table.between[&(0, 0)].large, [2]);
        assert_eq!(table.nodes["cn 1"], 2);
        let lines: Vec<usize> = found.0.iter().map(|d| d.line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 6, 7, 0]);
        assert!(read("threshold 3\n", Path::new("x")).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(threshold|lids|node|small|large|[0-9|>-]| |\n){0,40}") {
            if let Ok((table, _)) = read(&text, Path::new("x")) {
                let _ = (table.quadrant_of_lid(7), table.alternatives(0, 0, 1));
                write(&mut Vec::new(), &table).expect("memory");
            }
        }
    }
}
