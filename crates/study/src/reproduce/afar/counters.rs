//! The value of port counters alone: traffic between pairs is estimated from them, and entries are changed for that.

use std::collections::BTreeMap;

use darkfiber_analysis::estimate::Pairs;
use darkfiber_analysis::heat::{Flow, Heat};
use darkfiber_fabric::TerminalId;
use darkfiber_routing::Routes;
use darkfiber_routing::reroute::Policy;

use super::PAPER;
use super::lab::{GB, Lab, SIXTEEN};
use crate::reproduce::{Class, Context, Experiment, Row, USUAL};
use darkfiber_scenario::{demanded, places, sent};

/// Number of placements.
const PLACEMENTS: u64 = 3;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-COUNTERS",
    title: "Entries changed by what port counters tell, and by what was sent",
    paper: PAPER,
    setup: "Three placements of sixteen jobs on Cab. Every port of switches and hosts counts; who runs where is known, who sends \
     to whom is estimated from that. Entries are changed down to 61.5 GB (policy first) by the estimate and by the \
     truth; loads are the true ones. Means over placements. The paper knew what was sent. Nothing is judged.",
    class: Class::Substitute,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    let mut sums: BTreeMap<usize, (&str, f64)> = BTreeMap::new();
    for i in 0..PLACEMENTS {
        (context.at)(&format!("placement {}", i + 1));
        for (n, (what, value)) in look(&lab, context.seed + i).into_iter().enumerate() {
            sums.entry(n).or_insert((what, 0.0)).1 += value / PLACEMENTS as f64;
        }
    }
    sums.into_values().map(|(what, mean)| Row::told(what, mean)).collect()
}

fn look(lab: &Lab, seed: u64) -> Vec<(&'static str, f64)> {
    let fabric = &lab.topology().fabric;
    let jobs = lab.workload(16, seed);
    let flows = sent(&jobs);
    let heat = |routes: &Routes| Heat::of(fabric, routes, &flows, jobs.len());
    let fullest = |routes: &Routes| {
        heat(routes).between_switches().iter().copied().max().unwrap_or(0) as f64 / GB
    };
    let carried: Vec<Option<u64>> = heat(lab.routes()).load.into_iter().map(Some).collect();
    let found = Pairs::new(fabric, lab.routes(), &places(&jobs)).estimate(&carried);
    let (by_estimate, estimated) = lab.relieved(&demanded(&found.flows), SIXTEEN, Policy::First);
    let (by_truth, known) = lab.relieved(&demanded(&flows), SIXTEEN, Policy::First);
    vec![
        ("counters missed, %", 100.0 * found.residual),
        ("counters held back missed, %", 100.0 * found.held_out.unwrap_or(0.0)),
        ("might be between other pairs, %", 100.0 * found.undetermined),
        ("is between other pairs, %", 100.0 * apart(&flows, &found.flows)),
        ("fullest channel before, GB", fullest(lab.routes())),
        ("entries changed by the truth", by_truth.changes.len() as f64),
        ("fullest channel then, GB", fullest(&known)),
        ("entries changed by the estimate", by_estimate.changes.len() as f64),
        ("fullest channel then, by the estimate, GB", fullest(&estimated)),
    ]
}

/// Share of the bytes that are with other pairs.
fn apart(a: &[Flow], b: &[Flow]) -> f64 {
    let mut far: BTreeMap<(u32, TerminalId, TerminalId), f64> = BTreeMap::new();
    for (flows, sign) in [(a, 1.0), (b, -1.0)] {
        for f in flows {
            *far.entry((f.job, f.from, f.to)).or_default() += sign * f.bytes as f64;
        }
    }
    let sum = |of: &[Flow]| of.iter().map(|f| f.bytes as f64).sum::<f64>();
    far.values().map(|x| x.abs()).sum::<f64>() / (sum(a) + sum(b)).max(1.0)
}
