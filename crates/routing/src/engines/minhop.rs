//! Min-hop: shortest paths, ports balanced at every switch on its own (OpenSM's default engine).

use std::cmp::Reverse;

use darkfiber_fabric::{Fabric, SwitchId};

use super::balance::{cut_bound, is_near};
use super::dag::{Dag, for_each_batch, require_routable};
use crate::{DELIVER, Deadlock, DestId, Engine, FabricRequirement, Refusal, Request, Routes};

/// The engine `minhop`; see [`Engine::doc`].
pub(crate) struct MinHop;

impl Engine for MinHop {
    fn name(&self) -> &'static str {
        "minhop"
    }

    fn summary(&self) -> &'static str {
        "shortest paths; each switch spreads destinations over its own ports"
    }

    fn doc(&self) -> &'static str {
        "Every switch sends each LID to a port on a shortest path, the one that carries the fewest \
         LIDs so far. What counts: only LIDs that a switch is sent, by its hosts or by switches that \
         chose it, which makes whole trees of any height perfectly even; or all, as OpenSM's default \
         engine does. Both are made, and where neither is even, both again with the switches of \
         destinations in scattered order, since the order in which ports are dealt decides; the tables \
         with the lowest largest load are taken. Blind to load elsewhere, so less even than sssp off trees. Deadlock is not looked at: safe on trees, not \
         elsewhere.\n\n\
         Several LIDs a port: dealt by themselves, all LIDs would be full on the same channels; so they take the paths of sssp, \
         which are as short, wherever these are more even. A note says so.\n\n\
         Complexity: one breadth-first search a destination switch, then O(channels on shortest \
         paths) a LID."
    }

    fn paper(&self) -> &'static str {
        "OpenSM, doc/current-routing.txt, \"Min Hop Algorithm\""
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::NotPromised
    }

    fn with_several_lids(&self) -> Option<&'static dyn Engine> {
        Some(&super::Sssp)
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let homes = as_opensm(fabric);
        let (first, largest) = dealt(self.name(), fabric, request.paths(), &homes);
        if is_near(largest, cut_bound(fabric, request.paths())) {
            return Ok(first);
        }
        let (second, other) = dealt(self.name(), fabric, request.paths(), &scattered(homes));
        Ok(if other < largest { second } else { first })
    }
}

/// Tables with destinations dealt in this order, and the largest load.
fn dealt(name: &str, fabric: &Fabric, paths: usize, homes: &[SwitchId]) -> (Routes, u64) {
    let [mut sent, mut all] = [false, true].map(|all| Ports::new(fabric, all));
    let mut by_sent = Routes::empty(name, fabric, paths);
    let mut by_all = by_sent.clone();
    let homes: Vec<(SwitchId, ())> = homes.iter().map(|&home| (home, ())).collect();
    let shortest = |dag: &mut Dag, home| dag.shortest(fabric, home);
    // Each of the two counts goes LID by LID, but neither depends on the other.
    let mut deals = [(&mut sent, &mut by_sent), (&mut all, &mut by_all)].map(|(ports, tables)| {
        move |homes: &[(SwitchId, ())], dags: &[Dag]| ports.deal(homes, dags, tables)
    });
    for_each_batch(&homes, shortest, &mut deals);
    let [sent, all] = [sent, all].map(|ports| ports.largest());
    if all < sent { (by_all, all) } else { (by_sent, sent) }
}

/// The order in which OpenSM assigns ports (`osm_ucast_mgr.c`, `sort_ports_by_switch_load`): most terminals
/// first, then by GUID, which is independent of the order of records in a file. Its maps compare GUIDs as they
/// are sent, the last byte as the highest.
fn as_opensm(fabric: &Fabric) -> Vec<SwitchId> {
    let mut homes: Vec<SwitchId> = (0..fabric.switch_count()).map(SwitchId::new).collect();
    homes.sort_by_key(|&s| {
        (Reverse(fabric.terminals_on(s).len()), fabric.switch(s).guid.0.swap_bytes())
    });
    homes
}

/// An order in which neighbours are far apart: by the fractions of multiples of the golden ratio (Knuth, The
/// Art of Computer Programming, vol. 3, section 6.4).
fn scattered(homes: Vec<SwitchId>) -> Vec<SwitchId> {
    /// 2^32 over the golden ratio.
    const STEP: u32 = 0x9E37_79B9;
    let mut all: Vec<(u32, SwitchId)> =
        (0u32..).zip(homes).map(|(place, home)| (place.wrapping_mul(STEP), home)).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, home)| home).collect()
}

/// The paths that the ports of all switches carry.
struct Ports<'a> {
    fabric: &'a Fabric,
    /// Whether LIDs count that a switch is not sent.
    all: bool,
    /// LIDs that count on each channel.
    used: Vec<u32>,
    /// Terminal-to-terminal paths over each channel.
    load: Vec<u64>,
    /// Terminals on each switch.
    sources: Vec<u32>,
    /// Paths to the LID at hand that pass each switch.
    through: Vec<u32>,
}

impl<'a> Ports<'a> {
    fn new(fabric: &'a Fabric, all: bool) -> Self {
        let n = fabric.switch_count();
        Self {
            fabric,
            all,
            used: vec![0; fabric.channel_count()],
            load: vec![0; fabric.channel_count()],
            sources: (0..n).map(|s| fabric.terminals_on(SwitchId::new(s)).len() as u32).collect(),
            through: vec![0; n],
        }
    }

    fn largest(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Routes all LIDs of these switches.
    fn deal(&mut self, homes: &[(SwitchId, ())], dags: &[Dag], routes: &mut Routes) {
        for ((home, ()), dag) in homes.iter().zip(dags) {
            for dest in self.fabric.terminals_on(*home).map(DestId::new) {
                for path in 0..routes.paths() {
                    let row = routes.row(dest, path);
                    self.spread(dag, true, routes.ports_mut(row));
                }
            }
            // Switch LIDs carry management only and are not counted.
            let own = routes.row(DestId::switch(self.fabric, *home), 0);
            self.spread(dag, false, routes.ports_mut(own));
        }
    }

    /// Sends to the least used port at every switch.
    ///
    /// Sources choose before the switches behind them, so that the switches with traffic are known. If
    /// all counted on a tree of three levels, switches above would assign ports in step with those below,
    /// and get only destinations that they all send over the same port.
    fn spread(&mut self, dag: &Dag, counts: bool, ports: &mut [u8]) {
        self.through.copy_from_slice(&self.sources);
        for i in (1..dag.order.len()).rev() {
            let s = dag.order[i] as usize;
            let least = dag.candidates(i).iter().min_by_key(|c| self.used[c.channel as usize]);
            let least = least.expect("a switch at a distance has a way");
            let (c, paths) = (least.channel as usize, self.through[s]);
            if counts {
                self.used[c] += u32::from(self.all || paths > 0);
                self.load[c] += u64::from(paths);
            }
            self.through[least.head as usize] += paths;
            ports[s] = self.fabric.tail_ports()[c];
        }
        ports[dag.order[0] as usize] = DELIVER;
    }
}
