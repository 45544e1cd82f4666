//! Upper bounds for any routing.

use std::collections::VecDeque;

use darkfiber_fabric::{ChannelId, Fabric, Shape, SwitchId, TerminalId};
use darkfiber_workload::{Extent, Pattern, Stream};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::Costs;
use super::halves::{Halves, halves};

/// Samples (phases) that the bounds are means over.
const SAMPLES: u64 = 1000;
/// Most distances that are kept, a byte each.
const MOST_DISTANCES: usize = 1 << 30;

/// Upper bounds of [`Bandwidth::Share`](super::Bandwidth::Share), whatever the routes.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Bounds {
    /// All channels together carry no more: mean of channels / (hops that the pairs need). Absent for
    /// fabrics too large to know all distances.
    pub capacity: Option<f64>,
    /// Nor do the channels out of (into) a part of the fabric, for the worst part of each sample: terminals,
    /// switches, subtrees, groups, halves.
    pub cut: f64,
    /// The smallest cut found between halves of the terminals.
    pub bisection: Halves,
}

impl Bounds {
    /// The lowest of the bounds.
    pub fn least(&self) -> f64 {
        self.capacity.map_or(self.cut, |capacity| capacity.min(self.cut))
    }
}

/// Parts of a fabric: every switch is in one.
struct Parts {
    of: Vec<u32>,
    /// Capacity of the channels out of, and into, each part.
    out: Vec<f64>,
    into: Vec<f64>,
}

/// The bounds for the first samples of a pattern: as many as are given, or all of its phases, up to a thousand.
pub fn bounds(
    fabric: &Fabric,
    shape: Option<&Shape>,
    who: &[TerminalId],
    costs: Option<&Costs>,
    pattern: &dyn Pattern,
    (seed, most): (u64, u64),
) -> Bounds {
    let carries = |c: usize| costs.map_or(1.0, |costs| 1.0 / costs.channel[c]);
    let (bisection, side) = halves(fabric, shape, who);
    let mut labels: Vec<Vec<u32>> = vec![(0..fabric.switch_count() as u32).collect(), side];
    match shape {
        Some(Shape::Tree(tree)) => {
            let top = tree.level.iter().copied().max().unwrap_or(1);
            labels.extend((2..top).map(|level| subtrees(fabric, &tree.level, level)));
        }
        Some(Shape::Dragonfly(dragonfly)) => {
            labels.push(dragonfly.group.clone());
        }
        _ => {}
    }
    let parts: Vec<Parts> = labels.into_iter().map(|of| Parts::new(fabric, of, carries)).collect();
    let home: Vec<u32> = who.iter().map(|&t| fabric.terminal(t).switch.0).collect();
    let distances = Distances::new(fabric, &home);
    let all: f64 = (0..fabric.channel_count()).map(carries).sum();
    let samples = match pattern.extent() {
        Extent::Phases(phases) => phases.min(SAMPLES),
        Extent::Samples => most.clamp(1, SAMPLES),
    };
    let each: Vec<(f64, f64)> = (0..samples)
        .into_par_iter()
        .map_init(Vec::new, |pairs, index| {
            pattern.fill(index, &mut Stream::new(seed, index), pairs);
            let switches = pairs.iter().map(|&[s, d]| (home[s as usize], home[d as usize]));
            let hops: u64 = distances
                .as_ref()
                .map_or(0, |far| switches.clone().map(|(a, b)| u64::from(far.between(a, b))).sum());
            let ends = of_terminals(pairs, who.len(), costs);
            let cut = parts.iter().map(|p| p.share(switches.clone())).fold(ends, f64::min);
            (cut, if hops == 0 { 1.0 } else { (all / hops as f64).min(1.0) })
        })
        .collect();
    let mean = |pick: fn(&(f64, f64)) -> f64| each.iter().map(pick).sum::<f64>() / samples as f64;
    Bounds { capacity: distances.is_some().then(|| mean(|e| e.1)), cut: mean(|e| e.0), bisection }
}

