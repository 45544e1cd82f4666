//! Compressed files that end in a digest of all their bytes, so that any altered bit is detected.
//!
//! A frame of zstandard, then a frame that decompressors skip, whose content is the SHA-256 of everything before it:
//! `zstd -d` reads such a file like any other.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::ReadError;
use crate::output::replace_as_is;

/// Bytes of a digest.
const DIGEST: u64 = 32;
/// Bytes before the digest: the magic number of a skippable frame, and the length of its content.
const HEAD: [u8; 8] = [0x50, 0x2a, 0x4d, 0x18, DIGEST as u8, 0, 0, 0];

/// Writes such a file, whole or not at all.
///
/// # Errors
/// Any error of the operating system or of `write`; then the file is as it was.
pub fn write(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    replace_as_is(target, |out| {
        let summed = Summed { out, hash: Sha256::new(), failed: None };
        let mut packer = zstd::stream::write::Encoder::new(summed, 3)?;
        // Some encoders say that a buffer was full, whatever went wrong.
        write(&mut packer).map_err(|e| packer.get_mut().failed.take().unwrap_or(e))?;
        let mut summed = packer.finish()?;
        summed.write_all(&HEAD)?;
        let digest = summed.hash.finalize();
        summed.out.write_all(&digest)
    })
}

/// Opens such a file, after all of it was compared with its digest.
///
/// # Errors
/// If it cannot be read, or a single bit of it is altered, missing or too many.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let altered = |what: &str| {
        Err(ReadError::not_such(
            path,
            format!("it is cut or altered: {what}"),
            "all that was written",
            "remove it to start over",
        ))
    };
    let mut file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let Some(packed) = length.checked_sub(DIGEST + HEAD.len() as u64) else {
        return altered("it is too short");
    };
    let mut hash = Sha256::new();
    let mut body = BufReader::new((&mut file).take(packed + HEAD.len() as u64));
    let mut last = [0; HEAD.len()];
    loop {
        let bytes = body.fill_buf().map_err(io)?;
        if bytes.is_empty() {
            break;
        }
        hash.update(bytes);
        let n = bytes.len();
        let keep = n.min(last.len());
        last.copy_within(keep.., 0);
        let at = last.len() - keep;
        last[at..].copy_from_slice(&bytes[n - keep..]);
        body.consume(n);
    }
    let mut digest = Vec::new();
    file.seek(SeekFrom::Start(length - DIGEST)).map_err(io)?;
    (&mut file).take(DIGEST).read_to_end(&mut digest).map_err(io)?;
    if last != HEAD {
        return altered("there is no digest at its end");
    }
    if digest != hash.finalize()[..] {
        return altered("it differs from its own digest");
    }
    file.seek(SeekFrom::Start(0)).map_err(io)?;
    let packed = BufReader::new(file.take(packed));
    let decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(io)?;
    Ok(Box::new(BufReader::new(decoder)))
}

/// A writer that also computes the digest of its output.
struct Summed<'w> {
    out: &'w mut dyn Write,
    hash: Sha256,
    /// What the operating system said when it could not write.
    failed: Option<io::Error>,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes).inspect_err(|e| self.failed = Some(copy(e)))?;
        self.hash.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().inspect_err(|e| self.failed = Some(copy(e)))
    }
}

fn copy(e: &io::Error) -> io::Error {
    let other = || io::Error::new(e.kind(), e.to_string());
    e.raw_os_error().map_or_else(other, io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What the operating system said is passed on, whatever an encoder makes of it.
    #[test]
    fn a_full_disk_is_called_so() {
        let mut x = 1u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            x = x.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (x >> 24) as u8
        })
        .take(1 << 22)
        .collect();
        let error = write(Path::new("/dev/full"), |out| {
            out.write_all(&noise).map_err(|_| io::Error::other("a buffer is full"))
        });
        assert_eq!(error.expect_err("no room").kind(), io::ErrorKind::StorageFull);
        let error = write(Path::new("/dev/full"), |out| {
            out.write_all(b"a little")?;
            out.flush().map_err(|_| io::Error::other("a buffer is full"))
        });
        assert_eq!(error.expect_err("no room").kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn every_altered_bit_and_every_cut_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("run.zst");
        let text = "what was simulated so far; ".repeat(40);
        write(&path, |out| out.write_all(text.as_bytes())).expect("written");
        let read = |path: &Path| {
            let mut back = String::new();
            open(path).map(|mut file| file.read_to_string(&mut back).map(|_| back))
        };
        assert_eq!(read(&path).expect("opened").expect("read"), text);
        // Any decompressor reads it.
        assert_eq!(crate::input::read_text(&path).expect("read"), text);
        let whole = fs::read(&path).expect("bytes");
        for bit in 0..8 * whole.len() {
            let mut other = whole.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &other).expect("written");
            let error = read(&path).expect_err("an altered bit").to_string();
            assert!(error.contains("run.zst: it is cut or altered"), "bit {bit}: {error}");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).expect("written");
            assert!(read(&path).is_err(), "{length} bytes");
        }
        fs::write(&path, [whole.as_slice(), b"x"].concat()).expect("written");
        assert!(read(&path).is_err());
    }
}
