//! Bytes of a file, gzip and zstandard undone, never more of them than a limit.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::{ReadError, named};

/// Bytes that are read of one input, after decompression, unless changed by [`set_limit`]: 4 GiB, far above any
/// fabric and its tables.
pub const DEFAULT_LIMIT: u64 = 4 << 30;
/// Up to here compressed input may grow as much as it likes.
const ANY_RATIO: u64 = 256 << 20;
/// Beyond [`ANY_RATIO`] a compressed file that has grown more than this many times is taken for a bomb: tables of real
/// fabrics shrink to a twentieth or a fiftieth. gzip cannot shrink anything to less than 1/1032.
const MOST_RATIO: u64 = 500;

/// 0 stands for [`DEFAULT_LIMIT`] and the guard against decompression bombs; it is set once, by the owner of the
/// process.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Sets how many bytes of one input are read, after decompression, and lifts the guard against compressed input that
/// grows more than 500 times.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
}

/// Maximum number of bytes that are read of one input, after decompression.
pub fn limit() -> u64 {
    match LIMIT.load(Ordering::Relaxed) {
        0 => DEFAULT_LIMIT,
        bytes => bytes,
    }
}

/// The error for input larger than `bytes`.
pub fn too_large(bytes: u64) -> io::Error {
    io::Error::other(format!(
        "there are more than {} (decompressed), the most that is read; --max-input SIZE reads more",
        size(bytes)
    ))
}

/// A number of bytes in the largest unit that it has whole ones of.
fn size(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole =
        units.iter().find(|(shift, _)| bytes >> shift > 0 && bytes.is_multiple_of(1 << shift));
    whole.map_or_else(|| format!("{bytes} B"), |(shift, unit)| format!("{} {unit}", bytes >> shift))
}

/// Counts the compressed bytes that a decoder takes.
struct Compressed<R> {
    inner: R,
    taken: std::rc::Rc<std::cell::Cell<u64>>,
}

impl<R: BufRead> Read for Compressed<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(to)?;
        self.taken.set(self.taken.get() + n as u64);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Compressed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.taken.set(self.taken.get() + n as u64);
        self.inner.consume(n);
    }
}

/// Passes bytes on until there are too many of them.
struct Limited<R> {
    inner: R,
    /// Bytes that were passed on.
    passed: u64,
    limit: u64,
    /// The compressed bytes so far, for input whose expansion is watched.
    compressed: Option<std::rc::Rc<std::cell::Cell<u64>>>,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(to)?;
        self.passed += n as u64;
        if self.passed > self.limit {
            return Err(too_large(self.limit));
        }
        if let Some(compressed) = &self.compressed {
            let most = compressed.get().saturating_mul(MOST_RATIO);
            if self.passed > ANY_RATIO.max(most) {
                return Err(io::Error::other(format!(
                    "{} compressed bytes have grown more than {MOST_RATIO} times, as only bombs do; \
                     --max-input SIZE reads such a file up to SIZE",
                    compressed.get()
                )));
            }
        }
        Ok(n)
    }
}

/// A stream whose first buffer holds this many bytes, or all that there are: pipes and the members of compressed files give fewer at a
/// time, and readers recognise formats by their beginnings.
fn with_beginning<R: BufRead>(mut stream: R, most: u64) -> io::Result<Chain<Cursor<Vec<u8>>, R>> {
    let mut head = Vec::new();
    stream.by_ref().take(most).read_to_end(&mut head)?;
    Ok(Cursor::new(head).chain(stream))
}

