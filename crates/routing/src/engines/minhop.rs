//! Min-hop: shortest paths, ports balanced at every switch by itself (OpenSM's default engine).

use darkfiber_fabric::{Fabric, SwitchId};

use super::dag::{Dag, for_each_dag, require_routable};
use crate::{DELIVER, Deadlock, DestId, Engine, Needs, Refusal, Request, Routes};

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
        let homes: Vec<(SwitchId, ())> =
            (0..fabric.switch_count()).map(|s| (SwitchId::new(s), ())).collect();
        for_each_dag(
            &homes,
            |dag, home| dag.shortest(fabric, home),
            |&(home, ()), dag| {
                for t in fabric.terminals_on(home) {
                    for path in 0..request.paths() {
                        let row = routes.row(DestId::new(t), path);
                        spread(fabric, dag, Some(&mut used), routes.ports_mut(row));
                    }
                }
                let row = routes.row(DestId::switch(fabric, home), 0);
                spread(fabric, dag, None, routes.ports_mut(row));
            },
        );
        Ok(routes)
    }
}

/// Sends to the least used port everywhere. Switch LIDs carry management only and are not counted.
fn spread(fabric: &Fabric, dag: &Dag, used: Option<&mut [u32]>, ports: &mut [u8]) {
    ports[dag.order[0] as usize] = DELIVER;
    let mut none = Vec::new();
    let counts = used.unwrap_or(&mut none);
    for i in 1..dag.order.len() {
        let least = dag
            .candidates(i)
            .iter()
            .min_by_key(|c| counts.get(c.channel as usize).copied().unwrap_or(0))
            .expect("a switch at a distance has a way")
            .channel as usize;
        if let Some(n) = counts.get_mut(least) {
            *n += 1;
        }
        ports[dag.order[i] as usize] = fabric.tail_ports()[least];
    }
}
