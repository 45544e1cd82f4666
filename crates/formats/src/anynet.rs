//! BookSim2's `network_file` of the topology `anynet`: what each router is connected to.
//!
//! ```text
//! router 0 node 0 node 1 5 router 1 15
//! node 2 router 1
//! ```
//!
//! A number behind a neighbour is the latency of the channel in cycles. Two routers have one cable, in whichever lines it is named:
//! a second line gives the latency of the other direction.
//!
//! N. Jiang et al., A Detailed and Flexible Cycle-Accurate Network-on-Chip Simulator (ISPASS'13); src/networks/anynet.cpp of BookSim2.

use std::collections::{BTreeMap, BTreeSet};
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
    name: "anynet",
    what: "a network file of BookSim2's anynet",
    summary: "network_file of BookSim2's anynet: `router 0 node 0 router 1 15`",
    known_by: &[KnownBy::Line(is_line)],
    read: Reading::Fabric(|c| read(c.text, c.path, c.options)),
    ..Format::NONE
};

/// Expected content, for errors.
const EXPECTED: &str = "a network file of BookSim2's anynet (`router 0 node 0 router 1 15`)";

/// Maximum number of a router or node; far above what BookSim2 simulates.
const MOST: u32 = 1 << 24;

fn is_line(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let mut is_one = || {
        matches!(words.next(), Some("router" | "node"))
            && words.next().is_some_and(|w| w.parse::<u32>().is_ok())
    };
    is_one() && is_one()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Router(u32),
    Node(u32),
}

/// The next place of a line, if there is one.
fn place<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Option<Place>, String> {
    let Some(kind) = words.next() else { return Ok(None) };
    let make = match kind {
        "router" => Place::Router,
        "node" => Place::Node,
        _ => return Err(format!("\"{}\", expected router or node", excerpt(kind))),
    };
    let id = words.next().and_then(|id| id.parse().ok()).filter(|id| *id <= MOST);
    id.map(|id| Some(make(id))).ok_or_else(|| format!("{kind} needs a number up to {MOST}"))
}

/// The network, with the first line of everything.
#[derive(Default)]
struct Network {
    routers: BTreeSet<u32>,
    /// By two routers, the lower one first.
    cables: BTreeMap<(u32, u32), usize>,
    /// By node, its router.
    nodes: BTreeMap<u32, (usize, u32)>,
    /// Channels with a latency, and the first line that has one.
    latencies: (usize, usize),
}

/// Reads a network. All cables are alike: latencies in cycles are not taken, which a note says.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if no line names a router.
pub fn read(
    text: &str,
    path: &Path,
    options: &Options,
) -> Result<(Topology, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut network = Network::default();
    for (number, line) in said(text) {
        if let Err(problem) = network.line(number, line) {
            d.error(number, problem, "this and what follows on the line is left out");
        }
    }
    if let (channels @ 1.., line) = network.latencies {
        d.note(line, format!("{channels} latencies in cycles are not taken"), "cables are alike");
    }
    if network.routers.is_empty() {
        return Err(ReadError::not_such(path, "no line names a router", EXPECTED, ""));
    }
    let fabric = network
        .wiring(options)
        .build(name_of(path), &mut d)
        .map_err(|e| ReadError::not_such(path, e.to_string(), EXPECTED, ""))?;
    d.0.sort_by_key(|x| x.line);
    Ok((Topology { fabric, shape: None }, d))
}

impl Network {
    /// Takes a line: a place, and those that it is connected to.
    fn line(&mut self, number: usize, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace().peekable();
        let Some(head) = place(&mut words)? else { return Ok(()) };
        self.add(head);
        while let Some(next) = place(&mut words)? {
            self.add(next);
            self.connect(number, head, next)?;
            let is_number = |w: &&str| w.starts_with(|c: char| c.is_ascii_digit());
            if let Some(cycles) = words.next_if(is_number) {
                let cycles: u32 = cycles
                    .parse()
                    .map_err(|_| format!("\"{}\" is no number of cycles", excerpt(cycles)))?;
                if cycles != 1 {
                    let (count, first) = self.latencies;
                    self.latencies = (count + 1, if count == 0 { number } else { first });
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, place: Place) {
        if let Place::Router(router) = place {
            self.routers.insert(router);
        }
    }

    fn connect(&mut self, line: usize, head: Place, next: Place) -> Result<(), String> {
        match (head, next) {
            (Place::Router(a), Place::Router(b)) if a == b => {
                return Err(format!("a cable from router {a} to itself"));
            }
            (Place::Router(a), Place::Router(b)) => {
                self.cables.entry((a.min(b), a.max(b))).or_insert(line);
            }
            (Place::Node(a), Place::Node(b)) => {
                return Err(format!("a cable between nodes {a} and {b}"));
            }
            (Place::Router(router), Place::Node(node))
            | (Place::Node(node), Place::Router(router)) => {
                let (line, first) = *self.nodes.entry(node).or_insert((line, router));
                if first != router {
                    return Err(format!(
                        "node {node} is on router {router}, and on {first} in line {line}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Routers and nodes by their numbers, cables in the order of the lines.
    fn wiring(&self, options: &Options) -> Wiring<'static> {
        let mut wiring = Wiring::new(options.class.clone());
        let mut index = BTreeMap::new();
        for &router in &self.routers {
            index.insert(router, wiring.names.len());
            wiring.names.push(format!("router{router}").into());
            wiring.unnamed.push(if self.nodes.is_empty() { options.hosts_per_switch } else { 0 });
        }
        let mut cables: Vec<_> = self.cables.iter().collect();
        cables.sort_by_key(|(_, line)| **line);
        for (&(a, b), &line) in cables {
            wiring.edges.push(Edge { line, ends: (index[&a], index[&b]), count: 1, class: None });
        }
        for (node, &(line, router)) in &self.nodes {
            let (name, switch) = (format!("node{node}").into(), index[&router]);
            wiring.hosts.push(NamedHost { line, name, switch, class: None });
        }
        wiring
    }
}
