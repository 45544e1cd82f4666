//! Traffic between ranks: graphs of mpiP, square tables, lists of pairs.
//!
//! - **Graphs** of mpiP begin with `--- Graph Information ---`; lines `a , b = bytes` follow, one for a pair in either
//!   direction, up to `Graph info end`. The rest (statistics) is ignored. They do not state the sender:
//!   half of the bytes are taken to go each way ([`CommMatrix::symmetric`]). Rooted collectives are in them as a star of
//!   small entries around rank 0, other collectives are not.
//! - **Tables** have a row for a sender and a column for a receiver, with commas in between, without headings
//!   (supersim's, and those of many scripts).
//! - **Lists** have a line `source destination bytes`, with blanks or commas, and perhaps a heading. `#` is a comment.
//!
//! Numbers may have fractions, which are rounded.

use std::path::Path;

use darkfiber_workload::CommMatrix;

use super::run::{Read, ReadBy, ScheduleFormat};
use super::values::{MOST_RANKS, whole};
use darkfiber_formats::{Diagnostics, ReadError, input};

/// The entry of this format.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "matrix",
    what: "bytes between ranks: graphs of mpiP, tables, lists",
    is_such: |h| is_graph(&h.lines) || is_numbers(&h.lines),
    read: ReadBy::Run(|f| {
        read(&input::text(&f.bytes), &f.path).map(|(matrix, d)| (Read::Matrix(matrix), d))
    }),
};

const EXPECTED: &str =
    "bytes between ranks (a graph of mpiP, a square table, or a list `source destination bytes`)";

/// Whether a text begins like a graph of mpiP.
fn is_graph(text: &str) -> bool {
    text.trim_start()
        .lines()
        .next()
        .is_some_and(|l| l.starts_with("---") && l.contains("Graph Information"))
}

fn content(line: &str) -> &str {
    line.split('#').next().unwrap_or("").trim()
}

/// The words of a line of a table or list.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let comma = line.contains(',');
    line.split(move |c: char| if comma { c == ',' } else { c.is_whitespace() })
        .map(str::trim)
        .filter(move |w| comma || !w.is_empty())
}

/// Number of values in each of the first lines, if it is the same for all.
fn width(text: &str) -> Option<usize> {
    let lines = text.lines().map(content).filter(|l| !l.is_empty()).take(50);
    let mut width = None;
    for (i, line) in lines.enumerate() {
        let count = words(line).count();
        let numbers = words(line).all(|w| w.parse::<f64>().is_ok());
        if !numbers && i == 0 {
            continue;
        }
        if !numbers || *width.get_or_insert(count) != count {
            return None;
        }
    }
    width
}

/// Whether a text looks like a list or a table.
fn is_numbers(text: &str) -> bool {
    width(text).is_some_and(|w| w >= 3 || (w > 0 && text.lines().count() == w))
}

struct Reader<'a> {
    path: &'a Path,
    rounded: u64,
    entries: Vec<(u32, u32, u64)>,
}

impl Reader<'_> {
    fn fail(&self, line: usize, what: impl std::fmt::Display, hint: &str) -> ReadError {
        ReadError::not_such(self.path, format!("line {line}: {what}"), EXPECTED, hint)
    }

    fn rank(&self, line: usize, word: &str) -> Result<u32, ReadError> {
        let rank = word.trim().parse().ok().filter(|&r: &u32| r < MOST_RANKS);
        rank.ok_or_else(|| {
            let word = darkfiber_formats::excerpt(word);
            self.fail(line, format!("`{word}` is not a rank (below {MOST_RANKS})"), "")
        })
    }

    fn bytes(&mut self, line: usize, word: &str) -> Result<u64, ReadError> {
        if let Ok(bytes) = word.trim().parse() {
            return Ok(bytes);
        }
        let Some(bytes) = whole(word.trim()) else {
            let word = darkfiber_formats::excerpt(word);
            return Err(self.fail(
                line,
                format!("`{word}` is not a number of bytes"),
                "not below zero",
            ));
        };
        self.rounded += u64::from(word.trim().parse::<f64>().is_ok_and(|b| b.fract() != 0.0));
        Ok(bytes)
    }

    fn done(self, ranks: Option<u32>, d: &mut Diagnostics) -> CommMatrix {
        if self.rounded > 0 {
            d.note(0, format!("{} numbers are not whole", self.rounded), "they are rounded");
        }
        let most = self.entries.iter().map(|e| e.0.max(e.1) + 1).max().unwrap_or(0);
        let mut matrix = CommMatrix::new(ranks.unwrap_or(most).max(most));
        for (from, to, bytes) in self.entries {
            matrix.add(from, to, bytes);
        }
        matrix.merge();
        matrix
    }
}

