//! Results of `darkfiber reproduce`.

use std::fmt::Write as _;

use darkfiber_study::reproduce::{Class, Row};
use schemars::JsonSchema;
use serde::Serialize;

use crate::comma;
use crate::model::Provenance;
use crate::table::{Style, plain};

/// What came of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All numbers are within their tolerances.
    Reproduced,
    /// Some are not.
    Differs,
}

/// An experiment that was run again.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Reproduced {
    /// Its short name.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Where it was published.
    pub paper: String,
    /// What was run.
    pub setup: String,
    /// What can be expected.
    pub class: Class,
    /// Number by number.
    pub rows: Vec<Row>,
    /// What came of it.
    pub verdict: Verdict,
    /// Wall time.
    pub seconds: f64,
}

/// The result of `darkfiber reproduce ID`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ReproduceOne<'a> {
    /// The experiment.
    #[serde(flatten)]
    pub experiment: &'a Reproduced,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// The result of `darkfiber reproduce` with several experiments.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ReproduceAll<'a> {
    /// The experiments.
    pub experiments: &'a [Reproduced],
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

impl Reproduced {
    /// How many numbers are within their tolerances.
    pub fn within(&self) -> usize {
        self.rows.iter().filter(|r| r.judged && r.within).count()
    }

    /// How many numbers are judged.
    pub fn judged(&self) -> usize {
        self.rows.iter().filter(|r| r.judged).count()
    }
}

/// An experiment for people.
pub fn text(experiment: &Reproduced, style: Style) -> String {
    let mut text = format!("{}: {}\n{}\n\n", experiment.id, experiment.title, experiment.paper);
    let heading = ["quantity", "paper", "ours", "off", "allowed", "verdict"];
    let rows: Vec<Vec<String>> = experiment.rows.iter().map(cells).collect();
    text.push_str(&plain(&heading, &rows, &[1, 2, 3, 4], style));
    let mut notes: Vec<&str> = experiment.rows.iter().filter_map(|r| r.note.as_deref()).collect();
    notes.dedup();
    notes.sort_unstable();
    notes.dedup();
    if !notes.is_empty() {
        text.push('\n');
    }
    for note in notes {
        let of: Vec<&str> = experiment
            .rows
            .iter()
            .filter(|r| r.note.as_deref() == Some(note))
            .map(|r| r.quantity.as_str())
            .collect();
        let of = match of.len() {
            ..=4 => of.join("; "),
            many => format!("{many} of these"),
        };
        let _infallible = writeln!(text, "{note} ({of})");
    }
    let _infallible = writeln!(
        text,
        "\n{}: {} of {} numbers within tolerance, {}",
        experiment.id,
        experiment.within(),
        experiment.judged(),
        crate::number::duration(experiment.seconds)
    );
    text
}

fn number(x: f64) -> String {
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn cells(row: &Row) -> Vec<String> {
    let Some(printed) = row.paper else {
        let mut cells = [const { String::new() }; 6];
        (cells[0], cells[2]) = (row.quantity.clone(), number(row.ours));
        return cells.to_vec();
    };
    let truth = row.reading.unwrap_or(printed);
    let off = row.ours - truth;
    let (off, allowed) = if row.relative && truth != 0.0 {
        (format!("{:+.1} %", 100.0 * off / truth.abs()), format!("{:.1} %", 100.0 * row.tolerance))
    } else {
        (number(off), number(row.tolerance))
    };
    let (off, allowed) = match (row.judged, row.at_least, row.at_most) {
        (false, ..) => (off, "-".to_owned()),
        (_, Some(least), Some(most)) => (off, format!("{} to {}", number(least), number(most))),
        (_, Some(least), None) => (off, format!("{} or more", number(least))),
        (_, None, Some(most)) => (off, format!("{} or less", number(most))),
        (_, None, None) => (off, allowed),
    };
    let paper = match row.reading {
        Some(reading) => format!("{}, read {}", number(printed), number(reading)),
        None => number(printed),
    };
    let verdict = match (row.within, row.reading) {
        _ if !row.judged => "told",
        (true, None) => "ok",
        (true, Some(_)) => "ok, misprint",
        (false, _) => "OFF",
    };
    vec![row.quantity.clone(), paper, number(row.ours), off, allowed, verdict.to_owned()]
}

/// One line a number.
pub fn csv(experiments: &[Reproduced]) -> String {
    let heading = [
        "id",
        "quantity",
        "paper",
        "reading",
        "ours",
        "tolerance",
        "relative",
        "within",
        "note",
        "at_least",
        "at_most",
        "judged",
    ];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for e in experiments {
        lines.extend(e.rows.iter().map(|r| {
            vec![
                e.id.clone(),
                r.quantity.clone(),
                r.paper.map(|x| x.to_string()).unwrap_or_default(),
                r.reading.map_or(String::new(), |x| x.to_string()),
                r.ours.to_string(),
                r.tolerance.to_string(),
                r.relative.to_string(),
                r.within.to_string(),
                r.note.clone().unwrap_or_default(),
                r.at_least.map_or(String::new(), |x| x.to_string()),
                r.at_most.map_or(String::new(), |x| x.to_string()),
                r.judged.to_string(),
            ]
        }));
    }
    comma::text(&lines)
}
