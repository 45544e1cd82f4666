//! The manifest of a set of tables: `route.json` names every other file of the set with its digest.
//!
//! Forwarding tables together with service levels of other tables can deadlock a fabric, so a directory of tables is read only
//! if all of its files are those that were written together. A directory without digests (made by hand, or by an older
//! version) cannot be verified, which is reported.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{ReadError, input};

/// Forwarding tables, loadable by OpenSM's `file` engine.
pub const LFTS: &str = "lfts.dump";
/// File of the LIDs of ports.
pub const GUID2LID: &str = "guid2lid";
/// Service levels of paths, where not all are 0: a line for each pair.
pub const PATH_SL: &str = "path-sl";
/// The same by source switch and LID, where that would be too long or could not say all.
pub const PATH_SL_ROWS: &str = "path-sl.rows";
/// The service level of each host, where those of its paths depend only on it.
pub const HOST_SL: &str = "host-sl";
/// The lane of each channel by the ports before it, where switches choose lanes.
pub const SL2VL: &str = "sl2vl";
/// The LID of its destinations that a source uses, where sources choose.
pub const PATH_BITS: &str = "path-bits";
/// The LID of its destination that each message takes, where senders choose by message.
pub const LID_CHOICE: &str = "lid-choice";
/// Groups of ports of adaptive routing, as ibdiagnet dumps them.
pub const GROUPS: &str = "groups.far";
/// The file that lists the members of a set.
pub const MANIFEST: &str = "route.json";
/// The folder in which files of a set wait that is written in place; while it is there and the manifest is not, the
/// directory holds files of two sets.
pub const UNFINISHED: &str = ".darkfiber-new";
/// Files of a set, each also with `.gz` or `.zst` behind its name. All others in the directory are not ours.
const MEMBERS: &[&str] = &[
    LFTS,
    GUID2LID,
    "fabric.topo",
    "subnet.lst",
    "fdbs",
    PATH_SL,
    PATH_SL_ROWS,
    HOST_SL,
    SL2VL,
    PATH_BITS,
    LID_CHOICE,
    GROUPS,
    "hot.json",
    "ease.json",
    MANIFEST,
];
/// The last key of a manifest; its value is the digest of all before it.
const SEAL: &str = ",\n  \"sha256\": \"";

/// Length and digest of a file of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// Its length in bytes, as stored on disk.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal, as `sha256sum` prints it.
    pub sha256: String,
}

/// The digests of the files of a set, by name.
pub type Files = BTreeMap<String, FileDigest>;

/// Whether a file of this name would belong to a set of tables.
pub fn is_member(name: &str) -> bool {
    MEMBERS.contains(&unpacked(name))
}

/// A name without `.gz` or `.zst`.
pub fn unpacked(name: &str) -> &str {
    name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(name)
}

/// The file of this name in a directory, compressed or not.
///
/// # Errors
/// If there are several.
pub fn find(dir: &Path, name: &str) -> Result<Option<PathBuf>, ReadError> {
    let forms = [name.to_owned(), format!("{name}.zst"), format!("{name}.gz")];
    let mut found: Vec<PathBuf> =
        forms.iter().map(|f| dir.join(f)).filter(|path| path.is_file()).collect();
    if let [one, other, ..] = found.as_slice() {
        return Err(ReadError::not_such(
            one,
            format!("{} is there, too", other.display()),
            "one of them",
            "remove the one that is not in use",
        ));
    }
    Ok(found.pop())
}

/// A digest that is updated while writing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Running {
    bytes: u64,
    hash: Sha256,
}

impl Running {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hash.update(bytes);
    }

    pub(crate) fn end(self) -> FileDigest {
        FileDigest { bytes: self.bytes, sha256: hex(&self.hash.finalize()) }
    }
}

/// The SHA-256 of some bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

/// A summary, which is a JSON object, with the digests of files and of itself as its last two keys.
///
/// # Errors
/// If the summary is no JSON object.
pub(crate) fn sealed(summary: &str, files: &Files) -> io::Result<String> {
    let open = summary.trim_end().strip_suffix('}').map(str::trim_end);
    let Some(open) = open.filter(|text| text.len() > 1) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the summary is no JSON object"));
    };
    let list = serde_json::to_string_pretty(files)?.replace('\n', "\n  ");
    let body = format!("{open},\n  \"files\": {list}");
    let digest = sha256(body.as_bytes());
    Ok(format!("{body}{SEAL}{digest}\"\n}}\n"))
}

/// A directory of tables whose files match its manifest.
#[derive(Debug)]
pub struct Verified {
    path: PathBuf,
    /// The manifest's text, if there is one.
    text: Option<String>,
    /// Why it could not be verified, if so.
    pub note: Option<String>,
}

impl Verified {
    /// Whether the directory still holds the set that was verified: call it once all of its files are read.
    ///
    /// # Errors
    /// If the set has been replaced since.
    pub fn check_unchanged(&self) -> Result<(), ReadError> {
        if read_manifest(&self.path)? == self.text {
            return Ok(());
        }
        Err(ReadError::not_such(
            &self.path,
            "the set of tables was replaced while it was read",
            "one set",
            "run the command again",
        ))
    }

