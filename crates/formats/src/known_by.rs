//! How a text is recognised: by how it begins, by a line that is typical, or as a whole.

use std::path::Path;

/// How many lines are looked at before giving up.
const LINES: usize = 400;

/// How many bytes the beginning of a text has.
const BEGIN: usize = 4096;

/// One mark of a format. Marks are tried in this order, each for all formats in the order of their registry.
#[derive(Clone, Copy, Debug)]
pub enum KnownBy {
    /// The beginning of the content, whatever its lines are.
    Begin(fn(&Begin<'_>) -> bool),
    /// A line that no other format has, among the first; blanks around it are left out.
    Line(fn(&str) -> bool),
    /// The whole text, if no line is typical of anything: the number of the line that shows it, from 1.
    Whole(fn(&str) -> Option<usize>),
}

/// A component that content is recognised as.
pub trait Recognizable {
    /// Its marks, any of which is enough; none for what is only known by where it is given.
    fn known_by(&self) -> &[KnownBy];
}

/// The beginning of a content.
#[derive(Debug)]
pub struct Begin<'a> {
    /// All of it; bytes that are not UTF-8 are U+FFFD.
    pub text: &'a str,
    /// The first bytes without what is blank before them.
    pub body: &'a str,
    /// The name of the file.
    pub path: &'a Path,
    /// Whether it is not text.
    pub is_binary: bool,
    /// Line of the first mark that is not blank, from 1.
    line: usize,
    /// The first bytes without any blanks, if it may be JSON.
    json: Option<String>,
}

impl<'a> Begin<'a> {
    pub(crate) fn new(text: &'a str, path: &'a Path) -> Self {
        let start = head(text, BEGIN);
        let body = start.trim_start_matches('\u{feff}').trim_start();
        let is_binary = is_binary(start);
        let json = (!is_binary && body.starts_with(['{', '[']))
            .then(|| body.chars().filter(|c| !c.is_whitespace()).take(2000).collect());
        let line = 1 + start[..start.len() - body.len()].matches('\n').count();
        Self { text, body, path, is_binary, line, json }
    }

    /// The first bytes without any blanks; empty if this cannot be JSON.
    pub fn json(&self) -> &str {
        self.json.as_deref().unwrap_or_default()
    }
}

/// What a text is, and the line that shows it; 0 if there is none.
pub fn recognise<'r, T: Recognizable>(
    known: &'r [T],
    text: &str,
    path: &Path,
) -> Option<(&'r T, usize)> {
    let marks = || known.iter().flat_map(|entry| entry.known_by().iter().map(move |m| (entry, m)));
    let begin = Begin::new(text, path);
    let by_begin = marks().find(|(_, m)| matches!(m, KnownBy::Begin(is) if is(&begin)));
    if let Some((entry, _)) = by_begin {
        return Some((entry, if text.trim().is_empty() { 0 } else { begin.line }));
    }
    let text = text.trim_start_matches('\u{feff}');
    for (i, line) in text.lines().enumerate().take(LINES) {
        let line = line.trim();
        let is_of = |m: &KnownBy| matches!(m, KnownBy::Line(is) if is(line));
        if !line.is_empty()
            && let Some((entry, _)) = marks().find(|(_, m)| is_of(m))
        {
            return Some((entry, i + 1));
        }
    }
    marks().find_map(|(entry, m)| match m {
        KnownBy::Whole(is) => is(text).map(|line| (entry, line)),
        _ => None,
    })
}

/// Whether a text begins with these letters, in capital or small ones.
pub(crate) fn begins_with(text: &str, letters: &str) -> bool {
    text.get(..letters.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(letters))
}

/// The number of the first line, from 1, that is of a kind, among those that are looked at.
pub(crate) fn first_line(text: &str, is: impl Fn(&str) -> bool) -> Option<usize> {
    text.lines().take(LINES).position(|line| is(line.trim())).map(|i| i + 1)
}

fn head(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&n| text.is_char_boundary(n));
    &text[..end.unwrap_or(0)]
}

fn is_binary(start: &str) -> bool {
    let odd = |c: char| {
        c == '\u{fffd}' || (c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x1b' | '\x0c'))
    };
    start.contains('\0') || start.chars().filter(|&c| odd(c)).count() * 10 > start.chars().count()
}
