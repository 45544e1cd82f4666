//! The checker: proves properties of routes, independent of the engine that made them.
//!
//! It shares no code with the engines. Every ordered pair of terminals is traced through the tables as
//! a packet would go; one pass over the in-tree of a table row traces all its sources, to all neighbours
//! that share the row, so the cost is O(rows x switches), not O(pairs x hops). In the same pass the checker counts the load of
//! every channel and collects the dependencies between channels, layer by layer, whose strongly
//! connected components decide deadlock freedom (Dally and Seitz, "Deadlock-free message routing in
//! multiprocessor interconnection networks", 1987).

mod any_mix;
pub(crate) mod dependency;
mod groups;
mod hops;
mod layer;
mod sets;
pub(crate) mod sources;
mod walk;
mod witness;

use std::ops::Range;
use std::sync::atomic::Ordering;

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};
use rayon::prelude::*;
use serde::Serialize;

use crate::stop::unwind_if_asked;
use crate::{DestId, Routes};
pub use any_mix::check_any_mix;
use dependency::Dependencies;
pub use groups::{GroupEntry, GroupReport, check_groups};
pub use layer::{Cycle, LayerReport};
pub use sets::{SetCycle, SetReport, SetWait, check_sets};
use sources::{Sources, layer_mask};
use walk::{Walk, WalkOutcome};
use witness::witnessed;

/// Most broken pairs that a report lists one by one.
const EXAMPLES: usize = 10;
/// Runs of destinations a task; fixed, so that the work splits alike for any number of threads.
const CHUNK: usize = 64;

/// The findings of the checker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Planes of the fabric ([`Planes`](darkfiber_fabric::Planes)); pairs are those within each.
    pub planes: usize,
    /// Ordered pairs of different terminals of a plane.
    pub pairs: u64,
    /// Pairs of a source and a LID that it may send to; as many as `pairs` where everybody uses one LID of each port.
    pub paths: u64,
    /// Pairs of a source and a LID whose packets are dropped or end at a wrong port.
    pub unreachable: u64,
    /// Pairs of a source and a LID whose packets loop.
    pub loops: u64,
    /// Number of pairs by switches crossed; index 0 is unused.
    pub hops: Vec<u64>,
    /// Ordered terminal pairs that cross each inter-switch channel (the edge forwarding index), by
    /// [`ChannelId`](darkfiber_fabric::ChannelId).
    pub load: Vec<u64>,
    /// The virtual layers in use, rising.
    pub layers: Vec<LayerReport>,
    /// The first broken pairs, by (destination, source).
    pub broken: Vec<BrokenRoute>,
}

/// A pair that does not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenRoute {
    /// Terminal that sends.
    pub source: TerminalId,
    /// Terminal that should receive.
    pub dest: TerminalId,
    /// The switch where its packets end or come back to.
    pub at: SwitchId,
    /// Whether they loop (otherwise they end there).
    pub loops: bool,
}

/// Hop statistics in switches crossed, as OpenSM counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Hops {
    /// Mean over the pairs that are reachable; 0 if none is.
    pub mean: f64,
    /// Maximum over these pairs.
    pub max: usize,
}

impl Report {
    /// Whether every pair reaches.
    pub fn complete(&self) -> bool {
        self.unreachable == 0 && self.loops == 0
    }

    /// Whether no layer has a cycle.
    pub fn deadlock_free(&self) -> bool {
        self.layers.iter().all(|l| l.cycle.is_none())
    }

    /// Statistics of hops per pair.
    pub fn hops(&self) -> Hops {
        let pairs: u64 = self.hops.iter().sum();
        let sum: u64 = self.hops.iter().enumerate().map(|(h, n)| h as u64 * n).sum();
        Hops {
            mean: if pairs == 0 { 0.0 } else { sum as f64 / pairs as f64 },
            max: self.hops.iter().rposition(|&n| n > 0).unwrap_or(0),
        }
    }
}

/// Per chunk of destinations; merged by addition and concatenation in chunk order.
struct ChunkFindings {
    hops: Vec<u64>,
    load: Vec<u64>,
    unreachable: u64,
    loops: u64,
    broken: Vec<BrokenRoute>,
    /// Lanes between switches, where these choose them.
    lanes: u32,
}

/// Traces every ordered pair of terminals of a plane, on every LID of the destination that the source may use, and proves or
/// refutes deadlock freedom of all of them together.
///
/// Where a source may use any LID ([`Routes::uses`]), loads and hops are those of base LIDs; pairs that do not reach
/// are counted once for each LID.
///
/// Uses the caller's rayon pool; the report does not depend on the number of threads.
///
/// # Panics
/// If the routes were made for a fabric of another size.
pub fn check(fabric: &Fabric, routes: &Routes) -> Report {
    assert_eq!(routes.switch_count(), fabric.switch_count(), "routes of another fabric");
    assert_eq!(routes.terminal_count(), fabric.terminal_count(), "routes of another fabric");
    let sources = Sources::new(fabric, routes);
    let runs = sources.runs(fabric, routes);
    let used = sources.layers_in_use(fabric, routes, &runs);
    // Where switches choose lanes, what follows on a lane depends on the service level.
    let graphs = if routes.layers.by_hop().is_some() { used.count_ones().max(1) } else { 1 };
    let deps: Vec<Dependencies> = (0..graphs).map(|_| Dependencies::new(fabric)).collect();
    check_runs(fabric, routes, &sources, &runs, &deps, used)
}

