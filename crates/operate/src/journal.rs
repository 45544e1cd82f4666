//! The journal: inputs and the resulting actions, a line for each step.
//!
//! A line is a JSON object, a blank, and the CRC-32 of the JSON in eight hexadecimal digits. The first line is a [`JournalHeader`]
//! with the state from which the steps start; every other one is a [`Step`], numbered without gaps. A partial last line after
//! a crash is removed; any other mismatch is refused.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::action::Action;
use crate::input::Input;
use crate::state::State;
use crate::step::step;
use crate::value::Millis;

/// The form that this version writes and reads.
pub const FORMAT: u32 = 1;

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalHeader {
    /// Its form, see [`FORMAT`].
    pub format: u32,
    /// Name of the site.
    pub site: String,
    /// The number of the first step.
    pub first: u64,
    /// The state before it.
    pub state: State,
}

/// A step: its input, time, and actions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Number of the step.
    pub step: u64,
    /// Time of the step.
    pub at: Millis,
    /// Input of the step.
    #[serde(flatten)]
    pub input: Input,
    /// Actions to be done.
    pub actions: Vec<Action>,
}

/// A journal that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// First line of the journal.
    pub beginning: JournalHeader,
    /// All other lines.
    pub steps: Vec<Step>,
    /// Bytes that are consistent; the rest is a partial line after a crash.
    pub whole: usize,
}

/// Why a journal cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// There is no whole first line.
    #[error("there is no whole first line")]
    Empty,
    /// A newer program wrote it.
    #[error("line 1: form {found}, and this program reads {FORMAT}")]
    Format {
        /// Version of the form.
        found: u32,
    },
    /// A line was altered.
    #[error("line {line}: {what}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// Description of the problem.
        what: String,
    },
}

/// A record as a line, with its end.
pub fn line(record: &impl Serialize) -> String {
    // Numbers, texts and lists of them always have a JSON form.
    let json = serde_json::to_string(record).unwrap_or_default();
    let sum = crc32fast::hash(json.as_bytes());
    format!("{json} {sum:08x}\n")
}

/// The JSON of a line without its end.
fn checked(line: &[u8]) -> Result<&str, &'static str> {
    let text = std::str::from_utf8(line).map_err(|_| "it is not text")?;
    let (json, sum) = text.rsplit_once(' ').ok_or("it has no checksum")?;
    let stated = u32::from_str_radix(sum, 16).ok().filter(|_| sum.len() == 8);
    let stated = stated.ok_or("it has no checksum")?;
    if stated == crc32fast::hash(json.as_bytes()) { Ok(json) } else { Err("its checksum is wrong") }
}

/// The fields that every version of a first line has.
#[derive(Deserialize)]
struct Form {
    format: u32,
}

/// Reads a journal.
///
/// # Errors
/// If anything but the end of its last line is missing or altered.
pub fn read(bytes: &[u8]) -> Result<Journal, JournalError> {
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
    let mut lines = bytes[..whole].split_inclusive(|&b| b == b'\n').zip(1..);
    let wrong = |line: usize, what: String| JournalError::Line { line, what };
    let json = |(text, number): (&'_ [u8], usize)| -> Result<String, JournalError> {
        let text = &text[..text.len() - 1];
        checked(text).map(str::to_owned).map_err(|what| wrong(number, what.to_owned()))
    };
    let first = json(lines.next().ok_or(JournalError::Empty)?)?;
    let parse = |line, e: serde_json::Error| wrong(line, format!("no record of a journal: {e}"));
    let Form { format } = serde_json::from_str(&first).map_err(|e| parse(1, e))?;
    if format != FORMAT {
        return Err(JournalError::Format { found: format });
    }
    let beginning: JournalHeader = serde_json::from_str(&first).map_err(|e| parse(1, e))?;
    let mut steps: Vec<Step> = Vec::new();
    for (text, number) in lines {
        let step: Step =
            serde_json::from_str(&json((text, number))?).map_err(|e| parse(number, e))?;
        let expected = beginning.first + steps.len() as u64;
        if step.step != expected {
            return Err(wrong(number, format!("step {}, expected step {expected}", step.step)));
        }
        steps.push(step);
    }
    Ok(Journal { beginning, steps, whole })
}

/// The fields that every step has.
#[derive(Deserialize)]
struct Number {
    step: u64,
}

/// The JSON of all steps of a journal from one on, as far as their lines are whole.
pub fn since(bytes: &[u8], step: u64) -> impl Iterator<Item = &str> {
    let lines = bytes.split(|&b| b == b'\n').filter_map(|line| checked(line).ok());
    lines.filter(move |json| {
        serde_json::from_str(json).is_ok_and(|number: Number| number.step >= step)
    })
}

impl Journal {
    /// The number of the next step.
    pub fn next(&self) -> u64 {
        self.beginning.first + self.steps.len() as u64
    }

    /// The state after all steps.
    pub fn state(&self) -> State {
        let mut state = self.beginning.state.clone();
        for record in &self.steps {
            state = step(&state, record.at, &record.input).0;
        }
        state
    }
}

/// Does all steps again; returns the records as they come out now, and the numbers of those that differ from the journal.
pub fn replay(journal: &Journal) -> (Vec<Step>, Vec<u64>) {
    let mut state = journal.beginning.state.clone();
    let mut again = Vec::new();
    let mut differ = Vec::new();
    for record in &journal.steps {
        let (next, actions) = step(&state, record.at, &record.input);
        state = next;
        let now = Step { actions, ..record.clone() };
        if line(&now) != line(record) {
            differ.push(record.step);
        }
        again.push(now);
    }
    (again, differ)
}
