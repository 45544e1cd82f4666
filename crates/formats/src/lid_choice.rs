//! Choice of the destination LID of each message: a table for MPI libraries.
//!
//! Routes with several LIDs a port, some with minimal paths and some with detours (engines `parx` and
//! `parx-opposite`), are only as good as the choice among them, which senders make (Domke et al., "HyperX Topology:
//! First At-Scale Implementation and Comparison to the Fat-Tree", SC'19, section 3.2.4). This file holds all that
//! they need:
//!
//! ```text
//! threshold 512
//! 0 0 small 1|3 large 0|2
//! 0 1 small 1 large 0
//! lids 4-675 -> 0
//! node cn17 -> 1
//! ```
//!
//! A message of at most `threshold` bytes is small. A line of two **quadrants** (orthants, in more dimensions), that
//! of the source and that of the destination, lists what may be added to the base LID of the destination, for small
//! and for large messages; of several numbers one is taken at random. `lids` gives the quadrant of ports by their
//! LIDs, first and last; `node` that of nodes by name, or of ports by GUID, where LIDs do not determine it. `#`
//! starts a comment. Quadrants are numbers below 65,536, of which a file may name 1,024.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_routing::{LidChoice, Lids};

use crate::diagnostic::counted;
use crate::guids::one_line;
use crate::places::{Aliases, Places};
use crate::{Diagnostics, ReadError};

/// Most quadrants of a file: those of ten dimensions.
const MOST_GROUPS: usize = 1 << 10;

/// Offsets that may be added to a base LID.
struct Alternatives {
    small: Vec<u8>,
    large: Vec<u8>,
}

/// The lines of a file, in its own numbers of quadrants.
#[derive(Default)]
struct Lines {
    threshold: Option<u64>,
    /// By quadrant of the source and quadrant of the destination.
    between: BTreeMap<(u16, u16), Alternatives>,
    /// First LID, last LID, quadrant.
    lids: Vec<(u16, u16, u16)>,
    /// Line, name of a node or GUID of a port, quadrant.
    nodes: Vec<(usize, String, u16)>,
}

/// Reads a choice for tables with this number of LIDs a port (`paths`). Unrecognised lines, or those that name LIDs
/// or nodes that do not exist, are reported and left out; where no line applies, the base LID is taken.
///
/// # Errors
/// If no line has two quadrants, or the file has more quadrants than any lattice.
pub fn read(
    text: &str,
    path: &Path,
    fabric: &Fabric,
    lids: &Lids,
    paths: usize,
) -> Result<(LidChoice, Diagnostics), ReadError> {
    let mut found = Diagnostics::default();
    let lines = read_lines(text, paths, &mut found);
    let problem = |what: String| {
        ReadError::not_such(
            path,
            what,
            "a choice of LIDs, '0 1 small 1 large 0|2' on each line",
            "",
        )
    };
    if lines.between.is_empty() {
        return Err(problem("no line speaks of two quadrants".to_owned()));
    }
    let known: BTreeSet<u16> = lines.between.keys().flat_map(|&(from, to)| [from, to]).collect();
    if known.len() > MOST_GROUPS {
        return Err(problem(format!("{} quadrants, at most {MOST_GROUPS} can be", known.len())));
    }
    let threshold = lines.threshold.unwrap_or_else(|| {
        let usual = LidChoice::THRESHOLD;
        found.warn(0, "no threshold", format!("{usual} bytes are taken"));
        usual
    });
    let number: Vec<u16> = known.into_iter().collect();
    let place = |quadrant: u16| number.binary_search(&quadrant).ok().map(|i| i as u16);
    let unlisted = (number.len() * number.len()).saturating_sub(lines.between.len());
    if unlisted > 0 {
        let pairs = counted(unlisted, "pair of quadrants", "pairs of quadrants");
        found.warn(0, format!("nothing is said of {pairs}"), "their messages take base LIDs");
    }

    // Position of every terminal: by its name, else by its LID.
    let mut at: Vec<Option<u16>> = vec![None; fabric.terminal_count()];
    let mut second = 0;
    for &(first, last, quadrant) in lines.lids.iter().rev() {
        let Some(group) = place(quadrant) else {
            found.warn(
                0,
                format!("LIDs {first} to {last} are in quadrant {quadrant}"),
                "nothing is said of that quadrant; left out",
            );
            continue;
        };
        for lid in first..=last {
            let owner = lids.owner(lid).and_then(|(dest, _)| dest.as_terminal(fabric));
            if let Some(t) = owner {
                let before = at[t.index()].replace(group);
                second += usize::from(before.is_some_and(|before| before != group));
            }
        }
    }
    let places = (!lines.nodes.is_empty()).then(|| Places::new(fabric, Aliases::new()));
    for (line, name, quadrant) in &lines.nodes {
        let terminals = places.as_ref().map_or(&[][..], |places| places.of(name));
        match place(*quadrant) {
            Some(group) if !terminals.is_empty() => {
                for t in terminals {
                    at[t.index()] = Some(group);
                }
            }
            Some(_) => found.warn(*line, format!("no node is called '{name}'"), "left out"),
            None => {
                found.warn(*line, format!("nothing is said of quadrant {quadrant}"), "left out");
            }
        }
    }
    if second > 0 {
        let terminals = counted(second, "terminal is", "terminals are");
        let what = format!("{terminals} in two quadrants by LID");
        found.warn(0, what, "the first line counts, or that of its name");
    }
    let lost = at.iter().filter(|group| group.is_none()).count();
    if lost > 0 {
        let terminals = counted(lost, "terminal is", "terminals are");
        found.warn(0, format!("{terminals} in no quadrant"), "they and others use base LIDs");
    }
    // Terminals without a known quadrant are a group without lists.
    let groups = number.len() + usize::from(lost > 0);
    let group = at.into_iter().map(|group| group.unwrap_or(number.len() as u16)).collect();
    let choice = LidChoice::new(threshold, groups, group, |from, to, large| {
        let pair = number.get(from).zip(number.get(to)).map(|(&from, &to)| (from, to));
        let lists = pair.and_then(|pair| lines.between.get(&pair));
        lists.map_or(Vec::new(), |l| if large { l.large.clone() } else { l.small.clone() })
    });
    Ok((choice, found))
}

