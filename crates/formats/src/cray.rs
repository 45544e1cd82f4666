//! Link lists of Cray XC machines (Aries): one line a tile.
//!
//! ```text
//! c0-0c0s0a0l00(0:0:0) green -> c0-0c0s6a0l10(0:0:6)
//! c0-0c0s0a0l04(0:0:0) blue -> unused
//! c0-0c0s0a0l50(0:0:0) ptile -> processor
//! ```
//!
//! A line begins with the router, the tile `l<row><column>` and the router's coordinates (group, chassis,
//! slot). Green cables join the routers of a chassis, black ones those of a slot, blue ones groups; every
//! cable is listed from both ends. Tile `l<row><column>` is port `8 row + column + 1` of the 48.
//!
//! The list states which tiles lead to processors but not to which: an Aries has four network interfaces
//! (Faanes et al., "Cray Cascade: a scalable HPC system based on a dragonfly network", SC'12) and eight
//! processor tiles, so two neighbouring tiles are one node here, with its cable at the first of them. A
//! node has the name that Cray gives it: `c0-0c0s0n1` is the second one of blade `c0-0c0s0`. Speeds are
//! those of the family `cascade`, as the list has none.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use darkfiber_fabric::{
    DragonflyShape, Fabric, FabricBuilder, GroupKind, LinkClass, Shape, Switch, SwitchId, Topology,
};

use crate::diagnostic::excerpt;
use crate::format::{Format, Reading};
use crate::input::name_of;
use crate::known_by::KnownBy;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "cray",
    what: "a link list of a Cray XC",
    summary: "link list of a Cray XC: `c0-0c0s0a0l00(0:0:0) green -> ...`",
    known_by: &[KnownBy::Line(|l| parse(l).is_some())],
    read: Reading::Fabric(|c| read(c.text, c.path)),
    ..Format::NONE
};

/// Tiles of an Aries, 6 rows of 8.
const TILES: u8 = 48;
/// Tiles of a row.
const COLUMNS: u8 = 8;
/// Processor tiles of a node.
const TILES_OF_NODE: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    Green,
    Black,
    Blue,
}

/// Coordinates of group, chassis and slot.
type Coordinates = [u32; 3];

/// One end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CrayEnd<'a> {
    router: &'a str,
    port: u8,
    at: Coordinates,
}

enum Line<'a> {
    Cable(CrayEnd<'a>, Colour, CrayEnd<'a>),
    Unused(CrayEnd<'a>),
    Processor(CrayEnd<'a>),
}

fn end(word: &str) -> Option<CrayEnd<'_>> {
    let (place, at) = word.strip_suffix(')')?.split_once('(')?;
    let (router, tile) = place.rsplit_once('l')?;
    let &[row @ b'0'..=b'5', column @ b'0'..=b'7'] = tile.as_bytes() else { return None };
    let mut numbers = at.split(':').map(|n| n.parse().ok());
    let at = [numbers.next()??, numbers.next()??, numbers.next()??];
    let whole = numbers.next().is_none() && !router.is_empty();
    whole.then_some(CrayEnd { router, port: COLUMNS * (row - b'0') + (column - b'0') + 1, at })
}

fn parse(line: &str) -> Option<Line<'_>> {
    let mut words = line.split_whitespace();
    let near = end(words.next()?)?;
    let kind = words.next()?;
    let far = (words.next()? == "->").then(|| words.next())??;
    if words.next().is_some() {
        return None;
    }
    let colour = match (kind, far) {
        ("ptile", "processor") => return Some(Line::Processor(near)),
        (_, "unused") => return Some(Line::Unused(near)),
        ("green", _) => Colour::Green,
        ("black", _) => Colour::Black,
        ("blue", _) => Colour::Blue,
        _ => return None,
    };
    Some(Line::Cable(near, colour, end(far)?))
}

