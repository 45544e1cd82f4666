//! Dependencies where switches choose lanes by input and output port.
//!
//! A packet in lane l of a channel waits for buffer space in lane f(input, output) of the next one; where service levels have tables
//! of their own, f is of its level. The lanes of a channel in which packets continue to another one follow from the previous channels,
//! path by path: so the bits of a dependency (c, d) of a level are here the lanes of c, and the lane of d is looked up. There is one
//! graph, over pairs of channel and lane, of all levels together.

use std::sync::atomic::Ordering;

use darkfiber_fabric::{ChannelId, Fabric, SwitchId, TerminalId};

use super::dependency::Dependencies;
use super::layer::LayerReport;
use super::sources::Sources;
use super::walk::Walk;
use super::witness::witnessed;
use crate::{DestId, HopLanes, Routes};

/// The lane of channel `d` behind channel `c` at a service level.
pub(super) fn lane(fabric: &Fabric, (lanes, level): (&HopLanes, u8), c: usize, d: usize) -> u8 {
    let input = fabric.head_port(ChannelId::new(c));
    lanes.get(level, SwitchId(fabric.heads()[c]), input, fabric.tail_ports()[d])
}

/// Bit set of the lanes that terminals on `s` enter its channel `c` in towards terminals from `run` on, at a service level.
pub(super) fn entered(
    fabric: &Fabric,
    routes: &Routes,
    (lanes, level): (&HopLanes, u8),
    (s, c): (usize, usize),
    run: &std::ops::Range<usize>,
    path: usize,
) -> u32 {
    let output = fabric.tail_ports()[c];
    let row = routes.row(DestId::new(run.start), path);
    fabric
        .terminals_on(SwitchId::new(s))
        .filter(|&t| *run != (t..t + 1))
        .map(TerminalId::new)
        .filter(|&t| routes.uses(t, path) && routes.layer_on(fabric, t, row) == level)
        .fold(0, |mask, t| mask | 1 << lanes.entering(fabric, level, t, output))
}

/// The report of each lane in use. A cycle may pass through several lanes; it is reported with the lowest of them.
pub(super) fn report(
    fabric: &Fabric,
    routes: &Routes,
    (lanes, levels, deps): (&HopLanes, &[u8], &[Dependencies]),
    sources: &Sources,
    used: u32,
) -> Vec<LayerReport> {
    let graph = Graph { fabric, lanes, levels, deps, width: lanes.count() };
    let cycle = graph.cycle().map(|nodes| {
        let held: Vec<(usize, u8)> = nodes.iter().map(|&node| graph.place(node)).collect();
        witnessed(fabric, routes, sources, &held, |walk, source, row, at, (next, then)| {
            let by = (lanes, routes.layer_on(fabric, source, row));
            lane(fabric, by, at.0, next) == then && is_on(fabric, by, walk, source, at)
        })
    });
    // Traffic that stays in its switch crosses no channel between switches.
    let used = used.max(1);
    let lowest = cycle.as_ref().and_then(|cycle| cycle.lanes.iter().min().copied());
    let mut all: Vec<LayerReport> = (0..32u8)
        .filter(|l| used & (1 << l) != 0)
        .map(|layer| LayerReport { layer, dependencies: graph.dependencies(layer), cycle: None })
        .collect();
    if let Some(of) = all.iter_mut().find(|of| Some(of.layer) == lowest) {
        of.cycle = cycle;
    }
    all
}

struct Graph<'a> {
    fabric: &'a Fabric,
    lanes: &'a HopLanes,
    /// Service levels in use, and the dependencies of each.
    levels: &'a [u8],
    deps: &'a [Dependencies],
    /// Number of lanes that are distinguished.
    width: usize,
}

