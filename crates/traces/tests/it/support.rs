//! The comparison of diagnostics.

use std::fmt::Write as _;

use darkfiber_formats::Diagnostics;

/// Diagnostics, one a line.
pub(crate) fn diagnostics_text(d: &Diagnostics) -> String {
    d.0.iter().fold(String::new(), |mut text, d| {
        let _ = writeln!(text, "{d}");
        text
    })
}
