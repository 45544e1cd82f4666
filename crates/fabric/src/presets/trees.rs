//! Fat-trees with chassis switches in the middle, which no generator family covers.

use crate::generate::{host_name, switch_guid};
use crate::{
    BuildError, FabricBuilder, Guid, LinkClass, Shape, SpecError, Switch, SwitchId, Topology,
    TreeShape,
};

use super::missing::without;

const RADIX: u8 = 36;

/// Directors of a TSUBAME2 plane.
const DIRECTORS: usize = 6;
/// External ports of a director that an edge switch takes.
const UPLINKS: usize = 3;
/// A Grid Director 4700 as TSUBAME2 had it.
const GRID_DIRECTOR: Chassis = Chassis { boards: 17, spines: 9, trunk: 2 };
/// A 216-port director: 12 leaf chips with 18 external ports each, 6 spine chips.
const DIRECTOR_216: Chassis = Chassis { boards: 12, spines: 6, trunk: 3 };

/// The T2HX fat-tree plane without missing parts.
pub(super) fn t2hx() -> Result<Topology, SpecError> {
    Ok(tsubame(48, 14, 672)?)
}

/// The T2HX fat-tree plane: 38 cables never installed, 197 missing.
pub(super) fn t2hx_degraded() -> Result<Topology, SpecError> {
    without(&without(&t2hx()?, 38, 2662)?, 197, 2465)
}

/// One plane of Tsubame2.5.
pub(super) fn tsubame25() -> Result<Topology, SpecError> {
    Ok(tsubame(101, 14, 1408)?)
}

fn tsubame(edges: usize, per_edge: usize, hosts: usize) -> Result<Topology, BuildError> {
    let mut tree = Levels::new("4xQDR");
    for e in 0..edges {
        let edge = tree.switch(1, format!("edge{:03}", e + 1));
        for n in (e * per_edge..(e + 1) * per_edge).take_while(|&n| n < hosts) {
            tree.host(edge, n % per_edge, n)?;
        }
    }
    let directors: Vec<Vec<SwitchId>> = (0..DIRECTORS)
        .map(|d| tree.boards(2, &GRID_DIRECTOR, &format!("dir{}-leaf", d + 1)))
        .collect();
    for (d, boards) in directors.iter().enumerate() {
        tree.spines(3, &GRID_DIRECTOR, boards, &format!("dir{}-spine", d + 1))?;
    }
    for e in 0..edges {
        for (d, boards) in directors.iter().enumerate() {
            for u in 0..UPLINKS {
                // The last half of an edge switch's ports are uplinks, by director.
                let up = 18 + d * UPLINKS + u;
                tree.plug(SwitchId::new(e), up, boards, e * UPLINKS + u)?;
            }
        }
    }
    tree.finish()
}

/// A fabric of Taurus's totals.
pub(super) fn taurus() -> Result<Topology, SpecError> {
    const ISLANDS: usize = 4;
    const LEAVES: usize = 30;
    const SPINES: usize = 18;
    const HOSTS: usize = 2014;
    const ALL: usize = ISLANDS * LEAVES;
    let mut tree = Levels::new("4xFDR");
    for l in 0..ALL {
        let name = format!("isl{}-leaf{:02}", l / LEAVES + 1, l % LEAVES + 1);
        let leaf = tree.switch(1, name);
        let first = l * HOSTS / ALL;
        for n in first..(l + 1) * HOSTS / ALL {
            tree.host(leaf, n - first, n)?;
        }
    }
    let mut spines = Vec::new();
    for i in 0..ISLANDS {
        for s in 0..SPINES {
            let spine = tree.switch(2, format!("isl{}-spine{:02}", i + 1, s + 1));
            spines.push(spine);
            for l in 0..LEAVES {
                tree.cable((SwitchId::new(i * LEAVES + l), 18 + s), (spine, l))?;
            }
        }
    }
    let boards = tree.boards(3, &DIRECTOR_216, "dir-leaf");
    tree.spines(4, &DIRECTOR_216, &boards, "dir-spine")?;
    for (i, &spine) in spines.iter().enumerate() {
        for u in 0..UPLINKS {
            tree.plug(spine, LEAVES + u, &boards, i * UPLINKS + u)?;
        }
    }
    Ok(tree.finish()?)
}

