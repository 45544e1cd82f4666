//! darkfiber with the real OpenSM, on the fabric simulator ibsim: the output of `route -o` is loaded, read back
//! from the switches, and judged by ibdmchk.
//!
//! Needs the Debian packages opensm, ibsim-utils, libumad2sim0, infiniband-diags and ibutils (for the plugin libopensm-dev,
//! libibumad-dev, gcc and make, too), no hardware and no privileges. Where a tool is missing, a test reports it on standard
//! error and passes.

mod apply;
mod blocks;
mod counters;
mod daemon;
mod levels;
mod loads;
mod on_host;
mod plugin;
mod process;
mod referee;
mod remake;
mod simulation;
mod soak;
mod tools;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use process::finish;

/// Runs `darkfiber route SPEC.. -o DIR -q`.
fn route(words: &[&str], dir: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_darkfiber"));
    command.arg("route").args(words).arg("-o").arg(dir).arg("-q").stdout(Stdio::null());
    let code = finish(&mut command, Duration::from_secs(20));
    assert_eq!(code, Some(0), "darkfiber route {words:?}");
}

/// A file of a directory, as text.
fn text(dir: &Path, name: &str) -> String {
    let path = dir.join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}