/// Upper bound of each pair by the links of the terminals, at most 1.
fn of_terminals(pairs: &[[u32; 2]], participants: usize, costs: Option<&Costs>) -> f64 {
    let mut flows = vec![0u32; 2 * participants];
    for &[s, d] in pairs {
        flows[s as usize] += 1;
        flows[participants + d as usize] += 1;
    }
    let cost = |i: usize| costs.map_or(1.0, |costs| costs.terminal[i % participants]);
    let slowest = flows.iter().enumerate().map(|(i, &n)| f64::from(n) * cost(i));
    1.0 / slowest.fold(1.0, f64::max)
}

impl Parts {
    fn new(fabric: &Fabric, of: Vec<u32>, carries: impl Fn(usize) -> f64) -> Self {
        let count = of.iter().max().map_or(0, |&p| p as usize + 1);
        let (mut out, mut into) = (vec![0.0; count], vec![0.0; count]);
        for c in 0..fabric.channel_count() {
            let id = ChannelId::new(c);
            let (a, b) = (of[fabric.tail(id).index()], of[fabric.head(id).index()]);
            if a != b {
                out[a as usize] += carries(c);
                into[b as usize] += carries(c);
            }
        }
        Self { of, out, into }
    }

    /// The most that the pairs that cross the border of the narrowest part can get, 1 at most.
    fn share(&self, switches: impl Iterator<Item = (u32, u32)>) -> f64 {
        let (mut leave, mut enter) = (vec![0u32; self.out.len()], vec![0u32; self.out.len()]);
        for (s, d) in switches {
            let (a, b) = (self.of[s as usize], self.of[d as usize]);
            if a != b {
                leave[a as usize] += 1;
                enter[b as usize] += 1;
            }
        }
        let least = |flows: &[u32], carry: &[f64]| {
            let crossed = flows.iter().zip(carry).filter(|(n, _)| **n > 0);
            crossed.map(|(&n, carry)| carry / f64::from(n)).fold(1.0, f64::min)
        };
        least(&leave, &self.out).min(least(&enter, &self.into))
    }
}

/// The parts into which switches up to a level are divided; switches above are separate parts.
fn subtrees(fabric: &Fabric, level: &[u8], top: u8) -> Vec<u32> {
    let n = fabric.switch_count();
    let mut part = vec![u32::MAX; n];
    let mut count = 0;
    let mut stack = Vec::new();
    for start in 0..n {
        if part[start] != u32::MAX {
            continue;
        }
        part[start] = count;
        if level[start] <= top {
            stack.push(start);
        }
        while let Some(s) = stack.pop() {
            for c in fabric.channels_from(SwitchId::new(s)) {
                let v = fabric.heads()[c] as usize;
                if part[v] == u32::MAX && level[v] <= top {
                    part[v] = count;
                    stack.push(v);
                }
            }
        }
        count += 1;
    }
    part
}

/// Hops between the switches that have participants.
struct Distances {
    /// Place of each switch among them.
    place: Vec<u32>,
    count: usize,
    hops: Vec<u8>,
}

impl Distances {
    fn new(fabric: &Fabric, home: &[u32]) -> Option<Self> {
        let mut switches = home.to_vec();
        switches.sort_unstable();
        switches.dedup();
        let count = switches.len();
        if count * count > MOST_DISTANCES {
            return None;
        }
        let mut place = vec![u32::MAX; fabric.switch_count()];
        for (i, &s) in switches.iter().enumerate() {
            place[s as usize] = i as u32;
        }
        let hops = switches
            .par_iter()
            .map(|&from| {
                let mut far = vec![u8::MAX; fabric.switch_count()];
                far[from as usize] = 0;
                let mut queue = VecDeque::from([from]);
                while let Some(s) = queue.pop_front() {
                    for c in fabric.channels_from(SwitchId(s)) {
                        let v = fabric.heads()[c];
                        if far[v as usize] == u8::MAX {
                            far[v as usize] = far[s as usize].saturating_add(1);
                            queue.push_back(v);
                        }
                    }
                }
                switches.iter().map(|&s| far[s as usize]).collect::<Vec<u8>>()
            })
            .collect::<Vec<_>>()
            .concat();
        Some(Self { place, count, hops })
    }

    fn between(&self, a: u32, b: u32) -> u8 {
        self.hops[self.place[a as usize] as usize * self.count + self.place[b as usize] as usize]
    }
}
