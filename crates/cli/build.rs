//! Finds the commit that is built, for `darkfiber --version`: `DARKFIBER_COMMIT` of the packager, else of a checkout, else of a
//! cargo package. A build from a bare archive has none.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DARKFIBER_COMMIT");
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let commit = std::env::var("DARKFIBER_COMMIT").ok().filter(|c| !c.is_empty());
    let commit = commit.or_else(|| of_checkout(&here)).or_else(|| of_package(&here));
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let text = commit.map_or_else(|| version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=DARKFIBER_VERSION={text}");
}

/// The commit of the checkout that this crate is in, and the day of it. Only if it is of this project: an unpacked package
/// may lie in any checkout.
fn of_checkout(here: &Path) -> Option<String> {
    let root = here.join("../..");
    if !root.join(".git").exists() {
        return None;
    }
    let git = |args: &[&str]| {
        let out = Command::new("git").arg("-C").arg(&root).args(args).output().ok()?;
        let text = String::from_utf8(out.stdout).ok()?.trim().to_owned();
        (out.status.success() && !text.is_empty()).then_some(text)
    };
    // The log of HEAD changes with every commit and checkout.
    let log = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["log", "-1", "--format=%h %cs"])
}

/// The commit that `cargo package` noted.
fn of_package(here: &Path) -> Option<String> {
    let noted = std::fs::read_to_string(here.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = noted.split_once("\"sha1\"")?;
    let sha: String = rest.chars().skip_while(|c| !c.is_ascii_hexdigit()).take(10).collect();
    (sha.len() == 10).then_some(sha)
}
