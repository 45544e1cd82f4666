//! Figure 9: sixteen jobs before and after.

use super::PAPER;
use super::contest::{STEPS, with_model};
use super::records::{jobs, number, tables};
use crate::grid::Record;
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Row, Table, USUAL};

const STUDY: Paper = paper!("afar-f9");

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-F9",
    title: "Sixteen jobs on Cab before and after a few changed entries (figure 9)",
    paper: PAPER,
    setup: with_model!(
        "Of three placements, by seeds that follow each other, the one whose worst job loses most, as the second of the \
         paper's three; the paper's policy (first) down to 61.5 GB. Times over those by itself with the tables of ftree. Up to 1 % longer is the \
         same. "
    ),
    class: Class::Shape,
    seconds: 60.0,
    papers: &[STUDY],
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = STUDY.records(context);
    // The placement in which jobs lose most.
    let worst =
        |record: &Record| jobs(record).map(|job| number(job, "longer_before")).fold(0.0, f64::max);
    if let Some(record) = records.iter().rev().max_by(|a, b| worst(a).total_cmp(&worst(b))) {
        draw(context, record);
    }
    study.judged(&records)
}

fn draw(context: &Context<'_>, record: &Record) {
    let entries = tables(record).map_or(0.0, |tables| number(tables, "entries"));
    let all: Vec<[f64; 3]> = jobs(record)
        .map(|job| ["alone", "before", "after"].map(|column| number(job, column)))
        .collect();
    let cells = all.iter().flat_map(|j| [0.0, 1.0 - j[1] / j[0], 1.0 - j[2] / j[0]]);
    let texts = all.iter().flat_map(|j| {
        [
            format!("{:.1} s", STEPS * j[0]),
            format!("{:.2}", j[1] / j[0]),
            format!("{:.2}", j[2] / j[0]),
        ]
    });
    (context.draw)(Figure {
        name: "sixteen-jobs",
        title: "Sixteen jobs on Cab: run time over that in isolation".to_owned(),
        subtitle: format!("before and after {entries} changed entries"),
        what: Drawn::Gains(vec![Table {
            title: String::new(),
            rows: jobs(record).map(|job| job.of.clone()).collect(),
            columns: ["by itself", "ftree", "AFAR"].map(str::to_owned).to_vec(),
            cells: cells.map(Some).collect(),
            texts: texts.collect(),
        }]),
    });
}