/// Decompresses gzip and zstandard, recognised by their magic bytes, and stops beyond the limit.
fn decoded<'a>(raw: impl BufRead + 'a) -> io::Result<impl Read + 'a> {
    enum Packed {
        Gzip,
        Zstandard,
        Not,
    }
    let mut raw = with_beginning(raw, 4)?;
    let packed = match raw.fill_buf()? {
        [0x1f, 0x8b, ..] => Packed::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Packed::Zstandard,
        _ => Packed::Not,
    };
    let taken = std::rc::Rc::new(std::cell::Cell::new(0));
    let watched = LIMIT.load(Ordering::Relaxed) == 0 && !matches!(packed, Packed::Not);
    let compressed = watched.then(|| taken.clone());
    let inner: Box<dyn Read + 'a> = match packed {
        Packed::Gzip => {
            Box::new(flate2::bufread::MultiGzDecoder::new(Compressed { inner: raw, taken }))
        }
        Packed::Zstandard => {
            Box::new(zstd::stream::read::Decoder::with_buffer(Compressed { inner: raw, taken })?)
        }
        Packed::Not => Box::new(raw),
    };
    Ok(Limited { inner, passed: 0, limit: limit(), compressed })
}

/// Reads a whole stream, up to the limit; compressed data is not decompressed.
///
/// # Errors
/// If reading fails, or there is more than the limit.
pub fn all_of(stream: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut limited = Limited { inner: stream, passed: 0, limit: limit(), compressed: None };
    limited.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Decompresses gzip and zstandard, recognised by their magic bytes.
///
/// # Errors
/// If they are damaged, or grow beyond the limit.
pub fn decompress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    decoded(bytes)?.read_to_end(&mut out)?;
    Ok(out)
}

/// Reads a whole file; `-` is standard input. Gzip and zstandard are recognised by their magic bytes,
/// whatever the name of the file.
///
/// # Errors
/// If it cannot be read or decompressed, or is larger than [`limit`]; no more than that is held.
pub fn read(path: &Path) -> Result<Vec<u8>, ReadError> {
    let mut out = Vec::new();
    open(path)?
        .read_to_end(&mut out)
        .map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    Ok(out)
}

/// Whether standard input was opened: there is nothing left for a second reader.
static STDIN_IS_READ: AtomicBool = AtomicBool::new(false);

/// Opens a file to be read piece by piece; `-` is standard input. Gzip and zstandard are decompressed as in [`read`]. Its first buffer
/// holds 64 KiB, or all that there is.
/// Beyond [`limit`] it ends with an error.
///
/// # Errors
/// If it cannot be opened. Errors further inside are reported by the reader.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    if named::is_to_be_written(path) {
        let what = "it is read, and would be replaced by an output of the same name";
        return Err(ReadError::not_such(path, what, "another name for one of them", ""));
    }
    let raw: Box<dyn BufRead> = if path.as_os_str() == "-" {
        if STDIN_IS_READ.swap(true, Ordering::Relaxed) {
            return Err(ReadError::not_such(
                path,
                "standard input is read already, as another input",
                "a file",
                "- can stand for one of them",
            ));
        }
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::with_capacity(1 << 16, File::open(path).map_err(io)?))
    };
    let decoded = BufReader::with_capacity(1 << 16, decoded(raw).map_err(io)?);
    let mut decoded = with_beginning(decoded, 1 << 16).map_err(io)?;
    let begin = decoded.fill_buf().map_err(io)?;
    if begin.starts_with(BYTE_ORDER_MARK) {
        // Editors of other systems put it there.
        decoded.consume(BYTE_ORDER_MARK.len());
    } else if is_blank(begin) {
        return Err(ReadError::not_such(
            path,
            "it begins with nothing but zero bytes",
            "text, or what darkfiber writes",
            "a device, or a file whose blocks never reached the disk?",
        ));
    }
    Ok(Box::new(decoded))
}

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether bytes are a block of zeros, as devices and holes of files have them. No format begins so, and `/dev/zero` would be
/// read up to the limit before any check.
fn is_blank(begin: &[u8]) -> bool {
    begin.len() >= 512 && begin.iter().all(|&b| b == 0)
}

