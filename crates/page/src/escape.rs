//! Names come from outside: their content must not be interpreted as anything else.

/// As text or as an attribute of HTML and SVG.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(visible(c)),
        }
    }
    out
}

/// One line without control characters: they are shown as their pictures.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(visible).collect()
}

fn visible(c: char) -> char {
    match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        // Further control characters, and marks that change the direction of text.
        0x80..0xa0 | 0x200e | 0x200f | 0x2028..=0x202e | 0x2066..=0x2069 => {
            char::REPLACEMENT_CHARACTER
        }
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_place() {
        let bad = "</script><img src=x onerror=\"alert('1')\">&amp;\u{202e}\n\u{7}";
        let safe = html(bad);
        assert!(!safe.contains(['<', '>', '"', '\'', '\n', '\u{7}', '\u{202e}']), "{safe}");
        assert_eq!(html("a<b"), "a&lt;b");
        assert_eq!(line("two\nlines\u{0}"), "two\u{240a}lines\u{2400}");
        assert_eq!(line("plain ünicode"), "plain ünicode");
    }
}
