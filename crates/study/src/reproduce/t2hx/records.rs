//! Answers about the machine with two planes, by its combinations of topology, routing and placement.

use crate::grid::{Record, Value};

/// Combinations, the baseline first, as the paper calls them.
pub(super) const CALLED: [&str; 6] = [
    "FT/ftree/linear",
    "FT/SSSP/clustered",
    "HX/DFSSSP/linear",
    "HX/DFSSSP/random",
    "HX/PARX/clustered",
    "HX/PARX/clustered, 1.23 us an end",
];

/// Engine and placement of one of the first five.
pub(super) fn of_combination(c: usize) -> [(&'static str, &'static str); 2] {
    let (engine, placement) = [
        ("ftree", "linear"),
        ("sssp", "clustered"),
        ("dfsssp", "linear"),
        ("dfsssp", "random"),
        ("parx", "clustered"),
    ][c];
    [("routes.engine", engine), ("job.1.placement", placement)]
}

/// A column of all answers of cells that have these values of axes, by rising seed.
pub(super) fn times(records: &[Record], of: &[(&str, &str)], column: &str) -> Vec<f64> {
    let has = |record: &Record, (key, wanted): &(&str, &str)| {
        record.set.iter().any(|(name, value)| name == key && value.to_string() == *wanted)
    };
    records
        .iter()
        .filter(|record| of.iter().all(|one| has(record, one)))
        .flat_map(|record| &record.answers)
        .filter_map(|answer| answer.get(column).and_then(Value::number))
        .collect()
}
