//! The structure of a fabric: stated by its generator or inferred by recognition, never parsed from names.

use serde::{Deserialize, Serialize};

use crate::{Fabric, Renumbering, SwitchId, TerminalId};

/// The structure of a fabric, in addition to the [`Fabric`] itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Levels of switches; terminals hang on level 1.
    Tree(TreeShape),
    /// A lattice: HyperX, torus or mesh.
    Grid(GridShape),
    /// Groups joined by global cables.
    Dragonfly(DragonflyShape),
    /// A Slim Fly: the graph of McKay, Miller and Siran.
    SlimFly(SlimFlyShape),
    /// A random regular graph, or a random lift: Jellyfish, Xpander.
    Expander(ExpanderShape),
    /// Several networks that share hosts and no switch.
    Planes(PlanesShape),
}

/// A fat-tree or any other levelled network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeShape {
    /// Level of each switch, 1 = leaf.
    pub level: Vec<u8>,
    /// Parameters, if the tree is a (possibly degraded) parallel-port generalized fat-tree.
    pub pgft: Option<Pgft>,
}

/// A parallel-port generalized fat-tree, PGFT(h; m1..mh; w1..wh; p1..ph) (Zahavi, "Fat-tree routing
/// and node ordering providing contention free traffic for MPI global collectives", 2012): a node of
/// level `l`, `0 <= l <= h`, has `m_l` children and `w_(l+1)` parents, with `p_(l+1)` parallel cables
/// to each. Level 0 are the hosts. Lists start at level 1: `m_l` is `m[l - 1]`.
///
/// Every node has a label of `h` digits `x_1..x_h`. For a node of level `l`,
///
/// - `x_i < w_i` for `i <= l`: which parent, of its own `w_i`, a node of level `i - 1` takes on a path up to this
///   node;
/// - `x_i < m_i` for `i > l`: which child, of its own `m_i`, a node of level `i` takes on a path down to
///   this node.
///
/// A node of level `l` and one of level `l + 1` are neighbours exactly if their labels agree in every
/// digit but `x_(l+1)`. There the lower node's digit is its number as a child, the upper node's its
/// number as a parent.
///
/// A host's digits `a_i < m_i` make its [`index`](Self::index) `a_1 + m_1 (a_2 + m_2 (a_3 + ..))`: hosts
/// of one leaf, then of one subtree, are neighbours in number. D-mod-k therefore sends packets that go up
/// from level `l` to host `d` to the parent with digit `x_(l+1) = floor(d / (w_1 .. w_l)) mod w_(l+1)`,
/// and packets that go down from level `l` to the child with digit `x_l = a_l = floor(d / (m_1 ..
/// m_(l-1))) mod m_l`.
///
/// After faults labels and indices stay, so some are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pgft {
    /// Children of a node, from level 1 upward.
    pub m: Vec<u32>,
    /// Parents of a node, from level 0 upward.
    pub w: Vec<u32>,
    /// Parallel cables to each parent, from level 0 upward.
    pub p: Vec<u32>,
    /// Per switch its label `x_1..x_h`. Flat, row per switch.
    pub digits: Vec<u16>,
    /// Per terminal the number of its host in tree order, `0..m_1 * .. * m_h`. Terminals of one host
    /// (`w_1 p_1 > 1`) share it. In a rail-optimised tree, where the NICs of a host hang on leaves of
    /// their own with `w_1 p_1 = 1`, each NIC counts as a host here.
    pub index: Vec<u32>,
}

impl Pgft {
    /// The label of a switch.
    pub fn label(&self, s: SwitchId) -> &[u16] {
        let h = self.m.len();
        &self.digits[s.index() * h..(s.index() + 1) * h]
    }
}

/// Topology of the switches of one grid line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GridKind {
    /// Each with every other one.
    HyperX,
    /// The switches form a ring.
    Torus,
    /// The switches form a row.
    Mesh,
}

/// A lattice of switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridShape {
    /// Topology of the lines.
    pub kind: GridKind,
    /// Size of each dimension.
    pub dims: Vec<u16>,
    /// Per switch its coordinates, `dims.len()` of them; flat, row per switch.
    pub coords: Vec<u16>,
}

impl GridShape {
    /// The coordinates of a switch.
    pub fn at(&self, s: SwitchId) -> &[u16] {
        let k = self.dims.len();
        &self.coords[s.index() * k..(s.index() + 1) * k]
    }
}

