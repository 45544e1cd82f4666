//! Files of a tar archive.

use std::path::{Path, PathBuf};

use tar::Archive;

use darkfiber_formats::ReadError;

/// Whether bytes begin like an archive.
pub(super) fn is_first(bytes: &[u8]) -> bool {
    bytes.len() >= 512 && &bytes[257..262] == b"ustar"
}

/// The files in an archive, in its order, under the name of the archive.
pub(super) fn files<'a>(all: &'a [u8], path: &Path) -> Result<Vec<(PathBuf, &'a [u8])>, ReadError> {
    let damaged = |what: String| {
        ReadError::not_such(path, what, "a tar archive", "is the file cut off or damaged?")
    };
    let mut files = Vec::new();
    for entry in Archive::new(all).entries().map_err(|e| damaged(e.to_string()))? {
        let entry = entry.map_err(|e| damaged(e.to_string()))?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = path.join(entry.path().map_err(|e| damaged(e.to_string()))?);
        // The content of an entry is stored unmodified in the archive.
        let body = usize::try_from(entry.raw_file_position())
            .ok()
            .and_then(|from| all.get(from..from.checked_add(usize::try_from(entry.size()).ok()?)?));
        let body = body.ok_or_else(|| damaged(format!("{} is cut off", name.display())))?;
        files.push((name, body));
    }
    Ok(files)
}
