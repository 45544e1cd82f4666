//! The folder of real data, which may be absent, and small helpers.

use std::path::{Path, PathBuf};

use darkfiber_fabric::Fabric;
use darkfiber_formats::{Diagnostics, input, subnet_lst};

/// A file of the shared data, or `None` (and a word about it) where there is none.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("DARKFIBER_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = root.join(name);
    if path.exists() {
        Some(path)
    } else {
        eprintln!("skipped: {} is not there", path.display());
        None
    }
}

pub(crate) fn text(path: &Path) -> String {
    input::read_text(path).expect("readable")
}

/// The fabric of a list of links that must be without fault.
pub(crate) fn fabric(path: &Path) -> Fabric {
    let (topology, found) = subnet_lst::read(&text(path), path).expect("a list of links");
    assert_eq!(lines(&found), "");
    topology.fabric
}

/// Remarks, one a line.
pub(crate) fn lines(found: &Diagnostics) -> String {
    let lines: Vec<String> = found.0.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// What a writer writes.
pub(crate) fn written(
    write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory takes it");
    String::from_utf8(out).expect("text")
}
