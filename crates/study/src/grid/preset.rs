//! Studies made by commands: from values, not from a file.

use darkfiber_scenario::{Error, Scenario};
use toml::{Table, Value};

use super::file::StudyFile;
use super::row::Record;
use super::run::{Hooks, run};

/// A scenario, axes and questions.
#[derive(Clone, Debug)]
pub struct Preset {
    /// Common part of all cells.
    pub scenario: Scenario,
    /// Keys and their values, the outermost first; of several values each is a cell.
    pub axes: Vec<(&'static str, Vec<Value>)>,
    /// Keys that go together.
    pub zip: Vec<&'static str>,
    /// Questions of the study.
    pub questions: Vec<Value>,
    /// Number of seeds, if given.
    pub seeds: Option<u64>,
}

impl Preset {
    /// The study as text of a file; a key with a single value is no axis.
    ///
    /// # Errors
    /// If a value is not valid TOML.
    pub fn text(&self) -> Result<String, Error> {
        self.document(false)
    }

    /// Answers the whole study: an answer has the values of all axes, even where there is only one.
    ///
    /// # Errors
    /// If a cell is not a valid scenario.
    pub fn run(&self, hooks: &Hooks<'_>) -> Result<Vec<Record>, Error> {
        let study = StudyFile::parse(&self.document(true)?, "", &[], None, Some(u64::MAX))?;
        Ok(run(&study, None, hooks)?.records)
    }

    fn document(&self, are_axes: bool) -> Result<String, Error> {
        let table = |scenario: &Scenario| {
            Table::try_from(scenario).map_err(|e| Error::infeasible(format!("a study: {e}")))
        };
        let mut keys = without(table(&self.scenario)?, &table(&Scenario::default())?);
        keys.insert("fabric".to_owned(), Value::String(self.scenario.fabric.clone()));
        for (path, values) in &self.axes {
            let value = match &values[..] {
                [one] if !are_axes => one.clone(),
                all => Value::Array(all.to_vec()),
            };
            set(&mut keys, path, value);
        }
        let mut study = Table::new();
        study.insert("questions".to_owned(), Value::Array(self.questions.clone()));
        if let Some(seeds) = self.seeds {
            study.insert(
                "seeds".to_owned(),
                Value::Integer(i64::try_from(seeds).unwrap_or(i64::MAX)),
            );
        }
        // Keys with a single value are not zipped.
        let is_axis = |key: &&'static str| {
            let at = self.axes.iter().find(|(path, _)| path == key);
            at.is_some_and(|(_, values)| are_axes || values.len() > 1)
        };
        let zip: Vec<Value> =
            self.zip.iter().filter(|key| is_axis(key)).map(|key| text(key)).collect();
        if zip.len() > 1 {
            study.insert("zip".to_owned(), Value::Array(vec![Value::Array(zip)]));
        }
        keys.insert("study".to_owned(), Value::Table(study));
        toml::to_string(&keys).map_err(|e| Error::infeasible(format!("a study: {e}")))
    }
}

/// A value that is a word.
pub fn text(word: &str) -> Value {
    Value::String(word.to_owned())
}

/// Words, each a value.
pub fn texts<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Vec<Value> {
    words.into_iter().map(|word| text(word.as_ref())).collect()
}

/// A question with its parameters, of which those that are not given are left out.
pub fn question(name: &str, params: Vec<(&str, Option<Value>)>) -> Value {
    let mut table = Table::new();
    table.insert("ask".to_owned(), text(name));
    for (key, value) in params {
        if let Some(value) = value {
            table.insert(key.to_owned(), value);
        }
    }
    if table.len() == 1 { text(name) } else { Value::Table(table) }
}

/// A table without the entries that another one also has.
fn without(table: Table, other: &Table) -> Table {
    let mut left = Table::new();
    for (key, value) in table {
        match (value, other.get(&key)) {
            (Value::Table(inner), Some(Value::Table(other))) => {
                let inner = without(inner, other);
                if !inner.is_empty() {
                    left.insert(key, Value::Table(inner));
                }
            }
            (value, Some(other)) if value == *other => {}
            (value, _) => {
                left.insert(key, value);
            }
        }
    }
    left
}

/// Sets a key with dots in it.
fn set(table: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usual_is_not_said() {
        let scenario = Scenario { fabric: "kary:k=4,n=2".to_owned(), ..Scenario::default() };
        let preset = Preset {
            scenario,
            axes: vec![
                ("routes.engine", texts(["updn", "dfsssp"])),
                ("fail-percent", vec![Value::Float(5.0)]),
            ],
            zip: vec!["routes.engine", "fail-percent"],
            questions: vec![question("routes", Vec::new())],
            seeds: Some(3),
        };
        let expected = "fabric = \"kary:k=4,n=2\"\nfail-percent = 5.0\n\n[routes]\nengine = [\"updn\", \"dfsssp\"]\n\n\
                        [study]\nquestions = [\"routes\"]\nseeds = 3\n";
        assert_eq!(preset.text().map_err(|e| e.message), Ok(expected.to_owned()));
    }
}
