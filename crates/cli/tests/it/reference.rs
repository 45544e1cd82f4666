//! The reference in docs/reference agrees with the program: its help, its lists, the schemas of its results.
//!
//! `DARKFIBER_UPDATE_DOCS=1` writes it again.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{run, run_with};

/// Folder of the pages.
fn folder() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference")).to_owned()
}

/// Text below the heading of every page.
const ORIGIN: &str = "Generated from the program. Do not edit; \
                      `DARKFIBER_UPDATE_DOCS=1 cargo test --workspace --test it -- reference` writes it anew.\n";

/// The help of all commands, in the order of `darkfiber --help`, each behind the command above it.
fn commands() -> String {
    let mut page = format!("# Commands\n\n{ORIGIN}");
    let mut waiting = vec![Vec::new()];
    while let Some(command) = waiting.pop() {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let line = words.join(" ");
        let help = run_with(&[("COLUMNS", "100")], format!("{line} --help").trim());
        assert_eq!(help.code, 0, "{line}: {}", help.err);
        let title = format!("darkfiber {line}");
        let _ = write!(page, "\n## {}\n\n```text\n{}```\n", title.trim(), trimmed(&help.out));
        let below = subcommands(&help.out, command.is_empty()).into_iter().rev();
        assert!(command.len() < 3, "{line} is no command");
        waiting.extend(below.map(|name| [command.clone(), vec![name]].concat()));
    }
    page
}

/// The commands that a help lists: below `Commands:`, and of all commands in groups before the options.
fn subcommands(help: &str, is_top: bool) -> Vec<String> {
    let heading = if is_top { "<COMMAND>\n" } else { "\nCommands:\n" };
    let Some((_, listed)) = help.split_once(heading) else { return Vec::new() };
    let listed = listed.split("\nOptions:").next().unwrap_or_default();
    let entries = listed.lines().filter_map(|l| l.strip_prefix("  "));
    let names = entries.filter(|l| !l.starts_with(' ')).filter_map(|l| l.split(' ').next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Lines without blanks at their ends, and one line break at the end.
fn trimmed(text: &str) -> String {
    let lines = text.trim_end().lines();
    lines.fold(String::new(), |mut all, line| {
        let _ = writeln!(all, "{}", line.trim_end());
        all
    })
}

/// Names of all lists, and their subjects.
fn kinds() -> Vec<(String, String)> {
    let table = run("list --format json").json();
    let rows = table["items"].as_array().expect("lists").clone();
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().expect("text").to_owned();
    rows.iter().map(|row| (text(row, "list"), text(row, "says_of_each"))).collect()
}

/// All that a list has: the table, then each entry with its documentation.
fn list(kind: &str, about: &str) -> String {
    let mut page = format!("# List of {kind}\n\n{ORIGIN}\nEach entry says: {about}.\n");
    let wide = [("COLUMNS", "120")];
    let table = run_with(&wide, &format!("list {kind}")).out;
    let _ = write!(page, "\n```text\n$ darkfiber list {kind}\n{}```\n", trimmed(&table));
    let rows = run(&format!("list {kind} --format csv")).out;
    for name in rows.lines().skip(1).filter_map(|row| row.split(',').next()) {
        let entry = run_with(&wide, &format!("list {kind} {name}"));
        assert_eq!(entry.code, 0, "{kind} {name}: {}", entry.err);
        let _ = write!(page, "\n## {name}\n\n```text\n{}```\n", trimmed(&entry.out));
    }
    page
}

/// The schemas in docs/schema, with their subjects and keys.
fn schemas() -> String {
    let mut page = format!(
        "# Schemas of results\n\n{ORIGIN}\n`--format json` prints one object whose keys are those of a schema \
         ([JSON Schema](https://json-schema.org)). `scenario.json` is the schema of scenario files.\n"
    );
    let mut files: Vec<PathBuf> = fs::read_dir(folder().with_file_name("schema"))
        .expect("schemas")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    for path in files {
        let name = path.file_name().unwrap_or_default().display().to_string();
        let text = fs::read_to_string(&path).expect("a schema");
        let schema: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let first = |v: &serde_json::Value| {
            let text = v["description"].as_str().unwrap_or_default();
            text.split("\n\n").next().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
        };
        let _ = write!(page, "\n## {name}\n\n[{name}](../schema/{name}). {}\n", first(&schema));
        let Some(keys) = schema["properties"].as_object() else { continue };
        page.push_str("\n| key | meaning |\n|---|---|\n");
        for (key, value) in keys {
            let _ = writeln!(page, "| `{key}` | {} |", first(value));
        }
    }
    page
}

#[test]
fn reference_is_what_the_program_says() {
    let mut pages = vec![("commands".to_owned(), commands()), ("schemas".to_owned(), schemas())];
    let lists = kinds();
    assert!(lists.len() > 10, "{lists:?}");
    pages.extend(lists.into_iter().map(|(kind, about)| {
        let page = list(&kind, &about);
        (kind, page)
    }));
    let update = std::env::var_os("DARKFIBER_UPDATE_DOCS").is_some();
    let mut stale = Vec::new();
    for (name, page) in &pages {
        let path = folder().join(format!("{name}.md"));
        if update {
            fs::create_dir_all(folder()).expect("the folder");
            fs::write(&path, page).expect("written");
        } else if fs::read_to_string(&path).ok().as_ref() != Some(page) {
            stale.push(name.as_str());
        }
    }
    assert!(
        stale.is_empty(),
        "docs/reference is not what the program says: {}; DARKFIBER_UPDATE_DOCS=1 writes it anew",
        stale.join(", ")
    );
    let on_disk = fs::read_dir(folder()).expect("docs/reference").count();
    assert_eq!(on_disk, pages.len(), "docs/reference has a page that nothing generates");
}
