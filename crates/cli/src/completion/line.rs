//! A line as it is typed in bash: its words, and where bash takes the last one to begin.

/// Holds the characters at which bash parts words, where bash asks.
pub(super) const BREAKS: &str = "_DARKFIBER_BREAKS";

/// A line up to the cursor.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Line {
    /// Its words, without quotes and backslashes; the last one is being typed, and may be empty.
    pub(super) words: Vec<String>,
    /// How much of the last word stands before what bash completes, in bytes.
    pub(super) kept: usize,
    /// The last word stands within a quote that is still open.
    pub(super) is_quoted: bool,
}

impl Line {
    /// Reads it; bash parts words at blanks only.
    pub(super) fn read(text: &str) -> Self {
        Self::parted(text, "")
    }

    /// Reads it for a bash that parts words at these characters, too.
    pub(super) fn parted(text: &str, breaks: &str) -> Self {
        let mut line = Self::default();
        let mut word = String::new();
        let mut quote = None;
        let mut characters = text.chars();
        while let Some(c) = characters.next() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (Some('"') | None, '\\') => word.extend(characters.next()),
                (Some(_), c) => word.push(c),
                (None, '\'' | '"') => {
                    quote = Some(c);
                    line.kept = word.len();
                }
                (None, c) if c.is_whitespace() => {
                    if !word.is_empty() {
                        line.words.push(at_home(&word));
                    }
                    word.clear();
                    line.kept = 0;
                }
                (None, c) => {
                    // Of names of hosts bash takes the `@` with it.
                    let stays = if c == '@' { 0 } else { c.len_utf8() };
                    if breaks.contains(c) {
                        line.kept = word.len() + stays;
                    }
                    word.push(c);
                }
            }
        }
        line.words.push(word);
        line.is_quoted = quote.is_some();
        line
    }
}

/// A word whose `~` is the home of whoever types.
pub(super) fn at_home(word: &str) -> String {
    match (word.strip_prefix("~/"), std::env::var("HOME")) {
        (Some(rest), Ok(home)) => format!("{home}/{rest}"),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_parted_as_bash_does() {
        let of = |text: &str| {
            let line = Line::parted(text, " \t\n\"'@><=;|&(:");
            (line.words.last().cloned().unwrap_or_default(), line.kept, line.is_quoted)
        };
        assert_eq!(of("darkfiber route @ts"), ("@ts".to_owned(), 0, false));
        assert_eq!(of("darkfiber x kary:k=4,"), ("kary:k=4,".to_owned(), 7, false));
        assert_eq!(of(r"d x my:\ f"), ("my: f".to_owned(), 3, false));
        assert_eq!(of(r"d x MF0\;s:MS"), ("MF0;s:MS".to_owned(), 6, false));
        assert_eq!(of("d x \"a b"), ("a b".to_owned(), 0, true));
        assert_eq!(of("d x "), (String::new(), 0, false));
        assert_eq!(Line::read("d 'a b.topo' --fail lea").words, ["d", "a b.topo", "--fail", "lea"]);
    }
}
