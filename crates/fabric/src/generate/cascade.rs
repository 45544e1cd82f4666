//! Cray Cascade (XC30, Aries): dragonfly groups that are grids.

use crate::{DragonflyShape, GroupKind, LinkClass, Shape, SpecError, SwitchId, Topology};

use super::dragonfly::TAG;
use super::layout::{Layout, Size};
use super::spread::{CableEnd, Spread};
use super::{Family, Key, Params};

/// Cables of one optical bundle, two from each router of a pair.
const BUNDLE: u32 = 4;
/// Cables of a bundle on one router.
const SHARE: u32 = 2;

/// Generator of the family `cascade`.
pub(super) struct Cascade;

impl Family for Cascade {
    fn name(&self) -> &'static str {
        "cascade"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["aries", "xc"]
    }

    fn summary(&self) -> &'static str {
        "Cray Cascade: groups of rows x cols Aries routers, bundles of cables between groups"
    }

    fn doc(&self) -> &'static str {
        "Router r of a group is at row r/cols, column r%cols. Ports in order: p hosts; one green \
         cable to each other router of the row (5.25 GB/s); `black` cables to each other router of \
         the column (5.25 GB/s); blue cables to other groups (4.7 GB/s). Blue cables come in bundles \
         of four, two on each of two neighbouring routers of a row at either end, and the bundles are \
         spread evenly over the pairs of routers. A router has 10 blue ports, which is why 241 groups \
         of 96 are the most: 48 pairs with 5 bundles each. Hosts inject 10.2 GB/s. How the bundles of \
         a real machine are laid is a choice of the site, so this is one of many layouts."
    }

    fn paper(&self) -> &'static str {
        "Faanes et al., \"Cray Cascade: a scalable HPC system based on a dragonfly network\", SC'12; \
         numbers of cables as in Smith et al., \"Mitigating inter-job interference using adaptive \
         flow-aware routing\", SC'18, section III-A"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("groups", "groups"),
                Key::optional("rows", "rows (chassis) of a group", "6"),
                Key::optional("cols", "columns (slots) of a group; even", "16"),
                Key::optional("p", "hosts of a router", "4"),
                Key::optional("black", "cables between two routers of a column", "3"),
                Key::optional("blue", "cables between two groups, a multiple of 4", "24"),
                Key::optional("h", "blue ports of a router; even", "10"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "cascade:groups=3,rows=2,cols=4,p=2,blue=8"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let plan = CascadePlan::read(params)?;
        let local = LinkClass::other("aries-local", 5_250_000_000);
        let nic = LinkClass::other("aries-nic", 10_200_000_000);
        let mut layout = Layout::new(params, plan.size(), local, nic)?;
        let blue = layout.class(params, LinkClass::other("aries-global", 4_700_000_000));

        let CascadePlan { rows, cols, p, .. } = plan;
        let a = rows * cols;
        for s in 0..plan.groups * a {
            let name = format!("g{:02}r{:02}", s / a, s % a);
            layout.switch(TAG, s as usize, name);
        }
        for s in (0..plan.groups * a).map(SwitchId) {
            for port in 1..=p {
                layout.host(&[(s, port)])?;
            }
        }
        let black_base = p + cols;
        let blue_base = black_base + (rows - 1) * plan.black;
        for first in (0..plan.groups).map(|g| g * a) {
            for (row, col) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
                let here = SwitchId(first + row * cols + col);
                for other in col + 1..cols {
                    let there = SwitchId(first + row * cols + other);
                    layout.cable((here, p + other), (there, p + 1 + col), layout.link)?;
                }
                for other in row + 1..rows {
                    let there = SwitchId(first + other * cols + col);
                    for k in 0..plan.black {
                        let out = black_base + (other - 1) * plan.black + k;
                        let back = black_base + row * plan.black + k;
                        layout.cable((here, out), (there, back), layout.link)?;
                    }
                }
            }
        }
        let end = |(group, pair, slot): CableEnd, k: u32| {
            let router = group * a + pair * (BUNDLE / SHARE) + k / SHARE;
            (SwitchId(router), blue_base + slot * SHARE + k % SHARE)
        };
        for (one, two) in plan.bundles().cables() {
            for k in 0..BUNDLE {
                layout.cable(end(one, k), end(two, k), blue)?;
            }
        }
        let switches = 0..plan.groups * a;
        layout.finish(|_| {
            Shape::Dragonfly(DragonflyShape {
                group: switches.clone().map(|s| s / a).collect(),
                member: switches.map(|s| s % a).collect(),
                inside: GroupKind::Grid { rows, columns: cols },
            })
        })
    }
}

struct CascadePlan {
    groups: u32,
    rows: u32,
    cols: u32,
    p: u32,
    black: u32,
    blue: u32,
    h: u32,
}

impl CascadePlan {
    fn read(params: &Params) -> Result<Self, SpecError> {
        let plan = Self {
            groups: params.need("groups", 1..=65_535)?,
            rows: params.get("rows", 1..=254)?.unwrap_or(6),
            cols: params.get("cols", 2..=254)?.unwrap_or(16),
            p: params.get("p", 0..=254)?.unwrap_or(4),
            black: params.get("black", 0..=254)?.unwrap_or(3),
            blue: params.get("blue", 0..=65_532)?.unwrap_or(24),
            h: params.get("h", 0..=254)?.unwrap_or(10),
        };
        if !plan.cols.is_multiple_of(2) {
            return Err(params.bad("cols", "an even number, as bundles join pairs of routers"));
        }
        if !plan.blue.is_multiple_of(BUNDLE) {
            return Err(params.bad("blue", "a multiple of 4, the cables of a bundle"));
        }
        if plan.bundles().most() * u64::from(SHARE) > u64::from(plan.h) {
            let budget = u64::from(plan.rows * plan.cols / 2 * (plan.h / SHARE));
            let most = budget / u64::from(plan.groups - 1).max(1) * u64::from(BUNDLE);
            let expected = format!(
                "at most {most}, as routers with {} blue ports have no more for {} other groups",
                plan.h,
                plan.groups - 1
            );
            return Err(params.bad("blue", expected));
        }
        Ok(plan)
    }

    fn bundles(&self) -> Spread {
        Spread {
            groups: self.groups,
            members: self.rows * self.cols / (BUNDLE / SHARE),
            per_pair: self.blue / BUNDLE,
        }
    }

    fn size(&self) -> Size {
        let [groups, rows, cols, black] =
            [self.groups, self.rows, self.cols, self.black].map(u64::from);
        let routers = groups * rows * cols;
        let green = rows * (cols * (cols - 1) / 2);
        let black_cables = cols * (rows * (rows - 1) / 2) * black;
        let pairs = groups * (groups - 1) / 2;
        Size {
            switches: routers,
            hosts: routers * u64::from(self.p),
            rails: 1,
            ports: u64::from(self.p) + cols - 1 + (rows - 1) * black + u64::from(self.h),
            cables: groups * (green + black_cables) + pairs * u64::from(self.blue),
        }
    }
}
