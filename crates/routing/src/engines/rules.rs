//! Layers that are acyclic by a rule, and the paths that break it.
//!
//! An engine for a known family knows in advance which paths may share a layer: those that pass no
//! dateline, that climb the group numbers, that correct one dimension after the other. The rule is
//! given by the single hops and turns of a path. Whatever engine made the tables, a path is in a layer
//! only if all its hops and turns are allowed there; a path that no layer allows is a stray and gets a
//! layer above, filled path by path.

use darkfiber_fabric::{AtPort, Fabric, SwitchId};
use rayon::prelude::*;

use super::acyclic::NONE;
use super::layers::{SHORT, assign_layers, assign_strays, only_by_pair};
use crate::{DELIVER, DestId, LayerBy, Layers, NO_ROUTE, Refusal, Request, Routes};

/// The mask of every layer: a hop or turn with it belongs to no layer.
pub(super) const EVERY: u32 = u32::MAX;

/// The hops and turns that each of a few layers allows; those that one allows must close no cycle.
pub(super) trait TurnRule: Sync {
    /// Number of layers of the rule, 1 to 32.
    fn layers(&self) -> usize;

    /// The layers, as bits, that a path over channel `c` must stay out of.
    fn hop(&self, c: u32) -> u32;

    /// The layers, as bits, that a path must stay out of if it continues from channel `c` to
    /// `next`.
    fn turn(&self, c: u32, next: u32) -> u32;

    /// Whether a path that several layers allow takes one of them by number of row and source, so
    /// that all layers carry about as much; else it takes the lowest.
    fn even(&self) -> bool;
}

/// Gives every path (row, source switch) a layer by the rule, and strays layers above.
///
/// Complexity: O(rows x switches), in parallel over the rows, plus the filling for strays.
pub(super) fn assign_by_rule(
    engine: &'static str,
    fabric: &Fabric,
    routes: &mut Routes,
    request: &Request<'_>,
    rule: &impl TurnRule,
) -> Result<(), Refusal> {
    let refuse = |needed: usize| Refusal::Lanes {
        engine,
        needed,
        lanes: request.lanes,
        hint: "use nue, which takes what there is",
    };
    let known = rule.layers();
    let n = fabric.switch_count();
    let mut layer = vec![0; routes.row_count() * n];
    let strays = place(fabric, routes, rule, &mut layer);
    // Where the rule has one layer, breaking it here and there need not close a cycle.
    if known == 1 && !strays.is_empty() && assign_layers(fabric, routes, 1, SHORT).is_ok() {
        return Ok(());
    }
    let one = strays.is_empty() && layer.par_iter().all(|&l| l == 0);
    if !one && request.layer_by == LayerBy::Destination {
        return Err(only_by_pair(engine));
    }
    if strays.is_empty() {
        if known > usize::from(request.lanes) {
            return Err(refuse(known));
        }
        routes.layers = if one { Layers::One } else { Layers::BySourceSwitch(layer) };
        return Ok(());
    }
    // To the filling the rule's layers are one, number 0. With fewer lanes than these it still counts
    // how many are needed.
    let below = known as u8 - 1;
    assign_strays(fabric, routes, request.lanes.saturating_sub(below), &strays)
        .map_err(|out| refuse(usize::from(below) + out.needed))?;
    if let Layers::BySourceSwitch(above) = &routes.layers {
        for &(row, s) in &strays {
            let at = row as usize * n + s as usize;
            layer[at] = above[at] + below;
        }
    }
    routes.layers = Layers::BySourceSwitch(layer);
    Ok(())
}

/// Writes the layers of all paths that some layer allows; returns the others that are in use.
fn place(
    fabric: &Fabric,
    routes: &Routes,
    rule: &impl TurnRule,
    layer: &mut [u8],
) -> Vec<(u32, u32)> {
    let n = fabric.switch_count();
    let all = EVERY >> (32 - rule.layers());
    let inhabited: Vec<bool> =
        (0..n).map(|s| !fabric.terminals_on(SwitchId::new(s)).is_empty()).collect();
    let mut serves = vec![false; routes.row_count()];
    for d in 0..fabric.terminal_count() {
        for path in 0..routes.paths() {
            serves[routes.row(DestId::new(d), path)] = true;
        }
    }
    let strays: Vec<Vec<(u32, u32)>> = layer
        .par_chunks_mut(n)
        .enumerate()
        .map_init(
            || Closed::new(n),
            |closed, (row, slots)| {
                let mut strays = Vec::new();
                if !serves[row] {
                    return strays;
                }
                closed.follow(fabric, rule, routes.ports(row));
                for s in (0..n).filter(|&s| inhabited[s]) {
                    let open = all & !closed.layers[s];
                    match open.count_ones() {
                        0 => strays.push((row as u32, s as u32)),
                        _ if !rule.even() || open & 1 != 0 && closed.next[s] == NONE => {
                            slots[s] = open.trailing_zeros() as u8;
                        }
                        several => slots[s] = nth_bit(open, (row + s) as u32 % several),
                    }
                }
                strays
            },
        )
        .collect();
    strays.concat()
}

/// The number of the `n`-th bit that is set.
fn nth_bit(mut bits: u32, n: u32) -> u8 {
    for _ in 0..n {
        bits &= bits - 1;
    }
    bits.trailing_zeros() as u8
}

/// Of one row, the layers that are closed to the path from each switch.
struct Closed {
    layers: Vec<u32>,
    /// The channel that each switch sends on.
    next: Vec<u32>,
    known: Vec<bool>,
    stack: Vec<u32>,
}

impl Closed {
    fn new(n: usize) -> Self {
        Self { layers: vec![0; n], next: vec![NONE; n], known: vec![false; n], stack: Vec::new() }
    }

    fn follow(&mut self, fabric: &Fabric, rule: &impl TurnRule, ports: &[u8]) {
        self.known.fill(false);
        for start in 0..ports.len() {
            let mut s = start;
            while !self.known[s] {
                self.known[s] = true;
                self.next[s] = match ports[s] {
                    DELIVER | NO_ROUTE => NONE,
                    port => match fabric.at_port(SwitchId::new(s), port) {
                        AtPort::Switch(c, _) => c.0,
                        _ => NONE,
                    },
                };
                self.stack.push(s as u32);
                if self.next[s] == NONE {
                    break;
                }
                s = fabric.heads()[self.next[s] as usize] as usize;
            }
            while let Some(s) = self.stack.pop() {
                let c = self.next[s as usize];
                self.layers[s as usize] = if c == NONE {
                    0
                } else {
                    let v = fabric.heads()[c as usize] as usize;
                    let turn = if self.next[v] == NONE { 0 } else { rule.turn(c, self.next[v]) };
                    self.layers[v] | rule.hop(c) | turn
                };
            }
        }
    }
}
