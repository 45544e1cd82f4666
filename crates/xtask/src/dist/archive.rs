//! The program with all its files, in one archive that has the same bytes whenever and wherever it is packed.

use std::fs;
use std::path::{Path, PathBuf};

use super::binary::Binary;
use super::programs::{output, succeed};

/// Files that are packed unmodified.
const PAPERS: [&str; 6] =
    ["README.md", "CHANGELOG.md", "LIMITS.md", "LICENSE-APACHE", "LICENSE-MIT", "CITATION.cff"];
/// Shells, and the names of their files.
const SHELLS: [(&str, &str); 3] =
    [("bash", "darkfiber"), ("zsh", "_darkfiber"), ("fish", "darkfiber.fish")];

/// Packs it; the program writes its own completions and manual pages.
pub(super) fn of(root: &Path, out: &Path, binary: &Binary) -> Result<PathBuf, String> {
    let name = format!("darkfiber-{}-{}", env!("CARGO_PKG_VERSION"), binary.platform.name());
    let folder = root.join("target/packed").join(&name);
    let _none_is_there = fs::remove_dir_all(&folder);
    for part in ["completions", "man", "examples"] {
        fs::create_dir_all(folder.join(part)).map_err(|e| e.to_string())?;
    }
    copy(&binary.program, &folder.join("darkfiber"))?;
    for paper in PAPERS {
        copy(&root.join(paper), &folder.join(paper))?;
    }
    let examples = [root.join("examples/."), folder.join("examples")];
    let [from, to] = examples.map(|path| path.display().to_string());
    succeed("cp", &["-r", &from, &to], None)?;
    let program = binary.program.display().to_string();
    for (shell, file) in SHELLS {
        let text = output(&program, &["completions", shell], None)?;
        write(&folder.join("completions").join(file), &text)?;
    }
    for (page, text) in pages(&program)? {
        write(&folder.join("man").join(page), &text)?;
    }
    let packed = out.join(format!("{name}.tar.gz"));
    let parent = folder.parent().unwrap_or(root).display().to_string();
    let commit = output("git", &["log", "-1", "--format=%ct"], Some(root))?;
    let tar = packed.with_extension("");
    succeed(
        "tar",
        &[
            "--sort=name",
            &format!("--mtime=@{}", commit.trim()),
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "--mode=u=rwX,go=rX",
            "-C",
            &parent,
            "-cf",
            &tar.display().to_string(),
            &name,
        ],
        None,
    )?;
    succeed("gzip", &["-9nf", &tar.display().to_string()], None)?;
    Ok(packed)
}

/// The manual pages of the program and its commands, by the names of their files.
fn pages(program: &str) -> Result<Vec<(String, String)>, String> {
    let own = output(program, &["man"], None)?;
    let mut names = named(&own);
    let mut all = vec![("darkfiber.1".to_owned(), own)];
    while let Some(name) = names.pop() {
        let text = output(program, &["man", &name], None)?;
        // Some commands have commands of their own.
        names.extend(
            named(&text).into_iter().filter(|other| other.starts_with(&format!("{name}-"))),
        );
        all.push((format!("darkfiber-{name}.1"), text));
    }
    all.sort();
    all.dedup();
    Ok(all)
}

/// The commands that a page names: `darkfiber\-route(1)`, `darkfiber\-study\-run(1)`.
fn named(page: &str) -> Vec<String> {
    let after = page.split("darkfiber\\-").skip(1);
    after
        .filter_map(|rest| rest.split_once("(1)").map(|(name, _)| name.replace("\\-", "-")))
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
        .filter(|name| name != "help" && !name.ends_with("-help"))
        .collect()
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(|_| ()).map_err(|e| format!("{}: {e}", from.display()))
}

fn write(to: &Path, text: &str) -> Result<(), String> {
    fs::write(to, text).map_err(|e| format!("{}: {e}", to.display()))
}
