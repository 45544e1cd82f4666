//! Slow and simple second opinions.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{AtPort, ChannelId, Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Routes};

/// The inter-switch channels that a packet from `source` to `dest` crosses on the LID that the routes name for the
/// source.
pub fn path(
    fabric: &Fabric,
    routes: &Routes,
    source: TerminalId,
    dest: TerminalId,
) -> Option<Vec<ChannelId>> {
    path_on(fabric, routes, source, dest, routes.path_of(source))
}

/// The inter-switch channels that a packet from `source` to LID `lid` of `dest` crosses, entry by entry as the
/// switches would read them; `None` if it does not arrive within a number of hops equal to the number of switches.
pub fn path_on(
    fabric: &Fabric,
    routes: &Routes,
    source: TerminalId,
    dest: TerminalId,
    lid: usize,
) -> Option<Vec<ChannelId>> {
    let mut at: SwitchId = fabric.terminal(source).switch;
    let mut channels = Vec::new();
    for _ in 0..=fabric.switch_count() {
        let port = routes.lft_entry(fabric, at, DestId::terminal(dest), lid)?;
        match fabric.at_port(at, port) {
            AtPort::Terminal(t) => return (t == dest).then_some(channels),
            AtPort::Switch(c, next) => {
                channels.push(c);
                at = next;
            }
            AtPort::Nothing | AtPort::Loopback => return None,
        }
    }
    None
}

/// The channels that a lost packet crosses; of a forwarding loop all, and the first ones again.
pub fn way_of_lost(
    fabric: &Fabric,
    routes: &Routes,
    source: TerminalId,
    dest: TerminalId,
    lid: usize,
) -> Vec<ChannelId> {
    let mut at: SwitchId = fabric.terminal(source).switch;
    let mut channels = Vec::new();
    while channels.len() <= 2 * fabric.switch_count() {
        let port = routes.lft_entry(fabric, at, DestId::terminal(dest), lid);
        let Some(AtPort::Switch(c, next)) = port.map(|port| fabric.at_port(at, port)) else {
            break;
        };
        channels.push(c);
        at = next;
    }
    channels
}

/// Switch where a packet that does not arrive ends, or the first one that it comes to again, and whether it does.
pub fn end(
    fabric: &Fabric,
    routes: &Routes,
    source: TerminalId,
    dest: TerminalId,
    lid: usize,
) -> (SwitchId, bool) {
    let mut at = fabric.terminal(source).switch;
    let mut seen = BTreeSet::new();
    while seen.insert(at) {
        let port = routes.lft_entry(fabric, at, DestId::terminal(dest), lid);
        match port.map(|port| fabric.at_port(at, port)) {
            Some(AtPort::Switch(_, next)) => at = next,
            Some(AtPort::Loopback) => return (at, true),
            _ => return (at, false),
        }
    }
    (at, true)
}

/// Everything that the checker counts, pair by pair. Hops and loads are those of one LID a pair.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Pairs of a source and a LID that the source may use.
    pub paths: u64,
    /// Of these, that do not arrive.
    pub lost: u64,
    /// Of those, that loop forever.
    pub loops: u64,
    /// Different pairs of channels that follow each other, by layer.
    pub dependencies: BTreeMap<u8, usize>,
    /// Pairs by switches crossed.
    pub hops: BTreeMap<usize, u64>,
    /// Pairs by channel.
    pub load: BTreeMap<ChannelId, u64>,
    /// Layers whose channel dependency graph has a cycle; where switches choose lanes, lanes from which one is reachable.
    pub cyclic: BTreeSet<u8>,
    /// Layers in use; where switches choose lanes, those between switches.
    pub layers: BTreeSet<u8>,
}

/// A lane of a channel, that a packet is in.
pub type Held = (u8, ChannelId);

/// The lanes of the channels that a packet crosses: that of its layer, or that which each switch has for its input and output
/// port.
pub fn held(
    fabric: &Fabric,
    routes: &Routes,
    source: TerminalId,
    layer: u8,
    channels: &[ChannelId],
) -> Vec<Held> {
    let Some(lanes) = routes.layers.by_hop() else {
        return channels.iter().map(|&c| (layer, c)).collect();
    };
    let mut input = fabric.terminal(source).switch_port;
    let mut all = Vec::new();
    for &c in channels {
        all.push((lanes.get(layer, fabric.tail(c), input, fabric.tail_port(c)), c));
        input = fabric.tail_port(fabric.reverse(c));
    }
    all
}

