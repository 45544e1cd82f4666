//! Remarks about inputs on standard error. They wait until anything else is printed: those that do not explain why a command
//! failed would hide that.

use std::sync::{Mutex, MutexGuard, PoisonError};

use darkfiber_formats::Severity;

use crate::terminal;

/// A remark that waits until anything else is printed.
struct Remark {
    /// The input that it is about.
    source: String,
    severity: Severity,
    line: String,
}

/// Remarks in the order in which they were made. They are printed before anything else is; if the
/// command fails first, notes that are not about the failure would only hide it.
static WAITING: Mutex<Vec<Remark>> = Mutex::new(Vec::new());

fn waiting() -> MutexGuard<'static, Vec<Remark>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints the remarks that wait.
pub(crate) fn release() {
    let remarks = std::mem::take(&mut *waiting());
    for remark in remarks {
        terminal::eprint_line(&remark.line);
    }
}

/// Prints of the remarks that wait those that may explain a failure.
pub(crate) fn release_for(message: &str) {
    let remarks = std::mem::take(&mut *waiting());
    for line in explaining(remarks, message) {
        terminal::eprint_line(&line);
    }
}

/// The remarks that may explain a failure: errors, and all about an input that its message names.
/// Notes about other inputs are dropped, and of warnings about them the first is enough.
fn explaining(remarks: Vec<Remark>, message: &str) -> Vec<String> {
    let (mut lines, mut others) = (Vec::new(), 0usize);
    for remark in remarks {
        let is_about_it = !remark.source.is_empty() && message.contains(&remark.source);
        if is_about_it || remark.severity == Severity::Error {
            lines.push(remark.line);
        } else if remark.severity == Severity::Warning {
            others += 1;
            if others == 1 {
                lines.push(remark.line);
            }
        }
    }
    if others > 1 {
        let more = others - 1;
        lines.push(format!("... and {more} more such lines about other inputs (-v shows all)"));
    }
    lines
}

/// Writes a line to standard error, after the remarks that wait.
pub(crate) fn eprint_line(line: &str) {
    release();
    terminal::eprint_line(line);
}

/// Keeps a remark until something else is printed, unless it is to be printed at once.
pub(crate) fn remark(source: &str, severity: Severity, line: String, at_once: bool) {
    if at_once {
        eprint_line(&line);
        return;
    }
    waiting().push(Remark { source: source.to_owned(), severity, line });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_do_not_hide_a_failure_that_they_do_not_explain() {
        let about = |source: &str, severity, line: &str| Remark {
            source: source.to_owned(),
            severity,
            line: line.to_owned(),
        };
        let remarks = vec![
            about("new.lft", Severity::Note, "a"),
            about("", Severity::Note, "b"),
            about("new.lft", Severity::Warning, "c"),
            about("new.lft", Severity::Warning, "d"),
            about("new.lft", Severity::Error, "e"),
            about("other.lft", Severity::Note, "f"),
        ];
        let failure = "other.lft: 0 of the 96 switches of this dump are in fabric 'f'";
        let more = "... and 1 more such lines about other inputs (-v shows all)";
        assert_eq!(explaining(remarks, failure), ["c", "e", "f", more]);
    }
}
