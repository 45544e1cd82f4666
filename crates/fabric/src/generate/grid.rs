//! Lattices of switches: the part that HyperX, torus and mesh share.
//!
//! Switches are numbered with the last coordinate running fastest. A switch has its hosts on ports
//! `1..=t` and then its ports dimension by dimension, so that a port number means the same on every
//! switch.

use crate::{GridKind, GridShape, LinkClass, Shape, SpecError, SwitchId, Topology};

use super::Params;
use super::layout::{Layout, Size, product};

/// Tag of lattice switches in their GUIDs.
const TAG: u64 = 0x10;

/// Parameters of a lattice.
pub(super) struct Grid {
    pub(super) kind: GridKind,
    pub(super) dims: Vec<u32>,
    /// Hosts of a switch.
    pub(super) t: u32,
    /// Parallel cables by dimension.
    pub(super) trunk: Vec<u32>,
}

/// Reads `dims`, `t` and `trunk`.
pub(super) fn read(params: &Params, kind: GridKind) -> Result<Grid, SpecError> {
    let dims = params.need_list("dims", &(1..=65_535))?;
    if dims.len() > 24 {
        return Err(params.bad("dims", "at most 24 dimensions"));
    }
    let trunk = params.per("trunk", &(1..=254), dims.len(), 1)?;
    Ok(Grid { kind, t: params.get("t", 0..=254)?.unwrap_or(1), dims, trunk })
}

impl Grid {
    /// Ports that dimension `d` takes on every switch, used or not.
    fn ports(&self, d: usize) -> u32 {
        match self.kind {
            GridKind::HyperX => (self.dims[d] - 1) * self.trunk[d],
            GridKind::Torus | GridKind::Mesh => 2 * self.trunk[d],
        }
    }

    /// Cables of one line of dimension `d`, without `trunk`.
    fn line_cables(&self, d: usize) -> u64 {
        let n = u64::from(self.dims[d]);
        match self.kind {
            GridKind::HyperX => n * (n - 1) / 2,
            // Two switches in a ring would be joined twice; one cable is enough.
            GridKind::Torus if n > 2 => n,
            GridKind::Torus | GridKind::Mesh => n - 1,
        }
    }

    fn size(&self) -> Size {
        let switches = product(&self.dims);
        let cables = (0..self.dims.len()).map(|d| {
            let lines = switches / u64::from(self.dims[d]);
            lines.saturating_mul(self.line_cables(d) * u64::from(self.trunk[d]))
        });
        let used = |d: usize| match (self.kind, self.dims[d]) {
            (GridKind::HyperX, _) => u64::from(self.dims[d] - 1) * u64::from(self.trunk[d]),
            (_, 1) => 0,
            _ => u64::from(self.ports(d)),
        };
        Size {
            switches,
            hosts: switches.saturating_mul(self.t.into()),
            rails: 1,
            ports: u64::from(self.t) + self.last_used(used),
            cables: cables.fold(0, u64::saturating_add),
        }
    }

    /// The highest port behind the hosts' that a dimension with any cable reaches.
    fn last_used(&self, used: impl Fn(usize) -> u64) -> u64 {
        let (mut base, mut last) = (0, 0);
        for d in 0..self.dims.len() {
            if used(d) > 0 {
                last = base + used(d);
            }
            base += u64::from(self.ports(d));
        }
        last
    }

    /// Wires the lattice. `params` are read for the keys that all families have.
    pub(super) fn generate(self, params: &Params) -> Result<Topology, SpecError> {
        let hdr = || LinkClass::infiniband("4xHDR").unwrap_or_else(LinkClass::unknown);
        let size = self.size();
        let mut layout = Layout::new(params, size, hdr(), hdr())?;
        let k = self.dims.len();
        let n = size.switches as usize;

        let mut coords: Vec<u16> = Vec::with_capacity(n * k);
        let mut at = vec![0; k];
        for s in 0..n {
            layout.switch(TAG, s, name(&at));
            coords.extend(at.iter().map(|&x| x as u16));
            for d in (0..k).rev() {
                at[d] += 1;
                if at[d] < self.dims[d] {
                    break;
                }
                at[d] = 0;
            }
        }
        for s in (0..n).map(SwitchId::new) {
            for port in 1..=self.t {
                layout.host(&[(s, port)])?;
            }
        }
        let (mut base, mut stride) = (self.t + 1, n);
        for d in 0..k {
            stride /= self.dims[d] as usize;
            for s in 0..n {
                let line = Line {
                    here: u32::from(coords[s * k + d]),
                    size: self.dims[d],
                    trunk: self.trunk[d],
                };
                for (there, out, back) in line.cables(self.kind) {
                    let o = s - line.here as usize * stride + there as usize * stride;
                    for c in 0..line.trunk {
                        let a = (SwitchId::new(s), base + out + c);
                        let b = (SwitchId::new(o), base + back + c);
                        layout.cable(a, b, layout.link)?;
                    }
                }
            }
            base += self.ports(d);
        }
        layout.finish(|_| {
            Shape::Grid(GridShape {
                kind: self.kind,
                dims: self.dims.iter().map(|&x| x as u16).collect(),
                coords,
            })
        })
    }
}

/// A place on a line.
struct Line {
    here: u32,
    size: u32,
    trunk: u32,
}

impl Line {
    /// The cables that this place is the first end of: other end, first port here and there, counted
    /// from the dimension's first port.
    fn cables(&self, kind: GridKind) -> Vec<(u32, u32, u32)> {
        let (x, n, t) = (self.here, self.size, self.trunk);
        match kind {
            // The port towards coordinate y skips the own coordinate.
            GridKind::HyperX => (x + 1..n).map(|y| (y, (y - 1) * t, x * t)).collect(),
            GridKind::Torus if x + 1 == n && n > 2 => vec![(0, 0, t)],
            GridKind::Torus | GridKind::Mesh if x + 1 < n => vec![(x + 1, 0, t)],
            GridKind::Torus | GridKind::Mesh => Vec::new(),
        }
    }
}

fn name(at: &[u32]) -> String {
    let at: Vec<String> = at.iter().map(|x| format!("{x:02}")).collect();
    format!("sw{}", at.join("_"))
}