fn read_lines(text: &str, paths: usize, found: &mut Diagnostics) -> Lines {
    let mut lines = Lines::default();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(bytes) = line.strip_prefix("threshold ").and_then(|w| w.trim().parse().ok()) {
            if lines.threshold.replace(bytes).is_some_and(|before| before != bytes) {
                found.warn(i + 1, "a second threshold", "the last line counts");
            }
        } else if let Some((pair, lists)) = pair(line) {
            let above = lists.small.iter().chain(&lists.large).find(|&&n| usize::from(n) >= paths);
            if let Some(above) = above {
                let ports = counted(paths, "LID", "LIDs");
                found.warn(
                    i + 1,
                    format!("{above} is added to base LIDs"),
                    format!("a port has {ports}; left out"),
                );
                continue;
            }
            if lines.between.insert(pair, lists).is_some() {
                let what = format!("quadrants {} and {} again", pair.0, pair.1);
                found.warn(i + 1, what, "the last line counts");
            }
        } else if let Some(range) = lids(line) {
            lines.lids.push(range);
        } else if let Some((name, quadrant)) = node(line) {
            lines.nodes.push((i + 1, name, quadrant));
        } else {
            let shown: String = line.chars().take(60).collect();
            found.warn(
                i + 1,
                format!("'{shown}' says nothing known"),
                "expected threshold, two quadrants with small and large, lids or node; left out",
            );
        }
    }
    lines
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

/// Writes a choice for ports with these LIDs, with comments on its use. Quadrants of ports are given by ranges of LIDs
/// if those of the quadrants are disjoint, otherwise by the names of nodes.
///
/// # Errors
/// Any error of `out`.
pub fn write(
    out: &mut dyn Write,
    choice: &LidChoice,
    fabric: &Fabric,
    lids: &Lids,
) -> io::Result<()> {
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
    writeln!(out, "threshold {}", choice.threshold())?;
    let list = |from, to, bytes| {
        let numbers: Vec<String> =
            choice.between(from, to, bytes).iter().map(u8::to_string).collect();
        numbers.join("|")
    };
    let above = choice.threshold().saturating_add(1);
    for from in 0..choice.groups() {
        for to in 0..choice.groups() {
            let (small, large) = (list(from, to, 0), list(from, to, above));
            writeln!(out, "{from} {to} small {small} large {large}")?;
        }
    }
    if let Some(ranges) = ranges(choice, fabric, lids) {
        for (group, (first, last)) in ranges {
            writeln!(out, "lids {first}-{last} -> {group}")?;
        }
        return Ok(());
    }
    let places = Places::new(fabric, Aliases::new());
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        let name = &fabric.host(fabric.host_of(t)).name;
        let is_plain = name == one_line(name).trim() && !name.contains('#');
        let group = choice.group(t);
        if is_plain && places.of(name) == [t] {
            writeln!(out, "node {name} -> {group}")?;
        } else {
            writeln!(out, "node {} -> {group}", fabric.terminal(t).guid)?;
        }
    }
    Ok(())
}

