//! Tables and job lists that go with an anonymous fabric.

use std::path::{Path, PathBuf};

use darkfiber_formats::anonymise::Anonymiser;
use darkfiber_formats::input;

use crate::failure::Failure;
use crate::options::Common;
use crate::{out, save};

/// Rewrites every table and job list with the names of `anonymiser`, into the folder of `target`.
pub(crate) fn rewrite(
    anonymiser: &Anonymiser,
    target: &Path,
    tables: &[PathBuf],
    jobs: &[PathBuf],
    common: &Common,
) -> Result<(), Failure> {
    let folder = target.parent().unwrap_or(Path::new(""));
    let mut files: Vec<(PathBuf, PathBuf)> = Vec::new();
    for path in tables.iter().chain(jobs) {
        let name = path
            .file_name()
            .ok_or_else(|| Failure::usage(format!("{} names no file", path.display())))?;
        if path.is_dir() {
            for file in files_in(path)? {
                let inner = file.file_name().unwrap_or_default();
                // Provenance names files of the site, and the fabric is written anyway.
                if inner != "route.json" && inner != "fabric.topo" {
                    files.push((file.clone(), folder.join(name).join(inner)));
                }
            }
        } else {
            files.push((path.clone(), folder.join(name)));
        }
    }
    for (from, to) in &files {
        if same_file(from, to) || files.iter().any(|(other, _)| same_file(other, to)) {
            return Err(Failure::usage(format!(
                "{} would be overwritten by its anonymous copy",
                from.display()
            ))
            .hint("give -o a file in another folder"));
        }
        if to == target || files.iter().filter(|(_, other)| other == to).count() > 1 {
            return Err(Failure::usage(format!("two files would be written to {}", to.display()))
                .hint("rename one of them first"));
        }
    }
    // All are read before the first is written: a part of them without the fabric would be of no use.
    let mut renamed = Vec::with_capacity(files.len());
    for (from, _) in &files {
        let text = input::read_text(from)?;
        if let Some(line) = text.lines().position(has_host_list) {
            return Err(Failure::input(format!(
                "{}: line {}: host lists in brackets hide names: {}",
                from.display(),
                line + 1,
                text.lines().nth(line).unwrap_or_default().trim()
            ))
            .hint("expand them first, with `scontrol show hostnames`"));
        }
        renamed.push(anonymiser.rewrite_text(&text));
    }
    for ((_, to), text) in files.iter().zip(&renamed) {
        if let Some(parent) = to.parent().filter(|p| !p.as_os_str().is_empty()) {
            save::directory(parent)?;
        }
        save::file(to, |out| out.write_all(text.as_bytes()))?;
        if !common.quiet {
            out::eprint_line(&format!("wrote {}", to.display()));
        }
    }
    if !files.is_empty() && !common.quiet {
        out::eprint_line(
            "note: names that the fabric does not have (users, accounts, paths) stay as they are; \
             look before you share",
        );
    }
    Ok(())
}

fn files_in(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |e| Failure::input(format!("cannot read {}: {e}", dir.display()));
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .map_err(unreadable)?
        .collect::<Result<Vec<_>, _>>()
        .map_err(unreadable)?
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    Ok(files)
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// Whether a line has a host list such as `cn[01-17]` or `rack1-node[3,5-7]`.
fn has_host_list(line: &str) -> bool {
    line.match_indices('[').any(|(at, _)| {
        let before =
            line[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '-');
        let inside = line[at + 1..].split(']').next().unwrap_or_default();
        let ranges = inside.starts_with(|c: char| c.is_ascii_digit())
            && inside.chars().all(|c| c.is_ascii_digit() || "-,".contains(c))
            && inside.len() < line.len() - at - 1;
        before && ranges && inside.contains(['-', ','])
    })
}

#[cfg(test)]
mod tests {
    use super::has_host_list;

    #[test]
    fn host_lists_are_told_from_ports_and_ranges() {
        for line in ["1234 cn[01-17] RUNNING", "rack1-node[3,5-7]"] {
            assert!(has_host_list(line), "{line}");
        }
        for line in ["Unicast lids [0x0-0x12] of switch", "[1] \"S-1\"[3]", "cn01", "\"H-2\"[1](2)"]
        {
            assert!(!has_host_list(line), "{line}");
        }
    }
}