/// Groups of switches, joined by global cables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DragonflyShape {
    /// Group of each switch.
    pub group: Vec<u32>,
    /// Number of the switch in its group; its meaning depends on `inside`.
    pub member: Vec<u32>,
    /// Topology inside of a group.
    pub inside: GroupKind,
}

/// Topology of the switches of one dragonfly group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupKind {
    /// Each with every other one.
    Full,
    /// Those of one row and those of one column (Cray Cascade: 6 x 16); a member is
    /// `row * columns + column`.
    Grid {
        /// Number of rows.
        rows: u32,
        /// Number of columns.
        columns: u32,
    },
    /// Each leaf with each spine (dragonfly+, megafly): members `0..leaves` are leaves, with the
    /// endpoints; the others are spines, with the global cables.
    LeafSpine {
        /// Leaves of a group.
        leaves: u32,
    },
}

/// A Slim Fly, MMS(q) (Besta and Hoefler, "Slim Fly: a cost effective low-diameter network topology",
/// SC'14, section II-B).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlimFlyShape {
    /// The prime power it is made of: `2 q^2` switches.
    pub q: u32,
    /// Per switch its half (0 or 1) and its two coordinates in `0..q`. Flat, three a switch.
    pub coords: Vec<u16>,
}

/// A regular graph without more structure than that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpanderShape {
    /// Cables that a switch has to other switches.
    pub degree: u32,
    /// Of an Xpander, the metanode of each switch: no cable joins two of one metanode, and every
    /// switch has one to each other metanode.
    pub metanode: Option<Vec<u32>>,
}

/// Several networks (planes, rails without a common switch) that share hosts and no switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanesShape {
    /// Plane of each switch.
    pub plane: Vec<u8>,
    /// Plane of each terminal.
    pub terminal: Vec<u8>,
    /// Shape of each plane, where known, with rows for its own switches and terminals in their order.
    pub each: Vec<Option<Shape>>,
}

impl PlanesShape {
    fn restricted(&self, map: &Renumbering) -> Self {
        let each = self.each.iter().zip(0u8..).map(|(shape, plane)| {
            let shape = shape.as_ref()?;
            // Switches and terminals of the plane by their place in it, before and after.
            let places = |of: &[u8], left: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
                let mut place = Vec::with_capacity(of.len());
                let mut next = 0;
                for &p in of {
                    place.push(next);
                    next += usize::from(p == plane);
                }
                left.filter(|&i| of[i] == plane).map(|i| place[i]).collect()
            };
            let switches = places(&self.plane, &mut map.old_switch.iter().map(|s| s.index()));
            let terminals = places(&self.terminal, &mut map.old_terminal.iter().map(|t| t.index()));
            Some(shape.restricted(&Renumbering {
                switch: Vec::new(),
                terminal: Vec::new(),
                old_switch: switches.into_iter().map(SwitchId::new).collect(),
                old_terminal: terminals.into_iter().map(TerminalId::new).collect(),
            }))
        });
        Self {
            plane: map.old_switch.iter().map(|s| self.plane[s.index()]).collect(),
            terminal: map.old_terminal.iter().map(|t| self.terminal[t.index()]).collect(),
            each: each.collect(),
        }
    }
}

impl Shape {
    /// The shape of the fabric that remains after faults.
    #[must_use]
    pub fn restricted(&self, map: &Renumbering) -> Self {
        fn pick<T: Copy>(rows: &[T], width: usize, map: &Renumbering) -> Vec<T> {
            map.old_switch
                .iter()
                .flat_map(|s| &rows[s.index() * width..(s.index() + 1) * width])
                .copied()
                .collect()
        }
        match self {
            Self::Tree(t) => Self::Tree(TreeShape {
                level: pick(&t.level, 1, map),
                pgft: t.pgft.as_ref().map(|p| Pgft {
                    digits: pick(&p.digits, p.m.len(), map),
                    index: map.old_terminal.iter().map(|t| p.index[t.index()]).collect(),
                    ..p.clone()
                }),
            }),
            Self::Grid(g) => {
                Self::Grid(GridShape { coords: pick(&g.coords, g.dims.len(), map), ..g.clone() })
            }
            Self::Dragonfly(d) => Self::Dragonfly(DragonflyShape {
                group: pick(&d.group, 1, map),
                member: pick(&d.member, 1, map),
                inside: d.inside,
            }),
            Self::SlimFly(f) => {
                Self::SlimFly(SlimFlyShape { q: f.q, coords: pick(&f.coords, 3, map) })
            }
            Self::Expander(e) => Self::Expander(ExpanderShape {
                degree: e.degree,
                metanode: e.metanode.as_ref().map(|m| pick(m, 1, map)),
            }),
            Self::Planes(p) => Self::Planes(p.restricted(map)),
        }
    }

