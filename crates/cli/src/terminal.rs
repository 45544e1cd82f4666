//! Control characters are shown and not sent, for names of a fabric come from outside; and lines to standard error.

use std::borrow::Cow;
use std::io::{self, Write};

/// Beginning of colors and other attributes in tables for a terminal.
const ATTRIBUTES: char = '\x1b';

/// Shows control characters as `\x1b` and the like, so that no terminal obeys them. Line feeds and tabs stay, and with
/// `colored` also character attributes such as colors, which have no other effect.
pub(crate) fn harmless(text: &str, colored: bool) -> Cow<'_, str> {
    let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (i, c) in text.char_indices() {
        let stays = !harmful(c) || (colored && c == ATTRIBUTES && is_attribute(&text[i + 1..]));
        if stays {
            out.push(c);
        } else {
            out.extend(format!("\\x{:02x}", u32::from(c)).chars());
        }
    }
    Cow::Owned(out)
}

/// Whether the text after an escape character sets attributes: `[`, numbers, `m`.
fn is_attribute(rest: &str) -> bool {
    rest.strip_prefix('[').is_some_and(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
    })
}

/// Writes a line to standard error, control characters shown and not sent; errors are ignored.
pub(crate) fn eprint_line(line: &str) {
    let line = harmless(line, false);
    let _nobody_listens = writeln!(io::stderr().lock(), "{line}");
}

/// Paragraphs broken into lines; indented lines stay unchanged.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with(' ') {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let mut used = 0;
        for word in line.split_whitespace() {
            let length = word.chars().count();
            if used > 0 && used + 1 + length > width {
                out.push('\n');
                used = 0;
            } else if used > 0 {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += length;
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_obey_no_name() {
        assert_eq!(harmless("a\tb\n", false), "a\tb\n");
        assert_eq!(harmless("\x1b]0;x\x07\u{9b}2J\r\x7f", true), "\\x1b]0;x\\x07\\x9b2J\\x0d\\x7f");
        assert_eq!(harmless("\x1b[38;5;9mNO\x1b[0m", true), "\x1b[38;5;9mNO\x1b[0m");
        assert_eq!(harmless("\x1b[1mNO", false), "\\x1b[1mNO");
        assert_eq!(harmless("\x1b[2J", true), "\\x1b[2J");
    }
}
