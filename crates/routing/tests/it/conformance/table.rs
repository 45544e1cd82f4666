//! The matrix as a table for people: `docs/conformance.md`.

use std::fmt;
use std::path::Path;

use darkfiber_routing::{ENGINES, Refusal};

use super::Result;

/// What an engine does with a fabric and eight lanes, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cell {
    /// Free of deadlock with so many virtual layers.
    Layers(usize),
    /// Routed, but packets can deadlock.
    Cyclic,
    /// More than eight lanes are needed.
    Lanes,
    /// Not the engine's family.
    Other,
}

impl Cell {
    pub(super) fn of(result: &Result) -> Self {
        match result {
            Ok((_, report)) if report.deadlock_free() => Self::Layers(report.layers.len()),
            Ok(_) => Self::Cyclic,
            Err(Refusal::Lanes { .. }) => Self::Lanes,
            Err(_) => Self::Other,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layers(n) => write!(f, "{n}"),
            Self::Cyclic => f.write_str("x"),
            Self::Lanes => f.write_str("lanes"),
            Self::Other => f.write_str("-"),
        }
    }
}

/// One fabric; for each engine the whole fabric and the worst of its damaged ones.
pub(super) struct Row {
    pub(super) spec: String,
    pub(super) cells: Vec<(Cell, Cell)>,
}

const HEAD: &str = "\
# What routes what

Every engine on every family of fabrics. The test `conformance` of darkfiber-routing makes and proves
this page, and writes it anew with `DARKFIBER_UPDATE_DOCS=1 cargo test -p darkfiber-routing --test it
conformance`; do not edit it by hand.

A cell is the number of virtual layers that the engine takes of eight lanes: on the whole fabric / at
most on the same fabric with damage (one cable, two, a tenth and a quarter of the cables between
switches, and a switch with a cable elsewhere; each leaves the rest connected). One number if both are
equal.

- A number: every pair is reached, and no packets can deadlock.
- `x`: every pair is reached, but packets can deadlock: the engine does not promise otherwise.
- `lanes`: refused, as eight lanes are not enough.
- `-`: refused, as the fabric is not of the engine's family.

All engines refuse a fabric in pieces; planes are routed one by one.

";

fn text(rows: &[Row]) -> String {
    let mut columns: Vec<Vec<String>> = vec![
        std::iter::once("fabric".to_owned())
            .chain(rows.iter().map(|r| format!("`{}`", r.spec)))
            .collect(),
    ];
    for (i, engine) in ENGINES.iter().enumerate() {
        let cell = |row: &Row| match row.cells[i] {
            (whole, damaged) if whole == damaged => whole.to_string(),
            (whole, damaged) => format!("{whole}/{damaged}"),
        };
        columns
            .push(std::iter::once(engine.name().to_owned()).chain(rows.iter().map(cell)).collect());
    }
    let width = |column: &[String]| column.iter().map(String::len).max().unwrap_or(0);
    let widths: Vec<usize> = columns.iter().map(|c| width(c)).collect();
    let line = |r: usize| {
        let cells = columns.iter().zip(&widths).map(|(c, w)| format!("| {:w$} ", c[r]));
        cells.collect::<String>() + "|\n"
    };
    let rules: Vec<String> = widths.iter().map(|w| "-".repeat(w + 2)).collect();
    let rule = rules.join("|");
    let lines: String = (1..=rows.len()).map(line).collect();
    format!("{HEAD}{}|{rule}|\n{lines}", line(0))
}

/// Demands that `docs/conformance.md` is this table, or writes it if `DARKFIBER_UPDATE_DOCS` is set.
pub(super) fn compare(rows: &[Row]) {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conformance.md"));
    let made = text(rows);
    if std::env::var_os("DARKFIBER_UPDATE_DOCS").is_some() {
        std::fs::write(path, &made).expect("docs can be written");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == made,
        "docs/conformance.md does not say this (DARKFIBER_UPDATE_DOCS=1 writes it):\n{made}"
    );
}
