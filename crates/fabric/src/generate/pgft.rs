//! Parallel-port generalized fat-trees, the family that all regular fat-trees belong to.
//!
//! PGFT(h; m1..mh; w1..wh; p1..ph) after Zahavi, "Fat-tree routing and node ordering providing
//! contention free traffic for MPI global collectives" (2012). How digits number nodes and ports is
//! documented at [`crate::Pgft`]; this file only follows it. Time and memory are linear in the cables.

use crate::{LinkClass, Pgft as PgftShape, Shape, SpecError, SwitchId, Topology, TreeShape};

use super::layout::{Layout, Size, product};
use super::{Family, Key, Params};

/// Maximum number of levels; far beyond any tree whose nodes can be counted.
const MAX_HEIGHT: usize = 15;
/// GUIDs of hosts are sixteen apart, and a port GUID is the host's plus the port.
const MAX_HOST_PORTS: u64 = 15;

/// Generator of the family `pgft`.
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

    /// The level-0 node that is NIC `i % nics` of host `i / nics`: the hosts of a leaf have the leaf's
    /// other neighbours within a group of `nics` leaves for their other NICs.
    fn nic(&self, i: usize, nics: usize) -> usize {
        let (host, m) = (i / nics, self.m[0] as usize);
        (host / m * nics + i % nics) * m + host % m
    }

    /// Upper ends of the up cables of node `n` of level `l`, parallel ones adjacent by parent; `first` are the first
    /// switches of the levels.
    fn parents(&self, first: &[usize], l: usize, n: usize) -> Vec<(SwitchId, u32)> {
        let mut parent = self.digits(l, n as u32);
        let child = parent[l];
        let mut ends = Vec::with_capacity((self.w[l] * self.p[l]) as usize);
        for b in 0..self.w[l] {
            parent[l] = b;
            let above = SwitchId::new(first[l + 1] + self.number(l + 1, &parent));
            ends.extend((0..self.p[l]).map(|k| (above, child * self.p[l] + k + 1)));
        }
        ends
    }

    fn size(&self, nics: u64) -> Size {
        let h = self.height();
        let up = |l: usize| match l {
            l if l < h => u64::from(self.w[l]) * u64::from(self.p[l]),
            _ => 0,
        };
        let ports = |l: usize| u64::from(self.down_ports(l)) + up(l);
        let add = |sum: u64, x: u64| sum.saturating_add(x);
        Size {
            switches: (1..=h).map(|l| self.count(l)).fold(0, add),
            hosts: self.count(0) / nics,
            rails: up(0).saturating_mul(nics),
            ports: (1..=h).map(ports).max().unwrap_or(0),
            cables: (1..h).map(|l| self.count(l).saturating_mul(up(l))).fold(0, add),
        }
    }

    /// Names the switches of each level; those of level 1 by unit and rail if hosts have several NICs.
    fn level_name(&self, level: usize, number: usize, nics: usize) -> String {
        match (self.height(), level) {
            (_, 1) if nics > 1 => {
                format!("su{:02}-rail{}", (number - 1) / nics + 1, (number - 1) % nics + 1)
            }
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
        self.railed(params, 1)
    }

    /// Wires a tree whose level-0 nodes are the NICs of hosts that have `nics` of them, each on a different one of
    /// `nics` neighbouring leaves (rails). For more than one, leaves have to come in such groups, and w_1 p_1 has to
    /// be 1.
    pub(super) fn railed(self, params: &Params, nics: u32) -> Result<Topology, SpecError> {
        let h = self.height();
        let size = self.size(nics.into());
        let ports = u64::from(self.w[0]) * u64::from(self.p[0]);
        if ports > MAX_HOST_PORTS {
            return Err(SpecError::TooLarge {
                family: params.family(),
                what: "ports a host",
                count: ports,
                limit: MAX_HOST_PORTS,
            });
        }
        let hdr = || LinkClass::infiniband("4xHDR").unwrap_or_else(LinkClass::unknown);
        let mut layout = Layout::new(params, size, hdr(), hdr())?;
        let nics = nics as usize;

        // First switch of each level; level 0 has none.
        let mut first = vec![0];
        let (mut level, mut digits) = (Vec::new(), Vec::new());
        for l in 1..=h {
            first.push(level.len());
            for n in 0..self.count(l) as usize {
                layout.switch(l as u64, n, self.level_name(l, n + 1, nics));
                level.push(l as u8);
                digits.extend(self.digits(l, n as u32).iter().map(|&d| d as u16));
            }
        }
        for host in 0..size.hosts as usize {
            let own = (host * nics..(host + 1) * nics).map(|i| self.nic(i, nics));
            let ends: Vec<_> = own.flat_map(|n| self.parents(&first, 0, n)).collect();
            if ports == 1 { layout.railed_host(&ends)? } else { layout.host(&ends)? }
        }
        for l in 1..h {
            for n in 0..self.count(l) as usize {
                let below = SwitchId::new(first[l] + n);
                for (port, above) in (self.down_ports(l) + 1..).zip(self.parents(&first, l, n)) {
                    layout.cable((below, port), above, layout.link)?;
                }
            }
        }
        layout.finish(|fabric| {
            // Hosts are added in order, with their adapters in order.
            let index = fabric
                .terminals()
                .iter()
                .map(|t| self.nic(t.adapter.index(), nics) as u32)
                .collect();
            Shape::Tree(TreeShape {
                level,
                pgft: Some(PgftShape { m: self.m, w: self.w, p: self.p, digits, index }),
            })
        })
    }
}
