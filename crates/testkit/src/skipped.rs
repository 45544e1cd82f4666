//! Tests that cannot prove anything on this machine.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::thread;

/// Reports that the calling test, or a part of it, proves nothing here, with the reason.
///
/// The test runner hides the output of tests that pass. So the reasons are also appended to the file that
/// `DARKFIBER_SKIPPED` names, a line each, from which `.ci/run` counts and prints them.
///
/// # Panics
/// If that file cannot be written.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
pub fn skipped(why: &str) {
    let line = format!("{}: {why}\n", thread::current().name().unwrap_or("a test"));
    eprint!("skipped: {line}");
    if let Some(path) = std::env::var_os("DARKFIBER_SKIPPED") {
        let file = OpenOptions::new().create(true).append(true).open(path);
        // One write, so that lines of tests at the same time do not mix.
        let told = file.and_then(|mut file| file.write_all(line.as_bytes()));
        told.expect("the file of DARKFIBER_SKIPPED can be written");
    }
}
