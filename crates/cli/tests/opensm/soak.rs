//! One fault of each class of the soak, by seed: `benches/opensm/soak.py` makes them and judges what is read back.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::tools::{Tools, plugin, program};

#[test]
fn one_fault_of_each_class_loses_no_pair_and_proves_every_plan() {
    let (Some(_), Some(python)) = (Tools::find(), program("python3")) else { return };
    let (Some(_), Some(_)) = (program("ibnetdiscover"), program("saquery")) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let Some(library) = plugin(dir.path()) else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(python);
    command
        .arg(root.join("benches/opensm/soak.py"))
        .arg(dir.path().join("work"))
        .args(["--each", "--seed", "7", "--darkfiber", env!("CARGO_BIN_EXE_darkfiber")])
        .arg("--plugin")
        .arg(library.join("libdfosm.so"))
        .stdin(Stdio::null());
    let ended = command.output().expect("python starts");
    let said = String::from_utf8_lossy(&ended.stdout);
    let complaint = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}{complaint}");
}