/// Bytes as text. What is not UTF-8 is taken as Latin-1, so that names remain distinct; its control characters become U+FFFD.
///
/// ```
/// use darkfiber_formats::input::text;
///
/// assert_eq!(text(b"k\xf6ln and k\xc3\xb6ln"), "köln and köln");
/// ```
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return text.into();
    }
    let of_latin = |byte: &u8| match char::from(*byte) {
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    let mut all = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        all.push_str(chunk.valid());
        all.extend(chunk.invalid().iter().map(of_latin));
    }
    all.into()
}

/// Reads a whole file as [`text`].
///
/// # Errors
/// As [`read`].
pub fn read_text(path: &Path) -> Result<String, ReadError> {
    read(path).map(|bytes| String::from_utf8(bytes).unwrap_or_else(|e| text(e.as_bytes()).into()))
}

/// The lines of a text that say something, each with its number, from 1, and without blanks around it: neither empty ones
/// nor comments behind `#`.
pub(crate) fn said(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// The name of the fabric in a file: the file name without its endings; `stdin` for `-`.
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

    /// Members of compressed files, and what is written to pipes bit by bit, are read as one.
    #[test]
    fn beginnings_are_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("two.gz");
        let member = |text: &[u8]| {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut out, text).expect("memory");
            out.finish().expect("memory")
        };
        std::fs::write(&path, [member(b"first "), member(b"second")].concat()).expect("a file");
        assert_eq!(open(&path).expect("a file").fill_buf().expect("text"), b"first second");
        let long = [member(&vec![b'x'; 70_000]), member(b"y")].concat();
        std::fs::write(&path, long).expect("a file");
        let mut all = open(&path).expect("a file");
        assert_eq!(all.fill_buf().expect("text").len(), 1 << 16);
        let mut text = Vec::new();
        all.read_to_end(&mut text).expect("text");
        assert_eq!((text.len(), text[70_000]), (70_001, b'y'));
    }

    fn limited(inner: &[u8], limit: u64) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Limited { inner, passed: 0, limit, compressed: None }.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn beyond_the_limit_nothing_is_read() {
        assert_eq!(limited(&[7; 100], 100).expect("as much as may be").len(), 100);
        let error = limited(&[7; 101], 100).expect_err("a byte too many").to_string();
        assert!(error.contains("more than 100 B") && error.contains("--max-input"), "{error}");
        assert!(limited(&[0; 5000], 2048).expect_err("more").to_string().contains("2 KiB"));
    }

    #[test]
    fn nothing_but_zeros_is_not_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("hole");
        let file = File::create(&path).expect("a file");
        // A hole: all of it would be read as zeros.
        file.set_len(DEFAULT_LIMIT).expect("a hole");
        let error = read(&path).expect_err("no text").to_string();
        assert!(error.contains("hole") && error.contains("nothing but zero bytes"), "{error}");
        std::fs::write(&path, [0; 511]).expect("a file");
        assert_eq!(read(&path).expect("short enough to be looked at").len(), 511);
    }

    #[test]
    fn both_compressions_are_undone_and_bombs_are_not() {
        let plain = vec![b'x'; 100_000];
        let gzip = |bytes: &[u8]| {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            std::io::Write::write_all(&mut out, bytes).expect("memory");
            out.finish().expect("memory")
        };
        let zstandard = |bytes: &[u8]| zstd::encode_all(bytes, 3).expect("memory");
        assert_eq!(decompress(&gzip(&plain)).expect("a good file"), plain);
        assert_eq!(decompress(&zstandard(&plain)).expect("a good file"), plain);
        assert_eq!(decompress(&plain).expect("not compressed"), plain);
        // 300 MB of zeros are refused, too.
        let nothing = vec![0; ANY_RATIO as usize + (32 << 20)];
        for bomb in [gzip(&nothing), zstandard(&nothing)] {
            let error = decompress(&bomb).expect_err("a bomb").to_string();
            assert!(error.contains("grown more than 500 times"), "{error}");
        }
    }
}
