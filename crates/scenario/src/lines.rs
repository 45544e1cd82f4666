//! Lines of the keys of a file.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// The keys of a TOML text and the positions of their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lines {
    /// By key, the outer ones first: its path from the outside, its position, and that of its value.
    keys: Vec<(Vec<String>, Range<usize>, Range<usize>)>,
    /// Start of each line.
    begins: Vec<usize>,
    /// Positions of the values of each key that has a list of them.
    items: BTreeMap<Vec<String>, Vec<Range<usize>>>,
    /// Keys whose values are not those of the text.
    set: Vec<Vec<String>>,
}

impl Lines {
    /// The keys of a text; none, if it is not TOML.
    pub(crate) fn of(text: &str) -> Self {
        let begins = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1));
        let mut lines = Self { begins: begins.collect(), ..Self::default() };
        if let Ok(table) = DeTable::parse(text) {
            lines.table(table.get_ref(), &[]);
        }
        lines
    }

    /// The keys of a text of which another one was made by setting some of its keys.
    pub(crate) fn of_original(original: &str, made: &str) -> Self {
        let mut lines = Self::of(original);
        if let (Ok(original), Ok(made)) = (original.parse::<Table>(), made.parse::<Table>()) {
            let [original, made] = [original, made].map(|table| {
                let mut all = BTreeMap::new();
                flatten(&mut Vec::new(), &Value::Table(table), &mut all);
                all
            });
            // `nan` equals nothing, not even itself.
            let is = |a: &Value, b: &Value| a == b || a.to_string() == b.to_string();
            for (key, value) in made {
                let there = original.get(&key);
                if there.is_some_and(|there| is(there, &value)) {
                    continue;
                }
                // A study has all values of a key in a list.
                let items = there.and_then(Value::as_array).into_iter().flatten();
                match items.enumerate().find(|(_, one)| is(one, &value)) {
                    Some((number, _)) => lines.take_item(&key, number),
                    None => lines.set.push(key),
                }
            }
        }
        lines
    }

    fn table(&mut self, table: &DeTable<'_>, outside: &[String]) {
        for (key, value) in table {
            let mut name = outside.to_vec();
            name.push(key.get_ref().to_string());
            self.value(&name, key.span(), value);
        }
    }

    fn value(&mut self, name: &[String], key: Range<usize>, value: &Spanned<DeValue<'_>>) {
        self.keys.push((name.to_vec(), key, value.span()));
        match value.get_ref() {
            DeValue::Table(table) => self.table(table, name),
            DeValue::Array(items) => {
                self.items.insert(name.to_vec(), items.iter().map(Spanned::span).collect());
                for (item, number) in items.iter().zip(1..) {
                    if matches!(item.get_ref(), DeValue::Table(_)) {
                        let mut name = name.to_vec();
                        let last = name.pop().unwrap_or_default();
                        name.push(format!("{last} {number}"));
                        self.value(&name, item.span(), item);
                    }
                }
            }
            _ => {}
        }
    }

    /// From now on this key is where this one of its values is.
    fn take_item(&mut self, key: &[String], number: usize) {
        let item = self.items.get(key).and_then(|items| items.get(number));
        let place = self.keys.iter_mut().find(|(name, ..)| name == key);
        if let (Some(item), Some((_, at, _))) = (item, place) {
            at.clone_from(item);
        }
    }

    /// The number of the line of a byte of the text, from 1.
    pub(crate) fn number(&self, at: usize) -> usize {
        self.begins.partition_point(|&begin| begin <= at)
    }

    /// The innermost key whose value contains this byte.
    pub(crate) fn key_at(&self, at: usize) -> Option<&[String]> {
        let has = |(_, _, value): &&(Vec<String>, Range<usize>, Range<usize>)| {
            value.contains(&at) || value.start == at
        };
        let inner = self.keys.iter().filter(has).max_by_key(|(name, ..)| name.len());
        // A nested key is inside those around it.
        let is_key = |(_, key, _): &&(Vec<String>, Range<usize>, Range<usize>)| key.contains(&at);
        let outer = || self.keys.iter().find(is_key).map(|(name, ..)| &name[..name.len() - 1]);
        inner.map(|(name, ..)| name.as_slice()).or_else(outer).filter(|name| !name.is_empty())
    }

    /// Where a key has its value, for a message: the line of the key, or of the innermost of those around it that there is, and
    /// a colon.
    pub(crate) fn place(&self, at: &[String]) -> String {
        if self.set.iter().any(|key| key == at) {
            return "as set, not as in the file: ".to_owned();
        }
        self.of_key(at).map_or_else(String::new, |line| format!("line {line}: "))
    }

    fn of_key(&self, at: &[String]) -> Option<usize> {
        (1..=at.len()).rev().find_map(|n| {
            let (_, key, _) = self.keys.iter().find(|(name, ..)| name == &at[..n])?;
            Some(self.number(key.start))
        })
    }
}

