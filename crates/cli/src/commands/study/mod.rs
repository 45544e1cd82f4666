//! `darkfiber study`: one scenario over axes of its keys.

mod export;
mod interrupt;
mod pack;
mod plan;
mod plot;
mod slurm;
mod source;
mod store;
mod tasks;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, Subcommand};
use darkfiber_report::listing::Listing;
use darkfiber_report::study::StudyResult;
use darkfiber_scenario::Folder;
use darkfiber_study::grid::{self, Hooks, Record, Shard, Store, StudyFile, Table};

use self::plot::PlotArgs;
use self::source::{StudyArgs, read};
use self::store::{FolderStore, NoStore};
use crate::failure::{Exit, Failure};
use crate::options::{Common, Format};
use crate::progress::Progress;
use crate::{out, provenance, save, shard};

#[derive(Args, Debug)]
pub(crate) struct StudyCommand {
    #[command(subcommand)]
    pub(crate) what: StudyAction,
}

/// What is done with a study.
#[derive(Subcommand, Debug)]
pub(crate) enum StudyAction {
    /// Answer the questions of all cells that the store does not have, and print the table
    Run(RunArgs),
    /// Answer the first cell for each fabric and engine, and print what all cells take if they are like it, the largest first
    Plan(plan::PlanArgs),
    /// Print how many cells are answered, failed and open
    Status(CollectArgs),
    /// Print the table of all cells that are answered, or write it as one file
    Collect(CollectArgs),
    /// Write the script of a SLURM job array that answers what is open, and resubmits itself until all is answered
    Slurm(slurm::SlurmArgs),
    /// Print the command that answers what is open with GNU parallel or HyperQueue
    Export(export::ExportArgs),
    /// Draw what is answered: lines, bars or a heat map, whatever suits the axes
    Plot(PlotCommand),
}

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
    /// Keep each answered cell in this folder, and go on from there; several processes may share it
    #[arg(short = 'o', long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Take answers of cells that are the same from the store of another study
    #[arg(long, value_name = "DIR", requires = "store")]
    pub(crate) reuse: Option<PathBuf>,
    /// Wall-clock time between two checkpoints of a long run in a cell
    #[arg(long, value_name = "TIME", default_value = "5min")]
    pub(crate) store_every: String,
    /// Only every N-th cell, from the I-th on: 1/4 to 4/4 are all
    #[arg(long, value_name = "I/N", requires = "store")]
    pub(crate) shard: Option<String>,
    /// Draw what is answered, as study plot does
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
}

