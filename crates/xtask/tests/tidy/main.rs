//! Rules for the project's own source: dependencies between crates and files, widths, texts, lists in documents.

mod benchmarks;
mod book;
mod circles;
mod documents;
mod experiments;
mod packages;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use darkfiber_routing::ENGINES;

use crate::source::Crate;

/// Most columns of a line of code.
const CODE: usize = 100;

/// Most columns of a line of comment.
const COMMENT: usize = 140;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

/// All crates by name, in the order of their names.
fn crates() -> BTreeMap<String, PathBuf> {
    let folders = std::fs::read_dir(root().join("crates")).expect("crates");
    folders
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), path))
        .collect()
}

fn sources() -> impl Iterator<Item = (String, PathBuf, Crate)> {
    crates().into_iter().map(|(name, folder)| {
        let lib = folder.join("src/lib.rs");
        let root = if lib.exists() { lib } else { folder.join("src/main.rs") };
        let source = Crate::read(&root);
        (name, folder, source)
    })
}

#[test]
fn no_files_of_a_crate_know_each_other_in_a_circle() {
    let mut found = String::new();
    for (name, folder, source) in sources() {
        let edges = circles::edges(&source);
        for circle in circles::circles(&edges) {
            let short = |file: &Path| {
                file.strip_prefix(folder.join("src")).unwrap_or(file).display().to_string()
            };
            let _ = writeln!(found, "{name}:");
            for file in &circle {
                let known: Vec<String> =
                    edges[file].intersection(&circle).map(|f| short(f)).collect();
                let _ = writeln!(found, "  {} knows {}", short(file), known.join(", "));
            }
        }
    }
    assert!(found.is_empty(), "files that know each other in a circle:\n{found}");
}

/// The crates of each row of the picture in ARCHITECTURE.md.
fn drawn(known: &BTreeMap<String, PathBuf>) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let picture = text.split("```text").nth(1).and_then(|t| t.split("```").next());
    let line = |line: &str| -> Vec<String> {
        let is_drawing = |c: char| c.is_whitespace() || "│─┬┴┼├┤┌┐└┘,".contains(c);
        let mut words = line.split(is_drawing).filter(|w| !w.is_empty());
        let mut row: Vec<String> = Vec::new();
        // The text after the names is their purpose.
        while let Some(word) = words.next().filter(|w| known.contains_key(*w)) {
            row.push(word.to_owned());
        }
        row
    };
    picture.expect("a picture").lines().map(line).filter(|row| !row.is_empty()).collect()
}

#[test]
fn crates_know_only_what_is_drawn_above_them() {
    let known = crates();
    let rows = drawn(&known);
    let row_of = |name: &str| rows.iter().position(|row| row.iter().any(|c| c == name));
    for (name, folder) in &known {
        let row = row_of(name).unwrap_or_else(|| panic!("{name} is not in the picture"));
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let of = manifest.split("\n[dependencies]").nth(1).unwrap_or_default();
        let of = of.split("\n[").next().unwrap_or_default();
        for line in of.lines().filter_map(|l| l.strip_prefix("darkfiber-")) {
            let other = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let above = row_of(other).unwrap_or_else(|| panic!("{other} is not in the picture"));
            assert!(above < row, "{name} knows {other}, which ARCHITECTURE.md does not draw above");
        }
    }
}

#[test]
fn lines_are_not_too_wide() {
    let mut wide = String::new();
    for (_, _, source) in sources() {
        for file in source.modules.values().map(|m| &m.file).collect::<BTreeSet<_>>() {
            let text = std::fs::read_to_string(file).expect("a source");
            let excused = source::left_alone(&text);
            for (i, line) in text.lines().enumerate() {
                let number = i + 1;
                let is_comment = line.trim_start().starts_with("//");
                let most = if is_comment { COMMENT } else { CODE };
                let excused = excused.contains(&number) || line.contains("://");
                if line.chars().count() > most && (is_comment || !excused) {
                    let _ = writeln!(wide, "{}:{number}", file.display());
                }
            }
        }
    }
    assert!(wide.is_empty(), "wider than {CODE} columns ({COMMENT} of a comment):\n{wide}");
}

/// A sentence that was broken into lines without a `\\` at the end of the first has blanks within.
#[test]
fn messages_have_no_runs_of_blanks() {
    let mut found = String::new();
    for (_, _, source) in sources() {
        for (file, literals) in &source.literals {
            for literal in literals.iter().filter(|l| runs_of_blanks(&l.text)) {
                let _ = writeln!(
                    found,
                    "{}:{}: {}",
                    file.display(),
                    literal.lines.start(),
                    literal.text
                );
            }
        }
    }
    assert!(found.is_empty(), "runs of blanks in messages:\n{found}");
}

/// Whether a text in one line has two or more blanks between two words. Columns of tables are between placeholders or
/// begin a line, and raw texts keep their layout.
fn runs_of_blanks(text: &str) -> bool {
    if !text.starts_with('"') {
        return false;
    }
    // A `\` at the end of a line takes the blanks of the next with it.
    let mut joined = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\\n") {
        joined.push_str(before);
        rest = after.trim_start();
    }
    joined.push_str(rest);
    if joined.contains('\n') || joined.contains("\\n") {
        return false;
    }
    let is_word = |c: char| c.is_alphabetic() || ",;.".contains(c);
    joined.match_indices("  ").any(|(at, _)| {
        let before = joined[..at].chars().next_back().is_some_and(is_word);
        let after = joined[at..].trim_start().chars().next().is_some_and(char::is_lowercase);
        before && after
    })
}

#[test]
fn a_sentence_broken_without_a_mark_is_found() {
    assert!(runs_of_blanks("\"one line,     and the next\""));
    assert!(!runs_of_blanks("\"one line, \\\n      and the next\""));
    assert!(!runs_of_blanks("\"{name:<5}  {text}\""));
}

#[test]
fn docs_list_all_engines() {
    let text = std::fs::read_to_string(root().join("docs/engines.md")).expect("docs/engines.md");
    let rows = text.lines().filter_map(|l| l.strip_prefix("| `")?.split(" |").next());
    let listed: Vec<&str> =
        rows.flat_map(|cell| cell.split(", ").map(|name| name.trim_matches('`'))).collect();
    let all: BTreeSet<&str> = ENGINES.names().collect();
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), all);
    assert_eq!(listed.len(), all.len(), "an engine is listed twice");
}
