//! Min-hop: shortest paths, ports balanced at every switch by itself (OpenSM's default engine).

use darkfiber_fabric::{Fabric, SwitchId};

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
         LIDs so far. OpenSM's default engine, but for what counts: here only LIDs that a switch is \
         sent, by its hosts or by switches that chose it. That makes whole trees of any height \
         perfectly even, where OpenSM's leaves ports dark. Blind to load elsewhere, so less even than \
         sssp off trees. Deadlock is not looked at: safe on trees, not elsewhere.\n\n\
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
        let mut entered = vec![false; fabric.switch_count()];
        for_each_row(
            fabric,
            &mut routes,
            |dag, home| dag.shortest(fabric, home),
            |dag, dest, _, ports| {
                // Switch LIDs carry management only and are not counted.
                let count = u32::from(dest.as_terminal(fabric).is_some());
                spread(fabric, dag, &mut used, &mut entered, count, ports);
            },
        );
        Ok(routes)
    }
}

/// Sends to the least used port everywhere, and counts that as `count` more uses where packets come by.
///
/// Sources choose before the switches behind them, so that a switch counts only destinations that it is
/// sent. Did it count all, as OpenSM does, switches above would deal out ports in step with those below,
/// and get on a tree of three levels only destinations that they all send the same way.
fn spread(
    fabric: &Fabric,
    dag: &Dag,
    used: &mut [u32],
    entered: &mut [bool],
    count: u32,
    ports: &mut [u8],
) {
    for (s, entered) in entered.iter_mut().enumerate() {
        *entered = !fabric.terminals_on(SwitchId::new(s)).is_empty();
    }
    for i in (1..dag.order.len()).rev() {
        let s = dag.order[i] as usize;
        let least = dag.candidates(i).iter().min_by_key(|c| used[c.channel as usize]);
        let least = least.expect("a switch at a distance has a way");
        if entered[s] {
            used[least.channel as usize] += count;
            entered[least.head as usize] = true;
        }
        ports[s] = fabric.tail_ports()[least.channel as usize];
    }
    ports[dag.order[0] as usize] = DELIVER;
}
