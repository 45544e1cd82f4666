//! Dimension-order routing.

use darkfiber_fabric::{Fabric, GridShape, Shape, SwitchId};

use super::dag::{Candidate, Dag, for_each_row, require_routable};
use crate::{DELIVER, Deadlock, Engine, FabricRequirement, Refusal, Request, Routes};

/// The engine `dor`; see [`Engine::doc`].
pub(crate) struct Dor;

impl Engine for Dor {
    fn name(&self) -> &'static str {
        "dor"
    }

    fn summary(&self) -> &'static str {
        "dimension order: corrects one coordinate after the other"
    }

    fn doc(&self) -> &'static str {
        "On a HyperX, torus or mesh every switch sends along the first dimension in which it differs \
         from the destination; parallel cables and the two directions round a ring are used evenly. On a \
         fabric without known coordinates it takes, among ports on shortest paths, the neighbour at \
         the lowest port, as OpenSM's dor does: dimension order where ports are numbered by dimension \
         on every switch alike. A missing cable is passed on another shortest path.\n\n\
         Deadlock-free on a whole HyperX or mesh. On a torus the rings close cycles that only lanes \
         can break: the checker shows them.\n\nComplexity: as minhop."
    }

    fn paper(&self) -> &'static str {
        "OpenSM, doc/current-routing.txt, \"DOR Routing Algorithm\""
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Grid
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::OnMeshes
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let grid = match request.shape {
            Some(Shape::Grid(grid)) => Some(grid),
            Some(_) => {
                return Err(Refusal::wrong_fabric(self, "this fabric is none"));
            }
            None => None,
        };
        let mut routes = Routes::empty(self.name(), fabric, request.paths());
        let mut used = vec![0u32; fabric.channel_count()];
        for_each_row(
            fabric,
            &mut routes,
            (0..fabric.switch_count()).map(SwitchId::new),
            |dag, home| dag.shortest(fabric, home),
            |dag, _, _, ports| send(fabric, grid, dag, &mut used, ports),
        );
        Ok(routes)
    }
}

/// Chooses for every switch: the lowest dimension (or, without coordinates, the neighbour at the lowest
/// port), there the least used channel.
fn send(fabric: &Fabric, grid: Option<&GridShape>, dag: &Dag, used: &mut [u32], ports: &mut [u8]) {
    ports[dag.order[0] as usize] = DELIVER;
    for i in 1..dag.order.len() {
        let s = dag.order[i] as usize;
        let candidates = dag.candidates(i);
        let dimension = |c: &Candidate| match grid {
            Some(grid) => {
                let (a, b) = (grid.at(SwitchId::new(s)), grid.at(SwitchId(c.head)));
                a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(a.len())
            }
            None => usize::from(c.head != candidates[0].head),
        };
        let best = candidates
            .iter()
            .min_by_key(|c| (dimension(c), used[c.channel as usize]))
            .expect("a switch at a distance has a way");
        used[best.channel as usize] += 1;
        ports[s] = fabric.tail_ports()[best.channel as usize];
    }
}
