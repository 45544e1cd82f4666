//! Results of published experiments, number by number: docs/reproduced.csv, as `darkfiber reproduce --all -o DIR` writes it.

use std::collections::BTreeMap;
use std::path::Path;

use darkfiber_testkit::figures::figures;

/// A number of an experiment.
#[derive(Debug, Default)]
pub(crate) struct ExperimentRow {
    pub(crate) quantity: String,
    /// Printed numbers, those derived from them, and those in notes.
    pub(crate) printed: Vec<f64>,
    pub(crate) ours: f64,
    pub(crate) is_judged: bool,
    pub(crate) is_within: bool,
}

/// All numbers by experiment.
pub(crate) type Experiments = BTreeMap<String, Vec<ExperimentRow>>;

pub(crate) fn read(root: &Path) -> Experiments {
    let path = root.join("docs/reproduced.csv");
    let text = std::fs::read_to_string(path).expect("docs/reproduced.csv");
    let mut records = records(&text).into_iter();
    let heading = records.next().expect("a heading");
    let mut all = Experiments::new();
    for record in records {
        let cell = |name: &str| {
            let column = heading.iter().position(|h| h == name);
            &record[column.unwrap_or_else(|| panic!("no column {name}"))][..]
        };
        let given =
            ["paper", "reading", "expected"].into_iter().filter_map(|n| cell(n).parse().ok());
        let noted = figures(cell("note")).into_iter().map(|f| f.value);
        all.entry(cell("id").to_owned()).or_default().push(ExperimentRow {
            quantity: cell("quantity").to_owned(),
            printed: given.chain(noted).collect(),
            ours: cell("ours").parse().unwrap_or(f64::NAN),
            is_judged: cell("judged") == "true",
            is_within: cell("within") == "true",
        });
    }
    all
}

/// Lines of comma-separated values; cells in quotes may have commas, and two quotes for one.
fn records(text: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let (mut record, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' if is_quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                record.push(std::mem::take(&mut cell));
                all.push(std::mem::take(&mut record));
            }
            '\r' if !is_quoted => {}
            c => cell.push(c),
        }
    }
    all
}
