//! Topologies of netbench: properties, then links.
//!
//! ```text
//! # comment
//! |V|=4
//! |E|=6
//! ToRs=incl_range(0,1)
//! Servers=set()
//! Switches=set(2,3)
//!
//! 0 2
//! 2 0
//! ```
//!
//! Every link is listed in both directions, and `|E|` counts both. `ToRs` are switches with servers;
//! `Servers` are where traffic begins and ends. In most files these are the same nodes, as netbench adds
//! the servers when it runs: then each gets hosts by [`Options::hosts_per_switch`]. A server that is no
//! switch is a host.

use std::collections::BTreeMap;
use std::path::Path;

use darkfiber_fabric::Topology;

use crate::diagnostic::excerpt;
use crate::format::{Format, Options, Reading};
use crate::input::{name_of, said};
use crate::known_by::KnownBy;
use crate::wiring::{Edge, NamedHost, Wiring};
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "netbench",
    what: "a netbench topology",
    summary: ".topology files: |V|=, ToRs=, then `a b` both ways",
    known_by: &[KnownBy::Line(|l| l.starts_with("|V|=") || l.starts_with("|E|="))],
    read: Reading::Fabric(|c| read(c.text, c.path, c.options)),
    ..Format::NONE
};

/// Expected content, for errors.
const EXPECTED: &str = "a netbench topology (lines such as `|V|=320` and `0 128`)";

/// Maximum number of nodes; far above what netbench simulates.
const MOST_NODES: usize = 1 << 20;

/// A property with its line.
type Property<T> = Option<(usize, T)>;

#[derive(Default)]
struct File {
    nodes: Property<usize>,
    links: Property<usize>,
    tors: Vec<bool>,
    servers: Vec<bool>,
    switches: Vec<bool>,
    /// Links by (lower, higher) node: first line, times listed upward and downward.
    listed: BTreeMap<(usize, usize), (usize, [u32; 2])>,
    lines: usize,
}

/// Reads a topology. Where numbers and lists contradict each other, the lists are taken.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if the number of nodes is missing or not a sensible number.
pub fn read(
    text: &str,
    path: &Path,
    options: &Options,
) -> Result<(Topology, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut file = File::default();
    for (number, line) in said(text) {
        let problem = match line.split_once('=') {
            Some((key, value)) => file.property(number, key.trim(), value.trim()),
            None => file.link(number, line),
        };
        if let Err(problem) = problem {
            d.error(number, problem, "the line is left out");
        }
    }
    let Some((_, nodes)) = file.nodes.filter(|n| (1..=MOST_NODES).contains(&n.1)) else {
        let what = match (file.nodes, d.0.first()) {
            (Some((line, n)), _) => format!("line {line} says {n} nodes"),
            (None, Some(first)) => format!("line {}: {}", first.line, first.what),
            (None, None) => "no line says how many nodes there are".to_owned(),
        };
        return Err(ReadError::not_such(path, what, EXPECTED, ""));
    };
    if let Some((line, links)) = file.links.filter(|&(_, n)| n != file.lines) {
        let what = format!("{links} links are promised, {} are listed", file.lines);
        d.error(line, what, "those of the list are taken; each counts in both directions");
    }
    let wiring = file.wiring(nodes, options, &mut d);
    let fabric = wiring
        .build(name_of(path), &mut d)
        .map_err(|e| ReadError::not_such(path, e.to_string(), EXPECTED, ""))?;
    d.0.sort_by_key(|x| if x.line == 0 { usize::MAX } else { x.line });
    Ok((Topology { fabric, shape: None }, d))
}

impl File {
    fn property(&mut self, line: usize, key: &str, value: &str) -> Result<(), String> {
        let number = || {
            value.parse().map_err(|_| format!("{key} is \"{}\", expected a number", excerpt(value)))
        };
        match key {
            // The lines before a second size were checked against the first.
            "|V|" if self.nodes.is_some() => return Err("|V|= stands there twice".to_owned()),
            "|V|" => self.nodes = Some((line, number()?)),
            "|E|" => self.links = Some((line, number()?)),
            "ToRs" => self.tors = self.set(value)?,
            "Servers" => self.servers = self.set(value)?,
            "Switches" => self.switches = self.set(value)?,
            _ => return Err(format!("unknown property {}", excerpt(key))),
        }
        Ok(())
    }

    fn nodes(&self) -> Result<usize, String> {
        self.nodes.map(|n| n.1).ok_or_else(|| "|V|= must stand before this line".to_owned())
    }

