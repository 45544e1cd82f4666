//! The statements of section IV about Table II.

use super::averages::TABLE_II;
use super::printed::{COLUMNS, TEXT};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "OPT-TXT",
    title: "what the text says of Table II: least, largest and mean improvement by kind of tree",
    paper: "Nienaber, Mahapatra, Yuan: Improving Performance of Deterministic Single-path Routing on 2-Level \
     Generalized Fat-trees, section IV",
    setup: "First arithmetic on the improvements as printed in Table II, to a tenth; then the means of our own \
     Table II, as OPT-T2 measures it.",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let table_ii = TABLE_II.rows(context);
    let mut rows = Vec::new();
    let mut means = Vec::new();
    for (kind, range, said) in TEXT {
        for (column, (label, said)) in COLUMNS.iter().zip(said).enumerate() {
            // The third number of each column of each tree is the improvement by OPT.
            let improvements = || range.clone().map(|tree| &table_ii[9 * tree + 3 * column + 2]);
            let table: Vec<f64> = improvements().filter_map(|row| row.paper).collect();
            let ours = [
                table.iter().copied().fold(f64::INFINITY, f64::min),
                table.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                (mean(&table) * 10.0).round() / 10.0,
            ];
            for ((what, said), ours) in ["least", "largest", "mean"].iter().zip(said).zip(ours) {
                let quantity = format!("{kind} trees, {label}, {what} improvement of the table, %");
                let row = Row::new(quantity, *said, ours, Allowed::Nothing);
                rows.push(reading(row, (kind, label, what)));
            }
            let all: Vec<f64> = improvements().map(|row| row.ours).collect();
            let quantity = format!("{kind} trees, {label}, mean improvement as measured, %");
            let row = Row::new(quantity, said[2], mean(&all), MEASURED);
            means.push(reading(row, (kind, label, "mean")));
        }
    }
    rows.append(&mut means);
    rows
}

/// Five quotients of cells, each accurate to 1 %.
const MEASURED: Allowed = Allowed::Absolute(1.5);

/// Statements of the text that differ from the paper's own table, which is measured.
const MISPRINTS: [(&str, &str, &str, f64); 4] = [
    ("full", "AFPB", "mean", 15.4),
    ("slimmed", "AFPB", "largest", 13.7),
    ("fatted", "AFPB", "mean", 36.0),
    ("fatted", "ADB", "mean", 36.0),
];

fn reading(row: Row, (kind, column, what): (&str, &str, &str)) -> Row {
    match MISPRINTS.iter().find(|m| (m.0, m.1, m.2) == (kind, column, what)) {
        Some(m) => row.read_as(m.3, "misprint: the paper's own table gives the other number"),
        None => row,
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
