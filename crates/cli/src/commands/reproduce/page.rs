//! The page of `darkfiber reproduce`: no map, as experiments run on several machines; what they draw, as charts, and all numbers
//! beside the printed ones.

use std::collections::BTreeSet;
use std::path::Path;

use darkfiber_fabric::FabricBuilder;
use darkfiber_page::{Axis, Chart, ChartLine, Form, Measured, Page, PageFinding, Sheet, page};
use darkfiber_report::Provenance;
use darkfiber_report::reproduce::{Reproduced, Verdict, row_texts};
use darkfiber_study::reproduce::{Drawn, Figure};

use crate::failure::Failure;
use crate::page::origin;
use crate::save;

/// Bars that a chart holds; the table beside them has all.
const BARS: usize = 60;

/// Writes the page. `figures` are those of experiments that were run now: of results that were kept there are numbers only.
pub(super) fn write(
    path: &Path,
    done: &[Reproduced],
    figures: &[(String, Figure)],
    provenance: &Provenance,
) -> Result<(), Failure> {
    let none = FabricBuilder::new("several machines").finish();
    let none = none.map_err(Failure::infeasible)?;
    let drawn: BTreeSet<&str> = figures.iter().map(|(id, _)| id.as_str()).collect();
    let kept: Vec<&str> =
        done.iter().map(|e| e.id.as_str()).filter(|id| !drawn.contains(id)).collect();
    let mut facts = vec![("experiments".to_owned(), done.len().to_string())];
    if !kept.is_empty() {
        facts.push(("without charts".to_owned(), kept.join(", ")));
    }
    let ids: Vec<&str> = done.iter().map(|e| e.id.as_str()).collect();
    let html = page(&Page {
        title: match done {
            [one] => format!("{}: {}", one.id, one.title),
            _ => "Published experiments, run again".to_owned(),
        },
        subtitle: match done {
            [one] => one.paper.clone(),
            _ => ids.join(", "),
        },
        fabric: &none,
        shape: None,
        views: Vec::new(),
        jobs: Vec::new(),
        findings: done.iter().flat_map(off).collect(),
        charts: figures.iter().flat_map(|(id, figure)| charts(id, figure)).collect(),
        sheets: done.iter().map(sheet).collect(),
        routes: None,
        facts,
        origin: origin(provenance),
    });
    save::file(path, |out| out.write_all(html.as_bytes()))
}

/// Numbers that are off.
fn off(e: &Reproduced) -> Vec<PageFinding> {
    let note = |row: &darkfiber_study::reproduce::Row| {
        let [quantity, paper, expected, ours, allowed, _] = row_texts(row);
        let wanted = if paper.is_empty() { expected } else { paper };
        PageFinding {
            severity: "warning",
            message: format!("{}: {quantity} is {ours}, expected {wanted} ({allowed})", e.id),
            ..PageFinding::default()
        }
    };
    e.rows.iter().filter(|row| !row.within).map(note).collect()
}

fn sheet(e: &Reproduced) -> Sheet {
    let heading = ["number", "paper", "expected", "ours", "allowed", "verdict"];
    let word = match e.verdict {
        Verdict::Told => "nothing is judged".to_owned(),
        verdict => format!("{}, {} of {} within", verdict.label(), e.within(), e.judged()),
    };
    Sheet {
        title: format!("{} ({word}): {}", e.id, e.setup),
        heading: heading.map(str::to_owned).to_vec(),
        rows: e.rows.iter().map(|row| row_texts(row).to_vec()).collect(),
    }
}

/// A figure as charts.
fn charts(id: &str, figure: &Figure) -> Vec<Chart> {
    let title = format!("{id}: {}", figure.title);
    let bars = |title: &str, label: &str, log, names: Vec<String>, lines| {
        let y = Axis { log, ..Axis::new(label, Measured::Number) };
        Chart::of_names(title, y, names, lines)
    };
    match &figure.what {
        Drawn::Lines { x, y, lines } => vec![joined(title, (x, y), lines, Form::Lines)],
        Drawn::Scatter { x, y, points, line } => {
            let both =
                [("measured".to_owned(), points.clone()), ("trend".to_owned(), line.clone())];
            vec![joined(title, (x, y), &both, Form::Points)]
        }
        Drawn::Pairs(squares) => {
            let names: Vec<String> = squares.iter().map(|s| s.title.clone()).collect();
            let values = squares.iter().map(|s| Some(s.mean)).collect();
            let lines = vec![ChartLine { name: "mean".to_owned(), values }];
            let y = Axis::new("bytes a second between ranks", Measured::Bytes);
            vec![Chart::of_names(format!("{title}, mean of all pairs"), y, names, lines)]
        }
        Drawn::Gains(tables) | Drawn::Impacts(tables) => {
            let is_impact = matches!(figure.what, Drawn::Impacts(_));
            let label = if is_impact { "times as long as alone" } else { "gain over the baseline" };
            let fits = tables.iter().filter(|t| t.rows.len() * t.columns.len() <= BARS);
            fits.map(|t| {
                let line = |(c, name): (usize, &String)| ChartLine {
                    name: name.clone(),
                    values: t.cells.iter().skip(c).step_by(t.columns.len()).copied().collect(),
                };
                let lines = t.columns.iter().enumerate().map(line).collect();
                bars(&format!("{title}: {}", t.title), label, is_impact, t.rows.clone(), lines)
            })
            .collect()
        }
        Drawn::Boxes { unit, groups } => {
            let mut boxes: Vec<&String> =
                groups.iter().flat_map(|g| g.boxes.iter().map(|b| &b.0)).collect();
            boxes.sort();
            boxes.dedup();
            let line = |name: &&String| ChartLine {
                name: (*name).clone(),
                values: (groups.iter())
                    .map(|g| g.boxes.iter().find(|b| b.0 == **name).and_then(|b| median(&b.1)))
                    .collect(),
            };
            let names = groups.iter().map(|g| g.name.clone()).collect();
            let lines = boxes.iter().map(line).collect();
            vec![bars(&format!("{title}, medians"), unit, false, names, lines)]
        }
    }
}

/// Lines with places of their own, over all places of any.
fn joined(
    title: String,
    (x, y): (&str, &str),
    lines: &[(String, Vec<(f64, f64)>)],
    form: Form,
) -> Chart {
    let mut at: Vec<f64> = lines.iter().flat_map(|l| l.1.iter().map(|p| p.0)).collect();
    at.sort_by(f64::total_cmp);
    at.dedup();
    let line = |(name, points): &(String, Vec<(f64, f64)>)| {
        let mut values = vec![None; at.len()];
        for &(x, y) in points {
            if let Ok(i) = at.binary_search_by(|a| a.total_cmp(&x)) {
                values[i] = Some(y);
            }
        }
        ChartLine { name: name.clone(), values }
    };
    let lines = lines.iter().filter(|l| !l.1.is_empty()).map(line).collect();
    let (x, y) = (Axis::new(x, Measured::Number), Axis::new(y, Measured::Number));
    Chart { title, x, y, form, at, lines, ..Chart::default() }
}

fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    (n > 0).then(|| f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]))
}
