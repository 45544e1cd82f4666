//! `darkfiber study`: one scenario over axes of its keys.

mod plot;
mod store;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, Subcommand};
use darkfiber_report::Report;
use darkfiber_report::study::StudyResult;
use darkfiber_scenario::Folder;
use darkfiber_study::grid::{self, Axis, Hooks, Record, Shard, Store, StudyFile};

use self::plot::PlotArgs;
use self::store::{FolderStore, MemoryStore};
use crate::failure::{Exit, Failure};
use crate::options::Common;
use crate::progress::Progress;
use crate::{out, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct StudyCommand {
    #[command(subcommand)]
    pub(crate) what: What,
}

/// What is done with a study.
#[derive(Subcommand, Debug)]
pub(crate) enum What {
    /// Answer the questions of all cells that the store does not have, and print the table
    Run(RunArgs),
    /// Print how many cells are answered, failed and open
    Status(CollectArgs),
    /// Print the table of all cells that are answered, or write it as one file
    Collect(CollectArgs),
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
    /// Draw there
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
}

/// Which study.
#[derive(Args, Debug)]
pub(crate) struct StudyArgs {
    /// The study, in TOML: a scenario with lists where values belong, and a table `study`
    #[arg(value_name = "STUDY")]
    pub(crate) file: PathBuf,
    /// Set a key of the scenario to a value, or make an axis of it: routes.engine=dfsssp,nue; several times
    #[arg(long, value_name = "KEY=VALUE,..")]
    pub(crate) set: Vec<String>,
    /// More cells than a million, instead of the study's max-cells
    #[arg(long, value_name = "N")]
    pub(crate) max_cells: Option<u64>,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
A study is a scenario in which a list stands where a value belongs: each such key is an axis.

  fabric = [\"@t2hx-tree\", \"@t2hx-hyperx\"]
  fail-percent = [0, 1, 5]
  [routes]
  engine = [\"updn\", \"dfsssp\"]
  [study]
  questions = [\"routes\", { ask = \"patterns\", metric = \"ebb\" }]
  seeds = 5

Every cell answers every question; what it cannot answer is a row that says why. docs/studies.md has all keys;
questions: darkfiber list questions.

Examples:
  darkfiber study run study.toml
  darkfiber study run study.toml -o store                     go on from there after an interruption
  darkfiber study run scenario.toml --set routes.engine=minhop,dfsssp
  darkfiber study run study.toml -o store --shard 2/8         one of eight processes or array tasks
  darkfiber study status study.toml -s store
  darkfiber study collect study.toml -s store -o table.parquet
  darkfiber study plot study.toml -s store -o study.svg --y efi_max --by routes.engine

Exit code 3 if the study cannot be read, 4 if no cell has an answer.";

pub(crate) fn run(args: &StudyCommand, common: &Common) -> Result<Exit, Failure> {
    match &args.what {
        What::Run(args) => run_cells(args, common),
        What::Status(args) => status(args, common),
        What::Collect(args) => collect(args, common),
        What::Plot(args) => plot_kept(args, common),
    }
}

fn read(args: &StudyArgs, common: &Common) -> Result<StudyFile, Failure> {
    let text = darkfiber_formats::input::read_text(&args.file)?;
    let set: Vec<Axis> = args.set.iter().map(|text| Axis::parse(text)).collect::<Result<_, _>>()?;
    let name = args.file.display().to_string();
    Ok(StudyFile::parse(&text, &name, &set, common.seed, args.max_cells)?)
}

fn run_cells(args: &RunArgs, common: &Common) -> Result<Exit, Failure> {
    let study = read(&args.study, common)?;
    args.plot.check(&study, args.svg.as_ref())?;
    let shard = args.shard.as_deref().map(shard).transpose()?;
    let folder = Folder::of(&args.study.file);
    let begin = Instant::now();
    let cells = study.cells(shard)?.len();
    let progress = Progress::new(cells as u64, common.quiet);
    progress.at("cells");
    let clock = || begin.elapsed().as_secs_f64();
    let done = || progress.step();
    let answer = |store: &dyn Store| {
        let (files, stop) = (&folder, &|| false);
        let hooks = Hooks { store, files, clock: &clock, done: &done, stop };
        grid::run(&study, shard, &hooks)
    };
    let records = if let Some(dir) = &args.store {
        let store = FolderStore::open(dir, &study, &folder)?;
        answer(&store)?;
        store.records(&study)?
    } else {
        let store = MemoryStore::new(&folder);
        answer(&store)?;
        store.records()
    };
    drop(progress);
    let mut problems = save::Unwritten::default();
    if let Some(path) = &args.svg {
        problems.note(args.plot.draw(path, &study, &records, common));
    }
    problems.end(show(&study, &records, common)?)
}

fn show(study: &StudyFile, records: &[Record], common: &Common) -> Result<Exit, Failure> {
    let axes: Vec<String> = study.axes.iter().map(Axis::name).collect();
    let provenance = provenance::of_all(std::iter::empty(), common);
    let open = study.cells(None)?.len().saturating_sub(records.len());
    let title = study.title();
    let result = StudyResult::new(&title, &axes, records, open, &provenance);
    let none = !result.rows.is_empty() && result.rows.iter().all(|row| row.error.is_some());
    common.show(&result)?;
    Ok(if none { Exit::Infeasible } else { Exit::Fine })
}

fn status(args: &CollectArgs, common: &Common) -> Result<Exit, Failure> {
    let study = read(&args.study, common)?;
    let folder = Folder::of(&args.study.file);
    let records = FolderStore::existing(&args.store, &study, &folder)?.records(&study)?;
    let cells = study.cells(None)?.len();
    let failed = records.iter().filter(|record| record.has_failed()).count();
    let seconds: f64 = records.iter().map(|record| record.seconds).sum();
    let open = cells.saturating_sub(records.len());
    let left = seconds / records.len().max(1) as f64 * open as f64;
    let row = [
        cells.to_string(),
        records.len().to_string(),
        failed.to_string(),
        open.to_string(),
        format!("{seconds:.1}"),
        format!("{left:.1}"),
    ];
    let heading =
        ["cells", "answered", "with an error", "open", "seconds of work", "seconds of work left"];
    common.show(&darkfiber_report::listing::Listing::of(&heading, &[row.to_vec()]))?;
    Ok(Exit::Fine)
}

fn collect(args: &CollectArgs, common: &Common) -> Result<Exit, Failure> {
    let study = read(&args.study, common)?;
    save::expect(args.output.as_ref())?;
    let folder = Folder::of(&args.study.file);
    let records = FolderStore::existing(&args.store, &study, &folder)?.records(&study)?;
    let Some(path) = &args.output else { return show(&study, &records, common) };
    let axes: Vec<String> = study.axes.iter().map(Axis::name).collect();
    let provenance = provenance::of_all(std::iter::empty(), common);
    let title = study.title();
    let result = StudyResult::new(&title, &axes, &records, 0, &provenance);
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => save::file(path, |out| out.write_all(result.csv().as_bytes()))?,
        Some("parquet") => parquet(path, &result)?,
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
        out::tell(&format!("cells that are not answered yet, and not in the picture: {open}"));
    }
    Ok(Exit::Fine)
}

/// The table as Parquet.
#[cfg(feature = "parquet")]
fn parquet(path: &Path, result: &StudyResult<'_>) -> Result<(), Failure> {
    use darkfiber_report::columns::{Column, parquet};
    use darkfiber_study::grid::Value;

    let rows = &result.rows;
    let mut columns: Vec<(String, Column)> = vec![
        ("cell".to_owned(), Column::Text(rows.iter().map(|r| r.cell.clone()).collect())),
        ("seed".to_owned(), Column::Whole(rows.iter().map(|r| r.seed).collect())),
        ("question".to_owned(), Column::Text(rows.iter().map(|r| r.question.clone()).collect())),
        ("of".to_owned(), Column::Text(rows.iter().map(|r| r.of.clone()).collect())),
    ];
    for (name, values) in result.table() {
        let is_text = values.iter().flatten().any(|value| matches!(value, Value::Text(_)));
        let column = if is_text {
            let text = |v: Option<&Value>| v.map_or(String::new(), ToString::to_string);
            Column::Text(values.iter().copied().map(text).collect())
        } else {
            Column::Some(values.iter().map(|v| v.and_then(Value::number)).collect())
        };
        columns.push((name, column));
    }
    let version = || env!("CARGO_PKG_VERSION").to_owned();
    let errors = rows.iter().map(|r| r.error.clone().unwrap_or_default()).collect();
    columns.push(("error".to_owned(), Column::Text(errors)));
    columns.push(("version".to_owned(), Column::Text(rows.iter().map(|_| version()).collect())));
    let columns: Vec<(&str, Column)> =
        columns.iter().map(|(name, column)| (name.as_str(), column.clone())).collect();
    let mut bytes = Vec::new();
    parquet(&mut bytes, &columns)
        .map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
    save::file(path, |out| out.write_all(&bytes))
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Path, _: &StudyResult<'_>) -> Result<(), Failure> {
    Err(Failure::usage("this program was built without Parquet: name a .csv file"))
}

/// `2/8`, as a part that counts from 0.
fn shard(text: &str) -> Result<Shard, Failure> {
    let number = |text: &str| text.parse::<u64>().ok();
    let both = text.split_once('/').and_then(|(i, n)| Some((number(i)?, number(n)?)));
    match both {
        Some((part, of)) if part >= 1 && part <= of => Ok(Shard { part: part - 1, of }),
        _ => Err(Failure::usage(format!("--shard {text}: expected I/N, from 1/N to N/N"))
            .hint("--shard 2/8 answers the second, tenth, .. cell")),
    }
}
