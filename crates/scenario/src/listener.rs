//! Receivers of remarks while a scenario is read.

use darkfiber_formats::Diagnostics;

/// Receives remarks while a scenario is read; none of them prevents the scenario from running. `()` ignores them.
pub trait Listener {
    /// Remarks of a reader about a file.
    fn remarks(&mut self, source: &str, found: &Diagnostics) {
        let _ = (source, found);
    }

    /// Other information for users, a line each.
    fn note(&mut self, text: &str) {
        let _ = text;
    }

    /// Whether notes are received: computations that only lead to a note can be skipped otherwise.
    fn hears_notes(&self) -> bool {
        false
    }

    /// The current stage: `reading`, `routing`.
    fn stage(&mut self, what: &str) {
        let _ = what;
    }
}

impl Listener for () {}