/// As [`check`], of some rows: their pairs and loads are counted, and their dependencies join those that `deps` has of the others.
/// `used` are the layers in use, as bits; where switches choose lanes these are service levels, and `deps` are theirs, by rising level.
pub(crate) fn check_runs(
    fabric: &Fabric,
    routes: &Routes,
    sources: &Sources,
    runs: &[Range<usize>],
    deps: &[Dependencies],
    used: u32,
) -> Report {
    let levels: Vec<u8> = (0..32).filter(|level| used & (1 << level) != 0).collect();
    // Each group of chunks shares one load vector, so that memory does not grow with the fabric.
    // A few rows are still enough for all threads.
    let chunk = runs.len().div_ceil(4 * rayon::current_num_threads()).clamp(1, CHUNK);
    let group = runs.len().div_ceil(CHUNK).div_ceil(16).max(1);
    let partials: Vec<ChunkFindings> = runs
        .par_chunks(group * chunk)
        .map(|runs| {
            let part = ChunkFindings {
                hops: Vec::new(),
                load: vec![0; fabric.channel_count()],
                unreachable: 0,
                loops: 0,
                broken: Vec::new(),
                lanes: 0,
            };
            let (levels, walk) = (&levels[..], Walk::new(fabric));
            let mut tracer =
                Tracer { fabric, routes, sources, levels, deps, walk, part, has_loops: false };
            for run in runs {
                unwind_if_asked();
                tracer.visit(run);
            }
            tracer.part
        })
        .collect();

    let terminals = sources.planes().terminals(fabric);
    let pairs = |of: u64, plane: &[TerminalId]| of * (plane.len() as u64).saturating_sub(1);
    let lids =
        |&t: &TerminalId| (0..routes.paths()).filter(|&lid| routes.uses(t, lid)).count() as u64;
    let mut report = Report {
        planes: terminals.len(),
        pairs: terminals.iter().map(|plane| pairs(plane.len() as u64, plane)).sum(),
        paths: terminals.iter().map(|plane| pairs(plane.iter().map(lids).sum(), plane)).sum(),
        unreachable: 0,
        loops: 0,
        hops: Vec::new(),
        load: vec![0; fabric.channel_count()],
        layers: Vec::new(),
        broken: Vec::new(),
    };
    let mut lanes_between = 0;
    for part in partials {
        lanes_between |= part.lanes;
        report.unreachable += part.unreachable;
        report.loops += part.loops;
        report.hops.resize(report.hops.len().max(part.hops.len()), 0);
        for (sum, x) in report.hops.iter_mut().zip(&part.hops) {
            *sum += x;
        }
        for (sum, x) in report.load.iter_mut().zip(&part.load) {
            *sum += x;
        }
        report.broken.extend(part.broken);
    }
    report.broken.truncate(EXAMPLES);

    if let Some(lanes) = routes.layers.by_hop() {
        let graph = (lanes, &levels[..], deps);
        report.layers = hops::report(fabric, routes, graph, sources, lanes_between);
        return report;
    }
    let deps = &deps[0];
    report.layers = (0..32u8)
        .into_par_iter()
        .filter(|l| used & (1 << l) != 0)
        .map(|layer| LayerReport {
            layer,
            dependencies: deps.count(layer),
            cycle: deps.find_cycle(fabric, layer).map(|channels| {
                let held: Vec<_> = channels.iter().map(|c| (c.index(), layer)).collect();
                witnessed(fabric, routes, sources, &held, |_, t, row, _, _| {
                    routes.layer_on(fabric, t, row) == layer
                })
            }),
        })
        .collect();
    report
}

/// The service level of a graph; 0 if nobody sends.
fn level(levels: &[u8], graph: usize) -> u8 {
    levels.get(graph).copied().unwrap_or(0)
}

/// Scratch memory of a task that traces destinations, and its findings so far.
struct Tracer<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    sources: &'a Sources,
    /// Layers in use, or service levels where switches choose lanes: then each has its dependencies.
    levels: &'a [u8],
    deps: &'a [Dependencies],
    walk: Walk<'a>,
    part: ChunkFindings,
    /// Whether packets of the rows that are traced come back to a switch.
    has_loops: bool,
}

