//! Edge lists: the simplest form of a network.
//!
//! ```text
//! # comment (also % and //)
//! s0 s1           one cable
//! s0,s2,2         two cables
//! s1 s2 4xHDR     one cable of that speed; `s1 s2 2 4xHDR`: two
//! s1 s2 fast@5250000000B/s   a speed that has no name in InfiniBand
//! s3              a switch without a cable
//! host cn1 s0     a host on a switch; a second line with the same host gives it a second adapter
//! ```
//!
//! Names are any words; those with blanks go in double quotes, with commas as separators. Switch ports
//! are numbered from 1 in the order of the lines. A list in which every line has its mirror image
//! (`a b` and `b a`) has each cable once, which a note reports. Graph Golf's lists, known by their names
//! (`n256d8.edges`), are of simple graphs: an edge that stands there twice is one cable. A third number counts cables, unless a heading
//! calls it something else (`source,target,weight`), or it is the value of a matrix (`%%MatrixMarket`): then a line is one cable.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{Fabric, LinkClass, Role, Topology};

use crate::graph_golf::Claim;
use crate::input::name_of;
use crate::wiring::{Edge, NamedHost, Wiring};
use crate::{Diagnostics, ReadError};

pub use crate::format::Options;
use crate::format::{Format, Reading, Writer, Writing, unlabelled};
use crate::known_by::KnownBy;

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "edges",
    what: "an edge list",
    summary: "edge list: `a b [count] [speed]`, `host h s` on each line",
    known_by: &[KnownBy::Whole(looks_like)],
    read: Reading::Fabric(|c| read(c.text, c.path, c.options)),
    write: Writing::Fabric(Writer {
        write: |out, w| write(out, &w.topology.fabric),
        endings: &["edges"],
        omits: |t| {
            let mut lost = unlabelled(t);
            lost.push("port numbers, GUIDs and LIDs".to_owned());
            if t.fabric.terminals().iter().any(|t| t.role == Role::Aggregation) {
                lost.push("which terminals are aggregation nodes, that run no jobs".to_owned());
            }
            let names = t.fabric.switches().iter().map(|s| &s.description[..]);
            if names.chain(t.fabric.hosts().iter().map(|h| &h.name[..])).any(is_no_word) {
                lost.push("some characters of names".to_owned());
            }
            lost
        },
        for_slurm: false,
    }),
    ..Format::NONE
};

/// Maximum number of cables of one line.
const MOST_PARALLEL: u32 = 253;

/// Words in the first line of tables; such a line is a heading.
const HEADINGS: &[&str] = &["source", "target", "src", "dst", "from", "to", "node1", "node2"];

/// Parts of what headings call a column that counts cables.
const COUNTS: &[&str] = &["cable", "link", "num", "count", "mult", "parallel", "trunk"];

/// How the first line of a matrix begins.
const MATRIX: &str = "%%MatrixMarket";

