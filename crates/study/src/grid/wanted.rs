//! Selection of cells and rows by the values in a file.

use super::row::{Answer, Record, Value};

/// Whether a value of a row is one that a file names.
fn is_one(value: &Value, wanted: &toml::Value) -> bool {
    let wanted = match wanted {
        toml::Value::String(text) => text.clone(),
        toml::Value::Boolean(yes) => Value::Yes(*yes).to_string(),
        other => other.to_string(),
    };
    let value = value.to_string();
    let (a, b) = (value.parse::<f64>().ok(), wanted.parse::<f64>().ok());
    value == wanted || (a.is_some() && a == b)
}

/// Whether a value equals the one in a file, or one of its list.
pub(super) fn is(value: &Value, wanted: &toml::Value) -> bool {
    match wanted {
        toml::Value::Array(all) => all.iter().any(|one| is_one(value, one)),
        one => is_one(value, one),
    }
}

/// Whether a cell has a wanted value of an axis, or the wanted seed.
pub(super) fn has(set: &[(String, Value)], seed: u64, key: &str, wanted: &toml::Value) -> bool {
    match set.iter().find(|(name, _)| name == key) {
        Some((_, value)) => is(value, wanted),
        None => key == "seed" && is(&Value::Whole(seed), wanted),
    }
}

/// Names of the fields of rows besides axes and columns.
pub(super) const OF_ROWS: [&str; 3] = ["question", "of", "seed"];

/// Whether a row has a wanted value: of an axis, of the question, of the subject, or of a column.
pub(super) fn row_has(record: &Record, answer: &Answer, key: &str, wanted: &toml::Value) -> bool {
    let text = |text: &str| is(&Value::Text(text.to_owned()), wanted);
    match key {
        "question" => text(&answer.question),
        "of" => text(&answer.of),
        _ if record.set.iter().any(|(name, _)| name == key) || key == "seed" => {
            has(&record.set, record.seed, key, wanted)
        }
        _ => answer.get(key).is_some_and(|value| is(value, wanted)),
    }
}
