//! Dimension order on tori and meshes, with datelines.

use std::collections::BTreeSet;

use darkfiber_fabric::{Fabric, GridKind, GridShape, Shape, SwitchId};

use super::balance::{FirstCriterion, balance};
use super::cuts::{Cuts, by_parity};
use super::dag::{Dag, FAR, require_routable};
use super::order::spread;
use super::rules::{EVERY, TurnRule, assign_by_rule};
use crate::{Deadlock, Engine, FabricRequirement, Refusal, Request, Routes};

/// The engine `torus`; see [`Engine::doc`].
pub(crate) struct Torus;

impl Engine for Torus {
    fn name(&self) -> &'static str {
        "torus"
    }

    fn summary(&self) -> &'static str {
        "torus or mesh: dimension order, balanced, free of deadlock with few lanes"
    }

    fn doc(&self) -> &'static str {
        "Every path corrects one coordinate after the other, in the order of the dimensions, the \
         shorter way round each ring. Half round a ring of a multiple of four, paths from even \
         coordinates go up and those from odd ones down, which loads all channels alike; in other even \
         rings, and among parallel cables, the load decides, as in sssp.\n\n\
         A path keeps one lane from end to end. A lane cuts every ring at one switch in each direction, \
         where none of its paths goes straight on, so it can have no cycle; a path takes a lane whose \
         cuts it does not pass, and paths are spread evenly over those that they may take. As few \
         lanes are used as a search for places of the cuts finds, 2^k at most for k dimensions: 1 for \
         4x4x4, 3 for 8x8, 4 for 8x8x8, 5 for 6x6x6, 8 for 16x16x16; a mesh needs one.\n\n\
         A ring that lacks a cable or switch is passed the other way round; it has no cycle left and \
         needs no cut. Paths to or over a part of a line that this does not reach (the turn of the \
         path has failed, or the line is in pieces) take any shortest way, in lanes of their own where \
         they break the rule.\n\n\
         A HyperX whose dimensions have at most three switches is a torus, too: a 4x4x4 torus is a hypercube of \
         six dimensions.\n\n\
         Complexity: as sssp, plus a search for the cuts in milliseconds."
    }

    fn paper(&self) -> &'static str {
        "Dally, Seitz: Deadlock-Free Message Routing in Multiprocessor Interconnection Networks, IEEE \
         Trans. Computers C-36(5), 1987; OpenSM, doc/current-routing.txt, \"Torus-2QoS\""
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Torus
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let wrong = |reason: &str| Refusal::wrong_fabric(self, reason);
        let grid = match request.shape.filter(|shape| shape.fits(fabric)) {
            Some(Shape::Grid(grid)) if is_torus(grid) => grid,
            Some(_) => return Err(wrong("this fabric is none")),
            None => return Err(wrong("the coordinates are not known")),
        };
        let places: BTreeSet<&[u16]> =
            (0..fabric.switch_count()).map(|s| grid.at(SwitchId::new(s))).collect();
        if places.len() < fabric.switch_count() {
            return Err(wrong("two switches have the same coordinates"));
        }
        let grid = match grid.kind {
            GridKind::HyperX => &GridShape { kind: GridKind::Torus, ..grid.clone() },
            GridKind::Torus | GridKind::Mesh => grid,
        };
        let lattice = Lattice::new(fabric, grid);
        let cuts = Cuts::find(&lattice.whole_rings()).map_err(|needed| Refusal::Lanes {
            engine: self.name(),
            needed,
            lanes: request.lanes,
            hint: "use updn, which needs one",
        })?;
        let mut routes = Routes::empty(self.name(), fabric, request.paths());
        let _ =
            balance(fabric, &mut routes, FirstCriterion::Load, |dag, home| lattice.grow(dag, home));
        let rule = Datelines { lattice: &lattice, cuts: &cuts };
        assign_by_rule(self.name(), fabric, &mut routes, request, &rule)?;
        Ok(routes)
    }
}

/// Whether the lines of a lattice are rings or chains. Complete graphs of two and three switches are both, so that a
/// hypercube of six dimensions, which is how a 4x4x4 torus is recognised, is one.
fn is_torus(grid: &GridShape) -> bool {
    grid.kind != GridKind::HyperX || grid.dims.iter().all(|&size| size <= 3)
}

/// A direction of a channel: dimension, and whether its coordinate rises.
type Direction = (u8, bool);

/// A channel that does not join neighbours of a line.
const ODD: Direction = (u8::MAX, false);
/// As far as one likes: the whole ring is there.
const WHOLE: u32 = u32::MAX;

/// A torus or mesh with its faults.
struct Lattice<'a> {
    fabric: &'a Fabric,
    grid: &'a GridShape,
    /// Sizes of the dimensions whose lines are rings, 0 for the others.
    rings: Vec<u32>,
    direction: Vec<Direction>,
    /// Number of hops that a path can continue from a switch in each direction of its lines before a gap:
    /// `reach[(d * switches + s) * 2 + rising]`.
    reach: Vec<u32>,
}

impl<'a> Lattice<'a> {
    fn new(fabric: &'a Fabric, grid: &'a GridShape) -> Self {
        let n = fabric.switch_count();
        let rings: Vec<u32> = grid
            .dims
            .iter()
            .map(|&size| if grid.kind == GridKind::Torus && size > 2 { size.into() } else { 0 })
            .collect();
        let direction = (0..fabric.channel_count())
            .map(|c| {
                let (s, v) = (SwitchId(fabric.tails()[c]), SwitchId(fabric.heads()[c]));
                let (a, b) = (grid.at(s), grid.at(v));
                let mut changed = (0..a.len()).filter(|&d| a[d] != b[d]);
                let (Some(d), None) = (changed.next(), changed.next()) else { return ODD };
                let (x, y) = (u32::from(a[d]), u32::from(b[d]));
                let next = |x: u32| if x + 1 == rings[d] { 0 } else { x + 1 };
                match (next(x) == y, next(y) == x) {
                    (true, _) => (d as u8, true),
                    (_, true) => (d as u8, false),
                    _ => ODD,
                }
            })
            .collect();
        let mut lattice =
            Self { fabric, grid, rings, direction, reach: vec![WHOLE; grid.dims.len() * n * 2] };
        for d in 0..grid.dims.len() {
            lattice.find_gaps(d);
        }
        lattice
    }