/// A line in parsed form.
enum Line<'a> {
    Nothing,
    Alone(&'a str),
    Edge(&'a str, &'a str, u32, Option<LinkClass>),
    Host(&'a str, &'a str, Option<LinkClass>),
    Bad(&'static str),
}

/// The words of a line; at most six, more make no sense.
fn words(line: &str) -> Vec<&str> {
    if line.contains(',') {
        line.split(',')
            .map(|w| w.trim().trim_matches('"'))
            .filter(|w| !w.is_empty())
            .take(6)
            .collect()
    } else {
        line.split_whitespace()
            .filter(|w| !matches!(*w, "--" | "->" | "<->"))
            .map(|w| w.trim_matches('"'))
            .filter(|w| !w.is_empty())
            .take(6)
            .collect()
    }
}

fn parse(line: &str) -> Line<'_> {
    let line = line.trim().trim_end_matches(';');
    if line.is_empty() || line.starts_with(['#', '%']) || line.starts_with("//") {
        return Line::Nothing;
    }
    let comment = [" #", "\t#"].iter().filter_map(|begin| line.find(begin)).min();
    let line = &line[..comment.unwrap_or(line.len())];
    let words = words(line);
    match words.as_slice() {
        [] => Line::Nothing,
        [a] => Line::Alone(a),
        ["host", name, switch] => Line::Host(name, switch, None),
        ["host", name, switch, label] => match LinkClass::of_word(label) {
            Some(class) => Line::Host(name, switch, Some(class)),
            None => Line::Bad("the fourth word of a host line is not a speed such as 4xHDR"),
        },
        [a, b, more @ ..] if more.len() <= 2 => {
            let (mut count, mut class) = (None, None);
            for word in more {
                if let Ok(n) = word.parse() {
                    if count.replace(n).is_some() {
                        return Line::Bad(
                            "a number of cables once, and a speed is a word such as 4xHDR",
                        );
                    }
                } else if let Some(label) = LinkClass::of_word(word) {
                    class = Some(label);
                } else {
                    return Line::Bad("neither a number of cables nor a speed such as 4xHDR");
                }
            }
            let count = count.unwrap_or(1);
            if count == 0 || count > MOST_PARALLEL {
                return Line::Bad("between 1 and 253 cables can join two switches");
            }
            Line::Edge(a, b, count, class)
        }
        _ => Line::Bad("more words than an edge has"),
    }
}

fn is_heading(line: &str) -> bool {
    let words = words(line.trim());
    words.len() >= 2
        && words[..2].iter().all(|w| HEADINGS.iter().any(|h| h.eq_ignore_ascii_case(w)))
}

/// What a heading calls a third column, where none counts cables.
fn other_column(heading: &str) -> Option<&str> {
    let words = words(heading.trim());
    let third = words.get(2).copied()?;
    let counts = |word: &&str| {
        let word = word.to_ascii_lowercase();
        COUNTS.iter().any(|part| word.contains(part)) || word == "n"
    };
    (!words[2..].iter().any(counts)).then_some(third)
}

/// A line of whose numbers none counts cables: it is one cable, of the speed that it has.
fn parse_one(line: &str) -> Line<'_> {
    match words(line.trim().trim_end_matches(';')).as_slice() {
        [a, b, more @ ..] if !matches!(parse(line), Line::Nothing) => {
            Line::Edge(a, b, 1, more.iter().find_map(|word| LinkClass::of_word(word)))
        }
        _ => parse(line),
    }
}

/// Whether a line has a number behind its two names.
fn has_number(line: &str) -> bool {
    words(line.trim()).iter().skip(2).any(|word| word.parse::<f64>().is_ok())
}

/// The first line, if it has no edge but the numbers of switches and of edges that follow, as many programs write graphs.
fn line_of_counts(text: &str) -> Option<usize> {
    let mut lines =
        text.lines().enumerate().filter(|(_, line)| !matches!(parse(line), Line::Nothing));
    let (at, first) = lines.next()?;
    let counts: Vec<usize> =
        words(first).iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let (switches, cables) = match counts.as_slice() {
        [switches] => (*switches, None),
        [switches, cables] => (*switches, Some(*cables)),
        _ => return None,
    };
    let (mut names, mut edges) = (HashSet::new(), 0);
    for (_, line) in lines {
        let Line::Edge(a, b, ..) = parse(line) else { return None };
        names.extend([a, b]);
        edges += 1;
        // Most lists begin with an edge of two small numbers, and have more.
        if names.len() > switches || cables.is_some_and(|cables| edges > cables) {
            return None;
        }
    }
    let fits = names.len() == switches && cables.is_none_or(|cables| cables == edges);
    // Two names of the list are an edge, unless they are the same.
    let is_edge = cables.is_some_and(|cables| {
        cables != switches && counts.iter().all(|count| names.contains(&count.to_string()[..]))
    });
    (fits && edges > 0 && !is_edge).then_some(at)
}