#[derive(Args, Debug)]
pub(crate) struct CollectArgs {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
    /// The folder in which cells are kept
    #[arg(short = 's', long, value_name = "DIR")]
    pub(crate) store: PathBuf,
    /// Write the table there: .parquet or .csv
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct PlotCommand {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
    /// The folder in which cells are kept
    #[arg(short = 's', long, value_name = "DIR")]
    pub(crate) store: PathBuf,
    /// Draw there, as SVG
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
A study is a scenario in which a list stands where a value belongs: each such key is an axis.

  fabric = [\"@t2hx-fattree\", \"@t2hx-hyperx\"]
  fail-percent = [0, 1, 5]
  [routes]
  engine = [\"updn\", \"dfsssp\"]
  [study]
  questions = [\"routes\", { ask = \"patterns\", metric = \"ebb\" }]
  seeds = 5

Every cell answers every question; what it cannot answer is a row that says why. `darkfiber help scenario`
has all keys, `darkfiber list questions` what can be asked.

Examples:
  darkfiber study plan study.toml                             what it will take
  darkfiber study run study.toml
  darkfiber study run study.toml -o store                     go on from there after an interruption
  darkfiber study run scenario.toml --set routes.engine=minhop,dfsssp
  darkfiber study run study.toml -o store --shard 2/8         one of eight processes or array tasks
  darkfiber study status study.toml -s store
  darkfiber study collect study.toml -s store -o table.parquet
  darkfiber study slurm study.toml -o store | sbatch          an array of tasks that fits the work
  darkfiber study export study.toml -o store --for parallel | sh
  darkfiber study plot study.toml -s store -o study.svg --y efi_max --by routes.engine

Exit code 1 if a number that is expected is off; 3 if the study cannot be read, 4 if no cell has an answer; 75 if a signal (INT, TERM, HUP, USR1) stopped a run with a \
store: cells under way were finished, and the same command goes on from there.";

pub(crate) fn run(args: &StudyCommand, common: &Common) -> Result<Exit, Failure> {
    match &args.what {
        StudyAction::Run(args) => run_cells(args, common),
        StudyAction::Plan(args) => plan::run(args, common),
        StudyAction::Status(args) => status(args, common),
        StudyAction::Collect(args) => collect(args, common),
        StudyAction::Slurm(args) => slurm::run(args, common),
        StudyAction::Export(args) => export::run(args, common),
        StudyAction::Plot(args) => plot_kept(args, common),
    }
}

fn run_cells(args: &RunArgs, common: &Common) -> Result<Exit, Failure> {
    let is_kept = args.store.is_some();
    if is_kept {
        interrupt::listen();
    }
    let study = read(&args.study, common)?;
    args.plot.check(&study, args.svg.as_ref())?;
    let shard = args.shard.as_deref().map(shard::parse).transpose()?;
    let folder = Folder::of(&args.study.file);
    let begin = Instant::now();
    let cells = study.cells(shard)?.len();
    let is_large = cells > LARGE && common.format == Format::Table;
    let progress = Progress::new(cells as u64, common.quiet);
    progress.at("cells");
    let clock = || begin.elapsed().as_secs_f64();
    let done = || progress.step();
    let answer = |store: &dyn Store| {
        let (clock, done, stop) = (&clock, &done, &|| is_kept && interrupt::is_asked());
        // What is too much to be printed is not kept in memory, either.
        let wanted = !is_large;
        grid::run(&study, shard, &Hooks { clock, done, stop, wanted, ..Hooks::of(store, &folder) })
    };
    let mut problems = save::Unwritten::default();
    let answered = if let Some(dir) = &args.store {
        let mut store = FolderStore::open(dir, &study, &folder, &args.store_every)?;
        if let Some(other) = &args.reuse {
            store.reuse(other)?;
        }
        let answered = answer(&store)?;
        problems.note(store.has_kept_all());
        if is_large && answered.left == 0 {
            drop(progress);
            return problems.end(counts(&study, &store, common)?);
        }
        answered
    } else {
        answer(&NoStore::new(&folder))?
    };
    drop(progress);
    if answered.left > 0 {
        return problems.end(interrupt::stopped(answered.left));
    }
    let records = &answered.records;
    if let Some(path) = &args.svg {
        problems.note(args.plot.draw(path, &study, records, common));
    }
    problems.end(show(&study, shard, records, common)?)
}

fn show(
    study: &StudyFile,
    shard: Option<Shard>,
    records: &[Record],
    common: &Common,
) -> Result<Exit, Failure> {
    let axes = study.axis_names();
    let provenance = provenance::of_all(std::iter::empty(), common);
    let open = study.open_cells(shard, records)?;
    let title = study.title();
    let mut all = records.to_vec();
    all.extend(study.conclusions(records));
    all.sort_by_key(|record| (record.point, record.turn));
    let mut result = StudyResult::new(&title, &axes, &all, open, &provenance);
    result.expected = study.judged(records);
    let none = !result.rows.is_empty() && result.rows.iter().all(|row| row.error.is_some());
    common.show(&result)?;
    let is_off = result.expected.iter().any(|row| !row.within);
    Ok(match (none, is_off) {
        (true, _) => Exit::Infeasible,
        (_, true) => Exit::Finding,
        _ => Exit::Fine,
    })
}

/// Cells from which on their table is for files, not for eyes.
const LARGE: usize = 20_000;

fn status(args: &CollectArgs, common: &Common) -> Result<Exit, Failure> {
    let study = read(&args.study, common)?;
    let folder = Folder::of(&args.study.file);
    counts(&study, &FolderStore::existing(&args.store, &study, &folder)?, common)
}

/// How much of a study is in a store.
fn counts(study: &StudyFile, store: &FolderStore<'_>, common: &Common) -> Result<Exit, Failure> {
    let counts = store.counts(study)?;
    let open = if study.is_adaptive() {
        study.open_cells(None, &store.records(study)?)?
    } else {
        study.cells(None)?.len().saturating_sub(counts.answered)
    };
    let left = counts.seconds / counts.answered.max(1) as f64 * open as f64;
    let row = [
        (counts.answered + open).to_string(),
        counts.answered.to_string(),
        counts.failed.to_string(),
        open.to_string(),
        format!("{:.1}", counts.seconds),
        format!("{left:.1}"),
    ];
    let heading =
        ["cells", "answered", "with an error", "open", "seconds of work", "seconds of work left"];
    let rows = [row.to_vec()];
    common.show(&Listing { numbers: &heading, ..Listing::of(&heading, &rows) })?;
    Ok(Exit::Fine)
}

fn collect(args: &CollectArgs, common: &Common) -> Result<Exit, Failure> {
    let study = read(&args.study, common)?;
    save::expect(args.output.as_ref())?;
    let folder = Folder::of(&args.study.file);
    let store = FolderStore::existing(&args.store, &study, &folder)?;
    let Some(path) = &args.output else {
        return show(&study, None, &store.records(&study)?, common);
    };
    let mut table = store.table(&study)?;
    if study.is_adaptive() {
        for record in study.conclusions(&store.records(&study)?) {
            table.add(&record);
        }
        table.sort();
    }
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => save::file(path, |out| darkfiber_report::study::csv(&table, out))?,
        Some("parquet") => parquet(path, &table)?,
        _ => {
            return Err(Failure::usage(format!(
                "-o {}: the name must end with .parquet or .csv",
                path.display()
            )));
        }
    }
    Ok(Exit::Fine)
}

fn plot_kept(args: &PlotCommand, common: &Common) -> Result<Exit, Failure> {
    let study = read(&args.study, common)?;
    args.plot.check(&study, Some(&args.output))?;
    let folder = Folder::of(&args.study.file);
    let records = FolderStore::existing(&args.store, &study, &folder)?.records(&study)?;
    args.plot.draw(&args.output, &study, &records, common)?;
    let open = study.cells(None)?.len().saturating_sub(records.len());
    if open > 0 && !common.quiet {
        out::eprint_line(&format!(
            "cells that are not answered yet, and not in the picture: {open}"
        ));
    }
    Ok(Exit::Fine)
}

/// The table as Parquet.
#[cfg(feature = "parquet")]
fn parquet(path: &Path, table: &Table) -> Result<(), Failure> {
    save::file(path, |out| {
        let mut bytes = Vec::new();
        darkfiber_report::study::parquet(table, env!("CARGO_PKG_VERSION"), &mut bytes)?;
        out.write_all(&bytes)
    })
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Path, _: &Table) -> Result<(), Failure> {
    Err(Failure::usage("this program was built without Parquet: name a .csv file"))
}
