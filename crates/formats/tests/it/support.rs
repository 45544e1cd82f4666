//! Where files are, and how diagnostics are compared.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use darkfiber_fabric::Fabric;
use darkfiber_formats::{Diagnostics, ibnetdiscover};

/// A file that is shipped with the project.
pub(crate) fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/fabrics").join(name)
}

/// A file of the data that is too large to ship; `None` where it is absent, which is told.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let named = std::env::var_os("DARKFIBER_SHARED").map(PathBuf::from);
    let found = [Some(beside), named]
        .into_iter()
        .flatten()
        .map(|folder| folder.join(name))
        .find(|file| file.exists());
    if found.is_none() {
        eprintln!("skipped: {name} absent");
    }
    found
}

/// Diagnostics, one a line.
pub(crate) fn told(d: &Diagnostics) -> String {
    d.0.iter().fold(String::new(), |mut text, d| {
        let _ = writeln!(text, "{d}");
        text
    })
}

/// Reads a dump that must be readable.
pub(crate) fn dump(text: &str) -> (Fabric, Diagnostics) {
    match ibnetdiscover::read(text, Path::new("dump.topo")) {
        Ok((t, d)) => (t.fabric, d),
        Err(e) => panic!("{e}"),
    }
}
