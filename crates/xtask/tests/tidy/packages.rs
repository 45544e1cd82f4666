//! Every crate that is no tool of the project is fit for a registry: its description, licence, keywords, versions of dependencies.

use std::fmt::Write as _;

use crate::{crates, root};

/// Keys that a registry requires, or shows.
const KEYS: [&str; 8] = [
    "description",
    "version",
    "edition",
    "rust-version",
    "license",
    "readme",
    "keywords",
    "categories",
];

/// The lines of a section of a manifest.
fn section<'a>(manifest: &'a str, name: &str) -> Vec<&'a str> {
    let lines = manifest.lines().skip_while(|line| line.trim() != format!("[{name}]")).skip(1);
    lines.take_while(|line| !line.starts_with('[')).collect()
}

#[test]
fn crates_are_fit_for_a_registry() {
    let mut problems = String::new();
    let mut published = 0;
    for (name, folder) in crates() {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let package = section(&manifest, "package");
        if package.contains(&"publish = false") {
            continue;
        }
        published += 1;
        for key in KEYS {
            let is_key = |line: &&str| {
                let rest = line.strip_prefix(key).unwrap_or_default();
                rest.starts_with(" = ") || rest == ".workspace = true"
            };
            if !package.iter().any(is_key) {
                let _ = writeln!(problems, "{name}: [package] has no {key}");
            }
        }
        // The front page of its documentation.
        let lib = folder.join("src/lib.rs");
        let source = if lib.exists() { lib } else { folder.join("src/main.rs") };
        let text = std::fs::read_to_string(source).expect("a source");
        let front = text.lines().next().and_then(|line| line.strip_prefix("//! "));
        if front.is_none_or(|line| !line.contains(' ')) {
            let _ = writeln!(problems, "{name}: its front page does not say what it is");
        }
        // Dependencies on tools are for tests alone.
        for tool in ["darkfiber-testkit", "darkfiber-py", "xtask"] {
            let is_tool = |line: &&str| line.starts_with(tool);
            if section(&manifest, "dependencies").iter().any(is_tool) {
                let _ = writeln!(problems, "{name}: needs {tool}, which no registry has");
            }
        }
    }
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    for line in section(&workspace, "workspace.dependencies") {
        let is_own = line.starts_with("darkfiber-") && !line.starts_with("darkfiber-testkit");
        if is_own && !line.contains("version = \"") {
            let _ = writeln!(problems, "{line}: has no version");
        }
    }
    assert!(problems.is_empty(), "{problems}");
    assert!(published >= 15, "only {published} crates were looked at");
}
