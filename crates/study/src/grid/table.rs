//! All answers of a study by column: compact enough for a million rows in memory.

use std::collections::HashMap;

use super::row::{Record, Value};

/// All rows of a study: one for each cell, question, and subject.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    axes: Vec<String>,
    /// The quantities that there are, by the row in which they first appear.
    columns: Vec<String>,
    words: Words,
    rows: Vec<Row>,
    /// Values of the axes, of each cell one after the other.
    set: Vec<Cell>,
    /// Quantities with their column, of each row one after the other.
    found: Vec<(u32, Cell)>,
    /// Number of additions of answers.
    records: u32,
}

/// A row; its words are numbers of `Words`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    /// Digest of its cell; 0 if it is about none.
    id: u128,
    /// Number of the addition that it came from.
    record: u32,
    point: u64,
    turn: u64,
    seed: u64,
    /// Start of the values of its axes.
    set: u32,
    question: u32,
    of: u32,
    error: u32,
    /// Start of its quantities, and their number.
    found: u32,
    count: u32,
}

/// A value whose text is the index of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cell {
    None,
    Yes(bool),
    Whole(u64),
    Number(f64),
    Word(u32),
}

/// Interned texts, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Words {
    texts: Vec<String>,
    known: HashMap<String, u32>,
}

impl Words {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.known.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.known.insert(text.to_owned(), number);
        number
    }

    fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    fn cell(&mut self, value: &Value) -> Cell {
        match value {
            Value::Yes(yes) => Cell::Yes(*yes),
            Value::Whole(n) => Cell::Whole(*n),
            Value::Number(x) => Cell::Number(*x),
            Value::Text(text) => Cell::Word(self.number(text)),
        }
    }

    fn value(&self, cell: Cell) -> Option<Value> {
        Some(match cell {
            Cell::None => return None,
            Cell::Yes(yes) => Value::Yes(yes),
            Cell::Whole(n) => Value::Whole(n),
            Cell::Number(x) => Value::Number(x),
            Cell::Word(number) => Value::Text(self.text(number).to_owned()),
        })
    }
}

/// A row of the table, for a moment.
#[derive(Clone, Copy)]
pub struct RowOf<'a> {
    table: &'a Table,
    row: &'a Row,
}

impl Table {
    /// An empty table of a study with these axes.
    pub fn new(axes: Vec<String>) -> Self {
        Self { axes, ..Self::default() }
    }

    /// Adds the answers of a cell.
    pub fn add(&mut self, record: &Record) {
        let set = self.set.len() as u32;
        for axis in &self.axes {
            let value = record.set.iter().find(|(name, _)| name == axis).map(|(_, value)| value);
            self.set.push(value.map_or(Cell::None, |value| self.words.cell(value)));
        }
        let id = u128::from_str_radix(&record.id, 16).unwrap_or(0);
        self.records += 1;
        for answer in &record.answers {
            let found = self.found.len() as u32;
            for (name, value) in &answer.found {
                let known = self.columns.iter().position(|column| column == name);
                let column = known.unwrap_or_else(|| {
                    self.columns.push(name.clone());
                    self.columns.len() - 1
                });
                let cell = self.words.cell(value);
                self.found.push((column as u32, cell));
            }
            self.rows.push(Row {
                id,
                record: self.records,
                point: record.point,
                turn: record.turn,
                seed: record.seed,
                set,
                question: self.words.number(&answer.question),
                of: self.words.number(&answer.of),
                error: self.words.number(answer.error.as_deref().unwrap_or_default()),
                found,
                count: self.found.len() as u32 - found,
            });
        }
    }

