//! Routing a fabric that may have fallen apart: each piece on its own.

use darkfiber_analysis::Efi;
use darkfiber_fabric::{Fabric, Faults, SwitchId, Topology};
use darkfiber_routing::check::{Report, check};
use darkfiber_routing::{Engine, Request, Routes, route_first};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Clock;

/// What an engine made of a fabric, over all its pieces.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Measured {
    /// Ordered pairs of different terminals.
    pub pairs: u64,
    /// Pairs that cannot talk: in different pieces, or badly routed.
    pub lost: u64,
    /// Of these the pairs of one piece: the engine's fault.
    pub unrouted: u64,
    /// Virtual layers in use, the most of any piece.
    pub layers: usize,
    /// Whether no layer of any piece has a cycle of channel dependencies.
    pub deadlock_free: bool,
    /// Most routes that cross a directed switch-to-switch channel.
    pub efi_max: u64,
    /// The same as a multiple of that of the same engine on the fabric without faults; `None` where
    /// that is zero or unknown.
    pub efi_max_relative: Option<f64>,
    /// Mean hops, in switches crossed, of the pairs that reach; 0 if none does.
    pub hops_mean: f64,
    /// Wall time of computing routes and layers, and of refusals before in the chain.
    pub seconds: f64,
}

/// A fabric as the pieces that it is in. An engine refuses a fabric in pieces, an operator would run a
/// subnet manager in each.
#[derive(Clone, Debug)]
pub struct Pieces {
    count: usize,
    pairs: u64,
    /// Pairs of terminals on a switch that forms a piece alone: nothing is to be routed there.
    on_lone_switches: u64,
    /// All other pieces with pairs of terminals; for a connected fabric the fabric itself, even without pairs.
    parts: Vec<Topology>,
}

impl Pieces {
    /// Takes a fabric apart where it is apart.
    ///
    /// Complexity: O(fabric) for each piece of several switches with terminals.
    pub fn of(topology: Topology) -> Self {
        let fabric = &topology.fabric;
        let pairs = ordered_pairs(fabric.terminal_count());
        let labels = fabric.component_labels();
        let count = labels.iter().max().map_or(0, |&l| l as usize + 1);
        if count <= 1 {
            return Self { count, pairs, on_lone_switches: 0, parts: vec![topology] };
        }
        let (mut switches, mut terminals) = (vec![0; count], vec![0; count]);
        for (s, &label) in labels.iter().enumerate() {
            switches[label as usize] += 1;
            terminals[label as usize] += fabric.terminals_on(SwitchId::new(s)).len();
        }
        let mut pieces = Self { count, pairs, on_lone_switches: 0, parts: Vec::new() };
        for piece in 0..count {
            match (switches[piece], terminals[piece]) {
                (_, 0 | 1) => {}
                (1, n) => pieces.on_lone_switches += ordered_pairs(n),
                _ => {
                    let others = (0..labels.len()).filter(|&s| labels[s] as usize != piece);
                    let switches = others.map(SwitchId::new).collect();
                    let faults = Faults { switches, ..Faults::default() };
                    pieces.parts.push(topology.with_faults(&faults).0);
                }
            }
        }
        pieces
    }

    /// Number of pieces, those without terminals included.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Routes every piece with the first engine of `chain` that does not refuse it, and checks. The
    /// shape in `request` is replaced by that of the piece.
    ///
    /// # Errors
    /// The reasons, if all engines refuse a piece.
    pub fn route(
        &self,
        chain: &[&'static dyn Engine],
        request: &Request<'_>,
        clock: Clock<'_>,
    ) -> Result<Measured, String> {
        let mut all = Totals::new(self.pairs);
        // On its own switch a packet crosses one switch.
        (all.reached, all.hops) = (self.on_lone_switches, self.on_lone_switches);
        for part in &self.parts {
            let request = Request { shape: part.shape.as_ref(), ..request.clone() };
            let start = clock();
            let (routes, _refusals_before) = route_first(chain, &part.fabric, &request)
                .map_err(|refusals| reasons(&refusals))?;
            all.measured.seconds += clock() - start;
            all.add(&check(&part.fabric, &routes));
        }
        Ok(all.finished())
    }
}

impl Measured {
    /// Of tables of a fabric in one piece, which took so long; and the routes that cross each channel.
    pub(crate) fn of(fabric: &Fabric, routes: &Routes, seconds: f64) -> (Self, Vec<u64>) {
        let mut all = Totals::new(ordered_pairs(fabric.terminal_count()));
        let report = check(fabric, routes);
        all.add(&report);
        all.measured.seconds = seconds;
        (all.finished(), report.load)
    }
}

/// Sums over all pieces.
struct Totals {
    measured: Measured,
    reached: u64,
    hops: u64,
}

impl Totals {
    fn new(pairs: u64) -> Self {
        let measured = Measured {
            pairs,
            lost: 0,
            unrouted: 0,
            layers: 1,
            deadlock_free: true,
            efi_max: 0,
            efi_max_relative: None,
            hops_mean: 0.0,
            seconds: 0.0,
        };
        Self { measured, reached: 0, hops: 0 }
    }

    fn add(&mut self, report: &Report) {
        let all = &mut self.measured;
        all.unrouted += report.unreachable + report.loops;
        all.layers = all.layers.max(report.layers.len());
        all.deadlock_free &= report.deadlock_free();
        all.efi_max = all.efi_max.max(Efi::of(&report.load).max);
        self.reached += report.hops.iter().sum::<u64>();
        self.hops += report.hops.iter().enumerate().map(|(h, n)| h as u64 * n).sum::<u64>();
    }

    fn finished(mut self) -> Measured {
        self.measured.lost = self.measured.pairs - self.reached;
        if self.reached > 0 {
            self.measured.hops_mean = self.hops as f64 / self.reached as f64;
        }
        self.measured
    }
}

fn ordered_pairs(terminals: usize) -> u64 {
    let n = terminals as u64;
    n * n.saturating_sub(1)
}

/// Why each engine refused. The name of a single engine is next to its reason anyway.
fn reasons(refusals: &darkfiber_routing::engine::Refusals) -> String {
    let without_name = |name: &str, reason: String| {
        let rest = reason.strip_prefix(name).map(|r| r.trim_start_matches(':').trim_start());
        rest.map(str::to_owned).unwrap_or(reason)
    };
    match refusals.as_slice() {
        [(name, refusal)] => without_name(name, refusal.to_string()),
        many => {
            let each = many
                .iter()
                .map(|(name, r)| format!("{name}: {}", without_name(name, r.to_string())));
            each.collect::<Vec<_>>().join("; ")
        }
    }
}
