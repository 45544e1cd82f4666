//! The page of benchmarks is the one that its rows and results make, short, with losses first and each of them explained.

use std::fs;
use std::process::Command;

use crate::root;

/// Most lines of the page.
const LINES: usize = 200;

/// What the page says of a loss without a reason.
const UNEXPLAINED: &str = "not explained yet";

#[test]
fn the_page_of_benchmarks_is_that_of_its_results() {
    let dir = tempfile::tempdir().expect("a directory");
    let (page, plot) = (dir.path().join("benchmarks.md"), dir.path().join("benchmarks.svg"));
    let done = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["bench", "--table", "--page"])
        .arg(&page)
        .arg("--plot")
        .arg(&plot)
        .output()
        .expect("run");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for (made, name) in [(page, "docs/benchmarks.md"), (plot, "docs/benchmarks.svg")] {
        let made = fs::read_to_string(made).expect("made");
        let kept = fs::read_to_string(root().join(name)).unwrap_or_default();
        assert!(made == kept, "{name} differs: `cargo run -p xtask -- bench --table` writes it");
    }
}

#[test]
fn losses_come_first_and_are_explained() {
    let page = fs::read_to_string(root().join("docs/benchmarks.md")).expect("the page");
    let count = page.lines().count();
    assert!(count <= LINES, "docs/benchmarks.md has {count} lines, at most {LINES}");
    let first = page.lines().find_map(|line| line.strip_prefix("## "));
    assert_eq!(first, Some("Losses"));
    assert!(!page.contains(UNEXPLAINED), "a loss needs `miss` in benches/bench.toml");
    let (head, rest) = page.split_once("\n## Losses\n").expect("losses");
    let rows = |text: &str| text.lines().filter(|l| l.starts_with("| `")).count();
    let losses = rest.split("\n## ").next().unwrap_or_default();
    let counted = head.lines().last().unwrap_or_default();
    assert!(
        head.contains(&format!("{} of ", rows(losses))),
        "{} losses, and: {counted}",
        rows(losses)
    );
}

#[test]
fn bench_says_what_is_wrong() {
    let run = |args: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("bench").args(args).output();
        let done = done.expect("run");
        assert_eq!(done.status.code(), Some(2));
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let error = run(&["--darkfiber", "/no/such/program"]);
    assert!(error.contains("/no/such/program: No such file"), "{error}");
    let error = run(&["--table", "--page", "/no/such/folder/page.md"]);
    assert!(error.contains("/no/such/folder/page.md: No such file"), "{error}");
}