impl Tracer<'_> {
    /// Traces a run: at once if its rows treat all its terminals alike, else one by one.
    fn visit(&mut self, run: &Range<usize>) {
        if run.len() > 1 && !self.sources.paths.iter().all(|&p| self.follow(run, p).common) {
            for d in run.clone() {
                self.trace(&(d..d + 1));
            }
        } else {
            self.trace(run);
        }
    }

    fn follow(&mut self, run: &Range<usize>, path: usize) -> &Walk<'_> {
        let senders = self.sources.senders(self.fabric, self.routes, run, path);
        let row = self.routes.row(DestId::new(run.start), path);
        self.walk.to(self.routes.ports(row), TerminalId::new(run.start), |s| senders(s) > 0);
        &self.walk
    }

    fn trace(&mut self, run: &Range<usize>) {
        for &path in &self.sources.paths {
            self.follow(run, path);
            self.count(run, path);
            self.pass_on(0, true);
            self.pass_round(0);
            for graph in 1..self.deps.len() {
                self.enter(run, path, graph);
                self.pass_on(graph, true);
                self.pass_round(graph);
            }
        }
    }

    /// Marks the lanes that pairs of another service level enter in.
    fn enter(&mut self, run: &Range<usize>, path: usize, graph: usize) {
        let Self { fabric, routes, sources, walk, levels, .. } = self;
        let Some(lanes) = routes.layers.by_hop() else { return };
        let senders = sources.senders(fabric, routes, run, path);
        for i in 0..walk.order.len() {
            let s = walk.order[i] as usize;
            walk.mask[s] = match walk.channel(s).filter(|_| senders(s) > 0) {
                Some(c) => {
                    let at = level(levels, graph);
                    hops::entered(fabric, routes, (lanes, at), (s, c), run, path)
                }
                None => 0,
            };
        }
    }

    /// Counts pairs by their outcome at the switch where they enter.
    fn count(&mut self, run: &Range<usize>, path: usize) {
        let Self { fabric, routes, sources, walk, part, levels, has_loops, .. } = self;
        let dest = TerminalId::new(run.start);
        *has_loops = false;
        let senders = sources.senders(fabric, routes, run, path);
        let is_counted = routes.source_chooses() || path == 0;
        for i in 0..walk.order.len() {
            let s = walk.order[i] as usize;
            let pairs = senders(s);
            if pairs == 0 {
                continue;
            }
            // Packets that do not arrive wait for space as others do, as far as they come.
            walk.mask[s] |= match (routes.layers.by_hop(), walk.channel(s)) {
                (Some(lanes), Some(c)) => {
                    let at = level(levels, 0);
                    hops::entered(fabric, routes, (lanes, at), (s, c), run, path)
                }
                (Some(_), None) => 0,
                (None, _) => layer_mask(fabric, routes, s, run, path),
            };
            match walk.outcome(s) {
                WalkOutcome::Reaches(hops) => {
                    if is_counted {
                        if part.hops.len() <= hops {
                            part.hops.resize(hops + 1, 0);
                        }
                        part.hops[hops] += pairs;
                        walk.weight[s] += pairs;
                    }
                }
                bad => {
                    let loops = bad == WalkOutcome::Loops;
                    *has_loops |= loops;
                    *(if loops { &mut part.loops } else { &mut part.unreachable }) += pairs;
                    let source = fabric
                        .terminals_on(SwitchId::new(s))
                        .map(TerminalId::new)
                        .find(|&t| t != dest && routes.uses(t, path));
                    if let Some(source) = source.filter(|_| part.broken.len() < EXAMPLES) {
                        let at = walk.end(s);
                        part.broken.push(BrokenRoute { source, dest, at, loops });
                    }
                }
            }
        }
    }

    /// Packets that go round and round have no first switch: what enters somewhere passes all of the others, too.
    fn pass_round(&mut self, graph: usize) {
        if self.has_loops {
            self.pass_on(graph, false);
        }
    }

    /// Adds loads, with the first graph if it `counts`, and dependencies, upstream first: the load of a switch is complete before it is
    /// passed on.
    fn pass_on(&mut self, graph: usize, counts: bool) {
        let Self { fabric, routes, deps, walk, part, levels, .. } = self;
        let (lanes, deps, level) = (routes.layers.by_hop(), &deps[graph], level(levels, graph));
        for i in (0..walk.order.len()).rev() {
            let s = walk.order[i] as usize;
            let (weight, mask) = (walk.weight[s], walk.mask[s]);
            let is_first = graph == 0 && counts;
            let Some(channel) = walk.channel(s).filter(|_| mask != 0 || is_first && weight > 0)
            else {
                continue;
            };
            let v = fabric.heads()[channel] as usize;
            if is_first {
                part.load[channel] += weight;
                walk.weight[v] += weight;
            }
            if mask == 0 {
                continue;
            }
            if lanes.is_none() {
                walk.mask[v] |= mask;
            } else {
                part.lanes |= mask;
            }
            if let Some(next) = walk.channel(v) {
                if let Some(lanes) = lanes {
                    walk.mask[v] |= 1 << hops::lane(fabric, (lanes, level), channel, next);
                }
                let bits = deps.slot(fabric, channel, next);
                // Reading first keeps the cache line shared between threads.
                if bits.load(Ordering::Relaxed) & mask != mask {
                    bits.fetch_or(mask, Ordering::Relaxed);
                }
            }
        }
    }
}
