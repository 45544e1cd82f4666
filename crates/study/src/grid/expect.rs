//! Expected values of the answers of a study, number by number.

use std::collections::BTreeMap;

use darkfiber_scenario::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::row::{Answer, Record, Value};
use super::wanted::{self, OF_ROWS};
use crate::judged::{Allowed, Row};

/// A number of a paper, and which rows of a study it is to be compared with.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExpectPart {
    /// What it is called.
    pub quantity: String,
    /// The column of the rows.
    pub column: String,
    /// What the rows are about; of all that have the column without.
    pub of: Option<String>,
    /// Values that rows have, or one of a list: of axes, of columns, of `question`, `of` and `seed`.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub r#where: toml::Table,
    /// Each row is compared with the one of the same values but for these, and for what goes together with them.
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub against: Option<toml::Table>,
    /// Only the seed in which this column is largest, the first of several.
    pub seed_of: Option<String>,
    /// Each row is compared with this column of its own.
    pub over: Option<String>,
    /// Which rows are put together before they are compared; none without.
    pub each: Option<Each>,
    /// What of rows that are put together counts; `mean` without.
    pub each_take: Option<Take>,
    /// How it is compared; `ratio` without.
    pub by: Option<Compare>,
    /// What of several rows counts; `mean` without.
    pub take: Option<Take>,
    /// What `wins` and `holds` hold rows against; 1 without.
    pub bound: Option<f64>,
    /// The unit of the number, in units of the column: 1e9 for GB of a column in bytes.
    pub unit: Option<f64>,
    /// As printed.
    pub printed: Option<f64>,
    /// What must be read instead of it, where it is a misprint.
    pub reading: Option<f64>,
    /// What is judged where no number is printed.
    pub expected: Option<f64>,
    /// How far off is still the same: a part of the number.
    pub within: Option<f64>,
    /// The same as a difference.
    pub differs: Option<f64>,
    /// The minimum that is the same.
    pub at_least: Option<f64>,
    /// The maximum that is the same.
    pub at_most: Option<f64>,
    /// Whether it is a congestion impact, which the rule for all numbers looks at beyond 1.
    #[serde(default)]
    pub impact: bool,
    /// Whether it is judged; yes without.
    pub judged: Option<bool>,
    /// What is known of the number.
    pub note: Option<String>,
}

/// Which rows are put together before they are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Each {
    /// Those of a seed.
    Seed,
    /// All.
    All,
}

/// How a row is compared with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// The row's value by that of the other.
    Ratio,
    /// How much larger it is, in percent of the other.
    Percent,
    /// How much better a time is: 0 as good, 1 in half the time, -0.5 in twice.
    Gain,
    /// How much more it is.
    Difference,
    /// The mean of all rows, or of what is taken of each seed, by that of the others.
    Means,
}

impl Compare {
    fn of(self, value: f64, other: f64) -> f64 {
        match self {
            Self::Ratio | Self::Means => value / other,
            Self::Difference => value - other,
            Self::Percent => 100.0 * (value / other - 1.0),
            Self::Gain => other / value - 1.0,
        }
    }
}

/// What of several rows counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// The mean of what rows say, after each was compared.
    Mean,
    /// The largest.
    Max,
    /// The least.
    Min,
    /// The one in the middle.
    Median,
    /// How the one is ordered to the other, seed by seed: the mean of ratios must be above 1 by more than they differ.
    Order,
    /// The one that is furthest from 0.
    Furthest,
    /// How many are at least the bound.
    Wins,
    /// How many are at most the bound.
    Losses,
    /// Whether all are at least the bound: 1 if so, else 0.
    Holds,
    /// How many rows have no answer.
    Refused,
}

