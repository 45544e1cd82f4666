//! `darkfiber sweep`: how engines and topologies bear cables that fail.

use std::path::Path;
use std::time::Instant;

use darkfiber_fabric::Topology;
use darkfiber_report::plot::{self, Column};
use darkfiber_report::{FabricFacts, Sweep, comma, number};
use darkfiber_study::{Chain, Summary, SweepPlan, SweepRun, summarise};

use super::{metrics, route};
use crate::args::{Common, FabricArgs, SweepCommand};
use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use crate::{load, provenance, save};

pub(crate) fn run(args: &SweepCommand, common: &Common) -> Result<Exit, Failure> {
    let chains: Vec<Chain> =
        args.engines.iter().map(|e| route::chain(e)).collect::<Result<_, _>>()?;
    unlike("engine", chains.iter().map(|c| c.name.as_str()))?;
    save::expect(args.output.as_ref())?;
    save::expect(args.svg.as_ref())?;
    let fabrics = fabrics(args, common)?;
    let plan = SweepPlan {
        fabrics: &fabrics,
        chains: &chains,
        percents: &args.fail_percent,
        seeds: args.seeds,
        first_seed: common.seed(),
        lanes: args.lanes,
    };
    let facts: Vec<FabricFacts> =
        fabrics.iter().map(|t| metrics::facts(&t.fabric, t.shape.as_ref(), None, false)).collect();

    let start = Instant::now();
    let progress = Progress::new(plan.steps() as u64, common.quiet);
    progress.at("routing and checking");
    let runs = darkfiber_study::sweep(&plan, &|| start.elapsed().as_secs_f64(), &|| {
        progress.step();
    });
    drop(progress);
    let summary = summarise(&runs);

    let mut problems = save::Unwritten::default();
    if let Some(path) = &args.output {
        let text = comma::runs(&runs);
        problems.note(save::file(path, |out| out.write_all(text.as_bytes())));
    }
    if let Some(path) = &args.svg {
        problems.note(draw(path, args.seeds, &chains, &facts, &summary));
    }
    let provenance = provenance::of_all(fabrics.iter().map(|t| &t.fabric), common);
    common.show(&Sweep {
        fabrics: &facts,
        summary: &summary,
        runs: &runs,
        provenance: &provenance,
    })?;
    problems.end(exit(&chains, &runs))
}

/// Refuses a name that stands there twice, since results are told apart by names.
pub(super) fn unlike<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
    let mut seen = Vec::new();
    for name in names {
        if seen.contains(&name) {
            return Err(Failure::usage(format!("{what} {name} is given twice")));
        }
        seen.push(name);
    }
    Ok(())
}

/// Reads all fabrics. Those whose own names are alike are called as the user called them.
fn fabrics(args: &SweepCommand, common: &Common) -> Result<Vec<Topology>, Failure> {
    unlike("fabric", args.fabrics.iter().map(String::as_str))?;
    let mut fabrics = Vec::new();
    for fabric in &args.fabrics {
        let one = FabricArgs::whole(fabric, args.hosts_per_switch, &args.names);
        fabrics.push(load::fabric(&one, common)?.topology);
    }
    let names: Vec<String> = fabrics.iter().map(|t| t.fabric.name().to_owned()).collect();
    if unlike("fabric", names.iter().map(String::as_str)).is_err() {
        for (topology, name) in fabrics.iter_mut().zip(&args.fabrics) {
            topology.fabric = topology.fabric.clone().renamed(name.as_str());
        }
    }
    Ok(fabrics)
}

fn draw(
    path: &Path,
    seeds: u64,
    chains: &[Chain],
    facts: &[FabricFacts],
    summary: &[Summary],
) -> Result<(), Failure> {
    let engines: Vec<&str> = chains.iter().map(|c| c.name.as_str()).collect();
    let rows: Vec<Vec<&Summary>> =
        facts.iter().map(|f| summary.iter().filter(|row| row.fabric == f.name).collect()).collect();
    let columns: Vec<Column<'_>> =
        facts.iter().zip(&rows).map(|(f, rows)| Column { title: &f.name, rows }).collect();
    let draws = if seeds == 1 { "draw" } else { "draws" };
    let subtitle = format!(
        "mean and range over {} {draws} of failed cables; EFI as a multiple of that without faults",
        number::group(seeds)
    );
    let svg = plot::sweep("Engines on failing fabrics", &subtitle, &engines, &columns);
    save::file(path, |out| out.write_all(svg.as_bytes()))
}

/// A finding is what an engine did wrong; cables that fail are not its fault.
fn exit(chains: &[Chain], runs: &[SweepRun]) -> Exit {
    let promises = |name: &str| {
        chains
            .iter()
            .filter(|c| c.name == name)
            .flat_map(|c| &c.engines)
            .all(|engine| engine.deadlock().promised())
    };
    let mut exit = Exit::Infeasible;
    for run in runs {
        let Some(m) = run.measured() else { continue };
        let broken = m.unrouted > 0 || (!m.deadlock_free && promises(&run.engine));
        if broken {
            return Exit::Finding;
        }
        exit = Exit::Fine;
    }
    exit
}
