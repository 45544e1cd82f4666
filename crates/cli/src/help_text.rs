//! Layout of the texts below the options of a help: paragraphs are wrapped once, and examples can be pasted.

/// An example has at most this many columns.
const COLUMNS: usize = 80;

/// Text whose paragraphs are one line each, so that they are wrapped once, by the width of the terminal, and whose examples fit
/// [`COLUMNS`]. Other indented lines stay.
pub(crate) fn laid_out(text: &str) -> String {
    let mut out = String::new();
    let (mut joins, mut goes_on) = (false, false);
    for line in text.lines() {
        let starts = line.is_empty() || line.starts_with(' ');
        if !out.is_empty() {
            out.push(if joins && !starts { ' ' } else { '\n' });
        }
        if starts {
            let is_command = goes_on || line.starts_with("  ") && line.contains("darkfiber ");
            out.push_str(&if is_command { example(line) } else { line.to_owned() });
            goes_on = is_command && line.trim_end().ends_with('\\');
        } else {
            out.push_str(line);
        }
        joins = !starts && !line.ends_with(':') && line != "A FABRIC is";
    }
    out
}

/// A line of an example: its remark becomes a comment, above it where it does not fit behind it, and a command that is too long goes on
/// behind a backslash, as shells read it.
fn example(line: &str) -> String {
    let line = line.trim_end();
    let (command, remark) = match line.rsplit_once("  ") {
        Some((command, remark)) if !command.trim().is_empty() && !line.contains('#') => {
            (command.trim_end(), remark)
        }
        _ => (line, ""),
    };
    if remark.is_empty() && line.chars().count() <= COLUMNS {
        return line.to_owned();
    }
    let whole = format!("{}# {remark}", &line[..line.len() - remark.len()]);
    if !remark.is_empty() && whole.chars().count() <= COLUMNS {
        return whole;
    }
    let mut lines = Vec::new();
    if !remark.is_empty() {
        lines.push(format!("  # {}", remark.trim()));
    }
    let mut rest = command;
    let mut indent = "";
    // A word that leaves space for the backslash.
    while indent.len() + rest.chars().count() > COLUMNS {
        let most = COLUMNS - indent.len() - 2;
        let is_quoted = |i: usize| rest[..i].matches(['\'', '"']).count() % 2 == 1;
        let spaces = (rest.char_indices().take(most))
            .filter(|&(i, c)| c == ' ' && !is_quoted(i))
            .map(|(i, _)| i);
        // An option and its value stay together.
        let options = spaces.clone().filter(|&i| rest[i..].starts_with(" -"));
        let Some(end) = options.last().or_else(|| spaces.last()) else { break };
        let (head, tail) = rest.split_at(end);
        if head.trim().is_empty() {
            break;
        }
        lines.push(format!("{indent}{} \\", head.trim_end()));
        (rest, indent) = (tail.trim_start(), "      ");
    }
    lines.push(format!("{indent}{rest}"));
    lines.join("\n")
}

/// What Rust says of texts that are no numbers, and what it means.
const NUMBERS: [(&str, &str); 4] = [
    ("invalid digit found in string", "a whole number is expected"),
    ("cannot parse integer from empty string", "a whole number is expected"),
    ("number too large to fit in target type", "the number is too large"),
    ("invalid float literal", "a number is expected"),
];

/// A message of the parser of the command line, with what is expected where it says only that
/// something is invalid.
pub(crate) fn about_numbers(text: &str) -> String {
    NUMBERS.iter().fold(text.to_owned(), |text, (rust, means)| text.replace(rust, means))
}

/// Markdown as plain text: emphasis is removed, headings are in capitals, and paragraphs and list items are broken at [`COLUMNS`].
pub(crate) fn plain(markdown: &str) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in markdown.lines() {
        let text = line.trim().replace("**", "").replace('`', "");
        if text.is_empty() {
            goes_on = false;
            blocks.push(String::new());
        } else if let Some(heading) = line.strip_prefix('#') {
            blocks.push(heading.trim_start_matches('#').trim().to_uppercase());
            goes_on = false;
        } else if goes_on && !line.starts_with("- ") {
            let last = blocks.last_mut().map(|block| block.push(' '));
            if last.is_some()
                && let Some(block) = blocks.last_mut()
            {
                block.push_str(&text);
            }
        } else {
            blocks.push(text);
            goes_on = true;
        }
    }
    let mut out = String::new();
    for block in blocks {
        let is_point = block.starts_with("- ");
        for (number, line) in crate::terminal::wrapped(&block, COLUMNS - 2).lines().enumerate() {
            out.push_str(if is_point && number > 0 { "  " } else { "" });
            out.push_str(line);
            out.push('\n');
        }
        if block.is_empty() {
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_examples_can_be_pasted() {
        let text = "Examples:\n  darkfiber check my-fabric.topo --routes lfts.dump --sl path-sl --format json --seed 7        what it says\n  darkfiber list    short";
        assert_eq!(
            laid_out(text),
            "Examples:\n  # what it says\n  darkfiber check my-fabric.topo --routes lfts.dump --sl path-sl \\\n      --format json --seed 7\n  darkfiber list    # short"
        );
        assert_eq!(laid_out("a\nb\n\n  c"), "a b\n\n  c");
    }

    #[test]
    fn numbers_are_expected_in_words() {
        let said = "error: invalid value 'x' for '--seed <N>': invalid digit found in string\n";
        let means = "error: invalid value 'x' for '--seed <N>': a whole number is expected\n";
        assert_eq!(about_numbers(said), means);
        assert_eq!(about_numbers(means), means);
    }

    #[test]
    fn markdown_becomes_lines() {
        let text = "# Words\n\nSome **bold**\ntext.\n\n- **a**: one\n  two `three`\n- b\n";
        assert_eq!(plain(text), "WORDS\n\nSome bold text.\n\n- a: one two three\n- b\n");
        let long = plain(&format!("- **long**: {}", "word ".repeat(40)));
        assert!(long.lines().skip(1).all(|line| line.starts_with("  word") && line.len() <= 80));
    }
}
