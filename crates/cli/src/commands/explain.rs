//! `darkfiber explain`: how much of a time a load explains, and from where on.

use darkfiber_analysis::piecewise::Piecewise;
use darkfiber_formats::{input, numbers};
use darkfiber_report::explain::{self as report, ExplainResult, Lines};
use darkfiber_report::{Style, json};

use crate::args::{Common, ExplainCommand, Format};
use crate::failure::{Exit, Failure};
use crate::{out, save};

/// Below this share of the variance a load explains little.
const LITTLE: f64 = 0.5;
/// Two lines that explain less more than one are one.
const NO_BREAK: f64 = 0.02;
/// Fewer rows than this say little about themselves.
const FEW: usize = 30;

pub(crate) fn run(args: &ExplainCommand, common: &Common) -> Result<Exit, Failure> {
    let path = args.file.as_path();
    let name = input::name_of(path);
    let names = [args.load.as_str(), args.time.as_str()];
    let (columns, found) = numbers::columns(&input::read_text(path)?, path, &names)?;
    out::diagnostics(&path.display().to_string(), &found, common);
    let points: Vec<(f64, f64)> =
        columns[0].iter().copied().zip(columns[1].iter().copied()).collect();
    let Some(fit) = Piecewise::fit(&points) else {
        return Err(Failure::input(format!(
            "{}: {} rows are too few for two lines, or their loads are too much alike",
            path.display(),
            points.len()
        ))
        .hint("at least five rows at four different loads are needed"));
    };
    let lines = Lines {
        at: fit.at,
        at_least: fit.between.0,
        at_most: fit.between.1,
        start: fit.start,
        before: fit.before,
        after: fit.after,
        r2: fit.r2,
        r2_straight: fit.r2_straight,
        r2_cross_validated: Piecewise::cross_validated(&points),
    };
    let findings = findings(&lines, points.len(), names);
    let result = ExplainResult {
        file: &name,
        load: names[0],
        time: names[1],
        rows: points.len(),
        lines,
        findings: &findings,
        version: env!("CARGO_PKG_VERSION"),
        points: &points,
        fit,
    };
    if let Some(path) = &args.svg {
        let svg = report::picture(&result);
        save::file(path, |out| out.write_all(svg.as_bytes()))?;
    }
    out::print(&match common.format {
        Format::Json => json::text(&result),
        Format::Csv => report::csv(&result),
        Format::Table => report::text(&result, Style::of_stdout()),
    })?;
    Ok(Exit::Fine)
}

/// What the numbers do and do not say.
fn findings(l: &Lines, rows: usize, [load, time]: [&str; 2]) -> Vec<String> {
    let mut all = Vec::new();
    let percent = |x: f64| format!("{:.0} %", 100.0 * x);
    if l.r2 < LITTLE {
        all.push(format!(
            "{load} explains little of {time} ({}): look for something else, or for a load nearer to what slows it down",
            percent(l.r2)
        ));
    } else if l.r2 - l.r2_straight < NO_BREAK {
        all.push(format!(
            "one line says as much as two: no {load} is seen from which on {time} grows faster"
        ));
    } else if l.after > l.before {
        all.push(format!(
            "above {:.4} a unit of {load} costs more {time} than below: {} of the variance of {time} is explained",
            l.at,
            percent(l.r2)
        ));
    } else {
        all.push(format!(
            "{time} grows less behind the break than before: that is not what congestion does"
        ));
    }
    if l.r2 - l.r2_cross_validated > 0.1 {
        all.push(format!(
            "rows that were not seen are foretold much worse ({}): the lines follow these rows, not a law",
            percent(l.r2_cross_validated.max(0.0))
        ));
    }
    if rows < FEW {
        all.push(format!("{rows} rows are few: the bounds of the break are rough"));
    }
    all.push("rows of one job are not independent, and bounds of 95 % are too narrow then; a law of one machine and its jobs is none of another's".to_owned());
    all
}
