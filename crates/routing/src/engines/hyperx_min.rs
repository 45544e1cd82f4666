//! Minimal routing on HyperX with one lane.

use darkfiber_fabric::{Fabric, GridKind, Shape, SwitchId};

use super::balance::{FirstCriterion, balance};
use super::dag::{Dag, require_routable};
use super::lines::{Lines, ODD};
use super::rules::{EVERY, TurnRule, assign_by_rule};
use super::stages::{Growth, GrowthScratch};
use crate::{Deadlock, Engine, FabricRequirement, Refusal, Request, Routes};

/// The engine `hyperx-min`; see [`Engine::doc`].
pub(crate) struct HyperXMin;

impl Engine for HyperXMin {
    fn name(&self) -> &'static str {
        "hyperx-min"
    }

    fn summary(&self) -> &'static str {
        "HyperX: dimension order, balanced, one lane; missing cables passed in their line"
    }

    fn doc(&self) -> &'static str {
        "Every path corrects one coordinate after the other, in the order of the dimensions, on a \
         direct cable each; among parallel cables the load decides, as in sssp. Channels so depend on \
         channels of later dimensions only: one lane is enough.\n\n\
         Where a direct cable or the switch at the turn of a path is missing, a path may hop to a third \
         switch of the line, or correct the coordinates in another order. Coordinates are ranked, the \
         most damaged highest; within a line a path never falls in rank after it has risen, and what \
         comes out of order must rise. Such turns close no cycle, so one lane is still enough, and all \
         ways of one length share the load. Paths that even so find no way go any shortest one. If \
         they close no cycle with the others, all share one lane; else they get lanes of their own.\n\n\
         Complexity: as sssp."
    }

    fn paper(&self) -> &'static str {
        "Ahn et al.: HyperX: Topology, Routing, and Packaging of Efficient Large-Scale Networks, SC'09"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::HyperX
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let grid = match request.shape.filter(|shape| shape.fits(fabric)) {
            Some(Shape::Grid(grid)) if grid.kind == GridKind::HyperX => grid,
            other => {
                let reason = other.map_or("it has no coordinates", |_| "this fabric is none");
                return Err(Refusal::wrong_fabric(self, reason));
            }
        };
        let coords: Vec<Vec<u32>> = (0..fabric.switch_count())
            .map(|s| grid.at(SwitchId::new(s)).iter().map(|&x| x.into()).collect())
            .collect();
        let lines = Lines::of_lattice(fabric, grid.dims.len(), &coords);
        let mut routes = Routes::empty(self.name(), fabric, request.paths());
        let _ = balance(fabric, &mut routes, FirstCriterion::Load, |dag: &mut Dag, home| {
            let mut work = GrowthScratch::default();
            let mut growth = Growth::new(fabric, &lines, dag, &mut work, home);
            growth.join_lines();
            growth.finish();
        });
        let rule = DimensionOrder { fabric, lines: &lines };
        assign_by_rule(self.name(), fabric, &mut routes, request, &rule)?;
        Ok(routes)
    }
}

/// One layer: dimensions in order, lines up and down.
struct DimensionOrder<'a> {
    fabric: &'a Fabric,
    lines: &'a Lines,
}

impl TurnRule for DimensionOrder<'_> {
    fn layers(&self) -> usize {
        1
    }

    fn hop(&self, c: u32) -> u32 {
        if self.lines.class(c) == ODD { EVERY } else { 0 }
    }

    fn turn(&self, c: u32, next: u32) -> u32 {
        if self.lines.may_turn(self.fabric, c, next) { 0 } else { EVERY }
    }

    fn even(&self) -> bool {
        false
    }
}