/// Traces every pair separately, to every LID that its source may use, and searches cycles by removing channels that wait for no
/// other.
pub fn judge(fabric: &Fabric, routes: &Routes) -> Verdict {
    let mut verdict = Verdict::default();
    let mut waits: BTreeMap<Held, BTreeSet<Held>> = BTreeMap::new();
    for s in (0..fabric.terminal_count()).map(TerminalId::new) {
        for d in (0..fabric.terminal_count()).map(TerminalId::new).filter(|&d| d != s) {
            let lids = if routes.source_chooses() {
                routes.path_of(s)..routes.path_of(s) + 1
            } else {
                0..routes.paths()
            };
            for lid in lids {
                let layer = routes.layer_on(fabric, s, routes.row(DestId::terminal(d), lid));
                if routes.layers.by_hop().is_none() {
                    verdict.layers.insert(layer);
                }
                verdict.paths += 1;
                let Some(channels) = path_on(fabric, routes, s, d, lid) else {
                    verdict.lost += 1;
                    verdict.loops += u64::from(end(fabric, routes, s, d, lid).1);
                    // Packets that do not arrive wait for space as far as they come.
                    let way = way_of_lost(fabric, routes, s, d, lid);
                    let held = held(fabric, routes, s, layer, &way);
                    verdict.layers.extend(held.iter().map(|&(lane, _)| lane));
                    for pair in held.windows(2) {
                        waits.entry(pair[0]).or_default().insert(pair[1]);
                    }
                    continue;
                };
                let held = held(fabric, routes, s, layer, &channels);
                verdict.layers.extend(held.iter().map(|&(lane, _)| lane));
                for pair in held.windows(2) {
                    waits.entry(pair[0]).or_default().insert(pair[1]);
                }
                if lid == routes.path_of(s) {
                    *verdict.hops.entry(channels.len() + 1).or_default() += 1;
                    for &c in &channels {
                        *verdict.load.entry(c).or_default() += 1;
                    }
                }
            }
        }
    }
    if verdict.layers.is_empty() && verdict.paths > 0 {
        verdict.layers.insert(0);
    }
    for (&(lane, _), next) in &waits {
        *verdict.dependencies.entry(lane).or_default() += next.len();
    }
    loop {
        let before = waits.len();
        let waiting: BTreeSet<Held> = waits.keys().copied().collect();
        waits.retain(|_, next| next.iter().any(|held| waiting.contains(held)));
        if waits.len() == before {
            break;
        }
    }
    verdict.cyclic = waits.keys().map(|&(lane, _)| lane).collect();
    verdict
}

/// Whether every switch is as near to `dest`'s switch as by breadth-first search.
pub fn distances(fabric: &Fabric, dest: SwitchId) -> Vec<Option<usize>> {
    let mut dist = vec![None; fabric.switch_count()];
    dist[dest.index()] = Some(0);
    for round in 0..fabric.switch_count() {
        for c in (0..fabric.channel_count()).map(ChannelId::new) {
            let (a, b) = (fabric.tail(c).index(), fabric.head(c).index());
            if dist[b] == Some(round) && dist[a].is_none() {
                dist[a] = Some(round + 1);
            }
        }
    }
    dist
}

/// Mean number of switches that a pair of terminals crosses on shortest paths.
///
/// # Panics
/// If the fabric is not connected.
pub fn hops(fabric: &Fabric) -> f64 {
    let terminals = |s: usize| fabric.terminals_on(SwitchId::new(s)).len() as u64;
    let (mut sum, mut pairs) = (0, 0);
    for d in 0..fabric.switch_count() {
        let dist = distances(fabric, SwitchId::new(d));
        for s in (0..fabric.switch_count()).filter(|&s| terminals(s) > 0) {
            let between = terminals(s) * (terminals(d) - u64::from(s == d));
            sum += between * (dist[s].expect("connected") as u64 + 1);
            pairs += between;
        }
    }
    sum as f64 / pairs as f64
}

/// Most pairs that share one layer of one channel.
pub fn fullest_lane(fabric: &Fabric, routes: &Routes) -> u64 {
    let mut load: BTreeMap<(u8, ChannelId), u64> = BTreeMap::new();
    for s in (0..fabric.terminal_count()).map(TerminalId::new) {
        for d in (0..fabric.terminal_count()).map(TerminalId::new).filter(|&d| d != s) {
            let layer = routes.layer(fabric, s, d);
            for c in path(fabric, routes, s, d).into_iter().flatten() {
                *load.entry((layer, c)).or_default() += 1;
            }
        }
    }
    load.into_values().max().unwrap_or(0)
}

/// The largest hop distance between two switches of one component: a search from every switch.
pub fn diameter(fabric: &Fabric) -> usize {
    (0..fabric.switch_count()).map(|s| depth(fabric, SwitchId::new(s))).max().unwrap_or(0)
}

fn depth(fabric: &Fabric, start: SwitchId) -> usize {
    let mut dist = vec![usize::MAX; fabric.switch_count()];
    dist[start.index()] = 0;
    let mut queue = vec![start];
    let mut next = 0;
    while let Some(&s) = queue.get(next) {
        next += 1;
        for c in fabric.channels_from(s).map(ChannelId::new) {
            let v = fabric.head(c);
            if dist[v.index()] == usize::MAX {
                dist[v.index()] = dist[s.index()] + 1;
                queue.push(v);
            }
        }
    }
    queue.last().map_or(0, |s| dist[s.index()])
}