/// All values by their keys; tables in a list have numbers from 1.
fn flatten(at: &mut Vec<String>, value: &Value, all: &mut BTreeMap<Vec<String>, Value>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                at.push(key.clone());
                flatten(at, value, all);
                at.pop();
            }
        }
        Value::Array(items) if items.iter().any(Value::is_table) => {
            let last = at.pop().unwrap_or_default();
            for (item, number) in items.iter().zip(1..) {
                at.push(format!("{last} {number}"));
                flatten(at, item, all);
                at.pop();
            }
            at.push(last);
        }
        value => {
            all.insert(at.clone(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fabric = \"f\"\n[cost]\nsend = \"1us\"\n\n[[job]]\nnodes = 1\n[[job]]\n\
                        short = [{ class = \"a\" }]\n[packets]\nadaptive.bias = \"1B\"\n";

    #[test]
    fn keys_have_lines() {
        let lines = Lines::of(TEXT);
        let line =
            |at: &[&str]| lines.of_key(&at.iter().map(|&k| k.to_owned()).collect::<Vec<_>>());
        assert_eq!(line(&["fabric"]), Some(1));
        assert_eq!(line(&["cost", "send"]), Some(3));
        assert_eq!(line(&["job 1", "nodes"]), Some(6));
        assert_eq!(line(&["job 2", "nodes"]), Some(7), "where the job begins");
        assert_eq!(line(&["job 2", "short 1", "class"]), Some(8));
        assert_eq!(line(&["packets", "adaptive", "bias"]), Some(10));
        assert_eq!(line(&["nothing"]), None);
    }

    #[test]
    fn what_is_set_has_no_line() {
        let made =
            TEXT.replace("\"a\"", "'b'").replace("nodes = 1\n[[job]]", "nodes = 0x1\n[[job]]");
        let lines = Lines::of_original(TEXT, &format!("seed = 1\n{made}"));
        let place =
            |at: &[&str]| lines.place(&at.iter().map(|&k| k.to_owned()).collect::<Vec<_>>());
        assert_eq!(place(&["job 2", "short 1", "class"]), "as set, not as in the file: ");
        assert_eq!(place(&["seed"]), "as set, not as in the file: ");
        assert_eq!(place(&["job 1", "nodes"]), "line 6: ", "written otherwise, and the same");
        assert_eq!(place(&["job 2"]), "line 7: ");
    }

    #[test]
    fn values_of_a_list_have_their_own_lines() {
        let text = "[routes]\nengine = [\n  \"updn\",\n  \"nue\",\n]\n";
        let lines = Lines::of_original(text, "[routes]\nengine = \"nue\"\n");
        assert_eq!(lines.place(&["routes", "engine"].map(str::to_owned)), "line 4: ");
    }

    #[test]
    fn places_have_keys() {
        let lines = Lines::of(TEXT);
        let key = |text: &str| lines.key_at(TEXT.find(text).expect("there")).map(|k| k.join(": "));
        assert_eq!(key("\"1us\"").as_deref(), Some("cost: send"));
        assert_eq!(key("1\n[[job]]\nshort").as_deref(), Some("job 1: nodes"));
        assert_eq!(key("\"a\"").as_deref(), Some("job 2: short 1: class"));
    }
}
