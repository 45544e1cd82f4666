//! Table II: the cost of recording traffic and collecting it.

use super::PAPER;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

/// Application, its run time in seconds, its MPI calls, the overhead printed in seconds and percent, and the derived
/// cost of recording a call, in nanoseconds.
const PRINTED: [(&str, f64, f64, f64, f64, f64); 3] = [
    ("Qbox", 340.0, 32e3, 0.26, 0.08, 380.0),
    ("MILC", 341.0, 913e3, 0.35, 0.10, 110.0),
    ("pF3D", 320.0, 144e3, 0.31, 0.10, 380.0),
];
/// Seconds that collecting the matrix takes, once a minute.
const REDUCE: f64 = 0.05;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-T2",
    title: "What recording and collecting traffic once a minute costs (table II)",
    paper: PAPER,
    setup: "MPI calls times what recording one takes, and 50 ms in every whole minute. The paper measures 100 to 380 ns a \
     call and does not say which application takes how much: 380 for Qbox and pF3D and 110 for MILC, with thirty \
     times as many calls, are those that fit.",
    class: Class::Shape,
    run: reproduce,
    ..USUAL
};

fn reproduce(_: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, seconds, calls, overhead, percent, call) in PRINTED {
        let ours = calls * call * 1e-9 + (seconds / 60.0).floor() * REDUCE;
        rows.push(
            Row::new(format!("{name}: overhead, s"), overhead, ours, Allowed::Rule)
                .noted(format!("{call} ns a call, fitted")),
        );
        let share = 100.0 * ours / seconds;
        rows.push(Row::new(format!("{name}: overhead, %"), percent, share, Allowed::Rule));
    }
    rows
}
