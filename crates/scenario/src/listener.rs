//! Who hears what there is to say while a scenario is read.

use darkfiber_formats::Diagnostics;

/// Hears what there is to say while a scenario is read; nothing of it keeps the scenario from running. `()` hears nothing.
pub trait Listener {
    /// What a reader has to say about a file.
    fn remarks(&mut self, source: &str, found: &Diagnostics) {
        let _ = (source, found);
    }

    /// What else users should know, a line each.
    fn note(&mut self, text: &str) {
        let _ = text;
    }

    /// Whether notes are heard: what only leads to one need not be computed otherwise.
    fn hears_notes(&self) -> bool {
        false
    }

    /// What is done now: `reading`, `routing`.
    fn stage(&mut self, what: &str) {
        let _ = what;
    }
}

impl Listener for () {}
