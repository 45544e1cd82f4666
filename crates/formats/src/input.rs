//! Bytes of a file, gzip and zstandard undone.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::ReadError;

/// Largest size after decompression: far above any fabric, far below this machine's memory.
const LIMIT: u64 = 4 << 30;

/// Reads a whole file; `-` is standard input. Gzip and zstandard are recognised by their magic bytes,
/// whatever the file is called.
///
/// # Errors
/// If it cannot be read or decompressed, or is larger than 4 GiB.
pub fn read(path: &Path) -> Result<Vec<u8>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let raw = if path.as_os_str() == "-" {
        let mut raw = Vec::new();
        std::io::stdin().lock().take(LIMIT).read_to_end(&mut raw).map_err(io)?;
        raw
    } else {
        std::fs::read(path).map_err(io)?
    };
    let decoded = match raw.as_slice() {
        [0x1f, 0x8b, ..] => {
            let mut out = Vec::with_capacity(raw.len() * 8);
            flate2::read::MultiGzDecoder::new(raw.as_slice())
                .take(LIMIT)
                .read_to_end(&mut out)
                .map_err(io)?;
            out
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let mut out = Vec::with_capacity(raw.len() * 8);
            zstd::stream::read::Decoder::new(raw.as_slice())
                .and_then(|d| d.take(LIMIT).read_to_end(&mut out))
                .map_err(io)?;
            out
        }
        _ => return Ok(raw),
    };
    if decoded.len() as u64 >= LIMIT {
        return Err(io(std::io::Error::other("more than 4 GiB after decompression")));
    }
    Ok(decoded)
}

/// Opens a file to be read piece by piece, of any size; `-` is standard input. Gzip and zstandard are undone as
/// in [`read`].
///
/// # Errors
/// If it cannot be opened. What is wrong further inside is told by the reader.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let mut raw: Box<dyn BufRead> = if path.as_os_str() == "-" {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(File::open(path).map_err(io)?))
    };
    Ok(match raw.fill_buf().map_err(io)? {
        [0x1f, 0x8b, ..] => Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(raw))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Box::new(BufReader::new(zstd::stream::read::Decoder::with_buffer(raw).map_err(io)?))
        }
        _ => raw,
    })
}

/// Bytes as text; what is not UTF-8 becomes U+FFFD.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Reads a whole file as text; bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
/// As [`read`].
pub fn read_text(path: &Path) -> Result<String, ReadError> {
    read(path).map(|bytes| String::from_utf8(bytes).unwrap_or_else(|e| text(e.as_bytes()).into()))
}

/// What to call the fabric in a file: the file name without its endings; `stdin` for `-`.
pub fn name_of(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    if name == "-" || name.is_empty() {
        return "stdin".to_owned();
    }
    let packed = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    match packed.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => packed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fabrics_are_named_after_their_files() {
        for (path, name) in [
            ("a/selene.compute.txt", "selene.compute"),
            ("x.net.gz", "x"),
            ("ibnetdiscover", "ibnetdiscover"),
            (".topo", ".topo"),
            ("-", "stdin"),
            ("", "stdin"),
        ] {
            assert_eq!(name_of(Path::new(path)), name);
        }
    }
}
