//! `darkfiber sweep`: how engines and topologies tolerate failed cables.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use darkfiber_report::sweep::{self, Column};
use darkfiber_report::{FabricFacts, Sweep, comma, number};
use darkfiber_scenario::value::Count;
use darkfiber_scenario::{Folder, Loaded, Scenario};
use darkfiber_study::grid::{Hooks, NullStore};
use darkfiber_study::{Chain, Summary, SweepPlan, SweepRun, summarise};

use super::metrics;
use crate::failure::{Exit, Failure};
use crate::options::values::distinct;
use crate::options::values::percent;
use crate::options::{Common, EngineArgs, FabricArgs, FabricOptions, FaultArgs};
use crate::preset::PresetArgs;
use crate::progress::Progress;
use crate::{load, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct SweepCommand {
    /// Files, @presets or family:key=value,...
    #[arg(value_name = "FABRIC", required_unless_present = "fabric")]
    pub(crate) positional: Vec<String>,
    /// One more FABRIC argument, given as an option
    #[arg(long, value_name = "FABRIC", help_heading = "Fabric options")]
    pub(crate) fabric: Vec<String>,
    #[command(flatten)]
    pub(crate) engines: EngineArgs,
    /// Shares of failed cables in percent, separated by commas
    #[arg(
        long,
        value_name = "P,P,..",
        value_delimiter = ',',
        value_parser = percent,
        allow_negative_numbers = true,
        default_value = "0.1,0.3,1,3,10"
    )]
    pub(crate) fail_percent: Vec<f64>,
    /// Draws of cables for each share
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) seeds: u64,
    /// Data virtual lanes that may be used (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// Write every run, one line each
    #[arg(short, long, value_name = "FILE.csv")]
    pub(crate) output: Option<PathBuf>,
    /// Draw relative EFI and layers by share of failed cables
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) preset: PresetArgs,
    #[command(flatten)]
    pub(crate) options: FabricOptions,
    #[command(flatten)]
    pub(crate) faults: FaultArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
For each fabric, share and seed: take that share of the switch-to-switch cables away (at least one if it is above 0), route
what is left with every engine, check. Of equal seeds a larger share includes a smaller one. A fabric that
falls apart is routed piece by piece; pairs between pieces are lost. Relative EFI is that of the fullest
channel over that of the same engine without faults. Seeds count from --seed. Runs are executed in parallel, so times are longer than in isolation: for
times use --threads 1.

The study is that of Domke, Hoefler, Matsuoka, \"Fail-in-place network design\", SC'14.

Examples:
  darkfiber sweep kary:k=4,n=2 torus:dims=4x4,t=4 -e updn -e dfsssp
  darkfiber sweep @t2hx-hyperx -e minhop -e dfsssp --fail-percent 0.3,1,3 --seeds 50 \\
            -o runs.csv --svg sweep.svg
  darkfiber sweep my-fabric.topo -e ftree+updn,dfsssp --lanes 4 --format csv

The table sums up all seeds; -o and --format csv have every run, --format json has both.

Exit code 1 if an engine loses pairs of one piece or violates its guarantee of deadlock freedom; 4 if no run
could be routed.";

pub(crate) fn run(args: &SweepCommand, common: &Common) -> Result<Exit, Failure> {
    let chains = args.engines.chains()?;
    let names: Vec<String> = args.positional.iter().chain(&args.fabric).cloned().collect();
    let mut scenario = FabricArgs::of(&names[0], &args.options, &args.faults).scenario(common);
    scenario.routes.lanes = Some(Count(args.lanes.into()));
    let plan = SweepPlan {
        scenario: &scenario,
        fabrics: &names,
        chains: &chains,
        percents: &args.fail_percent,
        seeds: args.seeds,
    };
    let written = || {
        match scenario.fail_links {
        Some(_) => Err(Failure::usage(
            "--write-study: --fail-links has no place in a study: there each seed draws other cables",
        )
        .hint("--fail names cables")),
        None => Ok(plan.preset()),
    }
    };
    if let Some(exit) = args.preset.write(written)? {
        return Ok(exit);
    }
    save::expect(args.output.as_ref())?;
    save::expect(args.svg.as_ref())?;
    let loaded = fabrics(&plan, common)?;
    let facts: Vec<FabricFacts> = (loaded.iter())
        .map(|l| metrics::facts(&l.topology.fabric, l.topology.shape.as_ref(), None, false))
        .collect();

    let start = Instant::now();
    let progress = Progress::new(plan.steps() as u64, common.quiet);
    progress.at("routing and checking");
    let (clock, done) = (|| start.elapsed().as_secs_f64(), || progress.step());
    let files = Folder::default();
    let hooks = Hooks { clock: &clock, done: &done, ..Hooks::of(&NullStore, &files) };
    let runs = darkfiber_study::sweep(&plan, &loaded, &hooks)?;
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
    let provenance = provenance::of_all(loaded.iter().map(|l| &l.topology.fabric), common);
    common.show(&Sweep {
        fabrics: &facts,
        summary: &summary,
        runs: &runs,
        provenance: &provenance,
    })?;
    problems.end(exit(&chains, &runs))
}

/// Reads all fabrics. Those whose own names are alike are called as the user called them.
fn fabrics(plan: &SweepPlan<'_>, common: &Common) -> Result<Vec<Arc<Loaded>>, Failure> {
    distinct("fabric", plan.fabrics.iter().map(String::as_str))?;
    let mut all = Vec::new();
    for name in plan.fabrics {
        let one = Scenario { fabric: name.clone(), ..plan.scenario.clone() };
        all.push(load::open(&one, common)?.loaded);
    }
    if distinct("fabric", all.iter().map(|l| l.topology.fabric.name())).is_err() {
        for (loaded, name) in all.iter_mut().zip(plan.fabrics) {
            let mut topology = loaded.topology.clone();
            topology.fabric = topology.fabric.renamed(name.as_str());
            *loaded = Arc::new(topology.into());
        }
    }
    Ok(all)
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
    let svg = sweep::picture("Engines on failing fabrics", &subtitle, &engines, &columns);
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