    fn neighbour(&self, s: usize, direction: Direction) -> Option<usize> {
        let mut channels = self.fabric.channels_from(SwitchId::new(s));
        channels.find(|&c| self.direction[c] == direction).map(|c| self.fabric.heads()[c] as usize)
    }

    /// Reaches within the pieces of the broken lines of a dimension.
    fn find_gaps(&mut self, d: usize) {
        let n = self.fabric.switch_count();
        let first = |&s: &usize| self.neighbour(s, (d as u8, false)).is_none();
        for start in (0..n).filter(first).collect::<Vec<_>>() {
            let mut piece = vec![start];
            let mut end = start;
            while let Some(next) = self.neighbour(end, (d as u8, true)) {
                piece.push(next);
                end = next;
            }
            for (i, &s) in piece.iter().enumerate() {
                self.reach[(d * n + s) * 2] = i as u32;
                self.reach[(d * n + s) * 2 + 1] = (piece.len() - 1 - i) as u32;
            }
        }
    }

    /// Sizes of the dimensions of which a ring is whole, 0 for the others: what is broken has no cycle to cut.
    fn whole_rings(&self) -> Vec<u32> {
        let is_whole =
            |d: usize, s: usize| [false, true].iter().any(|&up| self.reach(d, s, up) == WHOLE);
        let has_whole = |d| (0..self.fabric.switch_count()).any(|s| is_whole(d, s));
        (0..).zip(&self.rings).map(|(d, &size)| if has_whole(d) { size } else { 0 }).collect()
    }

    #[inline]
    fn reach(&self, d: usize, s: usize, rising: bool) -> u32 {
        self.reach[(d * self.fabric.switch_count() + s) * 2 + usize::from(rising)]
    }

    /// Whether a switch sends on channel `c` towards `dest`: along the first dimension in which it
    /// differs, in the shorter direction, or in the only one that is left.
    fn may_send(&self, c: usize, dest: SwitchId) -> bool {
        let s = self.fabric.tails()[c] as usize;
        let (from, to) = (self.grid.at(SwitchId::new(s)), self.grid.at(dest));
        let Some(d) = from.iter().zip(to).position(|(x, y)| x != y) else { return false };
        let (dimension, rising) = self.direction[c];
        if usize::from(dimension) != d {
            return false;
        }
        let (x, y, size) = (u32::from(from[d]), u32::from(to[d]), self.rings[d]);
        let hops = |rising: bool| match (rising, x < y) {
            (true, true) => y - x,
            (true, false) => (size + y).checked_sub(x).unwrap_or(FAR),
            (false, true) => (size + x).checked_sub(y).unwrap_or(FAR),
            (false, false) => x - y,
        };
        if self.reach(d, s, rising) != WHOLE {
            return (size > 0 || rising == (x < y)) && hops(rising) <= self.reach(d, s, rising);
        }
        let (this, other) = (hops(rising), hops(!rising));
        this < other || this == other && (!by_parity(size) || rising == x.is_multiple_of(2))
    }

    /// The candidates towards `dest`; switches that dimension order does not lead there are strays.
    fn grow(&self, dag: &mut Dag, dest: SwitchId) {
        let (fabric, n) = (self.fabric, self.fabric.switch_count());
        dag.clear(n);
        dag.dist[dest.index()] = 0;
        dag.order.push(dest.0);
        let mut next = 0;
        while next < dag.order.len() {
            let v = dag.order[next];
            next += 1;
            for back in fabric.channels_from(SwitchId(v)) {
                let s = fabric.heads()[back] as usize;
                if dag.dist[s] == FAR && self.may_send(fabric.reverses()[back] as usize, dest) {
                    dag.dist[s] = dag.dist[v as usize] + 1;
                    dag.order.push(s as u32);
                }
            }
        }
        dag.legal = dag.order.len();
        let mut stray = vec![true; n];
        for &s in &dag.order {
            stray[s as usize] = false;
        }
        spread(fabric, dag, |_| true);
        dag.collect(fabric, |c, s, v| stray[s] || !stray[v] && self.may_send(c, dest));
    }
}

/// Layers that cut every whole ring.
struct Datelines<'a> {
    lattice: &'a Lattice<'a>,
    cuts: &'a Cuts,
}

impl TurnRule for Datelines<'_> {
    fn layers(&self) -> usize {
        self.cuts.layers
    }

    fn hop(&self, c: u32) -> u32 {
        if self.lattice.direction[c as usize] == ODD { EVERY } else { 0 }
    }

    fn turn(&self, c: u32, next: u32) -> u32 {
        let ((a, rising), (b, on)) =
            (self.lattice.direction[c as usize], self.lattice.direction[next as usize]);
        if a < b {
            return 0;
        }
        if a > b || rising != on {
            return EVERY;
        }
        let (d, v) = (usize::from(a), self.lattice.fabric.heads()[c as usize] as usize);
        if self.lattice.reach(d, v, rising) != WHOLE || self.lattice.rings[d] == 0 {
            return 0;
        }
        let x = self.lattice.grid.at(SwitchId::new(v))[d];
        self.cuts.at(d, x.into(), rising)
    }

    fn even(&self) -> bool {
        true
    }
}
