//! Lanes by hop: switches choose the lane by input and output port, so that no sender needs a service
//! level.
//!
//! An SL2VL table is independent of the lane in which a packet arrived. So a channel is held in the lane that the turn
//! onto it assigned (`turns`), and that turn decides what may follow. If turns form a cycle, some path making each
//! directly after the previous one, no number of lanes helps: the channels of the cycle wait for each other in whatever
//! lanes the turns have. Shortest paths on rings of seven and more do so, and on most rings of six. Otherwise the turns
//! can be sorted so that each comes after those that paths make before it, and lanes never fall along a path: a turn gets
//! the highest lane of the turns before it if the channels of that lane stay acyclic, else the next one. That terminates,
//! since each rise breaks the cycle.

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};

use super::acyclic::{Acyclic, NONE};
use super::layers::{LONG, one_layer_does};
use super::turns::Turns;
use crate::{HopLanes, Layers, Routes};

/// Why lanes by hop could not be assigned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLayersByHop {
    /// This many would do.
    #[error("takes {needed} lanes by hop, more than the {lanes} that it may use")]
    Lanes {
        /// Number of lanes that would suffice.
        needed: usize,
        /// Number of lanes that are allowed.
        lanes: u8,
    },
    /// Turns form a cycle: some path makes each right after the one before.
    #[error(
        "no assignment of lanes to input and output ports avoids deadlock: {} turns form a cycle, as on long rings; choose \
         other paths (updn, nue --lanes 1), or service levels (--layer-by pair or source)",
        .cycle.len()
    )]
    Circle {
        /// The channels of the cycle: some path takes each with its predecessor and successor.
        cycle: Vec<ChannelId>,
    },
}

/// Chooses a lane for each input and output port of a switch, at most `lanes` in all, so that no cycle of channels and lanes
/// can wait for each other; the paths stay. Existing layers are discarded.
///
/// Turns are taken in several orders, from the beginnings and from the ends of paths, and the fewest lanes are kept.
///
/// Complexity: O(LIDs x switches + turns x ports) for each order that is tried, and the searches for dependencies against the order of
/// channels.
///
/// # Errors
/// If more lanes are needed, or no number suffices; the routes are unchanged then.
pub fn layers_by_hop(fabric: &Fabric, routes: &mut Routes, lanes: u8) -> Result<(), NoLayersByHop> {
    if one_layer_does(fabric, routes, &[]) {
        routes.layers = Layers::One;
        return Ok(());
    }
    let turns = Turns::new(fabric, routes);
    let order = Order::new(&turns);
    let mut best: Option<(usize, Vec<u8>)> = None;
    for attempt in 0..ATTEMPTS {
        let sorted = order.sorted(attempt).map_err(|cycle| NoLayersByHop::Circle { cycle })?;
        let found = if attempt % 2 == 0 {
            ascend(fabric, &turns, &sorted)
        } else {
            descend(fabric, &turns, &sorted)
        };
        let needed = found.iter().max().map_or(1, |&l| usize::from(l) + 1);
        if best.as_ref().is_none_or(|&(least, _)| needed < least) {
            best = Some((needed, found));
        }
        // Two are the fewest where one will not do.
        if needed <= 2 {
            break;
        }
    }
    let (needed, lane) = best.unwrap_or((1, vec![0; turns.len()]));
    if needed > usize::from(lanes) {
        return Err(NoLayersByHop::Lanes { needed, lanes });
    }
    routes.layers = Layers::ByHop(tables(fabric, &turns, &lane));
    Ok(())
}

/// Orders that are tried, each in both directions.
const ATTEMPTS: usize = 8;

/// Orders of turns in which each comes after those that paths make before it.
struct Order<'a> {
    turns: &'a Turns<'a>,
    before: Vec<u32>,
}

impl<'a> Order<'a> {
    fn new(turns: &'a Turns<'a>) -> Self {
        let mut before = vec![0; turns.len()];
        for turn in turns.made() {
            turns.each_after(turn, |next| before[next as usize] += 1);
        }
        Self { turns, before }
    }