/// The line of a matrix that has its sizes, after the comments.
fn line_of_sizes(text: &str) -> Option<usize> {
    text.lines().position(|line| !matches!(parse(line), Line::Nothing))
}

/// Whether a list looks like one of vertices with their neighbours, of which three words are two neighbours: every line begins with
/// another name, all names begin one, and what would be numbers of cables are names that the line does not have already.
fn has_neighbours(text: &str) -> bool {
    let lines: Vec<Vec<&str>> =
        text.lines().filter(|line| !matches!(parse(line), Line::Nothing)).map(words).collect();
    let first: HashSet<&str> = lines.iter().map(|words| words[0]).collect();
    let is_list = |words: &Vec<&str>| {
        let different: HashSet<&&str> = words.iter().collect();
        different.len() == words.len() && words.iter().all(|word| first.contains(word))
    };
    first.len() == lines.len()
        && lines.iter().any(|words| words.len() > 2)
        && lines.iter().all(is_list)
}

/// The line of the first edge or host, if a text looks like an edge list: words, mostly two or three a line.
fn looks_like(text: &str) -> Option<usize> {
    let mut first = None;
    let mut has_two = text.starts_with(MATRIX);
    for (i, line) in text.lines().enumerate().take(100) {
        let trimmed = line.trim();
        let comment = trimmed.starts_with(['#', '%']) || trimmed.starts_with("//");
        if !comment && trimmed.contains(['=', '<', '>', '{', '}', '[', ']', '(', ')', '\0']) {
            return None;
        }
        match parse(line) {
            Line::Edge(..) | Line::Host(..) => first = first.or(Some(i + 1)),
            Line::Bad(_) if !is_heading(line) && !has_two => return None,
            _ => {}
        }
        has_two |= is_heading(line) && other_column(line).is_some();
    }
    first
}

/// The first line of a file named `*.edges` that no edge list has, and what is wrong with it: such
/// a file is not recognised.
pub(crate) fn odd_line(text: &str, path: &Path) -> Option<(usize, &'static str)> {
    if path.extension()? != "edges" {
        return None;
    }
    text.lines().enumerate().find_map(|(i, line)| match parse(line) {
        Line::Bad(why) if !is_heading(line) => Some((i + 1, why)),
        _ => None,
    })
}

