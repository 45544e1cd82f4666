//! Files of archives.

use std::fs::File;
use std::io::Read as _;

use flate2::read::GzDecoder;
use tar::Archive;

use crate::shared;

/// The files of a `.tar.gz` of the shared data, as name and text, in the order of the archive; none where it is absent.
///
/// # Panics
/// If it cannot be read.
pub fn members(name: &str) -> Vec<(String, String)> {
    let Some(path) = shared(name) else { return Vec::new() };
    let file = File::open(path).expect("an archive that exists opens");
    let mut archive = Archive::new(GzDecoder::new(file));
    let entries =
        archive.entries().expect("it is an archive").map(|entry| entry.expect("it is whole"));
    entries
        .filter(|entry| entry.header().entry_type().is_file())
        .map(|mut entry| {
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("it is whole");
            (name, String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect()
}