/// Reads a matrix of any of the three forms.
///
/// # Errors
/// At the first line that cannot be understood, or if a graph or table is not whole.
pub fn read(text: &str, path: &Path) -> Result<(CommMatrix, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut reader = Reader { path, rounded: 0, entries: Vec::new() };
    if is_graph(text) {
        graph(text, &mut reader)?;
        d.note(
            0,
            "the graph says how much pairs exchange, but not who sends",
            "half of it is taken to go each way; a report of mpiP (*.mpiP) says who sends",
        );
        return Ok((reader.done(None, &mut d).symmetric(), d));
    }
    let lines = || {
        text.lines().enumerate().map(|(i, l)| (i + 1, content(l))).filter(|(_, l)| !l.is_empty())
    };
    let Some(columns) = width(text) else {
        return Err(ReadError::not_such(
            path,
            "the lines are not numbers, equally many in each",
            EXPECTED,
            "",
        ));
    };
    let rows = lines().count();
    // Three numbers a line are a list.
    if columns != 3 {
        if rows != columns {
            let what = format!("{rows} rows of {columns} numbers");
            return Err(ReadError::not_such(
                path,
                what,
                EXPECTED,
                "is the table cut off? It must be square",
            ));
        }
        for (row, (line, content)) in lines().enumerate() {
            let mut count = 0;
            for (column, word) in words(content).enumerate() {
                count += 1;
                let bytes = reader.bytes(line, word)?;
                if bytes > 0 {
                    reader.entries.push((row as u32, column as u32, bytes));
                }
            }
            if count != columns {
                return Err(reader.fail(line, format!("{count} numbers instead of {columns}"), ""));
            }
        }
        return Ok((reader.done(Some(columns as u32), &mut d), d));
    }
    let has_heading = lines()
        .next()
        .is_some_and(|(_, first)| words(first).any(|word| word.parse::<f64>().is_err()));
    if rows == 3 && !has_heading {
        d.note(
            0,
            "three lines of three numbers are taken as pairs: source, destination, bytes",
            "a table of three ranks is written as its pairs",
        );
    }
    for (i, (line, content)) in lines().enumerate() {
        let words: Vec<&str> = words(content).collect();
        match words.as_slice() {
            [from, to, bytes] if i > 0 || bytes.parse::<f64>().is_ok() => {
                let (from, to) = (reader.rank(line, from)?, reader.rank(line, to)?);
                let bytes = reader.bytes(line, bytes)?;
                reader.entries.push((from, to, bytes));
            }
            _ if i == 0 => d.note(line, "heading of a table", "ignored"),
            _ => {
                let what =
                    format!("{} words instead of source, destination and bytes", words.len());
                return Err(reader.fail(line, what, "is the file cut off?"));
            }
        }
    }
    Ok((reader.done(None, &mut d), d))
}

fn graph(text: &str, reader: &mut Reader<'_>) -> Result<(), ReadError> {
    let mut lines = text.lines().enumerate().map(|(i, l)| (i + 1, l.trim()));
    for (line, content) in lines.by_ref() {
        if content.is_empty() || content.contains("Graph Information") {
            continue;
        }
        if content.contains("Graph info end") {
            return Ok(());
        }
        let parts =
            content.split_once('=').and_then(|(pair, bytes)| Some((pair.split_once(',')?, bytes)));
        let Some(((a, b), bytes)) = parts else {
            let what =
                format!("not a pair `a , b = bytes`: {}", darkfiber_formats::excerpt(content));
            return Err(reader.fail(line, what, "is the file damaged?"));
        };
        let (a, b) = (reader.rank(line, a)?, reader.rank(line, b)?);
        let bytes = reader.bytes(line, bytes)?;
        reader.entries.push((a, b, bytes));
    }
    Err(reader.fail(text.lines().count(), "the graph has no end", "is the file cut off?"))
}
