//! README and docs agree with the output of the program.

use std::fs;
use std::path::Path;

use darkfiber_testkit::docs::{Document, Shell, When};

#[test]
fn what_documents_show_is_what_is_printed() {
    let root =
        fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).expect("the project");
    let pages = |folder| fs::read_dir(root.join(folder)).expect("a folder").flatten();
    let mut all: Vec<_> = pages("docs").chain(pages("docs/benchmarks")).map(|e| e.path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "md"));
    all.push(root.join("README.md"));
    let mut problems = Vec::new();
    let mut run = 0;
    for path in all {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("read");
        let document = Document::read(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let shell = Shell::new(&document, &root, Path::new(env!("CARGO_BIN_EXE_darkfiber")));
        for shown in document.shown.iter().filter(|s| s.when == When::Short) {
            run += 1;
            if let (_, Some(problem)) = shell.run(shown) {
                problems.push(format!("{name}:{} {}\n{problem}", shown.line, shown.command));
            }
        }
    }
    assert!(run > 10, "only {run} commands are run");
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

/// Names with `@` that are no presets: placeholders, and groups of hosts.
const OTHERS: [&str; 6] = ["group", "groups", "opt-n-m-r", "preset", "presets", "rack7"];

#[test]
fn presets_that_documents_and_examples_name_are_there() {
    let root =
        fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).expect("the project");
    let listed = crate::run("list presets --format csv").out;
    let there: Vec<&str> =
        listed.lines().filter_map(|line| line.strip_prefix('@')?.split(',').next()).collect();
    let files = ["docs", "docs/benchmarks", "docs/reference", "examples", "examples/studies", "."]
        .into_iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).expect("a folder").flatten());
    let is_text = |p: &Path| p.extension().is_some_and(|e| e == "md" || e == "toml");
    let (mut found, mut wrong) = (0, Vec::new());
    for path in files.map(|e| e.path()).filter(|p| is_text(p)) {
        let text = fs::read_to_string(&path).expect("read");
        // A name stands at the beginning of a word, and a word ends at a space, a quote or a bracket.
        for word in text.split(|c: char| c.is_whitespace() || "\"'`(=,".contains(c)) {
            let Some(name) = word.strip_prefix('@') else { continue };
            let end = name.find(|c: char| c != '-' && !c.is_ascii_alphanumeric());
            let name = &name[..end.unwrap_or(name.len())];
            if name.starts_with(|c: char| c.is_ascii_lowercase()) && !OTHERS.contains(&name) {
                found += 1;
                if !there.contains(&name) {
                    wrong.push(format!("{}: @{name}", path.display()));
                }
            }
        }
    }
    assert!(found > 100, "only {found} presets are named");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