/// First and last LID of every group that has terminals; `None` if a terminal has no LID, or groups overlap.
fn ranges(choice: &LidChoice, fabric: &Fabric, lids: &Lids) -> Option<BTreeMap<usize, (u16, u16)>> {
    let mut ranges: BTreeMap<usize, (u16, u16)> = BTreeMap::new();
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        let first = Some(lids.terminal(t)).filter(|&lid| lid > 0)?;
        let last = first + (lids.width() - 1) as u16;
        let range = ranges.entry(choice.group(t)).or_insert((first, last));
        *range = (range.0.min(first), range.1.max(last));
    }
    let mut rising: Vec<(u16, u16)> = ranges.values().copied().collect();
    rising.sort_unstable();
    rising.is_sorted_by(|a, b| a.1 < b.0).then_some(ranges)
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{Shape, Topology, open};
    use darkfiber_routing::{LidBlocks, Orthants};
    use proptest::prelude::*;

    use super::*;

    fn given(spec: &str, across: bool) -> (Topology, LidChoice) {
        let on = open(spec).expect("a spec");
        let Some(Shape::Grid(grid)) = &on.shape else { panic!("no lattice") };
        let choice = LidChoice::parx(&on.fabric, grid, across).expect("few dimensions");
        (on, choice)
    }

    fn again(choice: &LidChoice, fabric: &Fabric, lids: &Lids) -> String {
        let mut out = Vec::new();
        write(&mut out, choice, fabric, lids).expect("memory");
        let text = String::from_utf8(out).expect("text");
        let (read, found) = read(&text, Path::new("x"), fabric, lids, 16).expect("ours");
        assert!(found.is_empty(), "{found:?}");
        assert_eq!(read, *choice, "{text}");
        text
    }

    #[test]
    fn the_table_of_a_machine_is_written_and_read_back() {
        for across in [false, true] {
            let (on, choice) = given("@t2hx-hyperx", across);
            let Some(Shape::Grid(grid)) = &on.shape else { panic!("no lattice") };
            let orthants = Orthants::new(grid).expect("two dimensions");
            let (lids, _) =
                Lids::by_orthant(&on.fabric, &orthants, 2, LidBlocks::STRIDE).expect("few");
            let text = again(&choice, &on.fabric, &lids);
            assert!(text.contains("\nthreshold 512\n0 0 small 1|3 large 0|2\n"), "{text}");
            assert!(text.contains("\nlids 3000-3671 -> 3\n"), "{text}");
        }
    }

    #[test]
    fn where_lids_do_not_tell_it_nodes_are_named() {
        let (on, choice) = given("hyperx:dims=3x4x5,t=1", false);
        let choice = choice.with_threshold(4096);
        let lids = Lids::assign(&on.fabric, 3).expect("few");
        let text = again(&choice, &on.fabric, &lids);
        assert!(text.contains("\nthreshold 4096\n"), "{text}");
        assert_eq!(text.matches("\nnode ").count(), 60);
    }

    #[test]
    fn what_is_odd_is_reported() {
        let on = open("hyperx:dims=2x2,t=1").expect("a spec");
        let lids = Lids::assign(&on.fabric, 2).expect("few");
        let read = |text: &str| read(text, Path::new("x"), &on.fabric, &lids, 4);
        let text = "0 0 small 1 large 0\n0 0 small 1 large 2\n0 1 small 1 large\nlids 9-3 -> 1\n\
                    threshold many\nnode -> 3\n1 0 small 300 large 1\nnode cn 1 -> 0 # words\n\
                    0 0 small 1 large 4\nlids 1-5000 -> 7\n";
        let (choice, found) = read(text).expect("one pair");
        assert_eq!(choice.threshold(), 512);
        assert_eq!(choice.between(0, 0, 1000), [2]);
        // Quadrant 0 has no terminals: base LIDs.
        assert_eq!(choice.alternatives(TerminalId(0), TerminalId(3), 8), [0]);
        let lines: Vec<usize> = found.0.iter().map(|d| d.line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 6, 7, 9, 0, 0, 8, 0]);
        assert!(read("threshold 3\n").is_err());
        let (choice, found) = read(
            "threshold 3\nthreshold 5\n0 0 small 0 large 0\n1 1 small 1 large 1\nlids 1-20 -> 0\nlids 1-4 -> 1\n",
        )
        .expect("two pairs");
        assert_eq!((choice.threshold(), found.0[0].line), (5, 2));
        let said = format!("{found:?}");
        assert!(said.contains("1 terminal is in two quadrants by LID"), "{said}");
        let many: Vec<String> = (0..2000).map(|q| format!("{q} {q} small 0 large 0")).collect();
        assert!(read(&many.join("\n")).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(threshold|lids|node|small|large|[0-9|>-]| |\n){0,40}") {
            let on = open("hyperx:dims=2x2,t=1").expect("a spec");
            let lids = Lids::assign(&on.fabric, 1).expect("few");
            if let Ok((choice, _)) = read(&text, Path::new("x"), &on.fabric, &lids, 2) {
                let _ = choice.alternatives(TerminalId(0), TerminalId(1), 1);
                write(&mut Vec::new(), &choice, &on.fabric, &lids).expect("memory");
            }
        }
    }
}