/// A two-level Clos network in a box.
struct Chassis {
    boards: usize,
    spines: usize,
    /// Cables from a board to each spine.
    trunk: usize,
}

/// A levelled network in the making. Ports count from 0 here.
struct Levels {
    builder: FabricBuilder,
    class: u8,
    level: Vec<u8>,
    count: [usize; 5],
}

impl Levels {
    fn new(link: &str) -> Self {
        let mut builder = FabricBuilder::new("");
        let class = LinkClass::infiniband(link).unwrap_or_else(LinkClass::unknown);
        Self { class: builder.class(class), builder, level: Vec::new(), count: [0; 5] }
    }

    fn switch(&mut self, level: u8, description: String) -> SwitchId {
        self.chip(level, description, None)
    }

    /// Adds a switch chip; `system` is the GUID that the chips of its chassis share.
    fn chip(&mut self, level: u8, description: String, system: Option<Guid>) -> SwitchId {
        let n = &mut self.count[usize::from(level)];
        let guid = switch_guid(level.into(), *n);
        *n += 1;
        self.level.push(level);
        self.builder.add_switch(Switch {
            guid,
            system_guid: system.unwrap_or(guid),
            description,
            ports: RADIX,
            vendor: 0x2c9,
            device: 0xcb20,
            ..Switch::default()
        })
    }

    fn cable(&mut self, a: (SwitchId, usize), b: (SwitchId, usize)) -> Result<(), BuildError> {
        let end = |(s, port): (SwitchId, usize)| (s, port as u8 + 1);
        self.builder.link_switches(end(a), end(b), self.class)
    }

    fn host(&mut self, leaf: SwitchId, port: usize, n: usize) -> Result<(), BuildError> {
        let name = host_name(n + 1);
        self.builder.add_host_on(leaf, port as u8 + 1, &name, self.class)?;
        Ok(())
    }

    /// Adds the leaf boards of a director, external ports first.
    fn boards(&mut self, level: u8, chassis: &Chassis, name: &str) -> Vec<SwitchId> {
        let system = switch_guid(level.into(), self.count[usize::from(level)]);
        (0..chassis.boards)
            .map(|b| self.chip(level, format!("{name}{:02}", b + 1), Some(system)))
            .collect()
    }

    /// Adds the spines of a director and joins them to its boards.
    fn spines(
        &mut self,
        level: u8,
        chassis: &Chassis,
        boards: &[SwitchId],
        name: &str,
    ) -> Result<(), BuildError> {
        let system = self.builder.switches()[boards[0].index()].system_guid;
        for s in 0..chassis.spines {
            let spine = self.chip(level, format!("{name}{}", s + 1), Some(system));
            for (b, &board) in boards.iter().enumerate() {
                for k in 0..chassis.trunk {
                    let up = 18 + s * chassis.trunk + k;
                    self.cable((board, up), (spine, b * chassis.trunk + k))?;
                }
            }
        }
        Ok(())
    }

    /// Plugs a cable into external port `port` of a director; ports are distributed over its boards in turn.
    fn plug(
        &mut self,
        switch: SwitchId,
        up: usize,
        boards: &[SwitchId],
        port: usize,
    ) -> Result<(), BuildError> {
        let board = boards[port % boards.len()];
        self.cable((switch, up), (board, port / boards.len()))
    }

    fn finish(self) -> Result<Topology, BuildError> {
        Ok(Topology {
            fabric: self.builder.finish()?,
            shape: Some(Shape::Tree(TreeShape { level: self.level, pgft: None })),
        })
    }
}
