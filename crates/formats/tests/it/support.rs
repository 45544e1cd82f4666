//! Paths of test files, and the comparison of diagnostics.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use darkfiber_fabric::Fabric;
use darkfiber_formats::{Diagnostics, ibnetdiscover};

/// A file that is shipped with the project.
pub(crate) fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/fabrics").join(name)
}

pub(crate) use darkfiber_testkit::shared;

/// Diagnostics, one a line.
pub(crate) fn diagnostics_text(d: &Diagnostics) -> String {
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

/// The files of a `.tar.gz` of the shared data, as name and text, in the order of the archive; none where it
/// is absent. Only the parts of the tar format that plain small archives use are supported.
pub(crate) fn members(name: &str) -> Vec<(String, String)> {
    let Some(path) = shared(name) else { return Vec::new() };
    let bytes = darkfiber_formats::input::read(&path).unwrap_or_else(|e| panic!("{e}"));
    let field = |at: usize, len: usize| {
        let raw = &bytes[at..at + len];
        let end = raw.iter().position(|&b| b == 0).unwrap_or(len);
        String::from_utf8_lossy(&raw[..end]).trim().to_owned()
    };
    let mut members = Vec::new();
    let mut at = 0;
    while at + 512 <= bytes.len() && bytes[at] != 0 {
        let size = usize::from_str_radix(&field(at + 124, 12), 8).expect("an octal size");
        let body = &bytes[at + 512..at + 512 + size];
        if matches!(bytes[at + 156], b'0' | 0) {
            members.push((field(at, 100), String::from_utf8_lossy(body).into_owned()));
        }
        at += 512 + size.next_multiple_of(512);
    }
    members
}
