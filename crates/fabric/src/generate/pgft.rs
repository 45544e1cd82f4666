//! Parallel-port generalized fat-trees, the family that all regular fat-trees belong to.
//!
//! PGFT(h; m1..mh; w1..wh; p1..ph) after Zahavi, "Fat-tree routing and node ordering providing
//! contention free traffic for MPI global collectives" (2012). How digits number nodes and ports is
//! documented at [`crate::Pgft`]; this file only follows it. Time and memory are linear in the cables.

use crate::{LinkClass, Pgft as PgftShape, Shape, SpecError, SwitchId, Topology, TreeShape};

use super::layout::{Layout, Size, product};
use super::{Family, Key, Params};

/// Most levels; far beyond any tree whose nodes can be counted.
const MAX_HEIGHT: usize = 15;
/// GUIDs of hosts are sixteen apart, and a port GUID is the host's plus the port.
const MAX_HOST_PORTS: u64 = 15;

/// The family `pgft`.
pub(super) struct Pgft;

impl Family for Pgft {
    fn name(&self) -> &'static str {
        "pgft"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["xgft"]
    }

    fn summary(&self) -> &'static str {
        "parallel-port generalized fat-tree of any height, or without p an XGFT"
    }

    fn doc(&self) -> &'static str {
        "A node of level l (0 are the hosts) has m_l children and w_(l+1) parents, with p_(l+1) \
         parallel cables to each. Lists run from level 1 upward and are joined by x. A switch has its \
         children on its first m_l*p_l ports and its parents behind them, parallel cables side by \
         side. With w_1*p_1 > 1 every host has an adapter of that many ports."
    }

    fn paper(&self) -> &'static str {
        "Zahavi, \"Fat-tree routing and node ordering providing contention free traffic for MPI \
         global collectives\", J. Parallel Distrib. Comput. 72, 2012; XGFT: Ohring, Ibel, Das, Kumar, \
         \"On generalized fat trees\", IPPS 1995"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("m", "children of a node by level, e.g. 18x18x4"),
                Key::required("w", "parents of a node by level, e.g. 1x18x2"),
                Key::optional("p", "parallel cables to each parent by level", "1"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "pgft:m=4x4x4,w=1x4x2,p=1x1x2"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let m = params.need_list("m", &(1..=254))?;
        if m.len() > MAX_HEIGHT {
            return Err(params.bad("m", format!("at most {MAX_HEIGHT} levels")));
        }
        let w = params.need_list("w", &(1..=254))?;
        if w.len() != m.len() {
            return Err(params.bad("w", format!("{} numbers, as many as m has", m.len())));
        }
        let p = params.per("p", &(1..=254), m.len(), 1)?;
        Tree { m, w, p }.generate(params)
    }
}

/// The three lists, index `l - 1` for level `l`.
pub(super) struct Tree {
    pub(super) m: Vec<u32>,
    pub(super) w: Vec<u32>,
    pub(super) p: Vec<u32>,
}

impl Tree {
    fn height(&self) -> usize {
        self.m.len()
    }

    /// Radix of digit `i` (from 0) of a node of level `level`.
    fn radix(&self, level: usize, i: usize) -> u32 {
        if i < level { self.w[i] } else { self.m[i] }
    }

    fn count(&self, level: usize) -> u64 {
        product(self.w[..level].iter().chain(&self.m[level..]))
    }

    fn digits(&self, level: usize, mut number: u32) -> Vec<u32> {
        (0..self.height())
            .map(|i| {
                let radix = self.radix(level, i);
                let digit = number % radix;
                number /= radix;
                digit
            })
            .collect()
    }

    fn number(&self, level: usize, digits: &[u32]) -> usize {
        (0..self.height())
            .rev()
            .fold(0, |number, i| number * self.radix(level, i) as usize + digits[i] as usize)
    }

    /// Ports towards the children of a switch of `level`, or of a host (0).
    fn down_ports(&self, level: usize) -> u32 {
        match level {
            0 => 0,
            l => self.m[l - 1] * self.p[l - 1],
        }
    }

    fn size(&self) -> Size {
        let h = self.height();
        let up = |l: usize| match l {
            l if l < h => u64::from(self.w[l]) * u64::from(self.p[l]),
            _ => 0,
        };
        let ports = |l: usize| u64::from(self.down_ports(l)) + up(l);
        let add = |sum: u64, x: u64| sum.saturating_add(x);
        Size {
            switches: (1..=h).map(|l| self.count(l)).fold(0, add),
            hosts: self.count(0),
            rails: up(0),
            ports: (1..=h).map(ports).max().unwrap_or(0),
            cables: (1..h).map(|l| self.count(l).saturating_mul(up(l))).fold(0, add),
        }
    }

    /// Names the switches of each level.
    fn level_name(&self, level: usize, number: usize) -> String {
        match (self.height(), level) {
            (1, _) => format!("sw{number:03}"),
            (_, 1) if self.height() <= 3 => format!("leaf{number:03}"),
            (2, _) => format!("spine{number:03}"),
            (3, 2) => format!("mid{number:03}"),
            (3, _) => format!("core{number:03}"),
            _ => format!("l{level}_{number:03}"),
        }
    }

    /// Wires the tree. `params` are read for the keys that all families have.
    pub(super) fn generate(self, params: &Params) -> Result<Topology, SpecError> {
        let h = self.height();
        let size = self.size();
        if size.rails > MAX_HOST_PORTS {
            return Err(SpecError::TooLarge {
                family: params.family(),
                what: "ports a host",
                count: size.rails,
                limit: MAX_HOST_PORTS,
            });
        }
        let hdr = || LinkClass::infiniband("4xHDR").unwrap_or_else(LinkClass::unknown);
        let mut layout = Layout::new(params, size, hdr(), hdr())?;

        // First switch of each level; level 0 has none.
        let mut first = vec![0];
        let (mut level, mut digits) = (Vec::new(), Vec::new());
        for l in 1..=h {
            first.push(level.len());
            for n in 0..self.count(l) as usize {
                layout.switch(l as u64, n, self.level_name(l, n + 1));
                level.push(l as u8);
                digits.extend(self.digits(l, n as u32).iter().map(|&d| d as u16));
            }
        }
        let mut ends = Vec::new();
        for l in 0..h {
            let down = self.down_ports(l);
            for n in 0..self.count(l) as u32 {
                let mut parent = self.digits(l, n);
                let child = parent[l];
                ends.clear();
                for b in 0..self.w[l] {
                    parent[l] = b;
                    let above = SwitchId::new(first[l + 1] + self.number(l + 1, &parent));
                    for k in 0..self.p[l] {
                        let port = child * self.p[l] + k + 1;
                        if l == 0 {
                            ends.push((above, port));
                        } else {
                            let below = SwitchId::new(first[l] + n as usize);
                            let up = down + b * self.p[l] + k + 1;
                            layout.cable((below, up), (above, port), layout.link)?;
                        }
                    }
                }
                if l == 0 {
                    layout.host(&ends)?;
                }
            }
        }
        layout.finish(|fabric| {
            Shape::Tree(TreeShape {
                level,
                pgft: Some(PgftShape {
                    m: self.m,
                    w: self.w,
                    p: self.p,
                    digits,
                    // Hosts are added in tree order, one adapter each.
                    index: fabric.terminals().iter().map(|t| t.adapter.0).collect(),
                }),
            })
        })
    }
}
