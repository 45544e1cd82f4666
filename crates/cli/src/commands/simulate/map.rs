//! The page of `darkfiber simulate`: how busy channels are, when, and by whom.

use darkfiber_analysis::heat::Heat;
use darkfiber_fabric::TerminalId;
use darkfiber_flowsim::Grid;
use darkfiber_page::{Axis, Chart, ChartLine, Form, JobOnMap, Measured, Page, Series, Unit, View};
use darkfiber_report::Provenance;
use darkfiber_report::simulate::JobRow;
use darkfiber_scenario::{Case, Depth, Simulated, sent};
use darkfiber_workload::play::SECOND;

use super::busy::busy;
use crate::page;

/// The map. What a job puts on a channel is counted by the tables, for all of its runs: simulated packets may go elsewhere
/// where routing adapts.
pub(super) fn page<'a>(
    case: &'a Case,
    simulated: &Simulated,
    rows: &[JobRow],
    made_by: &str,
    provenance: &Provenance,
) -> Page<'a> {
    let topology = &case.loaded.topology;
    let fabric = &topology.fabric;
    let channels = fabric.channel_count();
    let flows = sent(&case.jobs);
    let heat = Heat::of(fabric, &case.tables.routes, &flows, case.jobs.len());
    let mut jobs: Vec<JobOnMap> = (case.jobs.iter().zip(rows))
        .zip(simulated.runs.iter())
        .map(|((job, row), runs)| {
            let mut terminals: Vec<TerminalId> = job.play.terminals.clone();
            terminals.sort_unstable();
            terminals.dedup();
            let s = |ps: u64| ps as f64 / SECOND as f64;
            JobOnMap {
                name: job.name.clone(),
                terminals,
                runs: runs.iter().map(|r| (s(r.begin), s(r.end))).collect(),
                views: Vec::new(),
                load: Vec::new(),
                fact: row.slowdown.map(|by| format!("\u{d7}{by:.2}")).unwrap_or_default(),
            }
        })
        .collect();
    for (j, (job, runs)) in jobs.iter_mut().zip(&simulated.runs).enumerate() {
        let times = runs.len().max(1) as f64;
        let load = heat.of_job(j).iter().filter(|&&(c, _)| (c as usize) < channels);
        job.load = load.map(|&(c, bytes)| (c, bytes as f64 * times)).collect();
    }
    let view = if case.medium.depth() == Depth::Count {
        page::view("bytes", Unit::Bytes, &simulated.carried, channels, |x| x as f64)
    } else {
        let load = (0..channels).map(|c| busy(simulated, c)).collect();
        let series = simulated.grid.as_ref().map(|grid| {
            Series::of(grid.interval() as f64 / SECOND as f64, grid.len(), channels, |i, c| {
                let full = simulated.capacity[c] * length(simulated, grid, i);
                grid.at(i)[c] / full.max(f64::MIN_POSITIVE)
            })
        });
        View {
            name: "the whole run".to_owned(),
            unit: Unit::Share,
            load,
            series,
            lanes: Vec::new(),
        }
    };
    Page {
        subtitle: made_by.to_owned(),
        charts: charts(&jobs, simulated, channels),
        views: vec![view],
        jobs,
        routes: Some(&case.tables.routes),
        ..page::of(case.title.as_str(), topology, provenance)
    }
}

/// How long an interval is, in picoseconds: the last one ends with the run.
fn length(simulated: &Simulated, grid: &Grid, i: usize) -> f64 {
    let begin = grid.interval().saturating_mul(i as u64);
    let rest = simulated.end.saturating_sub(begin);
    if rest == 0 { grid.interval() as f64 } else { rest.min(grid.interval()) as f64 }
}

/// Points of a chart at most.
const POINTS: usize = 2_000;

/// How full channels were over time, and how long each run of a job took.
fn charts(jobs: &[JobOnMap], simulated: &Simulated, channels: usize) -> Vec<Chart> {
    let mut charts = Vec::new();
    let time = Axis::new("time", Measured::Seconds);
    if let Some(grid) = simulated.grid.as_ref().filter(|grid| !grid.is_empty()) {
        let interval = grid.interval() as f64;
        let shares = |i: usize| {
            let long = length(simulated, grid, i);
            let full = move |c: usize| (simulated.capacity[c] * long).max(f64::MIN_POSITIVE);
            (0..channels).map(move |c| 100.0 * grid.at(i)[c] / full(c))
        };
        // The last step reaches to the end of its interval.
        let last = grid.len() - 1;
        let until = (last as f64 * interval + length(simulated, grid, last)) / SECOND as f64;
        let line = |name: &str, of: &dyn Fn(usize) -> f64| ChartLine {
            name: name.to_owned(),
            values: (0..=grid.len()).map(|i| Some(of(i.min(last)))).collect(),
        };
        charts.push(Chart {
            title: "Channels between switches over time".to_owned(),
            x: time.clone(),
            y: Axis::new("busy", Measured::Percent),
            form: Form::Steps,
            at: (0..grid.len())
                .map(|i| i as f64 * interval / SECOND as f64)
                .chain([until])
                .collect(),
            lines: vec![
                line("fullest", &|i| shares(i).fold(0.0, f64::max)),
                line("mean", &|i| shares(i).sum::<f64>() / (channels.max(1)) as f64),
            ],
            ..Chart::default()
        });
    }
    let repeated = jobs.iter().filter(|job| job.runs.len() > 1);
    let runs: Vec<&JobOnMap> = repeated.clone().take(12).collect();
    let mut at: Vec<f64> = runs.iter().flat_map(|job| job.runs.iter().map(|r| r.0)).collect();
    at.sort_by(f64::total_cmp);
    at.dedup();
    if !runs.is_empty() && at.len() <= POINTS {
        let line = |job: &&JobOnMap| {
            let mut values = vec![None; at.len()];
            for &(from, to) in &job.runs {
                if let Ok(i) = at.binary_search_by(|t| t.total_cmp(&from)) {
                    values[i] = Some(to - from);
                }
            }
            ChartLine { name: job.name.clone(), values }
        };
        let lines = runs.iter().map(line).collect();
        charts.push(Chart {
            title: "How long each run of a job took, by its start".to_owned(),
            x: time,
            y: Axis::new("run", Measured::Seconds),
            at,
            lines,
            ..Chart::default()
        });
    }
    charts
}
