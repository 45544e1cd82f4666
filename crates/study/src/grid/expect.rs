//! What is expected of the answers of a study, number by number.

use darkfiber_scenario::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::axis;
use super::row::{Answer, Record, Value};
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
    /// Axes and the values that rows have: one, or a list of them.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub r#where: toml::Table,
    /// Each row is compared with the one of the same values but for these.
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub against: Option<toml::Table>,
    /// How it is compared; `ratio` without.
    pub by: Option<Compare>,
    /// What of several rows counts; `mean` without.
    pub take: Option<Take>,
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
    /// The least that is the same.
    pub at_least: Option<f64>,
    /// The most that is the same.
    pub at_most: Option<f64>,
    /// Whether it is a congestion impact, which the rule for all numbers looks at beyond 1.
    #[serde(default)]
    pub impact: bool,
    /// Whether it is judged; yes without.
    pub judged: Option<bool>,
    /// What is known of the number.
    pub note: Option<String>,
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
}

/// A row that counts, and its value.
struct Counted<'r> {
    record: &'r Record,
    answer: &'r Answer,
    value: f64,
}

impl ExpectPart {
    /// Refuses what cannot be, of a study with these axes and columns.
    pub(super) fn check(&self, axes: &[String], columns: &[&str]) -> Result<(), Error> {
        let names: Vec<&str> = axes.iter().map(String::as_str).collect();
        for key in self.r#where.keys().chain(self.against.iter().flat_map(toml::Table::keys)) {
            if !names.contains(&key.as_str()) && key != "seed" {
                return Err(Error::unknown("axis", key, &names).inside(&self.quantity));
            }
        }
        if !columns.contains(&self.column.as_str()) {
            return Err(Error::unknown("column of the questions", &self.column, columns)
                .inside(&self.quantity));
        }
        if self.by.is_some() && self.against.is_none() {
            return Err(
                Error::input("by says how to compare: against what?").inside(&self.quantity)
            );
        }
        Ok(())
    }

    /// Rows that are meant.
    fn counted<'r>(&self, records: &'r [Record]) -> Vec<Counted<'r>> {
        let is_meant =
            |record: &Record| self.r#where.iter().all(|(key, wanted)| matches(record, key, wanted));
        let of = |answer: &Answer| self.of.as_ref().is_none_or(|of| *of == answer.of);
        records
            .iter()
            .filter(|record| is_meant(record))
            .flat_map(|record| record.answers.iter().map(move |answer| (record, answer)))
            .filter(|(_, answer)| of(answer))
            .filter_map(|(record, answer)| {
                let value = answer.get(&self.column).and_then(Value::number)?;
                Some(Counted { record, answer, value })
            })
            .collect()
    }

    /// What a row says beside the one that it is compared with.
    fn compared(&self, row: &Counted<'_>, records: &[Record]) -> Option<f64> {
        let Some(against) = &self.against else { return Some(row.value) };
        let is_other = |record: &&Record| {
            record.seed == row.record.seed
                && record.set.iter().all(|(key, value)| match against.get(key) {
                    Some(wanted) => axis::is(value, wanted),
                    None => row.record.set.iter().any(|(k, v)| k == key && v == value),
                })
        };
        let other = records.iter().find(is_other)?;
        let same = |a: &&Answer| a.of == row.answer.of && a.question == row.answer.question;
        let other = other.answers.iter().find(same)?.get(&self.column).and_then(Value::number)?;
        Some(match self.by.unwrap_or(Compare::Ratio) {
            Compare::Ratio => row.value / other,
            Compare::Percent => 100.0 * (row.value / other - 1.0),
            Compare::Gain => other / row.value - 1.0,
        })
    }

    /// The number beside what the answers of a study make of it.
    pub(super) fn judge(&self, records: &[Record]) -> Row {
        let rows = self.counted(records);
        let mut all: Vec<f64> = rows.iter().filter_map(|row| self.compared(row, records)).collect();
        let take = self.take.unwrap_or(Take::Mean);
        if take == Take::Order {
            return self.noted(Row::order(&self.quantity, &all));
        }
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        all.sort_by(f64::total_cmp);
        let ours = match take {
            Take::Mean | Take::Order => mean,
            Take::Max => all.last().copied().unwrap_or(f64::NAN),
            Take::Min => all.first().copied().unwrap_or(f64::NAN),
            Take::Median if all.is_empty() => f64::NAN,
            Take::Median => {
                let half = all.len() / 2;
                if all.len() % 2 == 1 { all[half] } else { f64::midpoint(all[half - 1], all[half]) }
            }
        };
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

/// Whether a row has a value of an axis, or one of several.
fn matches(record: &Record, key: &str, wanted: &toml::Value) -> bool {
    let seed = Value::Whole(record.seed);
    let value = record.set.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let value = value.or((key == "seed").then_some(&seed));
    value.is_some_and(|value| match wanted {
        toml::Value::Array(all) => all.iter().any(|one| axis::is(value, one)),
        one => axis::is(value, one),
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
        let ours = |text: &str| part(text).judge(&records).ours;
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
    fn they_are_judged_as_all_are() {
        let records = [record("a", 8, 1, 2.0), record("a", 8, 2, 2.2), record("a", 8, 3, 1.8)];
        let row = |text: &str| part(text).judge(&records);
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
        // What has no answer is not what is expected.
        assert!(!part("where = { engine = \"c\" }\nprinted = 2.0").judge(&records).within);
    }
}
