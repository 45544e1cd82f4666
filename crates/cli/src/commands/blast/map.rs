//! The map of faults: every cable by what its failure costs.

use darkfiber_analysis::blast::Damage;
use darkfiber_analysis::heat::Heat;
use darkfiber_fabric::Fabric;
use darkfiber_page::{JobOnMap, Page, PageFinding, Unit, View};
use darkfiber_report::Provenance;
use darkfiber_report::number::counted;

use super::rows;
use super::tried::FaultTrial;
use crate::counted::CountedTraffic;
use crate::page;

/// Switches that the list of findings names.
const NAMED: usize = 20;

/// The page of `--html` and `--map`.
pub(super) fn page<'a>(
    given: &'a CountedTraffic,
    tried: &[FaultTrial],
    damages: &[Damage],
    provenance: &Provenance,
) -> Page<'a> {
    let topology = given.case.topology();
    let fabric = &topology.fabric;
    let longer = |d: &Damage| rows::slowest(d).map_or(0.0, |(slowdown, _)| slowdown - 1.0);
    let stopped = |d: &Damage| d.jobs.iter().map(|loss| loss.stopped).fold(0.0, f64::max);
    let view = |name: &str, cost: &dyn Fn(&Damage) -> f64| View {
        name: name.to_owned(),
        unit: Unit::Failure,
        load: by_channel(fabric, tried, damages, cost),
        series: None,
        lanes: Vec::new(),
    };
    let heat = Heat::of(fabric, &given.case.tables.routes, &given.flows, given.jobs.len());
    let job = |(j, name): (usize, &String)| {
        let load = heat.of_job(j).iter().filter(|&&(c, _)| (c as usize) < fabric.channel_count());
        let of = damages.iter().flat_map(|d| d.jobs.iter().filter(move |loss| loss.job == j));
        let worst = of.filter_map(|loss| loss.slowdown).fold(1.0, f64::max);
        JobOnMap {
            name: name.clone(),
            terminals: given.places.get(j).cloned().unwrap_or_default(),
            runs: Vec::new(),
            views: Vec::new(),
            load: load.map(|&(c, bytes)| (c, bytes as f64)).collect(),
            fact: format!("\u{d7}{worst:.2}"),
        }
    };
    Page {
        subtitle: format!(
            "what every fault costs the job hit most, tables of {}",
            given.case.tables.from
        ),
        views: vec![view("slowdown", &longer), view("stopped traffic", &stopped)],
        jobs: given.jobs.iter().enumerate().map(job).collect(),
        findings: switches(tried, damages),
        routes: Some(&given.case.tables.routes),
        ..page::of(given.case.title.as_str(), topology, provenance)
    }
}

/// By channel between switches, what the failure of its cable costs.
fn by_channel(
    fabric: &Fabric,
    tried: &[FaultTrial],
    damages: &[Damage],
    cost: &dyn Fn(&Damage) -> f64,
) -> Vec<f64> {
    let mut load = vec![0.0; fabric.channel_count()];
    for (t, damage) in tried.iter().zip(damages).filter(|(t, _)| t.kind == "cable") {
        for &c in &t.faults.links {
            for c in [c, fabric.reverse(c)] {
                load[c.index()] = cost(damage);
            }
        }
    }
    load
}

/// Switches whose failure costs most.
fn switches(tried: &[FaultTrial], damages: &[Damage]) -> Vec<PageFinding> {
    let mut all: Vec<(&FaultTrial, &Damage)> = tried
        .iter()
        .zip(damages)
        .filter(|(t, d)| t.kind == "switch" && !d.jobs.is_empty())
        .collect();
    all.sort_by(|a, b| rows::worst_first(a.1, b.1));
    let note = |(t, damage): &(&FaultTrial, &Damage)| {
        let ended = damage.jobs.iter().filter(|loss| loss.slowdown.is_none()).count();
        let slowdown = rows::slowest(damage)
            .map_or(String::new(), |(slowdown, _)| format!(", slows one {slowdown:.2} times"));
        PageFinding {
            severity: if ended > 0 { "warning" } else { "note" },
            message: format!("{} fails: ends {}{slowdown}", t.name, counted(ended, "job", "jobs")),
            switches: t.faults.switches.clone(),
            ..PageFinding::default()
        }
    };
    all.iter().take(NAMED).map(note).collect()
}
