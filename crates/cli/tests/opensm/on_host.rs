//! The library and the shim by which senders follow `lid-choice`, against a stub of libibverbs: `make -C plugin/lids check`.

use std::path::Path;
use std::process::Command;

use crate::tools::{program, skipped};

/// Runs the checks of that folder; with a program they also compare tables of real machines.
fn check(darkfiber: Option<&str>) {
    let header = "/usr/include/infiniband/verbs.h";
    if !Path::new(header).is_file() {
        skipped(header);
        return;
    }
    let (Some(make), Some(_), Some(_)) = (program("make"), program("cc"), program("python3"))
    else {
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin/lids");
    let mut command = Command::new(make);
    command.arg("-C").arg(folder).arg("check").env_remove("DARKFIBER");
    command.envs(darkfiber.map(|program| ("DARKFIBER", program)));
    let output = command.output().expect("make starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains(" passed, 0 failed"), "{text}");
}

#[test]
fn senders_follow_their_tables() {
    check(None);
}

#[test]
#[ignore = "slow: every pair of whole machines, in the nightly tier"]
fn senders_follow_the_tables_of_whole_machines() {
    check(Some(env!("CARGO_BIN_EXE_darkfiber")));
}