/// Reads an edge list. Without `host` lines every switch gets [`Options::hosts_per_switch`] hosts.
/// Hosts are on the ports below all cables to switches.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if there is no edge and no host in the text.
pub fn read(
    text: &str,
    path: &Path,
    options: &Options,
) -> Result<(Topology, Diagnostics), ReadError> {
    let mut list = List { wiring: Wiring::new(options.class.clone()), index: HashMap::new() };
    let mut d = Diagnostics::default();
    let mut seen_data = false;
    let is_matrix = text.starts_with(MATRIX);
    let (mut has_two, mut column) = (is_matrix, None);
    let counts = if is_matrix { line_of_sizes(text) } else { line_of_counts(text) };
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        if counts == Some(i) {
            d.note(number, "the numbers of switches and cables", "ignored");
            seen_data = true;
            continue;
        }
        if !seen_data && is_heading(line) {
            d.note(number, "heading of a table", "ignored");
            column = other_column(line);
            has_two = column.is_some();
            seen_data = true;
            continue;
        }
        if has_number(line)
            && let Some(column) = column.take()
        {
            d.note(
                number,
                format!("numbers of column \"{column}\" are not taken"),
                "a line is one cable",
            );
        }
        match if has_two { parse_one(line) } else { parse(line) } {
            Line::Nothing => continue,
            // The diagonal of a matrix.
            Line::Edge(a, b, ..) if is_matrix && a == b => {}
            Line::Alone(a) => {
                list.switch(a);
            }
            Line::Edge(a, b, count, class) => {
                let ends = (list.switch(a), list.switch(b));
                list.wiring.edges.push(Edge { line: number, ends, count, class });
            }
            Line::Host(name, switch, class) => {
                let switch = list.switch(switch);
                let name = name.into();
                list.wiring.hosts.push(NamedHost { line: number, name, switch, class });
            }
            Line::Bad(why) => d.warn(
                number,
                format!("not an edge: {}", crate::diagnostic::excerpt(line)),
                format!("{why}; the line is left out"),
            ),
        }
        seen_data = true;
    }
    if list.wiring.edges.is_empty() && list.wiring.hosts.is_empty() {
        return Err(ReadError::wrong_format(
            path,
            "no line joins two names",
            "an edge list (lines of two switch names)",
        ));
    }
    if !has_two && has_neighbours(text) {
        d.warn(
            0,
            "it looks like a list of vertices, each with its neighbours",
            "a third number of a line is taken as a number of cables: write a line for each cable",
        );
    }
    list.halve_if_mirrored(&mut d);
    if let Some(pieces) = list.pairs_alone() {
        let line = list.wiring.edges.first().map_or(0, |e| e.line);
        return Err(ReadError::not_such(
            path,
            format!(
                "from line {line} on it would be a network of {pieces} pieces of at most two switches: it looks like a \
                 list of pairs, such as names and other names"
            ),
            "an edge list that joins more than pairs",
            "names of nodes are given with --node-name-map, other names of hosts with --aliases",
        ));
    }
    let mut wiring = list.wiring;
    if let Some(claim) = Claim::of(path, &wiring) {
        claim.apply(&mut wiring.edges, wiring.names.len(), &mut d);
    }
    let each = if wiring.hosts.is_empty() { options.hosts_per_switch } else { 0 };
    wiring.unnamed = vec![each; wiring.names.len()];
    let fabric = wiring
        .build(name_of(path), &mut d)
        .map_err(|e| ReadError::not_such(path, e.to_string(), "an edge list", ""))?;
    d.0.sort_by_key(|x| if x.line == 0 { usize::MAX } else { x.line });
    let shape = None;
    Ok((Topology { fabric, shape }, d))
}

struct List<'a> {
    wiring: Wiring<'a>,
    index: HashMap<&'a str, usize>,
}

impl<'a> List<'a> {
    fn switch(&mut self, name: &'a str) -> usize {
        *self.index.entry(name).or_insert_with(|| {
            self.wiring.names.push(name.into());
            self.wiring.names.len() - 1
        })
    }

    /// The number of pieces, if no name occurs in two different edges: then it is hardly a network.
    fn pairs_alone(&self) -> Option<usize> {
        /// A file with fewer pairs may be a small test.
        const FEW: usize = 3;
        let mut other: HashMap<usize, usize> = HashMap::new();
        for &(a, b) in self.wiring.edges.iter().map(|e| &e.ends) {
            for (a, b) in [(a, b), (b, a)] {
                if a != b && *other.entry(a).or_insert(b) != b {
                    return None;
                }
            }
        }
        let pairs = other.len() / 2;
        (pairs > FEW && self.wiring.hosts.is_empty()).then_some(pairs)
    }

    /// Many tools list every cable in both directions.
    fn halve_if_mirrored(&mut self, d: &mut Diagnostics) {
        let mut balance: HashMap<(usize, usize, Option<&LinkClass>), i64> = HashMap::new();
        let mut cables = 0;
        for e in &self.wiring.edges {
            let (a, b) = e.ends;
            let n = i64::from(e.count);
            if a != b {
                cables += n;
                *balance.entry((a.min(b), a.max(b), e.class.as_ref())).or_default() +=
                    if a < b { n } else { -n };
            }
        }
        if cables == 0 || balance.values().any(|&n| n != 0) {
            return;
        }
        self.wiring.edges.retain(|e| e.ends.0 <= e.ends.1);
        d.note(
            0,
            "every cable is listed in both directions",
            "each counts once; write `a b 2` for two cables",
        );
    }
}