    /// One of several: early turns first or last ones first, by channels upwards or downwards; or a circle.
    fn sorted(&self, attempt: usize) -> Result<Vec<u32>, Vec<ChannelId>> {
        let mut waits = self.before.clone();
        let mut open: Vec<u32> =
            self.turns.made().filter(|&turn| waits[turn as usize] == 0).collect();
        let total = self.turns.made().count();
        let (is_deep, is_turned) = (attempt / 2 % 2 == 1, attempt / 4 == 1);
        if is_turned {
            open.reverse();
        }
        let mut sorted = Vec::with_capacity(total);
        while !open.is_empty() {
            // Level by level, or always on from the last one.
            let level =
                if is_deep { open.split_off(open.len() - 1) } else { std::mem::take(&mut open) };
            let from = open.len();
            for turn in level {
                sorted.push(turn);
                self.turns.each_after(turn, |next| {
                    waits[next as usize] -= 1;
                    if waits[next as usize] == 0 {
                        open.push(next);
                    }
                });
            }
            open[from..].sort_unstable();
            if is_turned {
                open[from..].reverse();
            }
        }
        if sorted.len() == total { Ok(sorted) } else { Err(self.cycle(&waits)) }
    }

    /// A circle among turns that wait for others that wait.
    fn cycle(&self, waits: &[u32]) -> Vec<ChannelId> {
        let first = self.turns.made().find(|&turn| waits[turn as usize] > 0);
        let mut at = first.expect("some turn waits");
        let mut path: Vec<u32> = Vec::new();
        let mut place = vec![usize::MAX; self.turns.len()];
        while place[at as usize] == usize::MAX {
            place[at as usize] = path.len();
            path.push(at);
            let mut before = None;
            self.turns.each_before(at, |turn| {
                if before.is_none() && waits[turn as usize] > 0 {
                    before = Some(turn);
                }
            });
            at = before.expect("it waits for one that waits");
        }
        let mut cycle = path.split_off(place[at as usize]);
        cycle.reverse();
        cycle.into_iter().map(|turn| ChannelId(self.turns.onto(turn))).collect()
    }
}

/// Lanes that never go down: from the beginnings of paths on.
fn ascend(fabric: &Fabric, turns: &Turns<'_>, sorted: &[u32]) -> Vec<u8> {
    let mut lane = vec![0u8; turns.len()];
    let mut graphs: Vec<Acyclic<'_>> = Vec::new();
    for &turn in sorted {
        let mut highest = None;
        turns.each_before(turn, |before| highest = highest.max(Some(lane[before as usize])));
        let Some(highest) = highest else { continue };
        let (b, c) = (turns.from(turn), turns.onto(turn));
        let fits = graph(&mut graphs, fabric, highest).extend(b, c);
        lane[turn as usize] = if fits { highest } else { highest + 1 };
    }
    lane
}

/// The same from the ends of paths on, and the lanes numbered from below.
fn descend(fabric: &Fabric, turns: &Turns<'_>, sorted: &[u32]) -> Vec<u8> {
    let mut below = vec![0u8; turns.len()];
    let mut graphs: Vec<Acyclic<'_>> = Vec::new();
    for &turn in sorted.iter().rev() {
        // Each lane that follows on some next channel is a separate dependency; only those in the deepest one so far can
        // close a cycle.
        let mut deepest = None;
        turns.each_after(turn, |next| deepest = deepest.max(Some(below[next as usize])));
        let Some(deepest) = deepest else { continue };
        let c = turns.onto(turn);
        let graph = graph(&mut graphs, fabric, deepest);
        graph.begin();
        let mut fits = true;
        turns.each_after(turn, |next| {
            if fits && below[next as usize] == deepest {
                fits = graph.extend(c, turns.onto(next));
            }
        });
        graph.end(fits);
        below[turn as usize] = if fits { deepest } else { deepest + 1 };
    }
    let top = below.iter().copied().max().unwrap_or(0);
    for turn in turns.made() {
        below[turn as usize] = top - below[turn as usize];
    }
    below
}

fn graph<'b, 'a>(
    graphs: &'b mut Vec<Acyclic<'a>>,
    fabric: &'a Fabric,
    lane: u8,
) -> &'b mut Acyclic<'a> {
    while graphs.len() <= usize::from(lane) {
        graphs.push(Acyclic::new(fabric, LONG));
    }
    &mut graphs[usize::from(lane)]
}

/// The lanes of turns as tables of switches.
fn tables(fabric: &Fabric, turns: &Turns<'_>, lane: &[u8]) -> HopLanes {
    let mut tables = HopLanes::new(fabric);
    for turn in turns.made() {
        let (c, lane) = (ChannelId(turns.onto(turn)), lane[turn as usize]);
        let (s, output) = (fabric.tail(c), fabric.tail_port(c));
        match turns.from(turn) {
            NONE => {
                for t in fabric.terminals_on(s) {
                    let t = TerminalId::new(t);
                    tables.set(0, s, fabric.terminal(t).switch_port, output, lane);
                }
            }
            b => tables.set(0, s, fabric.head_port(ChannelId(b)), output, lane),
        }
    }
    tables
}