    /// Whether the manifest says that all its routes share one virtual layer: then no file of service levels is needed to know them.
    pub fn has_one_layer(&self) -> bool {
        let said = self.text.as_ref().filter(|_| self.note.is_none());
        let said = said.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
        said.is_some_and(|said| said["layers"] == 1)
    }
}

/// The text of a manifest; `None` if there is no manifest.
fn read_manifest(path: &Path) -> Result<Option<String>, ReadError> {
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        _ => input::read_text(path).map(Some),
    }
}

/// Compares all files of a directory of tables with its manifest.
///
/// # Errors
/// The first file that is missing, cut, altered, or not of the set; or a set that was never finished.
pub fn verify(dir: &Path) -> Result<Verified, ReadError> {
    let path = dir.join(MANIFEST);
    let Some(text) = read_manifest(&path)? else {
        if dir.join(UNFINISHED).exists() {
            return Err(ReadError::not_such(
                dir,
                "a set of tables was being written in place here and is not finished",
                "a whole set",
                "write it again with --in-place, and load nothing of it until then",
            ));
        }
        let note = "there is no route.json: whether these files belong together is not known";
        return Ok(Verified { path, text: None, note: Some(note.to_owned()) });
    };
    let Some(files) = listed(&path, &text)? else {
        let note = "route.json has no digests (an older version wrote it): whether these files belong \
                    together is not known";
        return Ok(Verified { path, text: Some(text), note: Some(note.to_owned()) });
    };
    for (name, digest) in &files {
        let file = dir.join(name);
        if !is_member(name) {
            return wrong(&path, format!("it lists {name:?}, which is no file of a set of tables"));
        }
        if let Some(what) = difference(&file, digest)? {
            return wrong(&file, what);
        }
    }
    let unreadable = |source| ReadError::Io { path: dir.to_owned(), source };
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        let foreign = name
            .to_str()
            .filter(|name| is_member(name) && *name != MANIFEST && !files.contains_key(*name));
        if let Some(name) = foreign {
            return wrong(
                &dir.join(name),
                "it is not of this set: route.json does not list it".into(),
            );
        }
    }
    Ok(Verified { path, text: Some(text), note: None })
}

/// Compares one file with the manifest of its directory, if there is one that lists it.
///
/// # Errors
/// If it is cut or altered, or the manifest is.
pub fn verify_file(file: &Path) -> Result<(), ReadError> {
    let dir = file.parent().unwrap_or(Path::new(""));
    let path = dir.join(MANIFEST);
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !is_member(name) || name == MANIFEST {
        return Ok(());
    }
    let Some(text) = read_manifest(&path)? else { return Ok(()) };
    // Another program's file may be called route.json, too.
    if !text.contains(SEAL) {
        return Ok(());
    }
    let Some(files) = listed(&path, &text)? else { return Ok(()) };
    match files.get(name).map(|digest| difference(file, digest)).transpose()?.flatten() {
        Some(what) => wrong(file, what),
        None => Ok(()),
    }
}

/// The error of a file that is not as it was written.
fn wrong<T>(path: &Path, what: String) -> Result<T, ReadError> {
    let again = "write the tables again, or fetch the whole directory again; without route.json the \
                 files are taken as they are";
    Err(ReadError::not_such(path, what, "the file that was written with this set", again))
}

/// The digests in the text of a manifest, once it is verified as complete; `None` where it has none.
fn listed(path: &Path, text: &str) -> Result<Option<Files>, ReadError> {
    let parsed: serde_json::Value = match serde_json::from_str(text) {
        Ok(parsed) => parsed,
        Err(e) => return wrong(path, format!("it is cut or altered ({e})")),
    };
    let seal = text.rfind(SEAL).map(|at| (&text[..at], &text[at + SEAL.len()..]));
    let (files, (body, seal)) = match (parsed.get("files"), seal) {
        (None, None) => return Ok(None),
        (Some(files), Some(seal)) => (files, seal),
        _ => return wrong(path, "it is altered: its digests are incomplete".to_owned()),
    };
    if seal != format!("{}\"\n}}\n", sha256(body.as_bytes())) {
        return wrong(path, "it is altered: it differs from its own digest".to_owned());
    }
    match serde_json::from_value(files.clone()) {
        Ok(files) => Ok(Some(files)),
        Err(e) => wrong(path, format!("its digests are not as expected ({e})")),
    }
}

/// Difference of a file from its digest, if there is one.
fn difference(path: &Path, digest: &FileDigest) -> Result<Option<String>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let length = match fs::metadata(path) {
        Ok(m) if m.is_file() => m.len(),
        Ok(_) => return Ok(Some("it is no regular file".to_owned())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Ok(Some("it is missing, but route.json lists it".to_owned()));
        }
        Err(e) => return Err(io(e)),
    };
    if length != digest.bytes {
        return Ok(Some(format!("it has {length} bytes, but {} in route.json", digest.bytes)));
    }
    let (mut file, mut running) = (File::open(path).map_err(io)?, Running::default());
    let mut buffer = vec![0; 1 << 17];
    loop {
        match file.read(&mut buffer).map_err(io)? {
            0 => break,
            n => running.add(&buffer[..n]),
        }
    }
    let same = running.end() == *digest;
    Ok((!same).then(|| "it differs from its digest in route.json".to_owned()))
}
