//! README and docs agree with the output of the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use darkfiber_testkit::docs::{Document, Shell, When};

/// Runs the commands of documents; returns whether all outputs agree.
pub(crate) fn run(root: &Path, all: bool, only: Option<&str>) -> Result<bool, String> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "-p", "darkfiber"])
        .current_dir(root)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("darkfiber cannot be built".to_owned());
    }
    let program = fs::canonicalize(root.join("target/release/darkfiber"))
        .map_err(|e| format!("target/release/darkfiber: {e}"))?;
    let root = &fs::canonicalize(root).map_err(|e| e.to_string())?;
    let mut is_true = true;
    for path in documents(root)? {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if only.is_some_and(|part| !name.contains(part)) {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
        let document = Document::read(&text).map_err(|e| format!("{name}: {e}"))?;
        let shell = Shell::new(&document, root, &program);
        for shown in &document.shown {
            let is_run = shown.when == When::Short || all && shown.when == When::Long;
            if !is_run {
                println!("not run  {name}:{} {}", shown.line, shown.command);
                continue;
            }
            if let Some(file) = shell.lacks(shown) {
                println!("skipped  {name}:{} {} ({file} is not here)", shown.line, shown.command);
                continue;
            }
            let begin = Instant::now();
            let (_, problem) = shell.run(shown);
            let seconds = begin.elapsed().as_secs_f64();
            let verdict = if problem.is_some() { "DIFFERS" } else { "same   " };
            println!("{verdict}  {name}:{} {} ({seconds:.1} s)", shown.line, shown.command);
            if let Some(problem) = problem {
                is_true = false;
                println!("{problem}");
            }
        }
    }
    Ok(is_true)
}

/// README and all of docs.
fn documents(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut all = vec![root.join("README.md")];
    for folder in ["docs", "docs/benchmarks"] {
        let docs = fs::read_dir(root.join(folder)).map_err(|e| format!("{folder}: {e}"))?;
        all.extend(
            docs.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "md")),
        );
    }
    all[1..].sort();
    Ok(all)
}