/// Reads a link list. The shape is a dragonfly of grids if the cables are as the coordinates say.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if no line is of such a list.
pub fn read(text: &str, path: &Path) -> Result<(Topology, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut list = List::default();
    let mut lines = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        match parse(line) {
            Some(line) => {
                // Routers are numbered in the order in which lines begin with them.
                let (Line::Cable(near, ..) | Line::Unused(near) | Line::Processor(near)) = line;
                lines.push((i + 1, line, list.port(i + 1, &near, &mut d)));
            }
            None => d.warn(
                i + 1,
                format!("not a tile: {}", excerpt(line)),
                "expected `router(g:c:s) colour -> router(g:c:s)`; the line is left out",
            ),
        }
    }
    for (number, line, near) in &lines {
        list.add(*number, line, *near, &mut d);
    }
    if list.names.is_empty() {
        return Err(ReadError::wrong_format(path, "no line is of a tile", FORMAT.what));
    }
    let fabric = list
        .build(name_of(path), &mut d)
        .map_err(|e| ReadError::not_such(path, e.to_string(), FORMAT.what, ""))?;
    let shape = list.shape(&mut d);
    d.0.sort_by_key(|x| if x.line == 0 { usize::MAX } else { x.line });
    Ok((Topology { fabric, shape }, d))
}

/// A router and its port.
type Port = (usize, u8);

struct Half {
    line: usize,
    colour: Colour,
    far: Port,
}

#[derive(Default)]
struct List<'a> {
    names: Vec<&'a str>,
    at: Vec<Coordinates>,
    index: HashMap<&'a str, usize>,
    /// Cables by the end that a line begins with.
    halves: BTreeMap<Port, Half>,
    /// Ports that have a line.
    listed: BTreeSet<Port>,
    /// Processor tiles of each router.
    processors: Vec<Vec<u8>>,
}

impl<'a> List<'a> {
    fn port(&mut self, line: usize, end: &CrayEnd<'a>, d: &mut Diagnostics) -> Port {
        let s = *self.index.entry(end.router).or_insert_with(|| {
            self.names.push(end.router);
            self.at.push(end.at);
            self.processors.push(Vec::new());
            self.names.len() - 1
        });
        if self.at[s] != end.at {
            let ([g, c, r], [h, e, t]) = (self.at[s], end.at);
            d.error(
                line,
                format!("router \"{}\" is at {h}:{e}:{t}, but at {g}:{c}:{r} before", end.router),
                "the first is taken",
            );
        }
        (s, end.port)
    }

    fn add(&mut self, line: usize, parsed: &Line<'a>, near: Port, d: &mut Diagnostics) {
        if !self.listed.insert(near) {
            d.error(
                line,
                format!("a second line for port {} of \"{}\"", near.1, self.names[near.0]),
                "it is left out",
            );
            return;
        }
        match parsed {
            Line::Cable(_, colour, far) => {
                let far = self.port(line, far, d);
                self.halves.insert(near, Half { line, colour: *colour, far });
            }
            Line::Processor(_) => self.processors[near.0].push(near.1),
            Line::Unused(_) => {}
        }
    }

    fn build(
        &self,
        name: String,
        d: &mut Diagnostics,
    ) -> Result<Fabric, darkfiber_fabric::BuildError> {
        let mut b = FabricBuilder::new(name);
        for &name in &self.names {
            b.add_switch(Switch { ports: TILES, description: name.into(), ..Switch::default() });
        }
        let local = b.class(LinkClass::other("aries-local", 5_250_000_000));
        let nic = b.class(LinkClass::other("aries-nic", 10_200_000_000));
        let global = b.class(LinkClass::other("aries-global", 4_700_000_000));
        for (s, tiles) in self.processors.iter().enumerate() {
            let mut tiles = tiles.clone();
            tiles.sort_unstable();
            if tiles.len() % TILES_OF_NODE != 0 {
                d.warn(
                    0,
                    format!(
                        "router \"{}\" has an odd number of processor tiles: {}",
                        self.names[s],
                        tiles.len()
                    ),
                    "a node has two; the last one counts as a node, too",
                );
            }
            for (k, node) in tiles.chunks(TILES_OF_NODE).enumerate() {
                b.add_host_on(SwitchId::new(s), node[0], &node_name(self.names[s], k), nic)?;
            }
        }
        for (&near, half) in &self.halves {
            let back = self.halves.get(&half.far);
            match back {
                Some(back) if back.far == near && half.far < near => {
                    // Made from its other end.
                    if back.colour != half.colour {
                        d.error(half.line, "the ends of a cable differ in colour", "one is taken");
                    }
                    continue;
                }
                Some(back) if back.far == near => {}
                _ => d.error(
                    half.line,
                    format!(
                        "port {} of \"{}\" leads to port {} of \"{}\", but not back",
                        near.1, self.names[near.0], half.far.1, self.names[half.far.0]
                    ),
                    "the cable is taken if both ports are free",
                ),
            }
            let class = if half.colour == Colour::Blue { global } else { local };
            let ends = [near, half.far].map(|(s, port)| (SwitchId::new(s), port));
            if ends[0] == ends[1] || ends.iter().any(|&(s, port)| b.is_taken(s, port)) {
                continue;
            }
            b.link_switches(ends[0], ends[1], class)?;
        }
        b.finish()
    }

