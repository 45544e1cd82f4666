//! `darkfiber explain`: what tells how long something takes.

#[cfg(feature = "explain")]
mod learned;
mod lines;

use std::path::{Path, PathBuf};

use clap::Args;
use darkfiber_formats::{input, numbers};
use darkfiber_report::explain::{self as report, ExplainResult};

use crate::failure::{Exit, Failure};
use crate::options::Common;
use crate::{out, save};

#[derive(Args, Debug)]
pub(crate) struct ExplainCommand {
    /// A table with a heading: a row for each run, process or step, or for each port in a step
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Column of times
    #[arg(long, value_name = "COLUMN")]
    pub(crate) time: String,
    /// Explain times by this column alone, as two line segments: bytes on the fullest channel, for example
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["features", "run", "step"])]
    pub(crate) load: Option<String>,
    /// Predict times from these columns; a * at the end stands for any ending [default: all others that hold numbers
    /// only]
    #[arg(long, value_name = "COLUMN", num_args = 1.., value_delimiter = ',')]
    pub(crate) features: Vec<String>,
    /// Column that identifies runs: predictions are tested on whole runs that were left out
    #[arg(long, value_name = "COLUMN")]
    pub(crate) run: Option<String>,
    /// Column that distinguishes the steps of a run; rows of one step are features by their sum, mean and maximum
    #[arg(long, value_name = "COLUMN")]
    pub(crate) step: Option<String>,
    /// Draw times: by load, or as they are and as they are predicted
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
With --load two straight lines that meet are fitted by least squares, as in Smith et al. (SC'18, figure 6):
below the break, load costs little; above it, it sets the time. The break is printed with bounds, R2 also for
rows that were left out.

Without --load times are learnt from counters, as in section IV-D: features (sum, mean and maximum over the rows
of a step)
are split into what they have in common and what stands out (robust principal component analysis, X = L + S),
boosted trees
with Huber's loss learn times from each, and predict each tenth of the runs from the other nine (cross-validation).

Examples:
  darkfiber explain runs.csv --time seconds --load fullest_gb --svg runs.svg
  darkfiber explain counters.csv --time seconds --run run --step step --features 'flits*,stalls*' --svg times.svg
  darkfiber explain runs.csv --time seconds --load fullest_gb --format csv";

pub(crate) fn run(args: &ExplainCommand, common: &Common) -> Result<Exit, Failure> {
    save::expect(args.svg.as_ref())?;
    let text = table(&args.file)?;
    match &args.load {
        Some(load) => by_load(args, &text, load, common),
        None => by_features(args, &text, common),
    }
}

/// The table of a file, as text; that of a Parquet file as `simulate -o` writes it, too.
fn table(path: &Path) -> Result<String, Failure> {
    let bytes = input::read(path)?;
    #[cfg(feature = "parquet")]
    if darkfiber_report::columns::is_parquet(&bytes) {
        return darkfiber_report::columns::to_csv(bytes, input::limit()).map_err(|e| {
            Failure::input(format!("{}: this Parquet file cannot be read: {e}", path.display()))
        });
    }
    Ok(input::text(&bytes).into_owned())
}

fn by_load(
    args: &ExplainCommand,
    text: &str,
    load: &str,
    common: &Common,
) -> Result<Exit, Failure> {
    let path = args.file.as_path();
    if load.eq_ignore_ascii_case(&args.time) {
        let what = format!("--load and --time are one column, '{load}'");
        return Err(Failure::usage(what).hint("a time is explained by something else"));
    }
    let (columns, found) = numbers::columns(text, path, &[load, &args.time])?;
    out::diagnostics(&path.display().to_string(), &found, common);
    let points: Vec<(f64, f64)> =
        columns[0].iter().copied().zip(columns[1].iter().copied()).collect();
    if let [(_, first), rest @ ..] = &points[..]
        && !rest.is_empty()
        && rest.iter().all(|(_, time)| time.to_bits() == first.to_bits())
    {
        let what = format!("{}: all rows have the same {}", path.display(), args.time);
        return Err(Failure::input(what).hint("there is nothing to explain"));
    }
    let Some(lines) = lines::fitted(load, &points) else {
        return Err(Failure::input(format!(
            "{}: {} rows are too few for two lines, or their loads are too much alike",
            path.display(),
            points.len()
        ))
        .hint("at least five rows at four different loads are needed"));
    };
    let findings = lines::findings(&lines, &args.time);
    let result = ExplainResult {
        file: &input::name_of(path),
        time: &args.time,
        rows: points.len(),
        lines: Some(lines),
        learned: None,
        findings: &findings,
        version: env!("CARGO_PKG_VERSION"),
    };
    print_result(args, &result, common)
}

#[cfg(feature = "explain")]
fn by_features(args: &ExplainCommand, text: &str, common: &Common) -> Result<Exit, Failure> {
    let path = args.file.as_path();
    let asked = numbers::ColumnMeanings {
        time: &args.time,
        run: args.run.as_deref(),
        step: args.step.as_deref(),
        features: &args.features,
    };
    let (steps, found) = numbers::steps(text, path, &asked)?;
    out::diagnostics(&path.display().to_string(), &found, common);
    let models = learned::FittedModels::of(&steps, &path.display().to_string(), common.seed())?;
    let learned = models.results(&steps);
    let findings = models.findings(&learned, &args.time);
    let result = ExplainResult {
        file: &input::name_of(path),
        time: &args.time,
        rows: steps.rows.len(),
        lines: None,
        learned: Some(learned),
        findings: &findings,
        version: env!("CARGO_PKG_VERSION"),
    };
    print_result(args, &result, common)
}

#[cfg(not(feature = "explain"))]
fn by_features(_: &ExplainCommand, _: &str, _: &Common) -> Result<Exit, Failure> {
    Err(Failure::input("this build learns nothing from counters".to_owned())
        .hint("name one with --load, or build with the feature `explain`"))
}

fn print_result(
    args: &ExplainCommand,
    result: &ExplainResult<'_>,
    common: &Common,
) -> Result<Exit, Failure> {
    let mut problems = save::Unwritten::default();
    if let Some(path) = &args.svg {
        let svg = report::picture(result);
        problems.note(save::file(path, |out| out.write_all(svg.as_bytes())));
    }
    common.show(result)?;
    problems.end(Exit::Fine)
}
