//! The virtual lane that carries most of the routes over a channel.

use std::collections::BTreeMap;

use darkfiber_fabric::{ChannelId, Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Routes, follow, unwind_if_asked};
use rayon::prelude::*;

/// A channel that no route crosses has no lane.
pub const NO_LANE: u8 = u8::MAX;

/// Larger tables (terminals x switches) take too long for a picture.
const LARGE: usize = 400_000_000;

/// By channel between switches the virtual lane of most of the routes of all pairs, the lowest of equal ones; [`NO_LANE`]
/// where there is no route. `None` if all routes are in one lane, or there are more than 400 million pairs of a terminal
/// and a switch.
///
/// Complexity: O(terminals x switches x hops).
pub fn main_lanes(fabric: &Fabric, routes: &Routes) -> Option<Vec<u8>> {
    let (lanes, m) = (routes.layer_count(), fabric.channel_count());
    if lanes < 2 || fabric.terminal_count() * fabric.switch_count() > LARGE {
        return None;
    }
    let terminals: Vec<TerminalId> = (0..fabric.terminal_count()).map(TerminalId::new).collect();
    let none = || vec![0u32; m * lanes];
    let count = terminals
        .par_iter()
        .fold(none, |mut count, &dest| {
            unwind_if_asked();
            to_one(fabric, routes, dest, |c, lane, n| {
                count[c.index() * lanes + usize::from(lane)] += n;
            });
            count
        })
        .reduce(none, |mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        });
    let main = |of_channel: &[u32]| {
        let most = of_channel.iter().copied().max().unwrap_or(0);
        let lane = of_channel.iter().position(|&n| n == most && n > 0);
        lane.map_or(NO_LANE, |lane| lane as u8)
    };
    Some(count.chunks(lanes).map(main).collect())
}

/// Adds the routes of all sources to one destination: channel, lane, and how many.
fn to_one(
    fabric: &Fabric,
    routes: &Routes,
    dest: TerminalId,
    mut add: impl FnMut(ChannelId, u8, u32),
) {
    let home = fabric.terminal(dest).switch;
    // Sources that enter at one switch, use one LID and one level take the same path; where switches choose lanes, the
    // first lane depends on the port that a source is plugged into.
    let mut sources: BTreeMap<(SwitchId, usize, u8, u8), u32> = BTreeMap::new();
    let by_hop = routes.layers.by_hop();
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        let terminal = fabric.terminal(t);
        if terminal.switch != home {
            let level = routes.layer(fabric, t, dest);
            let port = if by_hop.is_some() { terminal.switch_port } else { 0 };
            *sources.entry((terminal.switch, routes.path_of(t), level, port)).or_default() += 1;
        }
    }
    let mut path_channels = Vec::new();
    for ((switch, path, level, port), n) in sources {
        path_channels.clear();
        let ports = routes.ports(routes.row(DestId::terminal(dest), path));
        if !follow(fabric, ports, dest, switch, &mut path_channels) {
            continue;
        }
        let mut input = port;
        for c in path_channels.iter().map(|&c| ChannelId(c)) {
            let next = fabric.tail_port(c);
            let lane = by_hop.map_or(level, |lanes| lanes.get(level, fabric.tail(c), input, next));
            add(c, lane, n);
            input = fabric.head_port(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::open;
    use darkfiber_routing::{Request, find_engine};

    use super::*;

    #[test]
    fn lanes_of_a_torus() {
        let torus = open("torus:dims=6x6,t=1").expect("a family");
        let request = Request { shape: torus.shape.as_ref(), ..Request::default() };
        let route = |name: &str| {
            find_engine(name).expect("an engine").route(&torus.fabric, &request).expect("it routes")
        };
        assert_eq!(main_lanes(&torus.fabric, &route("minhop")), None, "one lane");
        let routes = route("dfsssp");
        let lanes = main_lanes(&torus.fabric, &routes).expect("several lanes");
        assert_eq!(lanes.len(), torus.fabric.channel_count());
        let top = routes.layer_count() as u8;
        assert!(lanes.iter().all(|&lane| lane < top || lane == NO_LANE), "{lanes:?}");
        // Pair by pair, it is the same.
        let mut count = vec![vec![0u32; usize::from(top)]; lanes.len()];
        let all = || (0..torus.fabric.terminal_count()).map(TerminalId::new);
        for (s, d) in all().flat_map(|s| all().map(move |d| (s, d))).filter(|(s, d)| s != d) {
            let mut path_channels = Vec::new();
            let ports = routes.ports(routes.row(DestId::terminal(d), routes.path_of(s)));
            assert!(follow(
                &torus.fabric,
                ports,
                d,
                torus.fabric.terminal(s).switch,
                &mut path_channels
            ));
            let lane = usize::from(routes.layer(&torus.fabric, s, d));
            for c in path_channels {
                count[c as usize][lane] += 1;
            }
        }
        for (c, of_channel) in count.iter().enumerate() {
            let most = *of_channel.iter().max().expect("lanes");
            let main = of_channel.iter().position(|&n| n == most && n > 0);
            assert_eq!(main.map_or(NO_LANE, |l| l as u8), lanes[c], "channel {c}: {of_channel:?}");
        }
    }
}