    /// Parses `incl_range(0,127)` or `set(1,2,3)`.
    fn set(&self, value: &str) -> Result<Vec<bool>, String> {
        let nodes = self.nodes()?.min(MOST_NODES);
        let expected =
            || format!("\"{}\", expected incl_range(a,b) or set(a,b,..)", excerpt(value));
        let (form, list) =
            value.strip_suffix(')').and_then(|v| v.split_once('(')).ok_or_else(expected)?;
        let numbers: Vec<usize> = list
            .split(',')
            .map(str::trim)
            .filter(|n| !n.is_empty())
            .map(|n| n.parse().map_err(|_| expected()))
            .collect::<Result<_, _>>()?;
        let mut set = vec![false; nodes];
        let outside = |n: usize| format!("node {n} does not exist, |V| is {nodes}");
        match (form, numbers.as_slice()) {
            ("incl_range", &[first, last]) if last < nodes && first <= last => {
                set[first..=last].fill(true);
            }
            ("incl_range", &[first, last]) if first <= last => return Err(outside(last)),
            ("set", all) => {
                for &n in all {
                    *set.get_mut(n).ok_or_else(|| outside(n))? = true;
                }
            }
            _ => return Err(expected()),
        }
        Ok(set)
    }

    fn link(&mut self, line: usize, text: &str) -> Result<(), String> {
        let mut words = text.split_whitespace().map(str::parse);
        let (Some(Ok(a)), Some(Ok(b)), None) = (words.next(), words.next(), words.next()) else {
            return Err(format!("neither `key=value` nor `a b`: {}", excerpt(text)));
        };
        let nodes = self.nodes()?;
        let (low, high): (usize, usize) = (std::cmp::min(a, b), std::cmp::max(a, b));
        if high >= nodes {
            return Err(format!("node {high} does not exist, |V| is {nodes}"));
        }
        self.lines += 1;
        if low == high {
            return Err(format!("a link from node {low} to itself"));
        }
        let seen = self.listed.entry((low, high)).or_insert((line, [0; 2]));
        seen.1[usize::from(a > b)] += 1;
        Ok(())
    }

    fn wiring(&self, nodes: usize, options: &Options, d: &mut Diagnostics) -> Wiring<'static> {
        let is = |set: &[bool], n: usize| set.get(n).copied().unwrap_or(false);
        let switch = |n| is(&self.tors, n) || is(&self.switches, n);
        let host = |n| is(&self.servers, n) && !switch(n);
        let mut unlisted = (0..nodes).filter(|&n| !switch(n) && !host(n)).peekable();
        if let Some(&first) = unlisted.peek() {
            d.error(
                0,
                format!(
                    "{} nodes are in none of ToRs, Servers and Switches, first {first}",
                    unlisted.count()
                ),
                "they count as switches",
            );
        }
        let mut wiring = Wiring::new(options.class.clone());
        // Number among the switches; meaningless for a host.
        let mut index = vec![0; nodes];
        let any_host = (0..nodes).any(host);
        for n in (0..nodes).filter(|&n| !host(n)) {
            index[n] = wiring.names.len();
            wiring.names.push(n.to_string().into());
            let hosts = !any_host && is(&self.tors, n);
            wiring.unnamed.push(if hosts { options.hosts_per_switch } else { 0 });
        }
        let mut links: Vec<_> = self.listed.iter().collect();
        links.sort_by_key(|(_, (line, _))| *line);
        for (&(a, b), &(line, [up, down])) in links {
            if up != down {
                d.error(
                    line,
                    format!("`{a} {b}` is listed {up}x, `{b} {a}` {down}x"),
                    "a link has both directions: the larger number is taken",
                );
            }
            for _ in 0..up.max(down) {
                let named = |n: usize, switch: usize| NamedHost {
                    line,
                    name: format!("server{n}").into(),
                    switch: index[switch],
                    class: None,
                };
                match (host(a), host(b)) {
                    (false, false) => wiring.edges.push(Edge {
                        line,
                        ends: (index[a], index[b]),
                        count: 1,
                        class: None,
                    }),
                    (true, false) => wiring.hosts.push(named(a, b)),
                    (false, true) => wiring.hosts.push(named(b, a)),
                    (true, true) => {
                        d.warn(line, "a link between two servers", "it is left out");
                    }
                }
            }
        }
        wiring
    }
}
