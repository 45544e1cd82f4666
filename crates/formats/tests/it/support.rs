//! Paths of test files.

use std::path::{Path, PathBuf};

use darkfiber_fabric::Fabric;
use darkfiber_formats::{Diagnostics, ibnetdiscover};

/// A file that is shipped with the project.
pub(crate) fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/fabrics").join(name)
}

pub(crate) use darkfiber_testkit::shared;

/// Reads a dump that must be readable.
pub(crate) fn dump(text: &str) -> (Fabric, Diagnostics) {
    match ibnetdiscover::read(text, Path::new("dump.topo")) {
        Ok((t, d)) => (t.fabric, d),
        Err(e) => panic!("{e}"),
    }
}
