//! Remarks while files are read, which are stored instead of printed.

use darkfiber_formats::{Diagnostics, Severity};
use darkfiber_scenario::Listener;

/// Sentences, in the order in which they were said.
#[derive(Default)]
pub(crate) struct Remarks {
    /// All of them.
    pub(crate) all: Vec<String>,
    /// Those of readers.
    pub(crate) read: Vec<String>,
    /// Those of readers that mean that what was read contradicts itself, or that some of it is missing.
    pub(crate) errors: Vec<String>,
}

impl Listener for Remarks {
    fn remarks(&mut self, source: &str, found: &Diagnostics) {
        for remark in &found.0 {
            let text = format!("{source}: {remark}");
            if remark.severity == Severity::Error {
                self.errors.push(text.clone());
            }
            self.read.push(text.clone());
            self.all.push(text);
        }
    }

    fn note(&mut self, text: &str) {
        self.all.push(text.to_owned());
    }

    fn hears_notes(&self) -> bool {
        true
    }
}
