//! Shared parts of Jellyfish and Xpander: a seeded generator, joining of components, and the wiring.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::{ExpanderShape, LinkClass, Shape, SpecError, SwitchId, Topology};

use super::Params;
use super::layout::{Layout, Size};

/// Tag of expander switches in their GUIDs.
const TAG: u64 = 0x40;

/// Draws with the seed of a spec.
pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// The random generator for the key `seed`.
    pub(super) fn new(params: &Params) -> Result<Self, SpecError> {
        let seed = params.get("seed", 0..=u32::MAX)?.unwrap_or(1);
        Ok(Self(Xoshiro256PlusPlus::seed_from_u64(u64::from(seed) ^ 0x6578_7061_6e64_6572)))
    }

    /// A number below `n`. The modulo bias of a 64-bit draw is below `n / 2^64`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    /// A random order (Fisher-Yates).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// Joins the components of a graph on `n` nodes by swapping ends of few edges; degrees stay.
///
/// An edge `(a, b)` of one component and `(c, d)` of another become `(a, d)` and `(c, b)`. If the first
/// is part of a cycle the two components are one afterwards, and no edge is there twice. Edges are
/// swapped only with edges of their kind, `kind(index)`; for this to succeed every component needs a
/// cycle, and an edge of each kind that occurs in the first one's.
pub(super) fn join(n: u32, edges: &mut [(u32, u32)], kind: impl Fn(usize) -> usize) {
    let mut parent: Vec<u32> = (0..n).collect();
    // An edge of each component that closes a cycle, found as union-find meets it.
    let mut spare = Vec::new();
    for (i, &(a, b)) in edges.iter().enumerate() {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        if a == b {
            spare.push(i);
        } else {
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    // Roots are the smallest nodes, so the first component has root 0.
    let mut in_first = std::collections::BTreeMap::new();
    for (i, &(a, _)) in edges.iter().enumerate() {
        if root(&mut parent, a) == 0 {
            in_first.entry(kind(i)).or_insert(i);
        }
    }
    for i in spare {
        let own = root(&mut parent, edges[i].0);
        if own == 0 {
            continue;
        }
        if let Some(&first) = in_first.get(&kind(i)) {
            (edges[i].1, edges[first].1) = (edges[first].1, edges[i].1);
            parent[own as usize] = 0;
        }
    }
}

fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        parent[node as usize] = parent[parent[node as usize] as usize];
        node = parent[node as usize];
    }
    node
}

/// A regular graph to be wired.
pub(super) struct Expander {
    /// Number of switches.
    pub(super) n: u32,
    /// Hosts of a switch.
    pub(super) p: u32,
    /// Cables of a switch to others.
    pub(super) degree: u32,
    /// Switches of a metanode, of an Xpander.
    pub(super) lift: Option<u32>,
}

impl Expander {
    /// Wires the graph that `edges` draws once the size is known to be possible: hosts on ports `1..=p`, then the
    /// neighbours by rising number.
    pub(super) fn generate(
        self,
        params: &Params,
        edges: impl FnOnce() -> Vec<(u32, u32)>,
    ) -> Result<Topology, SpecError> {
        let Self { n, p, degree, lift } = self;
        let size = Size {
            switches: n.into(),
            hosts: u64::from(n) * u64::from(p),
            rails: 1,
            ports: u64::from(p) + u64::from(degree),
            cables: u64::from(n) * u64::from(degree) / 2,
        };
        let hdr = || LinkClass::infiniband("4xHDR").unwrap_or_else(LinkClass::unknown);
        let mut layout = Layout::new(params, size, hdr(), hdr())?;
        for s in 0..n {
            let name = match lift {
                Some(lift) => format!("m{:02}s{:02}", s / lift, s % lift),
                None => format!("sw{s:04}"),
            };
            let switch = layout.switch(TAG, s as usize, name);
            for port in 1..=p {
                layout.host(&[(switch, port)])?;
            }
        }
        let mut ends: Vec<(u32, u32)> =
            edges().into_iter().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        ends.sort_unstable();
        // Both ends of a cable see the other's number, so a cable is found from either side.
        let port = |from: u32, to: u32| {
            let first = ends.partition_point(|&(a, _)| a < from);
            let at = ends.partition_point(|&end| end < (from, to));
            (SwitchId(from), p + 1 + (at - first) as u32)
        };
        for &(a, b) in ends.iter().filter(|(a, b)| a < b) {
            layout.cable(port(a, b), port(b, a), layout.link)?;
        }
        layout.finish(|_| {
            let metanode = lift.map(|lift| (0..n).map(|s| s / lift).collect());
            Shape::Expander(ExpanderShape { degree, metanode })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn components(n: u32, edges: &[(u32, u32)]) -> usize {
        let mut parent: Vec<u32> = (0..n).collect();
        for &(a, b) in edges {
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            parent[a.max(b) as usize] = a.min(b);
        }
        (0..n).filter(|&s| parent[s as usize] == s).count()
    }

    #[test]
    fn triangles_become_one_ring() {
        let mut edges: Vec<(u32, u32)> = (0..5)
            .flat_map(|t| [(3 * t, 3 * t + 1), (3 * t + 1, 3 * t + 2), (3 * t + 2, 3 * t)])
            .collect();
        join(15, &mut edges, |_| 0);
        assert_eq!(components(15, &edges), 1);
        let mut degree = [0; 15];
        let mut seen = std::collections::BTreeSet::new();
        for &(a, b) in &edges {
            degree[a as usize] += 1;
            degree[b as usize] += 1;
            assert!(a != b && seen.insert((a.min(b), a.max(b))));
        }
        assert_eq!(degree, [2; 15]);
    }

    #[test]
    fn edges_are_swapped_within_their_kind() {
        // Two triangles as a lift of a triangle: edge 2k and 2k+1 join the metanodes of pair k.
        let mut edges = vec![(0, 2), (1, 3), (0, 4), (1, 5), (2, 4), (3, 5)];
        join(6, &mut edges, |i| i / 2);
        assert_eq!(components(6, &edges), 1);
        for (i, &(a, b)) in edges.iter().enumerate() {
            assert_eq!((a / 2, b / 2), [(0, 1), (0, 2), (1, 2)][i / 2]);
        }
    }
}
