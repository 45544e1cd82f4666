//! Load-latency curves: packets of a routing, load after load.

mod plan;
mod saturation;

pub use plan::Traffic;
pub use saturation::saturation;

use darkfiber_packetsim::routing::AnyRouting;
use darkfiber_packetsim::{ConfigError, Load, LoadOutcome, Net, Observer, SwitchModel};
use darkfiber_workload::histogram;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::interval::MeanInterval;

/// What came of a load. Times are in nanoseconds; loads are parts of what channels of terminals carry.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Point {
    /// What each terminal that sends was to create, as a part of what its channel carries.
    pub offered: f64,
    /// What arrived, as a part of what the channels of all terminals carry: where a pattern leaves some silent, less than was offered
    /// arrives although all of it does.
    pub accepted: f64,
    /// Whether sources fell behind: latencies are of a moment then.
    pub saturated: bool,
    /// Mean latency of packets, from creation to their last byte.
    pub mean: f64,
    /// Half the width of its confidence interval of 95 %, by Student's t of the means of ten parts of the measured time, those without
    /// packets left out. `None` where fewer than two have packets.
    pub error: Option<f64>,
    /// Whether that is too narrow: parts of the measured time are alike, so that their means say less than as many independent ones.
    pub narrow: bool,
    /// Half of the packets took at most this.
    pub p50: f64,
    /// 95 % did.
    pub p95: f64,
    /// 99 % did.
    pub p99: f64,
    /// 99.9 % did.
    pub p999: f64,
    /// All did.
    pub max: f64,
    /// Switches that packets crossed.
    pub hops: f64,
    /// Share of packets that took another than a shortest path.
    pub round: f64,
    /// Packets that were measured.
    pub packets: u64,
    /// When they began to count: until then latencies settled.
    pub warmup: f64,
    /// For how long they counted: near saturation longer than elsewhere, unless the time was given.
    pub measured: f64,
    /// Packets in the network and its sources at most.
    pub packets_most: usize,
    /// Packets times switches that they crossed, warm-up and all.
    pub crossed: u64,
    /// Events of the simulation.
    pub events: u64,
    /// Packets waited for each other for ever: the cycle of buffers, by port of the network and lane.
    #[serde(skip)]
    pub cycle: Vec<(u32, u8)>,
}

impl Point {
    fn of(offered: f64, found: &LoadOutcome) -> Self {
        let m = &found.measured;
        let longest = m.longest as f64 / 1000.0;
        let at = |q: f64| histogram::quantile(&m.latencies, q, 1.0, longest);
        let per = |n: u64| n as f64 / m.packets.max(1) as f64;
        Self {
            offered,
            accepted: found.accepted,
            saturated: found.fell_behind || found.missing > 0,
            mean: m.mean() / 1000.0,
            error: MeanInterval::of(&m.batch_means(), 0.95)
                .map(|mean| mean.half / 1000.0)
                .filter(|half| half.is_finite()),
            narrow: found.alike,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: longest,
            hops: m.mean_hops(),
            round: per(m.round),
            packets: m.packets,
            warmup: found.begin as f64 / 1000.0,
            measured: found.long as f64 / 1000.0,
            packets_most: found.most,
            crossed: found.crossed,
            events: found.events,
            cycle: found.stalled.as_ref().map_or(Vec::new(), |s| s.cycle.clone()),
        }
    }
}

/// Terminals from which on loads are simulated one after the other.
const LARGE: usize = 4096;

/// Simulates loads: in several processes one after the other, each in all of them. `follow` makes the observer of one; `done` is
/// called after each.
///
/// # Errors
/// If switches, packets and routing do not go together.
pub fn curve<'a>(
    net: &Net,
    micro: &SwitchModel,
    routing: &AnyRouting<'_>,
    loads: &[f64],
    what: &Load,
    follow: &(dyn Fn(f64) -> Box<dyn Observer + 'a> + Sync),
    done: &(dyn Fn() + Sync),
) -> Result<Vec<(Point, LoadOutcome)>, ConfigError> {
    // Either as many loads in parallel as there are threads, or parts of one load after the other: for large networks,
    // since one fits into caches and memory where several do not. Small parts stay in the cache for as long as they need
    // not wait for each other, whatever the number of threads.
    let (terminals, threads) = (net.terminal_count(), rayon::current_num_threads());
    let processes = what.processes.as_deref();
    let large = processes.is_some() || terminals >= LARGE || loads.len() < threads;
    let parts = if large { net.parts_in(processes) } else { 1 };
    let one = |&load: &f64| {
        let what = Load { load, parts, ..what.clone() };
        let found = routing.load(net, micro, &what, &*follow(load))?;
        done();
        Ok((Point::of(load, &found), found))
    };
    if large {
        loads.iter().map(one).collect()
    } else {
        loads.par_iter().with_max_len(1).map(one).collect()
    }
}
