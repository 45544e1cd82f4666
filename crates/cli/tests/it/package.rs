//! The Debian package: built of this program, installed into a separate folder, used there, and removed without a trace.

use std::fs;
use std::path::Path;
use std::process::Command;

use darkfiber_testkit::skipped;

/// Runs a program; returns its output.
fn succeed(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{command:?}: {out}{err}");
    out.into_owned()
}

/// Files below a folder, by their paths in it.
fn files(folder: &Path, below: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(below).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(folder, &path, all);
        } else {
            all.push(path.strip_prefix(folder).unwrap_or(&path).display().to_string());
        }
    }
}

/// All files of an installed package, without the data of the package manager.
fn installed(root: &Path) -> Vec<String> {
    let mut all = Vec::new();
    files(root, root, &mut all);
    all.retain(|path| !path.starts_with("var/lib/dpkg"));
    all.sort();
    all
}

#[test]
fn a_debian_package_is_installed_used_and_removed() {
    for tool in ["dpkg", "dpkg-deb", "objdump", "strip", "gzip"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return skipped(&format!("{tool} is not installed"));
        }
    }
    let project = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("out");
    let mut build = Command::new("sh");
    build.arg(format!("{project}/packaging/deb.sh")).arg(env!("CARGO_BIN_EXE_darkfiber")).arg(&out);
    let made = succeed(build.env("DPKG_DEB_COMPRESSOR_TYPE", "none"));
    let package = made.lines().next().expect("the path of the package");
    if Command::new("lintian").arg("--version").output().is_ok() {
        let mut lint = Command::new("lintian");
        lint.args(["--allow-root", "--fail-on", "error,warning", "--suppress-tags"]);
        // It is not compressed here, to save time.
        let plain =
            ["control", "data"].map(|part| format!("uses-no-compression-for-{part}-tarball"));
        succeed(lint.arg(plain.join(",")).arg(package));
    } else {
        skipped("lintian is not installed: the package is not linted");
    }

    let root = dir.path().join("root");
    for folder in ["info", "updates", "triggers"] {
        fs::create_dir_all(root.join("var/lib/dpkg").join(folder)).expect("a folder");
    }
    for file in ["status", "available"] {
        fs::write(root.join("var/lib/dpkg").join(file), "").expect("a file");
    }
    let dpkg = |args: &[&str]| {
        let mut command = Command::new("dpkg");
        command.arg(format!("--root={}", root.display())).args([
            "--force-script-chrootless",
            "--force-not-root",
            "--force-depends",
        ]);
        succeed(command.args(args))
    };
    dpkg(&["--install", package]);

    let program = root.join("usr/bin/darkfiber");
    assert!(succeed(Command::new(&program).arg("--version")).starts_with("darkfiber "));
    let all = installed(&root);
    let share = "usr/share/doc/darkfiber";
    for file in [
        "usr/share/man/man1/darkfiber.1.gz",
        "usr/share/man/man1/darkfiber-route.1.gz",
        "usr/share/bash-completion/completions/darkfiber",
        &format!("{share}/copyright"),
        &format!("{share}/README.md.gz"),
        &format!("{share}/cookbook.md.gz"),
        &format!("{share}/reference/engines.md.gz"),
        &format!("{share}/examples/interference.toml"),
        &format!("{share}/examples/studies/faults.toml"),
    ] {
        assert!(all.iter().any(|path| path == file), "{file} is not installed: {all:#?}");
    }
    // An example goes where it is installed.
    let example = root.join(share).join("examples/crossing.toml");
    let hot = succeed(Command::new(&program).arg("hot").arg(example).arg("-q"));
    assert!(hot.contains("2 entries in 2 blocks"), "{hot}");

    dpkg(&["--purge", "darkfiber"]);
    assert_eq!(installed(&root), Vec::<String>::new());
}
