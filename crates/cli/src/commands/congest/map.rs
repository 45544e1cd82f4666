//! The page of `darkfiber congest`: who sits where, whose routes meet, and what victims suffer.

use darkfiber_analysis::sharing::Sharing;
use darkfiber_page::{
    Axis, Chart, ChartLine, JobOnMap, Measured, Page, PageFinding, Sheet, Unit, View,
};
use darkfiber_report::Provenance;
use darkfiber_report::congest::CellRow;
use darkfiber_report::quantity::seconds;
use darkfiber_study::congest::{Cell, CongestPlan};

use crate::page;

/// Impacts from here on are findings.
const HIGH: f64 = 2.0;

/// The page. Packets of adaptive routings go other ways than the tables say; times are of the packets that were simulated.
pub(super) fn page<'a>(
    plan: &'a CongestPlan<'_>,
    cells: &[CellRow],
    provenance: &Provenance,
) -> Page<'a> {
    let topology = plan.case.topology();
    let fabric = &topology.fabric;
    let channels = fabric.channel_count();
    let (mut views, mut jobs): (Vec<View>, Vec<JobOnMap>) = (Vec::new(), Vec::new());
    for (allocation, by) in plan.allocations.iter().enumerate() {
        for (split, sizes) in plan.splits.iter().enumerate() {
            let cell = Cell { mechanism: 0, allocation, split, victim: 0, aggressor: None };
            let Ok(places) = plan.terminals_of(&cell) else { continue };
            let sharing = Sharing::of(fabric, &plan.case.tables.routes, &places);
            let name = format!("{}/{} hosts, {}", sizes.victim, sizes.aggressor, by.name);
            views.push(page::view(&name, Unit::Routes, &sharing.all.load, channels, |x| x as f64));
            for (what, (load, terminals)) in
                ["victim", "aggressor"].into_iter().zip(sharing.jobs.iter().zip(&places))
            {
                jobs.push(JobOnMap {
                    name: format!("{what} of {name}"),
                    terminals: terminals.clone(),
                    load: load.load.iter().map(|&(c, n)| (c, f64::from(n))).collect(),
                    views: vec![views.len() - 1],
                    ..JobOnMap::default()
                });
            }
        }
    }
    let mut facts = page::of("", topology, provenance).facts;
    facts.push((
        "load on the map".to_owned(),
        "routes inside the victim and inside the aggressor, by the tables".to_owned(),
    ));
    Page {
        subtitle: "victims beside aggressors, packet by packet".to_owned(),
        views,
        jobs,
        findings: findings(cells),
        charts: charts(cells),
        sheets: vec![sheet(cells)],
        routes: Some(&plan.case.tables.routes),
        facts,
        ..page::of(format!("Congestion on {}", fabric.name()), topology, provenance)
    }
}

fn pair(c: &CellRow) -> String {
    format!("{} beside {} {}/{}", c.victim, c.aggressor, c.victim_nodes, c.aggressor_nodes)
}

fn mechanism(c: &CellRow) -> String {
    format!("{}, {}, {}", c.congestion, c.routing, c.allocation)
}

/// Victims that take twice as long or more, the worst first.
fn findings(cells: &[CellRow]) -> Vec<PageFinding> {
    let mut worst: Vec<(f64, &CellRow)> =
        cells.iter().filter_map(|c| Some((c.impact.filter(|&i| i >= HIGH)?, c))).collect();
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    let note = |&(impact, c): &(f64, &CellRow)| PageFinding {
        severity: "warning",
        message: format!(
            "{} takes {}{impact:.2} times as long ({})",
            pair(c),
            if c.is_bound { "at least " } else { "" },
            mechanism(c)
        ),
        hint: "another --congestion or --routing, or jobs on hosts apart".to_owned(),
        ..PageFinding::default()
    };
    worst.iter().map(note).collect()
}

/// Impacts, and times at the median and of the slowest hundredth.
fn charts(cells: &[CellRow]) -> Vec<Chart> {
    let (mut names, mut mechanisms) = (Vec::new(), Vec::new());
    for c in cells {
        for (all, text) in [(&mut names, pair(c)), (&mut mechanisms, mechanism(c))] {
            if !all.contains(&text) {
                all.push(text);
            }
        }
    }
    let chart = |title: &str, of: fn(&CellRow) -> Option<f64>| {
        let line = |m: &String| ChartLine {
            name: m.clone(),
            values: (names.iter())
                .map(|n| cells.iter().find(|c| pair(c) == *n && mechanism(c) == *m).and_then(of))
                .collect(),
        };
        let y = Axis { log: true, ..Axis::new("times as long as alone", Measured::Number) };
        Chart::of_names(title, y, names.clone(), mechanisms.iter().map(line).collect())
    };
    vec![
        chart("Congestion impact: mean time beside the aggressor by that alone", |c| c.impact),
        chart("The same of the times that 99 % do not exceed", |c| c.p99_inflation),
    ]
}

fn sheet(cells: &[CellRow]) -> Sheet {
    let heading =
        ["victim", "aggressor", "hosts", "mechanism", "impact", "alone", "beside", "note"];
    let row = |c: &CellRow| {
        let time = |t: &Option<darkfiber_study::congest::TimesSummary>| {
            t.as_ref().map_or_else(String::new, |t| seconds(t.mean))
        };
        vec![
            c.victim.clone(),
            c.aggressor.clone(),
            format!("{}/{}", c.victim_nodes, c.aggressor_nodes),
            mechanism(c),
            c.impact.map_or_else(String::new, |i| {
                format!("{}{i:.2}", if c.is_bound { "\u{2265} " } else { "" })
            }),
            time(&c.isolated),
            time(&c.congested),
            c.refused.clone().unwrap_or_default(),
        ]
    };
    Sheet {
        title: "Victims beside aggressors; times are means".to_owned(),
        heading: heading.map(str::to_owned).to_vec(),
        rows: cells.iter().map(row).collect(),
    }
}