impl Graph<'_> {
    /// Channel and lane of a node.
    fn place(&self, node: usize) -> (usize, u8) {
        (node / self.width, (node % self.width) as u8)
    }

    fn each_successor(&self, node: usize, mut found: impl FnMut(usize)) {
        let (c, lane_here) = self.place(node);
        let bit = 1 << lane_here;
        let channels = self.fabric.channels_from(SwitchId(self.fabric.heads()[c]));
        for d in channels {
            for (deps, &level) in self.deps.iter().zip(self.levels) {
                if deps.slot(self.fabric, c, d).load(Ordering::Relaxed) & bit != 0 {
                    let then = lane(self.fabric, (self.lanes, level), c, d);
                    found(d * self.width + usize::from(then));
                }
            }
        }
    }

    /// Number of dependencies of channels that are held in a lane, on a lane of another channel.
    fn dependencies(&self, lane: u8) -> usize {
        let mut next = Vec::new();
        let mut count = 0;
        for c in 0..self.fabric.channel_count() {
            next.clear();
            self.each_successor(c * self.width + usize::from(lane), |node| next.push(node));
            next.sort_unstable();
            next.dedup();
            count += next.len();
        }
        count
    }

    /// A cycle, if there is one: nodes that no other waits for are removed until every remaining node is waited for by
    /// another remaining one; walking against the waiting then revisits a node.
    fn cycle(&self) -> Option<Vec<usize>> {
        let nodes = self.fabric.channel_count() * self.width;
        let mut waited_for = vec![0u32; nodes];
        for node in 0..nodes {
            self.each_successor(node, |next| waited_for[next] += 1);
        }
        let mut open: Vec<usize> = (0..nodes).filter(|&node| waited_for[node] == 0).collect();
        let mut left = nodes - open.len();
        while let Some(node) = open.pop() {
            self.each_successor(node, |next| {
                waited_for[next] -= 1;
                if waited_for[next] == 0 {
                    left -= 1;
                    open.push(next);
                }
            });
        }
        if left == 0 {
            return None;
        }
        let mut before = vec![usize::MAX; nodes];
        for node in (0..nodes).filter(|&node| waited_for[node] > 0) {
            self.each_successor(node, |next| before[next] = before[next].min(node));
        }
        let mut at = (0..nodes).find(|&node| waited_for[node] > 0)?;
        let mut seen = vec![false; nodes];
        while !std::mem::replace(&mut seen[at], true) {
            at = before[at];
        }
        Some(self.shortest_from(at))
    }

    /// A shortest cycle through a node that is on one.
    fn shortest_from(&self, start: usize) -> Vec<usize> {
        let mut from = vec![usize::MAX; self.fabric.channel_count() * self.width];
        let mut queue = vec![start];
        let mut next = 0;
        while from[start] == usize::MAX && next < queue.len() {
            let node = queue[next];
            next += 1;
            self.each_successor(node, |then| {
                if from[then] == usize::MAX {
                    from[then] = node;
                    queue.push(then);
                }
            });
        }
        let mut cycle = vec![start];
        let mut at = from[start];
        while at != start {
            cycle.push(at);
            at = from[at];
        }
        cycle.reverse();
        cycle
    }
}

/// Whether traffic from `source` is ever on channel `c` in this lane: packets in a forwarding loop may be on it in several.
fn is_on(
    fabric: &Fabric,
    (lanes, level): (&HopLanes, u8),
    walk: &Walk<'_>,
    source: TerminalId,
    (c, in_lane): (usize, u8),
) -> bool {
    let mut before = None;
    let mut s = fabric.terminal(source).switch.index();
    // Once round all switches, and again.
    for _ in 0..=2 * fabric.switch_count() {
        let Some(at) = walk.channel(s) else { return false };
        if at == c {
            let found = match before {
                Some(b) => lane(fabric, (lanes, level), b, at),
                None => lanes.entering(fabric, level, source, fabric.tail_ports()[at]),
            };
            if found == in_lane {
                return true;
            }
        }
        before = Some(at);
        s = fabric.heads()[at] as usize;
    }
    false
}
