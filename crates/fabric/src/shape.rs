//! What a fabric *is*: stated by its generator or inferred by recognition, never parsed from names.

use serde::{Deserialize, Serialize};

use crate::{Fabric, Renumbering, SwitchId};

/// The structure of a fabric, beside the [`Fabric`] itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Shape {
    /// Levels of switches; terminals hang on level 1.
    Tree(TreeShape),
    /// A lattice: HyperX, torus or mesh.
    Grid(GridShape),
    /// Groups joined by global cables.
    Dragonfly(DragonflyShape),
}

/// A fat-tree or any other levelled network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeShape {
    /// Level of each switch, 1 = leaf.
    pub level: Vec<u8>,
    /// Parameters, if the tree is a (possibly degraded) parallel-port generalized fat-tree.
    pub pgft: Option<Pgft>,
}

/// Parameters of a parallel-port generalized fat-tree, PGFT(h; m1..mh; w1..wh; p1..ph) (Zahavi,
/// "Fat-tree routing and node ordering providing contention free traffic for MPI global
/// collectives", 2012): a node of level `l` has `m[l-1]` children and `w[l]` parents, `p[l]` parallel
/// cables to each. Level 0 are the terminals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pgft {
    /// Children of a node, from level 1 upward.
    pub m: Vec<u32>,
    /// Parents of a node, from level 0 upward.
    pub w: Vec<u32>,
    /// Parallel cables to each parent, from level 0 upward.
    pub p: Vec<u32>,
    /// Per switch its label: `h` digits `a_1..a_h`, where digit `i` is `b_i < w_i` (which parent)
    /// below or at its level and `a_i < m_i` (which child) above it. Flat, row per switch.
    pub digits: Vec<u16>,
    /// Per terminal its number in tree order, `0..m1*..*mh`.
    pub index: Vec<u32>,
}

/// How the switches of one grid line are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GridKind {
    /// Each with every other one.
    HyperX,
    /// In a ring.
    Torus,
    /// In a row.
    Mesh,
}

/// A lattice of switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridShape {
    /// How lines are joined.
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

/// Groups of switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DragonflyShape {
    /// Group of each switch.
    pub group: Vec<u32>,
    /// Number of the switch in its group.
    pub member: Vec<u32>,
    /// Rows and columns of a group if it is a grid (Cray Cascade: 6 x 16), else `None`: fully
    /// connected.
    pub group_grid: Option<(u32, u32)>,
}

impl Shape {
    /// The shape of what is left after faults.
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
                group_grid: d.group_grid,
            }),
        }
    }

    /// One line for people: what it is and how large.
    pub fn summary(&self, fabric: &Fabric) -> String {
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
                format!("dragonfly, {groups} groups, {} switches", fabric.switch_count())
            }
        }
    }
}
