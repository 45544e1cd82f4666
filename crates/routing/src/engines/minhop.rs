//! Min-hop: shortest paths, ports balanced at every switch by itself (OpenSM's default engine).

use darkfiber_fabric::Fabric;

use super::dag::{Dag, for_each_row, require_routable};
use crate::{DELIVER, Deadlock, Engine, Needs, Refusal, Request, Routes};

/// See [`Engine::doc`].
pub(crate) struct MinHop;

impl Engine for MinHop {
    fn name(&self) -> &'static str {
        "minhop"
    }

    fn summary(&self) -> &'static str {
        "shortest paths; each switch spreads destinations over its ports by itself"
    }

    fn doc(&self) -> &'static str {
        "Every switch sends each LID to a port on a shortest path, the one that carries the fewest \
         LIDs so far. OpenSM's default. Balanced on two-level trees; blind to what other switches do, \
         so deeper trees become uneven. Deadlock is not looked at: safe on trees, not elsewhere.\n\n\
         Complexity: one breadth-first search a destination switch, then O(channels on shortest \
         paths) a LID."
    }

    fn paper(&self) -> &'static str {
        "OpenSM, doc/current-routing.txt, \"Min Hop Algorithm\""
    }

    fn needs(&self) -> Needs {
        Needs::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::NotPromised
    }

    fn route(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let mut routes = Routes::empty(self.name(), fabric, request.paths());
        let mut used = vec![0u32; fabric.channel_count()];
        for_each_row(
            fabric,
            &mut routes,
            |dag, home| dag.shortest(fabric, home),
            |dag, dest, _, ports| {
                // Switch LIDs carry management only and are not counted.
                let count = u32::from(dest.as_terminal(fabric).is_some());
                spread(fabric, dag, &mut used, count, ports);
            },
        );
        Ok(routes)
    }
}

/// Sends to the least used port everywhere, and counts that as `count` more uses.
fn spread(fabric: &Fabric, dag: &Dag, used: &mut [u32], count: u32, ports: &mut [u8]) {
    ports[dag.order[0] as usize] = DELIVER;
    for i in 1..dag.order.len() {
        let least = dag.candidates(i).iter().min_by_key(|c| used[c.channel as usize]);
        let c = least.expect("a switch at a distance has a way").channel as usize;
        used[c] += count;
        ports[dag.order[i] as usize] = fabric.tail_ports()[c];
    }
}
