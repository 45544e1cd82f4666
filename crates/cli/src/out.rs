//! Standard output and standard error. A reader that goes away (`| head`) is no error.

use std::collections::BTreeMap;
use std::io::{self, Write};

use darkfiber_formats::{Diagnostic, Diagnostics, Severity};

use crate::args::Common;
use crate::failure::Failure;

/// Most lines of one kind that are shown without `-v`.
const SHOWN: usize = 10;

/// Writes a text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_with(|out| out.write_all(text.as_bytes()))
}

/// Writes to standard output.
pub(crate) fn print_with(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error; if nobody listens, so be it.
pub(crate) fn tell(line: &str) {
    let _nobody_listens = writeln!(io::stderr().lock(), "{line}");
}

/// Shows what a reader had to say: at most ten lines of a kind, all with `-v`, only errors with `-q`.
pub(crate) fn diagnostics(source: &str, found: &Diagnostics, common: &Common) {
    for line in summary(source, found, common) {
        tell(&line);
    }
}

fn summary(source: &str, found: &Diagnostics, common: &Common) -> Vec<String> {
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
    for (severity, group) in &kinds {
        let shown = if common.verbose { group.len() } else { SHOWN };
        lines.extend(group.iter().take(shown).map(|d| format!("{source}: {d}")));
        if group.len() > shown {
            let word = match severity {
                Severity::Note => "notes",
                Severity::Warning => "warnings",
                Severity::Error => "errors",
            };
            let more = group.len() - shown;
            lines.push(format!("{source}: ... and {more} more such {word} (-v shows all)"));
        }
    }
    lines
}

/// What remarks of one kind have in common: their text without numbers, GUIDs and quoted names.
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
            found.warn(i + 1, format!("LID {i} belongs to nobody"), "");
        }
        found.error(30, "nothing fits", "");
        let lines = summary("f", &found, &Common::default());
        assert_eq!(lines.len(), 12);
        assert_eq!(lines[0], "f: line 30: error: nothing fits");
        assert_eq!(lines[11], "f: ... and 15 more such warnings (-v shows all)");
        let quiet = Common { quiet: true, ..Common::default() };
        assert_eq!(summary("f", &found, &quiet).len(), 1);
        let verbose = Common { verbose: true, ..Common::default() };
        assert_eq!(summary("f", &found, &verbose).len(), 26);
    }
}
