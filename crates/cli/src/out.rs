//! Standard output and standard error. A closed reader (`| head`) is no error; a full disk is one. Control characters are
//! shown and not sent, for names of a fabric come from outside.

use std::collections::BTreeMap;
use std::io::{self, Write};

use darkfiber_formats::{Diagnostic, Diagnostics, Severity};
use darkfiber_report::{Report, Style};
use darkfiber_scenario::Listener;

use crate::color;
use crate::failure::Failure;
use crate::options::{Common, Format};
use crate::progress::Progress;
pub(crate) use crate::remarks::eprint_line;
use crate::remarks::{release, remark};
use crate::terminal::harmless;

/// Most lines of one kind that are shown without `-v`.
const SHOWN: usize = 10;

impl Common {
    /// Style of results: as standard output wants it, in full with `-v`.
    fn style(&self) -> Style {
        Style { full: self.verbose, ..color::style() }
    }

    /// Prints a result in the requested format.
    pub(crate) fn show(&self, result: &impl Report) -> Result<(), Failure> {
        self.show_in(result, self.style())
    }

    /// As [`show`](Self::show), lists cut after this many lines unless they are shown in full.
    pub(crate) fn show_lines(&self, result: &impl Report, lines: usize) -> Result<(), Failure> {
        self.show_in(result, Style { lines, ..self.style() })
    }

    fn show_in(&self, result: &impl Report, style: Style) -> Result<(), Failure> {
        print(&match self.format {
            Format::Table => result.text(style),
            Format::Json => result.json(),
            Format::Csv => result.csv(),
        })
    }
}

/// Writes a text to standard output; control characters in it are shown, not sent.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let text = harmless(text, color::style().color);
    print_with(|out| out.write_all(text.as_bytes()))
}

/// Writes to standard output, after the remarks that wait.
pub(crate) fn print_with(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    release();
    let to: Box<dyn Write> =
        if darkfiber_stdout::was_open() { Box::new(io::stdout().lock()) } else { Box::new(Closed) };
    let mut out = io::BufWriter::new(to);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// A standard output that was closed from the start: a program that prints nothing does not notice.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("it is closed (to throw results away: >/dev/null)"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Shows the diagnostics of a reader: at most ten lines of a kind, all with `-v`, only errors with `-q`.
pub(crate) fn diagnostics(source: &str, found: &Diagnostics, common: &Common) {
    for (severity, line) in summary(source, found, common) {
        remark(source, severity, line, common.verbose);
    }
}

/// Shows remarks while input is read, and the current stage.
pub(crate) struct Teller<'a> {
    common: &'a Common,
    progress: Option<&'a Progress>,
}

impl<'a> Teller<'a> {
    /// A listener without a progress display.
    pub(crate) fn new(common: &'a Common) -> Self {
        Self { common, progress: None }
    }

    /// A step of progress for each stage.
    pub(crate) fn with(common: &'a Common, progress: &'a Progress) -> Self {
        Self { common, progress: Some(progress) }
    }
}

impl Listener for Teller<'_> {
    fn remarks(&mut self, source: &str, found: &Diagnostics) {
        diagnostics(source, found, self.common);
    }

    fn note(&mut self, text: &str) {
        if !self.common.quiet {
            let source = text.split_once(": note: ").map_or("", |(source, _)| source);
            remark(source, Severity::Note, text.to_owned(), self.common.verbose);
        }
    }

    fn hears_notes(&self) -> bool {
        !self.common.quiet
    }

    fn stage(&mut self, what: &str) {
        if let Some(progress) = self.progress {
            progress.step();
            progress.at(what);
        }
    }
}

fn summary(source: &str, found: &Diagnostics, common: &Common) -> Vec<(Severity, String)> {
    let mut kinds: Vec<(Severity, Vec<&Diagnostic>)> = Vec::new();
    let mut index: BTreeMap<(Severity, String), usize> = BTreeMap::new();
    for d in &found.0 {
        if common.quiet && d.severity < Severity::Error {
            continue;
        }
        let i = *index.entry((d.severity, pattern(&d.what))).or_insert(kinds.len());
        if i == kinds.len() {
            kinds.push((d.severity, Vec::new()));
        }
        kinds[i].1.push(d);
    }
    kinds.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
    let mut lines = Vec::new();
    for &(severity, ref group) in &kinds {
        let shown = if common.verbose { group.len() } else { SHOWN };
        lines.extend(group.iter().take(shown).map(|d| (severity, format!("{source}: {d}"))));
        if group.len() > shown {
            let word = match severity {
                Severity::Note => "notes",
                Severity::Warning => "warnings",
                Severity::Error => "errors",
            };
            let more = group.len() - shown;
            let line = format!("{source}: ... and {more} more such {word} (-v shows all)");
            lines.push((severity, line));
        }
    }
    lines
}

/// The common part of remarks of one kind: their text without numbers, GUIDs and quoted names.
fn pattern(what: &str) -> String {
    let mut out = String::new();
    let mut quoted = None;
    for word in what.split_inclusive(|c: char| c.is_whitespace()) {
        match quoted {
            Some(q) => {
                if word.trim_end().trim_end_matches([',', ';', ':', '.', ')']).ends_with(q) {
                    quoted = None;
                }
            }
            None if word.starts_with(['"', '\'']) => {
                let q = word.chars().next();
                let rest = word.trim_end().trim_end_matches([',', ';', ':', '.', ')']);
                quoted = q.filter(|&q| rest.len() < 2 || !rest.ends_with(q));
                out.push('#');
            }
            None if word.contains(|c: char| c.is_ascii_digit()) => out.push('#'),
            None => out.push_str(word),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_that_differ_in_names_and_numbers_are_one_kind() {
        let a = pattern("port 7 of \"leaf 1\" has no cable");
        assert_eq!(a, pattern("port 19 of \"spine\" has no cable"));
        assert_ne!(a, pattern("port 7 of \"leaf 1\" is slow"));
    }

    #[test]
    fn ten_of_a_kind_are_shown() {
        let mut found = Diagnostics::default();
        for i in 0..25 {
            found.warn(i + 1, format!("LID {i} belongs to no port"), "");
        }
        found.error(30, "nothing fits", "");
        let lines = summary("f", &found, &Common::default());
        assert_eq!(lines.len(), 12);
        assert_eq!(lines[0], (Severity::Error, "f: line 30: error: nothing fits".to_owned()));
        assert_eq!(lines[11].1, "f: ... and 15 more such warnings (-v shows all)");
        let quiet = Common { quiet: true, ..Common::default() };
        assert_eq!(summary("f", &found, &quiet).len(), 1);
        let verbose = Common { verbose: true, ..Common::default() };
        assert_eq!(summary("f", &found, &verbose).len(), 26);
    }
}
