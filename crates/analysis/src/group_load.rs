//! Expected load of tables with groups of ports: every switch splits the traffic for a LID evenly over the ports of its
//! group.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Routes, unwind_if_asked};
use rayon::prelude::*;

/// Destinations that are counted in parallel; fixed, so that the order of sums is the same for any number of threads.
const CHUNK: usize = 64;

/// By channel between switches, the expected number of ordered pairs of terminals on it, each to the LID that its source uses.
/// `None` if the routes have no groups, or some choice loops. It is an assumption that real switches split evenly: they look at
/// their queues.
///
/// Complexity: O(LIDs x channels).
pub fn group_load(fabric: &Fabric, routes: &Routes) -> Option<Vec<f64>> {
    routes.groups.as_ref()?;
    let targets: Vec<TerminalId> = (0..fabric.terminal_count()).map(TerminalId::new).collect();
    let parts: Vec<Option<Vec<f64>>> = targets
        .par_chunks(CHUNK)
        .map(|targets| {
            let mut load = vec![0.0; fabric.channel_count()];
            for &to in targets {
                unwind_if_asked();
                (0..routes.paths())
                    .all(|path| add(fabric, routes, to, path, &mut load))
                    .then_some(())?;
            }
            Some(load)
        })
        .collect();
    let mut all = vec![0.0; fabric.channel_count()];
    for part in parts {
        all.iter_mut().zip(part?).for_each(|(all, own)| *all += own);
    }
    Some(all)
}

/// A switch whose next hops are being followed.
const OPEN: u8 = 1;
/// A switch whose next hops are complete.
const DONE: u8 = 2;

/// Adds the traffic of all sources to a LID; returns whether no choice loops.
fn add(fabric: &Fabric, routes: &Routes, to: TerminalId, path: usize, load: &mut [f64]) -> bool {
    let n = fabric.switch_count();
    let home = fabric.terminal(to).switch;
    let mut weight = vec![0.0; n];
    for s in (0..n).map(SwitchId::new).filter(|&s| s != home) {
        let own = fabric.terminals_on(s).filter(|&t| routes.path_of(TerminalId::new(t)) == path);
        weight[s.index()] = own.count() as f64;
    }
    let row = routes.row(DestId::terminal(to), path);
    let hops = routes.groups.as_deref();
    let Some((hops, number)) = hops.and_then(|hops| Some((hops, hops.number(row)?))) else {
        return true;
    };
    let members = |s: usize| hops.towards(SwitchId::new(s), number).members();
    // Depth first; a switch comes after all that it may send to.
    let mut state = vec![0u8; n];
    state[home.index()] = DONE;
    let mut order = Vec::with_capacity(n);
    let mut walk: Vec<(usize, usize)> = Vec::new();
    for source in (0..n).filter(|&s| weight[s] > 0.0) {
        if state[source] == 0 {
            state[source] = OPEN;
            walk.push((source, 0));
        }
        while let Some(top) = walk.last_mut() {
            let at = top.0;
            let Some(&c) = members(at).get(top.1) else {
                state[at] = DONE;
                order.push(at);
                walk.pop();
                continue;
            };
            top.1 += 1;
            let head = fabric.heads()[c as usize] as usize;
            match state[head] {
                0 => {
                    state[head] = OPEN;
                    walk.push((head, 0));
                }
                OPEN => return false,
                _ => {}
            }
        }
    }
    for &s in order.iter().rev() {
        let group = members(s);
        let share = weight[s] / group.len().max(1) as f64;
        for &c in group {
            load[c as usize] += share;
            weight[fabric.heads()[c as usize] as usize] += share;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::open;
    use darkfiber_routing::{Request, find_engine};

    use super::*;

    fn loads(spec: &str, engine: &str) -> (Vec<f64>, u64) {
        let topology = open(spec).expect(spec);
        let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
        let engine = find_engine(engine).expect(engine);
        let routes = engine.route(&topology.fabric, &request).expect("routes");
        let table = darkfiber_routing::check::check(&topology.fabric, &routes).load;
        (group_load(&topology.fabric, &routes).expect("groups"), table.iter().sum())
    }

    /// Paths of groups are as long as those of the tables, so that the sums agree; on a regular tree all channels of a level are alike.
    #[test]
    fn sums_are_those_of_the_tables() {
        for spec in
            ["kary:k=3,n=3", "torus:dims=3x4,t=2", "rails:hosts_per_unit=3,units=3,nics=2,spines=2"]
        {
            let (load, sum) = loads(spec, "ar_updn");
            assert!((load.iter().sum::<f64>() - sum as f64).abs() < 1e-6 * sum as f64, "{spec}");
        }
        let (load, _) = loads("fattree2:n=4,m=4,r=3", "ar_ftree");
        // A leaf's 4 hosts send to 8 others over 4 channels.
        assert!(load.iter().all(|&l| (l - 8.0).abs() < 1e-9), "{load:?}");
    }
}