    /// A dragonfly of grids, if coordinates are unique and every cable has the colour that the coordinates of its
    /// ends imply.
    fn shape(&self, d: &mut Diagnostics) -> Option<Shape> {
        let size = |i: usize| self.at.iter().map(|at| u64::from(at[i]) + 1).max().unwrap_or(0);
        let (rows, columns) = (size(1), size(2));
        let mut sorted = self.at.clone();
        sorted.sort_unstable();
        let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]);
        let odd = self.halves.iter().find(|(near, half)| {
            let ([g, c, r], [h, e, t]) = (self.at[near.0], self.at[half.far.0]);
            match half.colour {
                Colour::Green => (g, c) != (h, e),
                Colour::Black => (g, r) != (h, t),
                Colour::Blue => g == h,
            }
        });
        let dense = u32::try_from(rows * columns).is_ok();
        if let Some((_, half)) = odd {
            d.warn(
                half.line,
                "a cable of this colour cannot join routers at these coordinates",
                "the fabric is read without a shape",
            );
        } else if let Some([[g, c, r], _]) = twice {
            d.warn(
                0,
                format!("two routers are at {g}:{c}:{r}"),
                "the fabric is read without a shape",
            );
        }
        // A machine without a pair of cabinets has no group of that number: those that it has count.
        let groups: BTreeSet<u32> = self.at.iter().map(|at| at[0]).collect();
        let number: HashMap<u32, u32> = groups.iter().copied().zip(0..).collect();
        let absent = groups.last().map_or(0..0, |last| 0..*last);
        let absent: Option<u32> = absent.into_iter().find(|g| !groups.contains(g));
        if let Some(first) = absent {
            d.note(
                0,
                format!("there are {} groups, and none of number {first}", groups.len()),
                "a pair of cabinets that is not there; groups are counted without it",
            );
        }
        (odd.is_none() && twice.is_none() && dense).then(|| {
            Shape::Dragonfly(DragonflyShape {
                group: self.at.iter().map(|at| number[&at[0]]).collect(),
                member: self.at.iter().map(|at| at[1] * columns as u32 + at[2]).collect(),
                inside: GroupKind::Grid { rows: rows as u32, columns: columns as u32 },
            })
        })
    }
}

/// The node behind interface `k` of a router: of blade `c0-0c0s0`, whose router is `c0-0c0s0a0`.
fn node_name(router: &str, k: usize) -> String {
    let blade = router.rsplit_once('a').filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()));
    format!("{}n{k}", blade.map_or(router, |(blade, _)| blade))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_ports() {
        let port = |tile: &str| end(&format!("c1-0c2s15a0l{tile}(0:5:15)")).map(|e| e.port);
        assert_eq!(port("00"), Some(1));
        assert_eq!(port("10"), Some(9));
        assert_eq!(port("57"), Some(48));
        for bad in ["60", "08", "0", "000", ""] {
            assert_eq!(port(bad), None, "{bad}");
        }
        assert_eq!(end("c1-0c2s15a0l00(0:5)"), None);
        assert_eq!(end("c1-0c2s15a0l00(0:5:1:2)"), None);
    }

    #[test]
    fn nodes_are_named_after_their_blade() {
        assert_eq!(node_name("c0-0c0s0a0", 3), "c0-0c0s0n3");
        assert_eq!(node_name("router", 0), "routern0");
    }
}
