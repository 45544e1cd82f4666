//! Ports of a lattice, by dimension and coordinate.

use darkfiber_fabric::{Fabric, GridKind, GridShape, SwitchId};

use super::SwitchView;

/// Peers of the ports of each switch of a whole lattice.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    grid: &'a GridShape,
    /// By switch, dimension and coordinate, the first of `ports` there; and their number.
    first: Vec<u32>,
    ports: Vec<u8>,
    /// Start of each dimension, and the number of entries per switch.
    begin: Vec<usize>,
    stride: usize,
    /// By place, the switch there.
    switches: Vec<u32>,
    /// From a place to the next one of each dimension.
    steps: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// The lines of a grid; none if a switch or a cable is missing, or one is where a lattice has none.
    pub fn new(fabric: &Fabric, grid: &'a GridShape) -> Option<Self> {
        let n = fabric.switch_count();
        let (mut begin, mut steps) = (Vec::new(), Vec::new());
        let (mut stride, mut places) = (0, 1);
        for &size in &grid.dims {
            begin.push(stride);
            steps.push(places);
            stride += usize::from(size);
            places *= usize::from(size);
        }
        let mut lines = Self {
            grid,
            first: Vec::with_capacity(n * stride + 1),
            ports: Vec::new(),
            begin,
            stride,
            switches: vec![u32::MAX; places],
            steps,
        };
        // By entry of a switch, its ports there.
        let mut there = vec![Vec::new(); stride];
        for s in (0..n).map(SwitchId::new) {
            let a = grid.at(s);
            let place = lines.place(a);
            lines.switches[place] = s.0;
            there.iter_mut().for_each(Vec::clear);
            for (i, c) in fabric.channels_from(s).enumerate() {
                let b = grid.at(SwitchId(fabric.heads()[c]));
                let mut differ = (0..a.len()).filter(|&d| a[d] != b[d]);
                let (Some(d), None) = (differ.next(), differ.next()) else { return None };
                there[lines.begin[d] + usize::from(b[d])].push(i as u8);
            }
            for (d, &size) in grid.dims.iter().enumerate() {
                for b in 0..size {
                    let ports = &there[lines.begin[d] + usize::from(b)];
                    if ports.is_empty() == neighbours(grid.kind, size, a[d], b) {
                        return None;
                    }
                    lines.first.push(lines.ports.len() as u32);
                    lines.ports.extend(ports);
                }
            }
        }
        lines.first.push(lines.ports.len() as u32);
        (n == places).then_some(lines)
    }

    /// Topology of the lines.
    pub fn kind(&self) -> GridKind {
        self.grid.kind
    }

    /// Size of each dimension.
    pub fn dims(&self) -> &[u16] {
        &self.grid.dims
    }

    /// Dimensions in which switches differ at all.
    pub(super) fn wide(&self) -> u8 {
        self.dims().iter().filter(|&&size| size > 1).count() as u8
    }

    /// The coordinates of a switch.
    #[inline]
    pub fn at(&self, s: u32) -> &'a [u16] {
        self.grid.at(SwitchId(s))
    }

    /// A number for coordinates: those of neighbours in a dimension are a step of it apart.
    #[inline]
    pub(super) fn place(&self, at: &[u16]) -> usize {
        at.iter().zip(&self.steps).map(|(&x, step)| usize::from(x) * step).sum()
    }

    /// See [`Lines::place`].
    #[inline]
    pub(super) fn step(&self, d: usize) -> usize {
        self.steps[d]
    }

    /// The switch at a place.
    #[inline]
    pub(super) fn switch(&self, place: usize) -> u32 {
        self.switches[place]
    }

    /// A port to a coordinate in a dimension: of parallel ones, any.
    #[inline]
    pub(super) fn port(&self, here: &mut SwitchView<'_>, d: usize, to: u16) -> u32 {
        let entry = here.switch as usize * self.stride + self.begin[d] + usize::from(to);
        let (first, behind) = (self.first[entry], self.first[entry + 1]);
        let more = if behind - first > 1 { here.random.below(behind - first) } else { 0 };
        u32::from(self.ports[(first + more) as usize])
    }
}

/// The first dimension in which coordinates differ.
#[inline]
pub(super) fn first_open(at: &[u16], to: &[u16]) -> Option<usize> {
    (0..at.len()).find(|&d| at[d] != to[d])
}

/// Dimensions in which coordinates differ: on a HyperX, the channels of a shortest path.
#[inline]
pub(super) fn open(at: &[u16], to: &[u16]) -> u64 {
    (0..at.len()).filter(|&d| at[d] != to[d]).count() as u64
}

/// Whether two coordinates of a line are joined.
fn neighbours(kind: GridKind, size: u16, a: u16, b: u16) -> bool {
    let apart = a.abs_diff(b);
    match kind {
        GridKind::HyperX => apart > 0,
        GridKind::Torus => apart == 1 || (size > 2 && apart == size - 1),
        GridKind::Mesh => apart == 1,
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{Shape, open};

    use super::*;
    use crate::{Net, Random, preset};

    #[test]
    fn ports_lead_where_they_should() {
        for fabric in
            ["hyperx:dims=4x3x2,t=1,trunk=2x1x3", "torus:dims=5x2x3,t=2", "mesh:dims=3x4,t=1"]
        {
            let topology = open(fabric).expect("a fabric");
            let Some(Shape::Grid(grid)) = &topology.shape else { panic!("{fabric} is a grid") };
            let lines = Lines::new(&topology.fabric, grid).expect("it is whole");
            let micro = preset("qdr").expect("a preset").micro();
            let net = Net::new(&topology.fabric, &micro);
            let mut random = Random::new(1, 0);
            for s in 0..net.switch_count() as u32 {
                let at = lines.at(s);
                assert_eq!(lines.switch(lines.place(at)), s);
                for (d, &size) in lines.dims().iter().enumerate() {
                    for b in (0..size).filter(|&b| neighbours(grid.kind, size, at[d], b)) {
                        let board = crate::QueueBoard::default();
                        let mut here = SwitchView::new(&net, (s, 0), 1, &[], &mut random, &board);
                        let next =
                            net.next(net.base(s) + lines.port(&mut here, d, b)).expect("a switch");
                        let mut should = at.to_vec();
                        should[d] = b;
                        assert_eq!(lines.at(next), should);
                        let place = lines.place(at) + usize::from(b) * lines.step(d);
                        assert_eq!(lines.switch(place - usize::from(at[d]) * lines.step(d)), next);
                    }
                }
            }
        }
    }

    #[test]
    fn a_cable_that_is_missing_is_missed() {
        let topology = open("hyperx:dims=4x3,t=1").expect("a fabric");
        let Some(Shape::Grid(grid)) = &topology.shape else { panic!("a grid") };
        let other = open("torus:dims=4x3,t=1").expect("a fabric");
        assert!(Lines::new(&topology.fabric, grid).is_some());
        assert!(Lines::new(&other.fabric, grid).is_none());
    }
}