/// Writes a fabric as an edge list: switches, cables and hosts, in an order from which [`read`] makes equal ids; port
/// numbers, GUIDs and LIDs are lost. Switches are named by their descriptions, with `_` for what may not be in a word, and
/// where that is none, or another one's, `sw0`, `sw1` and so on; likewise hosts.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, fabric: &Fabric) -> io::Result<()> {
    let switches = names(fabric.switches().iter().map(|s| s.description.as_str()), "sw");
    let hosts = names(fabric.hosts().iter().map(|h| h.name.as_str()), "cn");
    writeln!(
        out,
        "# {} switches, {} hosts, {} cables between switches",
        switches.len(),
        hosts.len(),
        fabric.switch_link_count()
    )?;
    let label =
        |class: &LinkClass| class.word().map_or_else(String::new, |word| format!(" {word}"));
    let mut mentioned = 0;
    // Ids are given in order of appearance, so switches that would come too late are named before.
    let mut mention = |out: &mut dyn Write, a: usize, b: usize| -> io::Result<()> {
        while mentioned < b && !(mentioned == a && a + 1 == b) {
            writeln!(out, "{}", switches[mentioned])?;
            mentioned += 1;
        }
        mentioned = mentioned.max(b + 1);
        Ok(())
    };
    for t in fabric.terminals() {
        let s = t.switch.index();
        mention(out, s, s)?;
        let host = fabric.adapter(t.adapter).host.index();
        let class = &fabric.classes()[usize::from(t.class)];
        writeln!(out, "host {} {}{}", hosts[host], switches[s], label(class))?;
    }
    for l in fabric.loopbacks() {
        let s = l.switch.index();
        mention(out, s, s)?;
        let class = &fabric.classes()[usize::from(l.class)];
        writeln!(out, "{0} {0}{1}", switches[s], label(class))?;
    }
    for c in (0..fabric.channel_count()).map(darkfiber_fabric::ChannelId::new) {
        let (s, t) = (fabric.tail(c).index(), fabric.head(c).index());
        if s < t {
            mention(out, s, t)?;
            writeln!(out, "{} {}{}", switches[s], switches[t], label(fabric.class_of(c)))?;
        }
    }
    mention(out, switches.len(), switches.len())
}

/// Whether a character may not be in a name.
fn is_odd(c: char) -> bool {
    c.is_whitespace() || c.is_control() || ",;\"#=<>{}[]()".contains(c)
}

/// Whether a name may not be written as it is.
fn is_no_word(name: &str) -> bool {
    name.is_empty()
        || matches!(name, "host" | "--" | "->" | "<->")
        || name.starts_with(['%', '#'])
        || name.starts_with("//")
        || name.contains(is_odd)
        || HEADINGS.iter().any(|heading| heading.eq_ignore_ascii_case(name))
}

