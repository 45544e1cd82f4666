//! The result of `darkfiber doctor`: problems area by area, and what to do.

use std::fmt::Write as _;

use darkfiber_analysis::doctor::{Exam, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::comma;
use crate::model::Provenance;
use crate::style::Style;

/// All of it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct DoctorResult {
    /// The fabric in a line.
    pub fabric: String,
    /// One for each area, in a fixed order.
    pub exams: Vec<Exam>,
    /// Whether to list all places in text.
    #[serde(skip)]
    pub in_full: bool,
    /// Where the result comes from.
    pub provenance: Provenance,
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NotAsked => "-",
        Verdict::Good => "ok",
        Verdict::Note => "note",
        Verdict::Warning => "warning",
        Verdict::Error => "ERROR",
    }
}

impl Report for DoctorResult {
    // A line for each area, and what to do where there is a problem.
    fn text(&self, _: Style) -> String {
        let mut text = format!("{}\n\n", self.fabric);
        for exam in self.exams.iter().filter(|exam| exam.verdict != Verdict::NotAsked) {
            let (area, verdict) = (exam.area.name(), word(exam.verdict));
            let _ok = writeln!(text, "{area:<11} {verdict:<8} {}", exam.message);
            if exam.verdict > Verdict::Good {
                if self.in_full {
                    for place in exam.places.iter().filter(|place| **place != exam.message) {
                        let _ok = writeln!(text, "{:21}{place}", "");
                    }
                }
                if !exam.action.is_empty() {
                    let _ok = writeln!(text, "{:21}-> {}", "", exam.action);
                }
            }
        }
        // Areas that were not examined, by the input that they would need.
        let mut asks: Vec<(&str, Vec<&str>)> = Vec::new();
        for exam in self.exams.iter().filter(|exam| exam.verdict == Verdict::NotAsked) {
            match asks.iter_mut().find(|(ask, _)| *ask == exam.action) {
                Some((_, areas)) => areas.push(exam.area.name()),
                None => asks.push((&exam.action, vec![exam.area.name()])),
            }
        }
        if !asks.is_empty() {
            text.push_str("\nnot looked at:\n");
        }
        for (ask, areas) in asks {
            let _ok = writeln!(text, "  {}: {ask}", areas.join(", "));
        }
        text
    }

    // A line for each area.
    fn csv(&self) -> String {
        comma::table(
            &self.exams,
            &[
                ("area", &|exam| exam.area.name().to_owned()),
                ("verdict", &|exam| word(exam.verdict).to_lowercase()),
                ("message", &|exam| exam.message.clone()),
                ("action", &|exam| exam.action.clone()),
            ],
        )
    }
}
