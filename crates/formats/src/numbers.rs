//! Columns of numbers in tables with a heading.

use std::collections::HashMap;
use std::path::Path;

use crate::diagnostic::counted;
use crate::known_by::begins_with;
use crate::{Diagnostics, ReadError, sheet};

/// A table as read from a file.
struct Sheet<'a> {
    text: &'a str,
    path: &'a Path,
    heading: Vec<String>,
    /// Number of lines that are not part of the table.
    broken: usize,
    /// Number of rows with more cells than the heading, and the line of the first: in which column a number is cannot be told.
    ragged: (usize, usize),
    records: Vec<csv::StringRecord>,
}

impl<'a> Sheet<'a> {
    fn read(text: &'a str, path: &'a Path) -> Result<Self, ReadError> {
        let mut reader = sheet::reader(text).from_reader(text.as_bytes());
        let heading: Vec<String> = match reader.headers() {
            Ok(heading) => heading.iter().map(|h| h.trim_start_matches('#').to_owned()).collect(),
            Err(e) => return Err(refused(path, e.to_string(), "")),
        };
        let all: Vec<_> = reader.records().collect();
        let lines = all.len();
        let read: Vec<_> = all.into_iter().flatten().collect();
        let broken = lines - read.len();
        let (records, ragged): (Vec<_>, Vec<_>) =
            read.into_iter().partition(|record| fits(record, heading.len()));
        let ragged = (ragged.len(), ragged.first().map_or(0, |row| sheet::line(text, row)));
        Ok(Self { text, path, heading, broken, ragged, records })
    }

    /// The place of a column, by its heading, small letters or not.
    fn place(&self, name: &str) -> Result<usize, ReadError> {
        self.heading.iter().position(|h| h.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let known = format!("its columns are {}", self.heading.join(", "));
            refused(self.path, format!("there is no column '{name}'"), &known)
        })
    }

    /// Reports the rows that are left out, and the first such line.
    fn left_out(&self, rows: usize, first: usize, found: &mut Diagnostics) {
        if rows + self.broken > 0 {
            let rows = counted(rows + self.broken, "row has", "rows have");
            found.warn(first, format!("{rows} no number in a column that counts"), "left out");
        }
        let (ragged, first) = self.ragged;
        if ragged > 0 {
            let rows = counted(ragged, "row has", "rows have");
            let cells = self.heading.len();
            let what = format!("{rows} more cells than the heading, which has {cells}");
            found.warn(first, what, "left out");
        }
    }
}

/// Whether a row has no more cells than the heading; empty ones at its end, behind a last separator, are none.
fn fits(record: &csv::StringRecord, heading: usize) -> bool {
    record.iter().skip(heading).all(str::is_empty)
}

fn refused(path: &Path, what: String, hint: &str) -> ReadError {
    ReadError::not_such(path, what, "a table with a heading", hint)
}

fn number(record: &csv::StringRecord, i: usize) -> Option<f64> {
    record.get(i)?.parse::<f64>().ok().filter(|x| x.is_finite())
}

/// Reads some columns of a table whose cells are separated by commas, semicolons or tabs; by their headings, ignoring case.
/// Rows in which one of them is not a number are reported and left out.
///
/// # Errors
/// If it is not a table, or has no such column.
pub fn columns(
    text: &str,
    path: &Path,
    names: &[&str],
) -> Result<(Vec<Vec<f64>>, Diagnostics), ReadError> {
    let table = Sheet::read(text, path)?;
    let places = names.iter().map(|name| table.place(name)).collect::<Result<Vec<_>, _>>()?;
    let mut found = Diagnostics::default();
    let mut columns = vec![Vec::new(); names.len()];
    let (mut left_out, mut first) = (0usize, 0);
    for record in &table.records {
        let row: Option<Vec<f64>> = places.iter().map(|&i| number(record, i)).collect();
        if let Some(row) = row {
            for (column, x) in columns.iter_mut().zip(row) {
                column.push(x);
            }
        } else {
            left_out += 1;
            first = if first == 0 { sheet::line(table.text, record) } else { first };
        }
    }
    table.left_out(left_out, first, &mut found);
    Ok((columns, found))
}

/// The meaning of the columns of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnMeanings<'a> {
    /// Column of the duration.
    pub time: &'a str,
    /// Column of the run's name; without it every row is of one run.
    pub run: Option<&'a str>,
    /// Column of the step's name; without it every row is a step.
    pub step: Option<&'a str>,
    /// Counters: headings, or their beginnings with a `*`. All other columns of numbers if there are none.
    pub features: &'a [String],
}

/// A row of counters.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterRow {
    /// Number of its run, in the order in which they come.
    pub run: usize,
    /// Number of its step, in the order in which they come.
    pub step: usize,
    /// Duration of the step.
    pub time: f64,
    /// Values of the counters.
    pub counters: Vec<f64>,
}

/// All rows of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// Names of the counters.
    pub names: Vec<String>,
    /// Names of the runs.
    pub runs: Vec<String>,
    /// Names of the steps.
    pub steps: Vec<String>,
    /// Rows of the table.
    pub rows: Vec<CounterRow>,
}

/// Names, numbered as they come.
#[derive(Default)]
struct Numbered(HashMap<String, usize>, Vec<String>);

impl Numbered {
    fn of(&mut self, name: &str) -> usize {
        if let Some(&i) = self.0.get(name) {
            return i;
        }
        self.0.insert(name.to_owned(), self.1.len());
        self.1.push(name.to_owned());
        self.1.len() - 1
    }
}

