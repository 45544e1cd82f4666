//! A dimension of rows: an axis with its values, which may be numbers inside text.

use darkfiber_study::grid::Value;
use darkfiber_workload::quantity;

/// The common part of an axis's values ends with one of these.
const BOUNDARIES: [char; 4] = [' ', '=', ':', ','];

/// An axis, and the values that occur.
#[derive(Clone, Debug)]
pub(super) struct Dimension {
    /// Name for users: `routes.engine`, `of`, `seed`.
    pub(super) name: String,
    /// Name in pictures.
    pub(super) label: String,
    /// Its values: numbers rising, names in the order in which they first appear.
    pub(super) levels: Vec<Level>,
    /// Whether all its values are numbers, sizes or times, or differ only in such.
    pub(super) is_numeric: bool,
}

/// A value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    /// As rows have it.
    pub(super) text: String,
    /// Label in pictures: without the common part of all values.
    pub(super) label: String,
    /// The number that it is, or its place.
    pub(super) number: f64,
}

impl Dimension {
    /// Of all values that occur, in order.
    pub(super) fn of<'v>(name: &str, values: impl Iterator<Item = &'v Value>) -> Self {
        let mut distinct: Vec<&Value> = Vec::new();
        for value in values {
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        let texts: Vec<String> = distinct.iter().map(ToString::to_string).collect();
        let is_text = distinct.iter().any(|value| matches!(value, Value::Text(_)));
        let is_flag = distinct.iter().any(|value| matches!(value, Value::Yes(_)));
        // Numbers are shown unchanged, words without their common part.
        let (before, behind) = if is_text { common(&texts) } else { (0, 0) };
        let inner: Vec<&str> = texts.iter().map(|t| &t[before..t.len() - behind]).collect();
        let numbers = if is_flag { None } else { all_quantities(&inner) };
        let level = |i: usize| Level {
            text: texts[i].clone(),
            label: inner[i].to_owned(),
            number: numbers.as_ref().map_or(i as f64, |numbers| numbers[i]),
        };
        let mut levels: Vec<Level> = (0..texts.len()).map(level).collect();
        levels.sort_by(|a, b| a.number.total_cmp(&b.number));
        let label = label(name, texts.first().map_or("", |text| &text[..before]));
        Self { name: name.to_owned(), label, levels, is_numeric: numbers.is_some() }
    }

    /// The place of a value among the levels.
    pub(super) fn place(&self, value: &Value) -> Option<usize> {
        let text = value.to_string();
        self.levels.iter().position(|level| level.text == text)
    }

    /// Number of values of the dimension.
    pub(super) fn len(&self) -> usize {
        self.levels.len()
    }
}

/// The label of an axis whose values have a common prefix: with the key that differs.
fn label(name: &str, prefix: &str) -> String {
    let word = prefix.trim_end_matches(BOUNDARIES);
    let key = word.rsplit(BOUNDARIES).next().unwrap_or_default();
    match (name, key) {
        (_, "") => name.to_owned(),
        ("of", key) => key.to_owned(),
        (name, key) if prefix.ends_with('=') => format!("{name}: {key}"),
        (name, _) => name.to_owned(),
    }
}

/// Number of bytes that all texts have in common at their beginning and at their end, as whole words.
fn common(texts: &[String]) -> (usize, usize) {
    let Some((first, others)) = texts.split_first().filter(|(_, others)| !others.is_empty()) else {
        return (0, 0);
    };
    let alike = |a: &str, b: &str| {
        let same = a.char_indices().zip(b.chars()).take_while(|((_, a), b)| a == b);
        same.last().map_or(0, |((at, c), _)| at + c.len_utf8())
    };
    let before = others.iter().map(|other| alike(first, other)).min().unwrap_or(0);
    let before = first[..before].rfind(BOUNDARIES).map_or(0, |at| at + 1);
    // A part common to both ends counts once.
    let back = |text: &str| text[before..].chars().rev().collect::<String>();
    let first_back = back(first);
    let behind = others.iter().map(|other| alike(&first_back, &back(other))).min().unwrap_or(0);
    // Keys of a spec are separated by commas.
    let tail = &first[first.len() - behind..];
    let behind = tail.find(',').map_or(0, |at| tail.len() - at);
    (before, behind)
}

/// The numbers that all texts are: plain ones, sizes in bytes, or times in picoseconds.
fn all_quantities(texts: &[&str]) -> Option<Vec<f64>> {
    let all = |read: &dyn Fn(&str) -> Option<f64>| -> Option<Vec<f64>> {
        texts.iter().map(|text| read(text).filter(|x| x.is_finite())).collect()
    };
    all(&|text| text.parse().ok())
        .or_else(|| all(&|text| quantity::bytes(text).ok().map(|n| n as f64)))
        .or_else(|| all(&|text| quantity::time(text).ok().map(|n| n as f64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, values: &[&str]) -> Dimension {
        let values: Vec<Value> = values.iter().map(|v| Value::Text((*v).to_owned())).collect();
        Dimension::of(name, values.iter())
    }

    fn labels(dimension: &Dimension) -> Vec<&str> {
        dimension.levels.iter().map(|level| level.label.as_str()).collect()
    }

    #[test]
    fn what_all_values_have_in_common_is_left_out() {
        let sizes =
            ["imb:op=bcast,bytes=64KiB", "imb:op=bcast,bytes=1KiB", "imb:op=bcast,bytes=1MiB"];
        let sizes = of("job.1.traffic", &sizes);
        assert!(sizes.is_numeric);
        assert_eq!(labels(&sizes), ["1KiB", "64KiB", "1MiB"]);
        assert_eq!(sizes.label, "job.1.traffic: bytes");
        let middle = of("job.1.traffic", &["imb:bytes=1KiB,op=bcast", "imb:bytes=2KiB,op=bcast"]);
        assert_eq!(labels(&middle), ["1KiB", "2KiB"]);
        let loads = of("of", &["load 0.1", "load 0.25", "load 0.9"]);
        assert_eq!((loads.is_numeric, loads.label.as_str()), (true, "load"));
        let names = of("fabric", &["kary:k=6,n=2", "hyperx:dims=3x3,t=4"]);
        assert!(!names.is_numeric);
        assert_eq!(labels(&names), ["kary:k=6,n=2", "hyperx:dims=3x3,t=4"]);
        // Letters in common are no words in common.
        assert_eq!(labels(&of("routes.engine", &["sar", "sssp"])), ["sar", "sssp"]);
        assert_eq!(labels(&of("x", &["a,b", "a,b,b"])), ["b", "b,b"]);
        assert_eq!(labels(&of("x", &["\u{e9}=1", "\u{e8}=1"])), ["\u{e9}=1", "\u{e8}=1"]);
        assert_eq!(labels(&of("x", &["alone: 1"])), ["alone: 1"]);
    }

    #[test]
    fn numbers_rise() {
        let values = [Value::Number(20.0), Value::Whole(0), Value::Number(0.5)];
        let numbers = Dimension::of("fail-percent", values.iter());
        assert!(numbers.is_numeric);
        assert_eq!(labels(&numbers), ["0", "0.5", "20"]);
        assert_eq!(numbers.place(&Value::Number(20.0)), Some(2));
        assert!(!Dimension::of("flag", [Value::Yes(true), Value::Yes(false)].iter()).is_numeric);
    }
}
