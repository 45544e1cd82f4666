//! The tier of checks that take hours.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A step: its name and its command. Those with `?` before them report findings by their exit status, which is printed,
/// and is no failure.
const STEPS: [(&str, &str); 7] = [
    ("fuzz targets build", "cd fuzz && cargo +nightly fuzz build"),
    ("ignored tests", "cargo test --release --workspace -- --ignored"),
    (
        "new random cases",
        "export PROPTEST_RNG_SEED=$(date +%s) PROPTEST_CASES=2000; echo seed $PROPTEST_RNG_SEED; cargo test --release --workspace && cargo test --release -p darkfiber-operate --test it a_million -- --ignored",
    ),
    (
        "several processes",
        "cargo clippy --workspace --features darkfiber/mpi --all-targets --quiet -- -D warnings && \
         cargo test --release --workspace --features darkfiber/mpi --test mpi",
    ),
    ("documents", "cargo run --release --quiet -p xtask -- docs --all"),
    // Fails if the program is too large.
    ("distribution", "cargo run --release --quiet -p xtask -- dist target/nightly/distribution"),
    (
        "?experiments",
        "cargo run --release --quiet -- reproduce --all --quiet -o target/nightly/reproduced > target/nightly/reproduced.txt",
    ),
];

/// Runs the steps that are not done at this commit; whether all are as they should be.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let dir = root.join("target/nightly");
    fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let commit = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("git: {e}"))?;
    let commit = String::from_utf8_lossy(&commit.stdout).trim().to_owned();
    let mut is_fine = true;
    for (name, command) in STEPS {
        let (name, may_find) = name.strip_prefix('?').map_or((name, false), |n| (n, true));
        let mark = dir.join(name.replace(' ', "-"));
        if fs::read_to_string(&mark).is_ok_and(|done| done.starts_with(&commit)) {
            println!("{name}: done at this commit");
            continue;
        }
        println!("{name}: {command}");
        let begin = Instant::now();
        let status = Command::new("sh").args(["-c", command]).current_dir(root).status();
        let seconds = begin.elapsed().as_secs_f64();
        let code = status.map_err(|e| format!("{name}: {e}"))?.code();
        if code == Some(0) || may_find && code == Some(1) {
            println!("{name}: done in {seconds:.0} s");
            fs::write(&mark, format!("{commit} {seconds:.0} s\n"))
                .map_err(|e| format!("{}: {e}", mark.display()))?;
        } else {
            println!("{name}: FAILED after {seconds:.0} s");
            is_fine = false;
        }
    }
    Ok(is_fine)
}
