//! `darkfiber explain`: what tells how long something takes.

#[cfg(feature = "explain")]
mod learned;
mod lines;

use std::path::Path;

use darkfiber_formats::{input, numbers};
use darkfiber_report::explain::{self as report, ExplainResult};

use crate::args::{Common, ExplainCommand};
use crate::failure::{Exit, Failure};
use crate::{out, save};

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
    let (columns, found) = numbers::columns(text, path, &[load, &args.time])?;
    out::diagnostics(&path.display().to_string(), &found, common);
    let points: Vec<(f64, f64)> =
        columns[0].iter().copied().zip(columns[1].iter().copied()).collect();
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
    tell(args, &result, common)
}

#[cfg(feature = "explain")]
fn by_features(args: &ExplainCommand, text: &str, common: &Common) -> Result<Exit, Failure> {
    let path = args.file.as_path();
    let asked = numbers::Asked {
        time: &args.time,
        run: args.run.as_deref(),
        step: args.step.as_deref(),
        features: &args.features,
    };
    let (steps, found) = numbers::steps(text, path, &asked)?;
    out::diagnostics(&path.display().to_string(), &found, common);
    let lesson = learned::Lesson::of(&steps, &path.display().to_string(), common.seed())?;
    let learned = lesson.told(&steps);
    let findings = lesson.findings(&learned, &args.time);
    let result = ExplainResult {
        file: &input::name_of(path),
        time: &args.time,
        rows: steps.rows.len(),
        lines: None,
        learned: Some(learned),
        findings: &findings,
        version: env!("CARGO_PKG_VERSION"),
    };
    tell(args, &result, common)
}

#[cfg(not(feature = "explain"))]
fn by_features(_: &ExplainCommand, _: &str, _: &Common) -> Result<Exit, Failure> {
    Err(Failure::input("this build learns nothing from counters".to_owned())
        .hint("name one with --load, or build with the feature `explain`"))
}

fn tell(
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
