//! Lines of a log that does not fit into memory, and remarks that do.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::Path;

use darkfiber_formats::{Diagnostics, ReadError};

/// Maximum length of a line that is read; the rest is skipped.
const LONGEST: u64 = 8 << 20;

/// Remarks of one kind that are reported individually.
const MOST_REPORTED: usize = 20;

/// The lines of a reader, numbered from 1.
pub(super) struct Lines<'a> {
    reader: &'a mut dyn BufRead,
    path: &'a Path,
    buffer: Vec<u8>,
    /// Number of the line read last.
    pub(super) number: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(reader: &'a mut dyn BufRead, path: &'a Path) -> Self {
        Self { reader, path, buffer: Vec::new(), number: 0 }
    }

    /// The next line without its end; invalid UTF-8 becomes U+FFFD. `None` after the last one.
    ///
    /// # Errors
    /// Any error of the operating system.
    pub(super) fn next(&mut self) -> Result<Option<String>, ReadError> {
        let io = |source| ReadError::Io { path: self.path.to_owned(), source };
        self.buffer.clear();
        let read =
            (&mut *self.reader).take(LONGEST).read_until(b'\n', &mut self.buffer).map_err(io)?;
        if read == 0 {
            return Ok(None);
        }
        if read as u64 == LONGEST && self.buffer.last() != Some(&b'\n') {
            self.reader.skip_until(b'\n').map_err(io)?;
        }
        self.number += 1;
        let mut bytes = self.buffer.as_slice();
        while let [rest @ .., b'\n' | b'\r'] = bytes {
            bytes = rest;
        }
        if self.number == 1 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        Ok(Some(darkfiber_formats::input::text(bytes).into_owned()))
    }
}

/// Diagnostics of a log that may be wrong in every one of a million lines: of each kind the first are reported with
/// their lines, the others are counted.
#[derive(Default)]
pub(super) struct Remarks {
    found: Diagnostics,
    /// Number of remarks by their hint.
    count: BTreeMap<&'static str, usize>,
    /// Lines that were left out.
    left_out: usize,
}

impl Remarks {
    /// A line was left out. `hint` is the kind of the remark.
    pub(super) fn left_out(&mut self, line: usize, what: impl Into<String>, hint: &'static str) {
        self.left_out += 1;
        self.remark(line, what, hint, Diagnostics::warn_left_out);
    }

    /// A value was left out or guessed. `hint` is the kind of the remark.
    pub(super) fn warn(&mut self, line: usize, what: impl Into<String>, hint: &'static str) {
        self.remark(line, what, hint, Diagnostics::warn);
    }

    fn remark<W: Into<String>>(
        &mut self,
        line: usize,
        what: W,
        hint: &'static str,
        add: fn(&mut Diagnostics, usize, W, &'static str),
    ) {
        let count = self.count.entry(hint).or_default();
        *count += 1;
        if *count <= MOST_REPORTED {
            add(&mut self.found, line, what, hint);
        }
    }

    /// Something about the whole file, if it happened.
    pub(super) fn note_count(&mut self, count: usize, one: &str, many: &str, hint: &str) {
        if count > 0 {
            self.found.note(0, darkfiber_formats::counted(count, one, many), hint);
        }
    }

    /// As [`Self::note_count`], where something was guessed.
    pub(super) fn warn_count(&mut self, count: usize, one: &str, many: &str, hint: &str) {
        if count > 0 {
            self.found.warn(0, darkfiber_formats::counted(count, one, many), hint);
        }
    }

    /// All remarks; or that this is not such a file, if lines were left out and nothing was read.
    ///
    /// # Errors
    /// If this is not such a file.
    pub(super) fn finish(
        mut self,
        read: usize,
        path: &Path,
        expected: &str,
    ) -> Result<Diagnostics, ReadError> {
        if read == 0 && self.left_out > 0 {
            let found = &self.found.0;
            let what = match found.iter().find(|d| d.line > 0).or(found.first()) {
                Some(d) if d.line > 0 => {
                    format!("no line says anything about a job; line {}: {}", d.line, d.what)
                }
                Some(d) => format!("it says nothing about a job; {}", d.what),
                None => "no line says anything about a job".to_owned(),
            };
            return Err(ReadError::not_such(path, what, expected, ""));
        }
        for (hint, count) in self.count {
            if count > MOST_REPORTED {
                let more =
                    darkfiber_formats::counted(count - MOST_REPORTED, "more line", "more lines");
                self.found.warn(0, format!("{more} of this kind"), hint);
            }
        }
        Ok(self.found)
    }
}

/// Whether a line is empty, or the rule of hyphens below the header of a table for people.
pub(super) fn is_rule(line: &str) -> bool {
    line.trim().bytes().all(|b| b == b'-' || b == b' ')
}

/// The beginning of a text, for messages.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(60).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}
