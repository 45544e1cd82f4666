//! Remarks while files are read, which are stored instead of printed.

use darkfiber_formats::Diagnostics;
use darkfiber_scenario::Listener;

/// Sentences, in the order in which they were said.
#[derive(Default)]
pub(crate) struct Remarks(pub(crate) Vec<String>);

impl Listener for Remarks {
    fn remarks(&mut self, source: &str, found: &Diagnostics) {
        self.0.extend(found.0.iter().map(|remark| format!("{source}: {remark}")));
    }

    fn note(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }

    fn hears_notes(&self) -> bool {
        true
    }
}
