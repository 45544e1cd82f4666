//! The book has every page once, its links lead somewhere, and no page that people wrote is longer than they read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::root;

/// Most words of prose of a page.
const WORDS: usize = 1500;

/// Logs may be as long as their records.
const LOGS: [&str; 4] = ["benchmarks.md", "conformance.md", "testing.md", "validation.md"];

/// Pages besides docs that belong to the book.
const BESIDE: [&str; 6] = [
    "README.md",
    "LIMITS.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "examples/README.md",
];

/// All pages of a folder below the project, by their paths from its root.
fn pages(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| format!("{folder}/{}", name.display()));
    names.filter(|name| Path::new(name).extension().is_some_and(|e| e == "md")).collect()
}

/// All pages of the book.
fn book() -> BTreeSet<String> {
    let mut all = pages("docs");
    all.extend(pages("docs/reference"));
    all.extend(pages("docs/benchmarks"));
    all.extend(BESIDE.map(str::to_owned));
    all
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap_or_else(|e| panic!("{page}: {e}"))
}

/// Lines outside of blocks of code, with their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    let prose = move |&(_, line): &(usize, &str)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    };
    text.lines().enumerate().map(|(i, line)| (i + 1, line)).filter(prose)
}

/// Targets of the links of a line, including pictures; code between backticks has none.
fn targets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut ticks = 0;
    for (at, _) in line.match_indices(['`', ']']) {
        if line[at..].starts_with('`') {
            ticks += 1;
        } else if let Some(rest) = line[at..].strip_prefix("](") {
            // The text of a link may be code, its target may not.
            let is_text = ticks % 2 == 0;
            found.extend(rest.split(')').next().filter(|_| is_text));
        }
    }
    found
}

/// The name by which a heading is linked: lower case, without punctuation, `-` for blanks.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    heading.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = lines(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#'))).collect()
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        if part == Component::ParentDir {
            whole.pop();
        } else {
            whole.push(part);
        }
        whole
    })
}

/// Words outside of blocks, tables and comments.
fn words(text: &str) -> usize {
    let prose = lines(text).map(|(_, line)| line.trim());
    let prose = prose.filter(|line| !line.starts_with('|') && !line.starts_with("<!--"));
    prose.map(|line| line.split_whitespace().count()).sum()
}

#[test]
fn the_book_has_every_page_once() {
    let summary = read("book/src/SUMMARY.md");
    let mut listed: BTreeMap<&str, usize> = BTreeMap::new();
    for target in summary.lines().flat_map(targets) {
        *listed.entry(target).or_default() += 1;
    }
    let twice: Vec<_> = listed.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "book/src/SUMMARY.md lists twice: {twice:?}");
    let listed: BTreeSet<String> = listed.into_keys().map(str::to_owned).collect();
    let all = book();
    let missing: Vec<_> = all.difference(&listed).collect();
    assert!(missing.is_empty(), "book/src/SUMMARY.md is to list {missing:?}");
    let gone: Vec<_> = listed.difference(&all).collect();
    assert!(gone.is_empty(), "book/src/SUMMARY.md lists what is not there: {gone:?}");
    for page in all {
        let linked = root().join("book/src").join(&page);
        let is_same = fs::read(&linked).ok() == fs::read(root().join(&page)).ok();
        assert!(is_same, "book/src/{page} is to be a link to {page}");
    }
}

#[test]
fn links_lead_somewhere() {
    let mut problems = Vec::new();
    let mut checked = 0;
    for page in book() {
        let text = read(&page);
        let folder = Path::new(&page).parent().unwrap_or(Path::new(""));
        for (number, line) in lines(&text) {
            for target in targets(line).into_iter().filter(|t| !t.contains("://")) {
                checked += 1;
                let (file, part) = target.split_once('#').unwrap_or((target, ""));
                let file =
                    if file.is_empty() { PathBuf::from(&page) } else { plain(&folder.join(file)) };
                let path = root().join(&file);
                let why = if !path.exists() {
                    "there is no such file"
                } else if !part.is_empty()
                    && !fs::read_to_string(&path).is_ok_and(|t| anchors(&t).contains(part))
                {
                    "there is no such heading"
                } else {
                    continue;
                };
                problems.push(format!("{page}:{number}: {target}: {why}"));
            }
        }
    }
    assert!(checked > 200, "only {checked} links were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn pages_are_no_longer_than_people_read() {
    let mut long = Vec::new();
    let mut written = pages("docs");
    written.insert("README.md".to_owned());
    for page in written.iter().filter(|page| !LOGS.iter().any(|log| page.ends_with(log))) {
        let count = words(&read(page));
        if count > WORDS {
            long.push(format!("{page} has {count} words of prose, at most {WORDS}"));
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn words_links_and_headings_are_found() {
    let text = "# A b: `c`, d_e\n\none [two `x`](y.md#z) ![p](q.svg)\n```text\n[no](no.md) four\n```\n\
                | a | b |\n<!-- made -->\n`[not](this.md)` three\n";
    assert_eq!(words(text), 11);
    let found: Vec<&str> = lines(text).flat_map(|(_, line)| targets(line)).collect();
    assert_eq!(found, ["y.md#z", "q.svg"]);
    assert_eq!(anchors(text), BTreeSet::from(["a-b-c-d_e".to_owned()]));
}
