//! Files of a tar archive: plain headers of 512 bytes, with the long names of GNU and of POSIX.

use std::path::{Path, PathBuf};

use super::bytes::Bytes;
use crate::ReadError;

const EXPECTED: &str = "a tar archive";
const BLOCK: usize = 512;

/// Whether bytes begin like an archive.
pub(super) fn is_first(bytes: &[u8]) -> bool {
    bytes.len() >= BLOCK && &bytes[257..262] == b"ustar"
}

/// A field of a header: text up to a zero.
fn field(raw: &[u8]) -> String {
    let end = raw.iter().position(|&b| b == 0).unwrap_or(raw.len());
    String::from_utf8_lossy(&raw[..end]).trim().to_owned()
}

/// The files in an archive, in its order, under the name of the archive.
pub(super) fn files<'a>(
    all: &'a [u8],
    path: &'a Path,
) -> Result<Vec<(PathBuf, &'a [u8])>, ReadError> {
    let mut bytes = Bytes::new(all, path, EXPECTED);
    let mut files = Vec::new();
    let mut long = None;
    while bytes.left() > 0 {
        let header = bytes.take(BLOCK, "a header")?;
        if header[0] == 0 {
            break;
        }
        let octal = field(&header[124..136]);
        let size = usize::from_str_radix(&octal, 8)
            .map_err(|_| bytes.fail(format!("`{octal}` is not the size of a file")))?;
        let body = bytes.take(size, "a file")?;
        let padding = size.next_multiple_of(BLOCK) - size;
        let _ = bytes.take(padding.min(bytes.left()), "the end of a file")?;
        match header[156] {
            // The next file's name, as GNU writes it.
            b'L' => long = Some(field(body)),
            // The same of POSIX: `27 path=name`.
            b'x' => {
                let text = String::from_utf8_lossy(body);
                long = text.lines().find_map(|l| l.split_once(" path=").map(|(_, n)| n.to_owned()));
            }
            b'0' | 0 => {
                let (prefix, name) = (field(&header[345..500]), field(&header[..100]));
                let full = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
                files.push((path.join(long.take().unwrap_or(full)), body));
            }
            _ => long = None,
        }
    }
    Ok(files)
}