impl Take {
    /// One number of several.
    fn of(self, mut all: Vec<f64>, bound: f64) -> f64 {
        // Printed and ours may be computed in different orders.
        let wins = |all: &[f64]| all.iter().filter(|x| **x >= bound - 1e-9).count();
        match self {
            Self::Mean | Self::Order => all.iter().sum::<f64>() / all.len() as f64,
            Self::Max => all.iter().copied().reduce(f64::max).unwrap_or(f64::NAN),
            Self::Min => all.iter().copied().reduce(f64::min).unwrap_or(f64::NAN),
            Self::Furthest => {
                let further = |a: f64, b: f64| if b.abs() > a.abs() { b } else { a };
                all.iter().copied().reduce(further).unwrap_or(f64::NAN)
            }
            Self::Median if all.is_empty() => f64::NAN,
            Self::Median => {
                all.sort_by(f64::total_cmp);
                let half = all.len() / 2;
                if all.len() % 2 == 1 { all[half] } else { f64::midpoint(all[half - 1], all[half]) }
            }
            Self::Wins => wins(&all) as f64,
            Self::Losses => all.iter().filter(|x| **x <= bound + 1e-9).count() as f64,
            Self::Holds => f64::from(u8::from(!all.is_empty() && wins(&all) == all.len())),
            Self::Refused => f64::NAN,
        }
    }
}

/// A row that is meant.
struct Counted<'r> {
    record: &'r Record,
    answer: &'r Answer,
    /// Value of the column; none where there is no answer.
    value: Option<f64>,
}

impl Counted<'_> {
    fn in_column(&self, column: &str) -> Option<f64> {
        self.answer.get(column).and_then(Value::number)
    }
}

