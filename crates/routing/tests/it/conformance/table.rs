//! The matrix as a table for readers: `docs/conformance.md`.

use std::fmt;
use std::path::Path;

use darkfiber_fabric::Fabric;
use darkfiber_routing::reroute::{Book, Fault, Prepared};
use darkfiber_routing::{ENGINES, Refusal};

use super::Result;

/// Result of an engine on a fabric with eight lanes, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cell {
    /// Deadlock-free with this number of virtual layers.
    Layers(usize),
    /// Routed, but packets can deadlock.
    Cyclic,
    /// More than eight lanes are needed.
    Lanes,
    /// The fabric is not of the engine's family.
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
    /// For each engine, what single cables it tolerates.
    pub(super) cables: Vec<Cables>,
}

/// Repairs of the tables when any single cable fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cables {
    /// Share of the cables in percent, rounded down, that are repaired in any order or in steps, with service levels
    /// kept; and the largest load of a channel after any of them in percent of that before.
    Untouched(u64, u64),
    /// The tables can deadlock without any fault.
    Cyclic,
    /// The engine refuses the fabric.
    Refused,
}

impl Cables {
    pub(super) fn of(fabric: &Fabric, result: &Result) -> Self {
        let Ok((routes, report)) = result else { return Self::Refused };
        if !report.deadlock_free() {
            return Self::Cyclic;
        }
        let prepared = Prepared::new(fabric, routes, 8).expect("an engine's own tables");
        let book = Book::of(&prepared.book(&Fault::cables(fabric), || ()));
        let before = report.load.iter().copied().max().unwrap_or(0).max(1);
        let (untouched, all) = (book.any_order + book.steps, book.faults - book.splits);
        let share = (untouched as u64 * 100).checked_div(all as u64).unwrap_or(100);
        Self::Untouched(share, (book.load * 100).div_ceil(before))
    }
}

impl fmt::Display for Cables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untouched(share, load) => write!(f, "{share} ({load})"),
            Self::Cyclic => f.write_str("x"),
            Self::Refused => f.write_str("-"),
        }
    }
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

All engines refuse a fabric in pieces, unless these are planes, which share the hosts: each is routed as if it were alone.

<!-- tested: cargo test -p darkfiber-routing conformance -->
";

const CABLES: &str = "
## Single cables

What comes of it if any one cable between switches fails, with eight lanes: the share of the cables in percent
(rounded down) that are mended without touching running connections. That is, no pair changes its service level, and
switches may be updated in any order or in steps while packets are under way (`darkfiber survive` says which cables, and
what it takes for the others; docs/faults.md). In parentheses the largest load of a channel after any of these faults that
were mended, in percent of the largest before (rounded up). Cables that split the fabric do not count.

`x`: the tables can deadlock without any fault. `-`: refused.

<!-- tested: cargo test -p darkfiber-routing conformance -->
";

fn text(rows: &[Row]) -> String {
    let whole = |row: &Row, i: usize| match row.cells[i] {
        (whole, damaged) if whole == damaged => whole.to_string(),
        (whole, damaged) => format!("{whole}/{damaged}"),
    };
    let first = table(rows, &whole);
    let second = table(rows, &|row, i| row.cables[i].to_string());
    format!("{HEAD}{first}{CABLES}{second}")
}

/// The matrix with a line for each fabric and a column for each engine.
fn table(rows: &[Row], cell: &dyn Fn(&Row, usize) -> String) -> String {
    let mut columns: Vec<Vec<String>> = vec![
        std::iter::once("fabric".to_owned())
            .chain(rows.iter().map(|r| format!("`{}`", r.spec)))
            .collect(),
    ];
    for (i, engine) in ENGINES.iter().enumerate() {
        let cells = rows.iter().map(|row| cell(row, i));
        columns.push(std::iter::once(engine.name().to_owned()).chain(cells).collect());
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
    format!("{}|{rule}|\n{lines}", line(0))
}

/// Checks that `docs/conformance.md` is this table, or writes it if `DARKFIBER_UPDATE_DOCS` is set.
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