/// Reads counters of steps of runs. Rows in which a counter is not a number are reported and left out.
///
/// # Errors
/// If it is not a table, has no such column, or no counters.
pub fn steps(
    text: &str,
    path: &Path,
    asked: &ColumnMeanings<'_>,
) -> Result<(Steps, Diagnostics), ReadError> {
    let table = Sheet::read(text, path)?;
    let time = table.place(asked.time)?;
    let run = asked.run.map(|name| table.place(name)).transpose()?;
    let step = asked.step.map(|name| table.place(name)).transpose()?;
    let named = [Some(time), run, step];
    let mut places = Vec::new();
    for wanted in asked.features {
        let before = places.len();
        if let Some(beginning) = wanted.strip_suffix('*') {
            let begins = |h: &str| begins_with(h, beginning);
            let all = (0..table.heading.len()).filter(|i| begins(&table.heading[*i]));
            places.extend(all.filter(|&i| !named.contains(&Some(i))));
        } else {
            let place = table.place(wanted)?;
            if named.contains(&Some(place)) {
                let what = format!("'{wanted}' is the time, the run or the step, and no counter");
                return Err(refused(
                    path,
                    what,
                    "features are the columns that times are learnt from",
                ));
            }
            places.push(place);
        }
        if places.len() == before {
            let known = format!("its columns are {}", table.heading.join(", "));
            return Err(refused(path, format!("no column is '{wanted}'"), &known));
        }
    }
    if asked.features.is_empty() {
        let counts = |i: &usize| {
            let mut numbers = 0;
            let is = |r: &csv::StringRecord| {
                let filled = r.get(*i).is_some_and(|cell| !cell.is_empty());
                numbers += usize::from(filled);
                !filled || number(r, *i).is_some()
            };
            table.records.iter().all(is) && numbers > 0
        };
        let open = (0..table.heading.len()).filter(|i| !named.contains(&Some(*i)));
        places = open.filter(counts).collect();
    }
    places.sort_unstable();
    places.dedup();
    if places.is_empty() {
        let known = format!("its columns are {}", table.heading.join(", "));
        return Err(refused(path, "no other column holds numbers only".to_owned(), &known));
    }
    let mut found = Diagnostics::default();
    let (mut runs, mut steps) = (Numbered::default(), Numbered::default());
    let mut rows = Vec::new();
    let (mut left_out, mut first) = (0usize, 0);
    for (i, record) in table.records.iter().enumerate() {
        let name = |of: Option<usize>| of.and_then(|i| record.get(i));
        let counters: Option<Vec<f64>> = places.iter().map(|&i| number(record, i)).collect();
        let (Some(time), Some(counters)) = (number(record, time), counters) else {
            left_out += 1;
            first = if first == 0 { sheet::line(table.text, record) } else { first };
            continue;
        };
        rows.push(CounterRow {
            run: runs.of(name(run).unwrap_or_default()),
            step: match step {
                Some(_) => steps.of(name(step).unwrap_or_default()),
                None => steps.of(&(i + 1).to_string()),
            },
            time,
            counters,
        });
    }
    table.left_out(left_out, first, &mut found);
    let names = places.iter().map(|&i| table.heading[i].clone()).collect();
    Ok((Steps { names, runs: runs.1, steps: steps.1, rows }, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let text = "#Load;x; Time\n1;a;2.5\n3;b;\n-1e3;c;4\n";
        let (columns, found) = columns(text, Path::new("t"), &["time", "load"]).expect("a table");
        assert_eq!(columns, [vec![2.5, 4.0], vec![1.0, -1000.0]]);
        assert_eq!((found.0.len(), found.0[0].line), (1, 3));
        let ragged = "load,time,\n1,2,\n7,3,4,5\n5,6\n";
        let (columns, found) = super::columns(ragged, Path::new("t"), &["load"]).expect("a table");
        assert_eq!((columns, found.0.len(), found.0[0].line), (vec![vec![1.0, 5.0]], 1, 3));
        let refused = super::columns(text, Path::new("t"), &["speed"]).expect_err("no such column");
        assert!(refused.to_string().contains("'speed'"), "{refused}");
        assert!(super::columns("", Path::new("t"), &["x"]).is_err());
    }

    #[test]
    fn steps_have_their_counters() {
        let text = "run,step,router,flits_vc0,stalls_vc0,s\na,1,r0,1,2,9\na,1,r1,3,4,9\nb,1,r0,5,,8\nb,2,r0,5,6,8\n";
        let asked =
            ColumnMeanings { time: "s", run: Some("run"), step: Some("step"), features: &[] };
        let (steps, found) = super::steps(text, Path::new("t"), &asked).expect("a table");
        assert_eq!(steps.names, ["flits_vc0", "stalls_vc0"]);
        assert_eq!((steps.runs.len(), steps.steps.len(), steps.rows.len()), (2, 2, 3));
        assert_eq!(
            steps.rows[2],
            CounterRow { run: 1, step: 1, time: 8.0, counters: vec![5.0, 6.0] }
        );
        assert_eq!((found.0.len(), found.0[0].line), (1, 4));

        let only = ["FLITS*".to_owned()];
        let asked = ColumnMeanings { time: "s", features: &only, ..ColumnMeanings::default() };
        let (steps, _) = super::steps(text, Path::new("t"), &asked).expect("a table");
        assert_eq!(steps.names, ["flits_vc0"]);
        assert_eq!((steps.rows.len(), steps.rows[3].step, steps.rows[3].run), (4, 3, 0));

        let none = ["credits*".to_owned()];
        let refused =
            super::steps(text, Path::new("t"), &ColumnMeanings { features: &none, ..asked });
        assert!(refused.expect_err("no such").to_string().contains("'credits*'"));
        let text = "name,s\na,1\n";
        let refused =
            super::steps(text, Path::new("t"), &ColumnMeanings { features: &[], ..asked });
        assert!(refused.expect_err("none").to_string().contains("no other column"));
    }
}