    /// Sorts rows by points and seeds, and columns in the order of the rows; of cells that were answered twice one is left.
    pub fn sort(&mut self) {
        self.rows.sort_by_key(|row| (row.point, row.turn, row.id));
        let mut last = None;
        self.rows.retain(|row| {
            let cell = (row.point, row.turn);
            let (_, record) =
                *last.insert(last.filter(|(of, _)| *of == cell).unwrap_or((cell, row.record)));
            record == row.record
        });
        // Answers added in another order may have had other columns first.
        let mut order: Vec<u32> = Vec::new();
        let mut place: Vec<Option<u32>> = vec![None; self.columns.len()];
        for row in &self.rows {
            for (column, _) in &self.found[row.found as usize..(row.found + row.count) as usize] {
                place[*column as usize].get_or_insert_with(|| {
                    order.push(*column);
                    order.len() as u32 - 1
                });
            }
            if order.len() == self.columns.len() {
                break;
            }
        }
        self.columns = order.iter().map(|&c| self.columns[c as usize].clone()).collect();
        for (column, _) in &mut self.found {
            *column = place[*column as usize].unwrap_or(u32::MAX);
        }
    }

    /// The axes of the study.
    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    /// The quantities that there are.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Number of rows of the table.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = RowOf<'_>> {
        self.rows.iter().map(|row| RowOf { table: self, row })
    }
}

impl<'a> RowOf<'a> {
    /// The digest of its cell.
    pub fn cell(&self) -> String {
        if self.row.id == 0 { String::new() } else { format!("{:032x}", self.row.id) }
    }

    /// Seed of the row.
    pub fn seed(&self) -> u64 {
        self.row.seed
    }

    /// Question of the row.
    pub fn question(&self) -> &'a str {
        self.table.words.text(self.row.question)
    }

    /// Subject of the row.
    pub fn of(&self) -> &'a str {
        self.table.words.text(self.row.of)
    }

    /// Why there is no answer; empty if there is one.
    pub fn error(&self) -> &'a str {
        self.table.words.text(self.row.error)
    }

    /// The value of an axis, by its place.
    pub fn axis(&self, axis: usize) -> Option<Value> {
        self.table.words.value(self.table.set[self.row.set as usize + axis])
    }

    /// A quantity, by the place of its column.
    pub fn found(&self, column: usize) -> Option<Value> {
        let begin = self.row.found as usize;
        let all = &self.table.found[begin..begin + self.row.count as usize];
        let cell = all.iter().find(|(of, _)| *of as usize == column)?.1;
        self.table.words.value(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Answer;

    fn record(point: u64, turn: u64, id: &str, answers: Vec<Answer>) -> Record {
        let set = vec![("a".to_owned(), Value::Text(format!("v{point}")))];
        Record { id: id.to_owned(), point, turn, set, seed: 7 + turn, answers, seconds: 0.0 }
    }

    #[test]
    fn rows_come_back_in_order() {
        let one = |x: u64| Answer::of("job").with("late", x).with("word", format!("w{x}"));
        let two = |x: u64| Answer::of("job").with("early", x as f64 / 2.0);
        let broken = Answer { error: Some("no".to_owned()), ..Answer::default() };
        let mut table = Table::new(vec!["a".to_owned(), "b".to_owned()]);
        table.add(&record(1, 0, "c", vec![one(3), broken]));
        table.add(&record(0, 1, "b", vec![two(2), one(4)]));
        table.add(&record(0, 0, "a", vec![two(1)]));
        // The same cell, from somewhere else.
        table.add(&record(0, 0, "a", vec![two(1)]));
        table.sort();
        assert_eq!(table.columns(), ["early", "late", "word"]);
        let rows: Vec<_> = table.rows().collect();
        let cells: Vec<String> = rows.iter().map(|row| row.cell()[31..].to_owned()).collect();
        assert_eq!(cells, ["a", "b", "b", "c", "c"]);
        assert_eq!(rows[0].found(0), Some(Value::Number(0.5)));
        assert_eq!(rows[0].found(1), None);
        assert_eq!(rows[2].found(2), Some(Value::Text("w4".to_owned())));
        assert_eq!(rows[3].axis(0), Some(Value::Text("v1".to_owned())));
        assert_eq!(rows[3].axis(1), None);
        assert_eq!((rows[4].error(), rows[1].seed(), rows[1].of()), ("no", 8, "job"));
    }
}
