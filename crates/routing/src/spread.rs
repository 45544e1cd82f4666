//! Spreading traffic over lanes that no layer needs.

use darkfiber_fabric::{AtPort, Fabric, SwitchId};

use crate::{DELIVER, DestId, Layers, NO_ROUTE, Routes};

/// Puts paths on lanes that their layers leave idle, so that fewer of them share a lane of a channel.
///
/// Every part of an acyclic layer is acyclic, so a layer may be divided among several lanes: each layer
/// gets lanes in proportion to its paths. Paths that must share a layer (all paths to a LID, if layers
/// depend on the destination; otherwise all paths from a switch to a LID) go to the lane whose fullest
/// channel on their path carries the least so far. Returns the lanes in use. Layers by pair of
/// terminals, as dumps have them, and lanes by hop stay as they are.
///
/// Complexity: O(paths x hops x lanes).
pub fn spread_lanes(fabric: &Fabric, routes: &mut Routes, lanes: u8) -> usize {
    let used = routes.layer_count();
    let lanes = usize::from(lanes);
    let by_row = match routes.layers {
        Layers::One | Layers::ByRow(_) => true,
        Layers::BySourceSwitch(_) => false,
        Layers::BySource(_) | Layers::ByHop(_) => return used,
    };
    if used >= lanes {
        return used;
    }
    let n = fabric.switch_count();
    let weight: Vec<u64> =
        (0..n).map(|s| fabric.terminals_on(SwitchId::new(s)).len() as u64).collect();
    let sources: Vec<usize> = (0..n).filter(|&s| weight[s] > 0).collect();
    let rows = terminal_rows(fabric, routes);
    let layer_of = |routes: &Routes, row: usize, s: usize| match &routes.layers {
        Layers::ByRow(l) => usize::from(l[row]),
        Layers::BySourceSwitch(l) => usize::from(l[row * n + s]),
        Layers::One | Layers::BySource(_) | Layers::ByHop(_) => 0,
    };
    let mut paths = vec![0u64; used];
    for &row in &rows {
        for &s in &sources {
            paths[layer_of(routes, row, s)] += weight[s];
        }
    }
    let lanes_of = apportion(&paths, lanes);

    let m = fabric.channel_count();
    let mut load = vec![0u64; m * lanes];
    let mut next = vec![usize::MAX; n];
    let mut new = vec![0u8; if by_row { routes.row_count() } else { routes.row_count() * n }];
    for &row in &rows {
        for (s, &port) in routes.ports(row).iter().enumerate() {
            next[s] = match port {
                DELIVER | NO_ROUTE => usize::MAX,
                port => match fabric.at_port(SwitchId::new(s), port) {
                    AtPort::Switch(c, _) => c.index(),
                    _ => usize::MAX,
                },
            };
        }
        let follow = |s: usize, each: &mut dyn FnMut(usize)| {
            let mut c = next[s];
            while c != usize::MAX {
                each(c);
                c = next[fabric.heads()[c] as usize];
            }
        };
        let units: Vec<&[usize]> =
            if by_row { vec![&sources[..]] } else { sources.chunks(1).collect() };
        for unit in units {
            let layer = layer_of(routes, row, unit[0]);
            let fullest = |lane: &usize| {
                let mut most = 0;
                for &s in unit {
                    follow(s, &mut |c| most = most.max(load[lane * m + c]));
                }
                most
            };
            let lane = lanes_of[layer].iter().copied().min_by_key(fullest).unwrap_or(layer);
            for &s in unit {
                follow(s, &mut |c| load[lane * m + c] += weight[s]);
                if !by_row {
                    new[row * n + s] = lane as u8;
                }
            }
            if by_row {
                new[row] = lane as u8;
            }
        }
    }
    routes.layers = if by_row { Layers::ByRow(new) } else { Layers::BySourceSwitch(new) };
    routes.layer_count()
}

/// Rows of terminals, once each, in the order of destinations.
fn terminal_rows(fabric: &Fabric, routes: &Routes) -> Vec<usize> {
    let mut seen = vec![false; routes.row_count()];
    (0..fabric.terminal_count())
        .flat_map(|d| (0..routes.paths()).map(move |path| (DestId::new(d), path)))
        .map(|(d, path)| routes.row(d, path))
        .filter(|&row| !std::mem::replace(&mut seen[row], true))
        .collect()
}

/// The lanes of each layer: one each, and every further lane to the layer with the most paths a lane.
/// A layer keeps its own number as its first lane.
fn apportion(paths: &[u64], lanes: usize) -> Vec<Vec<usize>> {
    let mut of: Vec<Vec<usize>> = (0..paths.len()).map(|layer| vec![layer]).collect();
    for lane in paths.len()..lanes {
        let Some(neediest) = (0..of.len())
            // The lower layer, if two are alike.
            .max_by(|&a, &b| {
                let share = |l: usize| paths[l] as f64 / of[l].len() as f64;
                share(a).total_cmp(&share(b)).then(b.cmp(&a))
            })
        else {
            break;
        };
        of[neediest].push(lane);
    }
    of
}
