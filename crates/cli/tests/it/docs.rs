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