impl ExpectPart {
    /// Refuses an expectation that is invalid for a study with these axes and columns.
    pub(super) fn check(&self, axes: &[String], columns: &[&str]) -> Result<(), Error> {
        let inside = |e: Error| e.inside(&self.quantity);
        let names: Vec<&str> = axes.iter().map(String::as_str).collect();
        let all: Vec<&str> = names.iter().chain(&OF_ROWS).chain(columns).copied().collect();
        for key in self.r#where.keys() {
            if !all.contains(&key.as_str()) {
                return Err(inside(Error::unknown("axis or column", key, &all)));
            }
        }
        let others = if self.each.is_some() { &all } else { &names };
        for key in self.against.iter().flat_map(toml::Table::keys) {
            if !others.contains(&key.as_str()) && key != "seed" {
                let error = Error::unknown("axis", key, others);
                return Err(inside(if all.contains(&key.as_str()) {
                    error.hint("each = \"all\" puts rows together, and compares with other rows")
                } else {
                    error
                }));
            }
        }
        if !columns.contains(&self.column.as_str()) {
            return Err(inside(Error::unknown("column of the questions", &self.column, columns)));
        }
        for column in self.over.iter().chain(&self.seed_of) {
            if !columns.contains(&column.as_str()) {
                return Err(inside(Error::unknown("column of the questions", column, columns)));
            }
        }
        let compared = [self.against.is_some(), self.over.is_some()];
        if self.by.is_some() && compared == [false; 2] {
            return Err(inside(Error::input("by says how to compare: against what?")));
        }
        if compared == [true; 2] {
            return Err(inside(Error::input("against and over each say what is compared with")));
        }
        let refused = [self.take, self.each_take].contains(&Some(Take::Refused));
        if refused && (self.against.is_some() || self.each.is_some()) {
            return Err(inside(Error::input("rows without an answer are counted, not compared")));
        }
        Ok(())
    }

    /// Rows that have these values.
    fn counted<'r>(&self, wanted: &toml::Table, records: &'r [Record]) -> Vec<Counted<'r>> {
        let is_meant = |record: &Record, answer: &Answer| {
            self.of.as_ref().is_none_or(|of| *of == answer.of)
                && wanted.iter().all(|(key, value)| wanted::row_has(record, answer, key, value))
        };
        records
            .iter()
            .flat_map(|record| record.answers.iter().map(move |answer| (record, answer)))
            .filter(|(record, answer)| is_meant(record, answer))
            .filter_map(|(record, answer)| {
                let value = answer.get(&self.column).and_then(Value::number);
                (value.is_some() || answer.error.is_some()).then_some(Counted {
                    record,
                    answer,
                    value,
                })
            })
            .collect()
    }

    /// The value of a row relative to the one that it is compared with.
    fn compared(&self, row: &Counted<'_>, records: &[Record], zip: &[Vec<String>]) -> Option<f64> {
        let value = row.value?;
        if let Some(column) = &self.over {
            return Some(self.by.unwrap_or(Compare::Ratio).of(value, row.in_column(column)?));
        }
        let Some(against) = &self.against else { return Some(value) };
        // Of axes that go together others may differ, too, but only where there is no row in which they do not.
        let is_other = |record: &&Record, may_follow: bool| {
            record.seed == row.record.seed
                && record.set.iter().all(|(key, value)| match against.get(key) {
                    Some(wanted) => wanted::is(value, wanted),
                    None if may_follow && follows(key, against, zip) => true,
                    None => row.record.set.iter().any(|(k, v)| k == key && v == value),
                })
        };
        let other = [false, true]
            .into_iter()
            .find_map(|may_follow| records.iter().find(|r| is_other(r, may_follow)))?;
        let same = |a: &&Answer| a.of == row.answer.of && a.question == row.answer.question;
        let other = other.answers.iter().find(same)?.get(&self.column).and_then(Value::number)?;
        Some(self.by.unwrap_or(Compare::Ratio).of(value, other))
    }

    /// Aggregates the rows of each seed, or of all, in a column.
    fn by_seed(
        &self,
        (wanted, column): (&toml::Table, &str),
        each: Each,
        records: &[Record],
    ) -> BTreeMap<u64, f64> {
        let mut all: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in self.counted(wanted, records) {
            let seed = if each == Each::Seed { row.record.seed } else { 0 };
            all.entry(seed).or_default().extend(row.in_column(column));
        }
        let take = self.each_take.unwrap_or(Take::Mean);
        all.into_iter().map(|(seed, values)| (seed, take.of(values, self.bound()))).collect()
    }

    /// Combined values of rows, relative to those that they are compared with.
    fn together(&self, each: Each, records: &[Record], zip: &[Vec<String>]) -> Vec<f64> {
        let ours = self.by_seed((&self.r#where, &self.column), each, records);
        let others = match (&self.against, &self.over) {
            (Some(against), _) => {
                let mut wanted = self.r#where.clone();
                wanted.extend(against.clone());
                if self.counted(&wanted, records).is_empty() {
                    wanted.retain(|key, _| !follows(key, against, zip));
                }
                self.by_seed((&wanted, &self.column), each, records)
            }
            (None, Some(column)) => self.by_seed((&self.r#where, column), each, records),
            (None, None) => return ours.into_values().collect(),
        };
        if self.by == Some(Compare::Means) {
            let mean = |all: &BTreeMap<u64, f64>| all.values().sum::<f64>() / all.len() as f64;
            return vec![mean(&ours) / mean(&others)];
        }
        let by = self.by.unwrap_or(Compare::Ratio);
        ours.into_iter()
            .filter_map(|(seed, value)| Some(by.of(value, *others.get(&seed)?)))
            .collect()
    }

    fn bound(&self) -> f64 {
        self.bound.unwrap_or(1.0)
    }

    /// The seed in which a column is largest, the first of several.
    fn seed_of(column: &str, records: &[Record]) -> Option<u64> {
        let rows = records.iter().flat_map(|record| {
            let values = record.answers.iter().filter_map(|a| a.get(column)?.number());
            values.map(|value| (record.seed, value))
        });
        let most = |a: (u64, f64), b: (u64, f64)| {
            let later = b.1 > a.1 || b.1.total_cmp(&a.1).is_eq() && b.0 < a.0;
            if later { b } else { a }
        };
        rows.reduce(most).map(|(seed, _)| seed)
    }

    /// The expectation and its value from the answers of a study; `zip` has the axes that go together.
    pub(super) fn judge(&self, records: &[Record], zip: &[Vec<String>]) -> Row {
        let seed = self.seed_of.as_ref().map(|column| Self::seed_of(column, records));
        let some: Vec<Record>;
        let records = match seed {
            None => records,
            Some(seed) => {
                some = records.iter().filter(|r| Some(r.seed) == seed).cloned().collect();
                &some
            }
        };
        let take = self.take.unwrap_or(Take::Mean);
        let all: Vec<f64> = match self.each {
            Some(each) => self.together(each, records, zip),
            None if self.by == Some(Compare::Means) => self.together(Each::All, records, zip),
            None => {
                let rows = self.counted(&self.r#where, records);
                if take == Take::Refused {
                    let refused = rows.iter().filter(|row| row.value.is_none()).count();
                    return self.row(refused as f64);
                }
                rows.iter().filter_map(|row| self.compared(row, records, zip)).collect()
            }
        };
        match take {
            Take::Order => self.noted(Row::order(&self.quantity, &all)),
            take => self.row(take.of(all, self.bound()) / self.unit.unwrap_or(1.0)),
        }
    }

    /// The row of our number, with its verdict.
    fn row(&self, ours: f64) -> Row {
        let allowed = match (self.within, self.differs, self.at_least, self.at_most) {
            (Some(part), ..) => Allowed::Relative(part),
            (_, Some(0.0), ..) => Allowed::Nothing,
            (_, Some(difference), ..) => Allowed::Absolute(difference),
            (.., Some(least), Some(most)) => Allowed::Between(least, most),
            (.., Some(least), None) => Allowed::AtLeast(least),
            (.., None, Some(most)) => Allowed::AtMost(most),
            (None, None, None, None) => Allowed::Rule,
        };
        let name = self.quantity.as_str();
        let row = match (self.judged.unwrap_or(true), self.printed, self.expected) {
            (false, Some(printed), _) => Row::told(name, ours).printed(printed),
            (false, None, _) => Row::told(name, ours),
            (true, Some(printed), _) if self.impact => Row::impact(name, printed, ours, allowed),
            (true, Some(printed), _) => Row::new(name, printed, ours, allowed),
            (true, None, Some(value)) => Row::derived(name, value, ours, allowed),
            (true, None, None) => Row::expected(name, ours, allowed),
        };
        self.noted(row)
    }

    fn noted(&self, row: Row) -> Row {
        match (self.reading, &self.note) {
            (Some(reading), why) => row.read_as(reading, why.clone().unwrap_or_default()),
            (None, Some(note)) => row.noted(note.clone()),
            (None, None) => row,
        }
    }
}

/// Whether an axis is zipped with one whose value differs in the compared rows, and so differs, too.
fn follows(key: &str, against: &toml::Table, zip: &[Vec<String>]) -> bool {
    !against.contains_key(key)
        && zip.iter().any(|group| {
            group.iter().any(|k| k == key) && group.iter().any(|k| against.contains_key(k))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(engine: &str, nodes: u64, seed: u64, time: f64) -> Record {
        let set = vec![
            ("engine".to_owned(), Value::Text(engine.to_owned())),
            ("nodes".to_owned(), Value::Whole(nodes)),
        ];
        let answers = vec![Answer::of("job").with("time", time)];
        Record { id: String::new(), point: 0, turn: 0, set, seed, answers, seconds: 0.0 }
    }

    fn part(text: &str) -> ExpectPart {
        toml::from_str(&format!("quantity = \"q\"\ncolumn = \"time\"\n{text}")).expect("a part")
    }

    #[test]
    fn numbers_are_taken_from_rows() {
        let records = [
            record("a", 8, 1, 2.0),
            record("a", 16, 1, 6.0),
            record("b", 8, 1, 1.0),
            record("b", 16, 1, 2.0),
        ];
        let ours = |text: &str| part(text).judge(&records, &[]).ours;
        assert!((ours("where = { engine = \"a\" }") - 4.0).abs() < 1e-12);
        assert!((ours("take = \"max\"") - 6.0).abs() < 1e-12);
        assert!((ours("take = \"median\"") - 2.0).abs() < 1e-12);
        assert!((ours("where = { nodes = [8, 9] }\ntake = \"min\"") - 1.0).abs() < 1e-12);
        // The mean of 2 / 1 and 6 / 2, each with its own.
        let by = "where = { engine = \"a\" }\nagainst = { engine = \"b\" }\n";
        assert!((ours(by) - 2.5).abs() < 1e-12);
        assert!((ours(&format!("{by}by = \"percent\"")) - 150.0).abs() < 1e-9);
        assert!(
            (ours(&format!("{by}by = \"gain\"")) - f64::midpoint(-0.5, 2.0 / 6.0 - 1.0)).abs()
                < 1e-12
        );
        assert!(ours("where = { engine = \"c\" }").is_nan());
    }

    #[test]
    fn rows_are_put_together_before_they_are_compared() {
        let mut records = vec![
            record("a", 8, 1, 2.0),
            record("a", 16, 1, 4.0),
            record("a", 8, 2, 6.0),
            record("a", 16, 2, 10.0),
            record("b", 8, 1, 1.0),
            record("b", 16, 2, 4.0),
        ];
        let ours = |text: &str, records: &[Record]| part(text).judge(records, &[]).ours;
        let by = "where = { engine = \"a\" }\nagainst = { engine = \"b\" }\n";
        // Medians 3 / 1 and 8 / 4.
        let seeds = format!("{by}each = \"seed\"\neach-take = \"median\"\n");
        assert!((ours(&seeds, &records) - 2.5).abs() < 1e-12);
        assert!((ours(&format!("{seeds}take = \"max\""), &records) - 3.0).abs() < 1e-12);
        // 5.5 / 2.5.
        assert!((ours(&format!("{by}each = \"all\""), &records) - 2.2).abs() < 1e-12);
        assert!((ours("unit = 2", &records) - 27.0 / 12.0).abs() < 1e-12);
        assert!(
            (ours("take = \"wins\"\nwhere = { time = [1, 2, 6] }", &records) - 3.0).abs() < 1e-12
        );
        assert!((ours("take = \"furthest\"", &records) - 10.0).abs() < 1e-12);
        let holds = format!("{by}take = \"holds\"\n");
        assert!((ours(&holds, &records[..5]) - 1.0).abs() < 1e-12);
        // Missing answers are counted only where that is requested.
        records[0].answers = vec![Answer { error: Some("no".to_owned()), ..Answer::of("job") }];
        assert!((ours("take = \"refused\"", &records) - 1.0).abs() < 1e-12);
        assert!((ours("take = \"min\"\nwhere = { engine = \"a\" }", &records) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn what_goes_together_follows() {
        let of = |engine: &str, host: &str, time: f64| {
            let mut record = record(engine, 8, 1, time);
            record.set.push(("host".to_owned(), Value::Text(host.to_owned())));
            record
        };
        let records = [of("a", "x", 6.0), of("b", "y", 2.0)];
        let zip = vec![vec!["engine".to_owned(), "host".to_owned()]];
        let by = "where = { engine = \"a\" }\nagainst = { engine = \"b\" }";
        assert!((part(by).judge(&records, &zip).ours - 3.0).abs() < 1e-12);
        // But not where there is a row of the same.
        let more = [of("a", "x", 6.0), of("b", "y", 2.0), of("b", "x", 1.0)];
        assert!((part(by).judge(&more, &zip).ours - 6.0).abs() < 1e-12);
        assert!(part(by).judge(&records, &[]).ours.is_nan());
    }

    #[test]
    fn they_are_judged_as_all_are() {
        let records = [record("a", 8, 1, 2.0), record("a", 8, 2, 2.2), record("a", 8, 3, 1.8)];
        let row = |text: &str| part(text).judge(&records, &[]);
        assert!(row("printed = 2.1\nwithin = 0.05").within);
        assert!(!row("printed = 2.1\ndiffers = 0.05").within);
        assert!(!row("printed = 2.1\ndiffers = 0").within);
        assert!(row("printed = 2.4").within && !row("printed = 2.8").within);
        assert!(row("at-least = 2.0").within && !row("at-least = 2.1").within);
        assert!(row("printed = 9.0\nat-least = 1.0").judged);
        let misprint =
            row("printed = 9.0\nreading = 2.0\ndiffers = 0.01\nnote = \"as the text says\"");
        assert!(misprint.within && misprint.reading == Some(2.0));
        let told = row("judged = false\nprinted = 7.0");
        assert!(!told.judged && told.within && told.paper == Some(7.0));
        // A missing answer is not the expected value.
        assert!(!part("where = { engine = \"c\" }\nprinted = 2.0").judge(&records, &[]).within);
    }
}
