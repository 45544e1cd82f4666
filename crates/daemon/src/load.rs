//! What tables are worth: for the jobs that run, or for what hosts send to each other where that is known.

use darkfiber_analysis::heat::{Flow, Heat};
use darkfiber_analysis::jobs::Effective;
use darkfiber_operate::{Candidate, Digest, Measure};
use darkfiber_routing::reroute::difference;
use darkfiber_routing::{Demand, Routes, least_load_of_jobs};

use crate::inputs::Values;
use crate::profiles::all_pairs;

/// Bytes for a unit of demand: demands are of many messages, most of them large, and senders may choose LIDs by size.
const BULK: u64 = 1 << 20;

/// What tables are worth that may be put in place in one stage.
pub(crate) fn candidate(
    values: &Values,
    new: &Routes,
    digest: Digest,
    withheld: usize,
) -> Candidate {
    let (old, lids) = (&values.tables.routes, &values.tables.lids);
    let changed = difference(values.fabric.fabric(), old, new, lids);
    let proposed = load(values, new);
    Candidate {
        tables: digest,
        stages: vec![digest],
        measure: measure(values),
        // Tables in which pairs are lost would give too low a value.
        kept: if values.tables.is_whole { load(values, old) } else { proposed },
        proposed,
        bound: bound(values),
        entries: changed.entries as u64,
        blocks: changed.blocks as u64,
        withheld: withheld as u64,
    }
}

/// What loads count: without demands every pair of a job alike.
pub(crate) fn measure(values: &Values) -> Measure {
    if values.demands.is_some() { Measure::Demand } else { Measure::EffectiveEfi }
}

/// The load of the channel between switches that has the most.
pub(crate) fn load(values: &Values, routes: &Routes) -> u64 {
    let fabric = values.fabric.fabric();
    if values.demands.is_none() {
        return Effective::of(fabric, routes, &values.jobs.places).facts().effective_efi.max;
    }
    let flow =
        |d: Demand| Flow { job: 0, from: d.from, to: d.to, bytes: d.weight.saturating_mul(BULK) };
    let flows: Vec<Flow> = served(values).into_iter().map(flow).collect();
    let heat = Heat::of(fabric, routes, &flows, 1);
    heat.between_switches().iter().copied().max().unwrap_or(0) / BULK
}

/// No tables have a smaller load; `None` if not known.
pub(crate) fn bound(values: &Values) -> Option<u64> {
    let count = || least_load_of_jobs(values.fabric.fabric(), &values.jobs.places);
    let is_known = values.demands.is_none() && values.tables.routes.sources_agree();
    is_known.then(count)
}

/// What is served: the demands, or every pair inside a job; one that shares two jobs sends in both.
pub(crate) fn served(values: &Values) -> Vec<Demand> {
    match &values.demands {
        Some(known) => known.demands(&values.jobs, values.fabric.fabric()),
        None => values.jobs.places.iter().flat_map(|job| all_pairs(job)).collect(),
    }
}
