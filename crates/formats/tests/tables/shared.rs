//! The folder of real data, which may be absent, and small helpers.

use std::path::Path;

use darkfiber_fabric::Fabric;
use darkfiber_formats::{Diagnostics, input, subnet_lst};

pub(crate) use darkfiber_testkit::shared as file;

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

/// Output of a writer.
pub(crate) fn written(
    write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory takes it");
    String::from_utf8(out).expect("text")
}