/// A word for each name, all different: the name itself, the name with `_` for what may not be in it, or a number.
fn names<'a>(given: impl Iterator<Item = &'a str> + Clone, stem: &str) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    // Names that can stay go first, whoever would be called so after changes.
    let stays: Vec<bool> =
        given.clone().map(|name| !is_no_word(name) && taken.insert(name.to_owned())).collect();
    given
        .zip(stays)
        .enumerate()
        .map(|(i, (name, stays))| {
            if stays {
                return name.to_owned();
            }
            let changed = name.replace(is_odd, "_");
            let mut word = if is_no_word(&changed) { format!("{stem}{i}") } else { changed };
            if taken.contains(&word) {
                word = format!("{stem}{i}");
            }
            while !taken.insert(word.clone()) {
                word.push('_');
            }
            word
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fabric(text: &str) -> (Fabric, Diagnostics) {
        let (t, d) = read(text, Path::new("x.edges"), &Options::default()).expect("an edge list");
        (t.fabric, d)
    }

    #[test]
    fn words_commas_counts_and_labels() {
        let (f, d) =
            fabric("a b\t# first\nb,c,2\n\"c\", \"a\", 4xHDR # fast\nc -- d 2 4xEDR;\n% no\ne\n");
        assert!(d.is_empty(), "{d:?}");
        assert_eq!((f.switch_count(), f.switch_link_count()), (5, 6));
        assert_eq!(f.hosts().len(), 5);
        assert_eq!(f.hosts()[4].name, "e-n1");
        assert_eq!(f.classes().len(), 3);
    }

    #[test]
    fn hosts_of_the_file_replace_those_of_the_options() {
        let (f, d) = fabric("host n1 a\nhost n2 b 4xHDR\nhost n1 b\na b\n");
        assert!(d.is_empty(), "{d:?}");
        assert_eq!((f.hosts().len(), f.adapters().len()), (2, 3));
        assert_eq!(f.adapters()[2].description, "n1 HCA-2");
    }

    /// Many programs write the numbers of nodes and edges first.
    #[test]
    fn a_first_line_of_counts_is_no_edge() {
        for (text, switches, cables, remarks) in [
            ("3 3\n0 1\n1 2\n2 0\n", 3, 3, 1),
            ("# a ring\n4\n1 2\n2 3\n3 4\n4 1\n", 4, 4, 1),
            ("5 4\na b\nb c\nc d\nd e\n", 5, 4, 1),
            // A first edge.
            ("2 1\n0 1\n0 2\n", 3, 3, 0),
            ("3 2\n1 2\n2 3\n", 3, 3, 0),
            ("0 1\n1 2\n", 3, 2, 0),
        ] {
            let (f, d) = fabric(text);
            let found = (f.switch_count(), f.switch_link_count(), d.0.len());
            assert_eq!(found, (switches, cables, remarks), "{text}: {d:?}");
        }
    }

    #[test]
    fn lists_of_both_directions_count_once() {
        let (f, d) = fabric("0 1\n1 0\n1 2\n2 1\n");
        assert_eq!(f.switch_link_count(), 2);
        assert_eq!(d.0.len(), 1);
        let (f, _) = fabric("0 1\n1 0\n1 2\n");
        assert_eq!(f.switch_link_count(), 3);
    }

    #[test]
    fn headings_and_nonsense_are_reported() {
        let (f, d) = fabric("source,target\na,b\na,b,fast\na b c d e f g\na b 900\n");
        assert_eq!(f.switch_link_count(), 1);
        insta::assert_snapshot!(
            d.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            @r"
        line 1: note: heading of a table (ignored)
        line 3: warning: not an edge: a,b,fast (neither a number of cables nor a speed such as 4xHDR; the line is left out)
        line 4: warning: not an edge: a b c d e f g (more words than an edge has; the line is left out)
        line 5: warning: not an edge: a b 900 (between 1 and 253 cables can join two switches; the line is left out)
        "
        );
    }

    #[test]
    fn pairs_that_nothing_joins_are_doubted() {
        let pairs = |n: usize| (0..n).fold(String::new(), |t, i| format!("{t}n{i} 0x{i:016x}\n"));
        let said = |text: &str| read(text, Path::new("names"), &Options::default()).map(|_| ());
        let error = said(&pairs(86)).expect_err("no network").to_string();
        assert!(error.contains("names: from line 1 on") && error.contains("86 pieces"), "{error}");
        assert!(said(&pairs(3)).is_ok());
        assert!(said(&(pairs(86) + "n1 n2\n")).is_ok(), "something joins two of them");
        assert!(said(&(pairs(86) + "host h n2\n")).is_ok(), "it speaks of hosts");
    }

    #[test]
    fn switches_that_are_too_large_lose_cables() {
        let (f, d) = fabric("a b 253\na b 2\n");
        assert_eq!(f.switch_link_count(), 253);
        assert_eq!(d.0.len(), 2);
    }
}
