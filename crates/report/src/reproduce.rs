//! Results of `darkfiber reproduce`.

use std::fmt::Write as _;

use darkfiber_study::reproduce::{Class, Row};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Provenance;
use crate::style::Style;
use crate::table::plain;
use crate::{Report, comma, json};

/// What came of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All numbers that are judged are in their bands.
    Reproduced,
    /// Some are not.
    Off,
    /// No number is judged.
    Told,
}

impl Verdict {
    /// Counts of some rows.
    pub fn of(rows: &[Row]) -> Self {
        match (rows.iter().any(|r| r.judged), rows.iter().all(|r| r.within)) {
            (false, _) => Self::Told,
            (true, true) => Self::Reproduced,
            (true, false) => Self::Off,
        }
    }

    /// A word for tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Off => "off",
            Self::Told => "told",
        }
    }
}

/// An experiment that was run again.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
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
    /// Number of values within their tolerances.
    pub fn within(&self) -> usize {
        self.rows.iter().filter(|r| r.judged && r.within).count()
    }

    /// Number of values that are judged.
    pub fn judged(&self) -> usize {
        self.rows.iter().filter(|r| r.judged).count()
    }
}

impl Report for ReproduceAll<'_> {
    fn text(&self, style: Style) -> String {
        self.experiments.iter().map(|e| text(e, style)).collect::<Vec<_>>().join("\n")
    }

    fn csv(&self) -> String {
        csv(self.experiments)
    }

    // A single experiment is not put in a list.
    fn json(&self) -> String {
        match self.experiments {
            [experiment] => json::text(&ReproduceOne { experiment, provenance: self.provenance }),
            _ => json::text(self),
        }
    }
}

/// An experiment for people.
fn text(experiment: &Reproduced, style: Style) -> String {
    let mut text = format!("{}: {}\n{}\n\n", experiment.id, experiment.title, experiment.paper);
    let heading = ["quantity", "paper", "expected", "ours", "allowed", "verdict"];
    let rows: Vec<Vec<String>> =
        experiment.rows.iter().map(|row| row_texts(row).to_vec()).collect();
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
        "\n{}: {}, {} of {} judged numbers in their bands, {}",
        experiment.id,
        experiment.verdict.label(),
        experiment.within(),
        experiment.judged(),
        crate::number::duration(experiment.seconds)
    );
    text
}

/// All experiments, a line each, as Markdown.
pub fn markdown(experiments: &[Reproduced]) -> String {
    let mut text =
        "| experiment | what it shows | class | verdict | judged, in band | off | told | time |\n\
                    |---|---|---|---|--:|--:|--:|--:|\n"
            .to_owned();
    for e in experiments {
        let (judged, within) = (e.judged(), e.within());
        let _infallible = writeln!(
            text,
            "| {} | {} | {} | {} | {within} of {judged} | {} | {} | {} |",
            e.id,
            e.title,
            e.class.label(),
            match e.verdict {
                Verdict::Off => "**off**",
                other => other.label(),
            },
            judged - within,
            e.rows.len() - judged,
            crate::number::duration(e.seconds)
        );
    }
    let of = |verdict| experiments.iter().filter(|e| e.verdict == verdict).count();
    let sum = |what: fn(&Reproduced) -> usize| experiments.iter().map(what).sum::<usize>();
    let _infallible = writeln!(
        text,
        "\n{} experiments: {} reproduced, {} off, {} told; {} of {} judged numbers in their bands.",
        experiments.len(),
        of(Verdict::Reproduced),
        of(Verdict::Off),
        of(Verdict::Told),
        sum(Reproduced::within),
        sum(Reproduced::judged)
    );
    text.push_str("\nNumbers that are off:\n\n| experiment | number | paper | expected | ours | allowed |\n|---|---|--:|--:|--:|--:|\n");
    for e in experiments {
        for row in e.rows.iter().filter(|r| !r.within) {
            let c = row_texts(row);
            let _infallible = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                e.id, c[0], c[1], c[2], c[3], c[4]
            );
        }
    }
    text
}

fn number(x: f64) -> String {
    if x.is_nan() {
        return "nothing".to_owned();
    }
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number in the form of tables: quantity, printed, expected, ours, allowed, verdict.
pub fn row_texts(row: &Row) -> [String; 6] {
    let paper = match (row.paper, row.reading) {
        (Some(printed), Some(reading)) => format!("{}, read {}", number(printed), number(reading)),
        (Some(printed), None) => number(printed),
        (None, _) => String::new(),
    };
    let allowed = match (row.judged, row.at_least, row.at_most) {
        (false, ..) => String::new(),
        (_, Some(least), Some(most)) => format!("{} to {}", number(least), number(most)),
        (_, Some(least), None) => format!("{} or more", number(least)),
        (_, None, Some(most)) => format!("{} or less", number(most)),
        (_, None, None) if row.tolerance == 0.0 => "no difference".to_owned(),
        (_, None, None) if row.relative => format!("±{} %", number(100.0 * row.tolerance)),
        (_, None, None) => format!("±{}", number(row.tolerance)),
    };
    let verdict = match (row.within, row.reading) {
        _ if !row.judged => "told",
        (true, None) => "ok",
        (true, Some(_)) => "ok, misprint",
        (false, _) => "OFF",
    };
    [
        row.quantity.clone(),
        paper,
        row.expected.map(number).unwrap_or_default(),
        number(row.ours),
        allowed,
        verdict.to_owned(),
    ]
}

/// All experiments, a line for each number, as comma-separated values.
pub fn csv(experiments: &[Reproduced]) -> String {
    let rows = experiments.iter().flat_map(|e| e.rows.iter().map(move |r| (e, r)));
    comma::table(
        rows,
        &[
            ("id", &|(e, _)| e.id.clone()),
            ("quantity", &|(_, r)| r.quantity.clone()),
            ("paper", &|(_, r)| comma::some(r.paper)),
            ("reading", &|(_, r)| comma::some(r.reading)),
            ("ours", &|(_, r)| r.ours.to_string()),
            ("tolerance", &|(_, r)| r.tolerance.to_string()),
            ("relative", &|(_, r)| r.relative.to_string()),
            ("within", &|(_, r)| r.within.to_string()),
            ("note", &|(_, r)| r.note.clone().unwrap_or_default()),
            ("at_least", &|(_, r)| comma::some(r.at_least)),
            ("at_most", &|(_, r)| comma::some(r.at_most)),
            ("judged", &|(_, r)| r.judged.to_string()),
            ("expected", &|(_, r)| comma::some(r.expected)),
        ],
    )
}