    /// Whether its rows are those of a fabric of this size, and its values within their ranges.
    pub fn fits(&self, fabric: &Fabric) -> bool {
        let at_home = |p: &PlanesShape| {
            let mut rows = p.terminal.iter().zip(fabric.terminals());
            rows.all(|(plane, t)| p.plane[t.switch.index()] == *plane)
        };
        self.has_rows(fabric.switch_count(), fabric.terminal_count())
            && !matches!(self, Self::Planes(p) if !at_home(p))
    }

    /// Whether it has a row for each of this many switches and terminals, and its values are within their ranges.
    fn has_rows(&self, s: usize, t: usize) -> bool {
        match self {
            Self::Tree(tree) => {
                let pgft = tree.pgft.as_ref().is_none_or(|p| {
                    let h = p.m.len();
                    let positive = p.m.iter().chain(&p.w).chain(&p.p).all(|&x| x > 0);
                    let levels = tree.level.iter().all(|&l| usize::from(l) <= h);
                    let rows = p.digits.len() == s * h && p.index.len() == t;
                    p.w.len() == h && p.p.len() == h && rows && positive && levels
                });
                tree.level.len() == s && tree.level.iter().all(|&l| l > 0) && pgft
            }
            Self::Grid(g) => {
                let k = g.dims.len();
                g.coords.len() == s * k
                    && g.coords.iter().enumerate().all(|(i, c)| *c < g.dims[i % k])
            }
            Self::Dragonfly(d) => d.group.len() == s && d.member.len() == s,
            Self::SlimFly(f) => {
                let within = |c: &[u16]| c[0] < 2 && c[1..].iter().all(|&x| u32::from(x) < f.q);
                f.coords.len() == s * 3 && f.coords.chunks(3).all(within)
            }
            Self::Expander(e) => e.metanode.as_ref().is_none_or(|m| m.len() == s),
            Self::Planes(p) => {
                let count = |of: &[u8], plane: u8| of.iter().filter(|&&p| p == plane).count();
                let each = |(shape, plane): (&Option<Self>, u8)| {
                    let rows = (count(&p.plane, plane), count(&p.terminal, plane));
                    shape.as_ref().is_none_or(|shape| shape.has_rows(rows.0, rows.1))
                };
                let known = |&plane: &u8| usize::from(plane) < p.each.len();
                p.plane.len() == s
                    && p.terminal.len() == t
                    && u8::try_from(p.each.len()).is_ok()
                    && p.plane.iter().chain(&p.terminal).all(known)
                    && p.each.iter().zip(0..).all(each)
            }
        }
    }

    /// One line for people: the structure and its size.
    pub fn summary(&self) -> String {
        match self {
            Self::Tree(t) => {
                let height = t.level.iter().copied().max().unwrap_or(0);
                let counts: Vec<String> = (1..=height)
                    .map(|l| t.level.iter().filter(|&&x| x == l).count().to_string())
                    .collect();
                format!("{height}-level tree, switches by level {}", counts.join(" + "))
            }
            Self::Grid(g) => {
                let dims: Vec<String> = g.dims.iter().map(ToString::to_string).collect();
                let kind = match g.kind {
                    GridKind::HyperX => "HyperX",
                    GridKind::Torus => "torus",
                    GridKind::Mesh => "mesh",
                };
                format!("{} {kind}", dims.join("x"))
            }
            Self::Dragonfly(d) => {
                let groups = d.group.iter().copied().max().map_or(0, |g| g + 1);
                let kind = match d.inside {
                    GroupKind::LeafSpine { .. } => "dragonfly+",
                    GroupKind::Full | GroupKind::Grid { .. } => "dragonfly",
                };
                format!("{kind}, {groups} groups, {} switches", d.group.len())
            }
            Self::SlimFly(f) => format!("Slim Fly, q = {}", f.q),
            Self::Expander(e) => {
                let kind = if e.metanode.is_some() { "Xpander" } else { "random regular graph" };
                format!("{kind} of degree {}", e.degree)
            }
            Self::Planes(p) => {
                let each: Vec<String> = p
                    .each
                    .iter()
                    .map(|s| s.as_ref().map_or_else(|| "unknown".to_owned(), Self::summary))
                    .collect();
                if each.iter().all(|one| *one == each[0]) {
                    format!("{} planes, each: {}", each.len(), each[0])
                } else {
                    format!("{} planes: {}", each.len(), each.join("; "))
                }
            }
        }
    }
}
