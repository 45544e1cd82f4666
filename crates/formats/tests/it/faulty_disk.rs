//! Every single step of a writer fails once, or is the last before a kill: afterwards the old or the new set is
//! there, complete, and nothing else.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use darkfiber_formats::disk::{Disk, Os};
use darkfiber_formats::manifest::verify;
use darkfiber_formats::output::replace_on;
use darkfiber_formats::sets::{SetError, TableSet};

/// The fault at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// No fault: steps are counted.
    None,
    /// It fails; later ones do not.
    Once,
    /// It has no effect, nor has any after it: the process was killed.
    Killed,
    /// As `Killed`, and half of the current write is done.
    Torn,
    /// As `Killed`, and the content of files that were not synced is lost: the power failed.
    PowerLost,
    /// It and all later writes find no space.
    Full,
    /// Names cannot be exchanged at all.
    NoExchange,
}

#[derive(Default)]
struct State {
    step: usize,
    /// Files that were not synced, by device and inode.
    unsynced: BTreeMap<(u64, u64), File>,
}

/// A disk with a fault at one step, counted from 0.
struct Faulty {
    at: usize,
    fault: Fault,
    state: Mutex<State>,
}

fn id(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|m| (m.dev(), m.ino()))
}

impl Faulty {
    fn new(fault: Fault, at: usize) -> Self {
        Self { at, fault, state: Mutex::default() }
    }

    fn steps(&self) -> usize {
        self.state.lock().expect("no fault here").step
    }

    /// Counts a step; an error if it has no effect.
    fn step(&self, is_write: bool) -> io::Result<()> {
        let mut state = self.state.lock().expect("no fault here");
        let step = state.step;
        state.step += 1;
        let is_bad = match self.fault {
            Fault::None | Fault::NoExchange => false,
            Fault::Once => step == self.at,
            Fault::Killed | Fault::Torn | Fault::PowerLost => step >= self.at,
            Fault::Full => is_write && step >= self.at,
        };
        if is_bad && self.fault == Fault::PowerLost {
            for file in std::mem::take(&mut state.unsynced).into_values() {
                file.set_len(0)?;
            }
        }
        match (is_bad, self.fault) {
            (false, _) => Ok(()),
            (true, Fault::Full) => Err(io::ErrorKind::StorageFull.into()),
            (true, _) => Err(io::Error::other("a step that fails on purpose")),
        }
    }
}

impl Disk for Faulty {
    fn create(&self, path: &Path) -> io::Result<File> {
        self.step(false)?;
        let file = Os.create(path)?;
        self.state.lock().expect("no fault here").unsynced.insert(id(&file)?, file.try_clone()?);
        Ok(file)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        match self.step(true) {
            Err(e) if self.fault == Fault::Torn && self.steps() == self.at + 1 => {
                file.write_all(&bytes[..bytes.len() / 2])?;
                Err(e)
            }
            Err(e) => Err(e),
            Ok(()) => Os.write(file, bytes),
        }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.step(false)?;
        self.state.lock().expect("no fault here").unsynced.remove(&id(file)?);
        Os.sync(file)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.step(false)?;
        Os.sync_folder(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(false)?;
        Os.rename(from, to)
    }

    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        self.step(false)?;
        if self.fault == Fault::NoExchange {
            return Err(io::Error::from_raw_os_error(22));
        }
        Os.exchange(a, b)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(false)?;
        Os.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(false)?;
        Os.remove(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.step(false)?;
        Os.make_folder(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.step(false)?;
        Os.remove_folder(path)
    }
}

/// The files of an old and of a new set: one is in both, one in each alone, one is compressed.
const OLD: &[&str] = &["lfts.dump", "guid2lid", "path-sl"];
const NEW: &[&str] = &["lfts.dump", "guid2lid", "path-bits.zst"];

fn write_set(
    disk: &dyn Disk,
    dir: &Path,
    names: &[&str],
    word: &str,
    in_place: bool,
) -> Result<Option<PathBuf>, SetError> {
    let mut set = TableSet::open(disk, dir, in_place)?;
    for name in names {
        set.file(name, |out| write!(out, "{name} of the {word} set\n{}", "x".repeat(140_000)))?;
    }
    set.commit(&format!("{{\n  \"engine\": \"{word}\"\n}}\n"))
}

/// The set that a directory holds, as readers see it; an error if they refuse it.
fn held(dir: &Path) -> Result<&'static str, String> {
    let verified = verify(dir).map_err(|e| e.to_string())?;
    if let Some(note) = &verified.note {
        return Err(format!("not verified: {note}"));
    }
    let manifest = fs::read_to_string(dir.join("route.json")).expect("no fault here");
    let word = if manifest.contains("\"engine\": \"old\"") { "old" } else { "new" };
    let names = if word == "old" { OLD } else { NEW };
    for name in names.iter().filter(|name| Path::new(name).extension().is_none_or(|e| e != "zst")) {
        let text = fs::read_to_string(dir.join(name)).expect("no fault here");
        assert!(text.starts_with(&format!("{name} of the {word} set\n")), "{name} in {word}");
    }
    Ok(word)
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .expect("no fault here")
        .map(|e| e.expect("no fault here").file_name().into_string().expect("no fault here"))
        .collect();
    names.sort();
    names
}

/// A folder with an old set and foreign files.
fn with_old_set() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().expect("no fault here");
    let dir = home.path().join("tables");
    write_set(&Os, &dir, OLD, "old", false).expect("no fault here");
    fs::write(dir.join("notes.txt"), "ours").expect("no fault here");
    fs::create_dir(dir.join("more")).expect("no fault here");
    fs::write(dir.join("more/notes.txt"), "ours, too").expect("no fault here");
    (home, dir)
}

fn foreign_is_there(dir: &Path) {
    assert_eq!(fs::read_to_string(dir.join("notes.txt")).expect("no fault here"), "ours");
    assert_eq!(fs::read_to_string(dir.join("more/notes.txt")).expect("no fault here"), "ours, too");
}

const WHOLE: &[&str] =
    &["guid2lid", "lfts.dump", "more", "notes.txt", "path-bits.zst", "route.json"];

/// Number of steps to write the new set over the old one.
fn steps_of_a_set(in_place: bool) -> usize {
    let (_home, dir) = with_old_set();
    let disk = Faulty::new(Fault::None, 0);
    write_set(&disk, &dir, NEW, "new", in_place).expect("no fault here");
    assert_eq!((held(&dir), names(&dir)), (Ok("new"), WHOLE.iter().map(|&n| n.into()).collect()));
    disk.steps()
}

#[test]
fn a_set_is_the_old_or_the_new_one_whatever_step_fails() {
    let steps = steps_of_a_set(false);
    assert!(steps > 30, "{steps}");
    let mut seen = BTreeMap::new();
    for fault in [Fault::Once, Fault::Full, Fault::Killed, Fault::Torn, Fault::PowerLost] {
        for at in 0..=steps {
            let (home, dir) = with_old_set();
            let disk = Faulty::new(fault, at);
            let result = write_set(&disk, &dir, NEW, "new", false);
            drop(disk);
            let held_now = held(&dir).unwrap_or_else(|e| panic!("{fault:?} at {at}: {e}"));
            if result.is_ok() {
                assert_eq!(held_now, "new", "{fault:?} at {at}");
            }
            *seen.entry((format!("{fault:?}"), held_now)).or_insert(0) += 1;
            assert_eq!(fs::read_to_string(dir.join("notes.txt")).expect("no fault here"), "ours");
            if matches!(fault, Fault::Once | Fault::Full) {
                assert_eq!(names(home.path()), ["tables"], "{fault:?} at {at}");
                foreign_is_there(&dir);
                assert!(names(&dir).iter().all(|n| !n.starts_with('.')), "{:?}", names(&dir));
            }
            // The next run puts everything right.
            write_set(&Os, &dir, NEW, "new", false).expect("no fault here");
            assert_eq!((held(&dir), names(home.path())), (Ok("new"), vec!["tables".to_owned()]));
            assert_eq!(names(&dir), WHOLE, "{fault:?} at {at}");
            foreign_is_there(&dir);
        }
    }
    // All faults but a full disk can come after the exchange.
    assert_eq!(seen.len(), 10, "{seen:?}");
}

#[test]
fn a_new_set_is_there_or_not() {
    let home = tempfile::tempdir().expect("no fault here");
    let disk = Faulty::new(Fault::None, 0);
    write_set(&disk, &home.path().join("a/b"), NEW, "new", false).expect("no fault here");
    let steps = disk.steps();
    for fault in [Fault::Once, Fault::Full, Fault::Killed, Fault::PowerLost] {
        for at in 0..=steps {
            let home = tempfile::tempdir().expect("no fault here");
            let dir = home.path().join("tables");
            let result = write_set(&Faulty::new(fault, at), &dir, NEW, "new", false);
            assert!(!dir.exists() || held(&dir) == Ok("new"), "{fault:?} at {at}");
            assert!(result.is_err() || dir.exists(), "{fault:?} at {at}");
            if matches!(fault, Fault::Once | Fault::Full) {
                assert!(names(home.path()).iter().all(|n| n == "tables"), "{fault:?} at {at}");
            }
            write_set(&Os, &dir, NEW, "new", false).expect("no fault here");
            assert_eq!((held(&dir), names(home.path())), (Ok("new"), vec!["tables".to_owned()]));
        }
    }
}

#[test]
fn in_place_readers_never_take_two_sets_for_one() {
    let steps = steps_of_a_set(true);
    let mut refused = 0;
    for fault in [Fault::Once, Fault::Full, Fault::Killed, Fault::Torn, Fault::PowerLost] {
        for at in 0..=steps {
            let (home, dir) = with_old_set();
            let disk = Faulty::new(fault, at);
            let result = write_set(&disk, &dir, NEW, "new", true);
            drop(disk);
            match held(&dir) {
                Ok(word) => assert!(result.is_err() || word == "new", "{fault:?} at {at}"),
                Err(e) => {
                    assert!(result.is_err() && e.contains("is not finished"), "{at}: {e}");
                    refused += 1;
                    // A run that ends before it has written anything does not change that.
                    drop(TableSet::open(&Os, &dir, true).expect("no fault here"));
                    assert!(held(&dir).expect_err("it is refused").contains("is not finished"));
                }
            }
            foreign_is_there(&dir);
            // The next run puts everything right, in place or not.
            write_set(&Os, &dir, NEW, "new", at % 2 == 0).expect("no fault here");
            assert_eq!((held(&dir), names(home.path())), (Ok("new"), vec!["tables".to_owned()]));
            assert_eq!(names(&dir), WHOLE, "{fault:?} at {at}");
        }
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn where_names_cannot_be_exchanged_only_new_folders_are_written() {
    let disk = Faulty::new(Fault::NoExchange, 0);
    let (home, dir) = with_old_set();
    let refused = write_set(&disk, &dir, NEW, "new", false).expect_err("it is refused");
    assert!(matches!(refused, SetError::CannotSwap { .. }), "{refused}");
    assert_eq!((held(&dir), names(home.path())), (Ok("old"), vec!["tables".to_owned()]));
    write_set(&disk, &dir, NEW, "new", true).expect("no fault here");
    assert_eq!(held(&dir), Ok("new"));
    let empty = home.path().join("empty");
    fs::create_dir(&empty).expect("no fault here");
    write_set(&disk, &empty, NEW, "new", false).expect("no fault here");
    assert_eq!(held(&empty), Ok("new"));
}

#[test]
fn one_writer_at_a_time() {
    for in_place in [false, true] {
        let (home, dir) = with_old_set();
        let first = TableSet::open(&Os, &dir, in_place).expect("no fault here");
        for other in [false, true] {
            let refused =
                TableSet::open(&Os, &dir, other).err().expect("no fault here").to_string();
            assert!(refused.contains("another darkfiber is writing there"), "{refused}");
        }
        let fresh = home.path().join("fresh");
        let second = TableSet::open(&Os, &fresh, in_place).expect("no fault here");
        assert!(TableSet::open(&Os, &fresh, false).is_err());
        drop((first, second));
        write_set(&Os, &dir, NEW, "new", in_place).expect("no fault here");
        assert_eq!((held(&dir), names(home.path())), (Ok("new"), vec!["tables".to_owned()]));
    }
}

#[test]
fn a_file_is_the_old_or_the_new_one_whatever_step_fails() {
    let body = "new ".repeat(100_000);
    let run =
        |disk: &dyn Disk, path: &Path| replace_on(disk, path, |out| out.write_all(body.as_bytes()));
    let count = Faulty::new(Fault::None, 0);
    run(&count, &tempfile::tempdir().expect("no fault here").path().join("f"))
        .expect("no fault here");
    for fault in [Fault::Once, Fault::Full, Fault::Killed, Fault::Torn, Fault::PowerLost] {
        for at in 0..=count.steps() {
            let home = tempfile::tempdir().expect("no fault here");
            let path = home.path().join("f");
            fs::write(&path, "old").expect("no fault here");
            let disk = Faulty::new(fault, at);
            let result = run(&disk, &path);
            drop(disk);
            let text = fs::read_to_string(&path).expect("no fault here");
            assert!(text == "old" || text == body, "{fault:?} at {at}");
            assert!(result.is_err() || text == body, "{fault:?} at {at}");
            if matches!(fault, Fault::Once | Fault::Full) {
                assert_eq!(names(home.path()), ["f"], "{fault:?} at {at}");
            }
            run(&Os, &path).expect("no fault here");
            assert_eq!(names(home.path()), ["f"], "{fault:?} at {at}");
        }
    }
}

#[test]
fn what_is_missing_cut_altered_or_foreign_is_named() {
    type Spoil = (&'static str, fn(&Path));
    let spoil: [Spoil; 6] = [
        ("guid2lid: it is missing", |d| {
            fs::remove_file(d.join("guid2lid")).expect("no fault here");
        }),
        ("lfts.dump: it has 9 bytes, but ", |d| {
            fs::write(d.join("lfts.dump"), "lfts.dump").expect("no fault here");
        }),
        ("path-sl: it differs from its digest", |d| {
            let mut bytes = fs::read(d.join("path-sl")).expect("no fault here");
            bytes[1000] ^= 4;
            fs::write(d.join("path-sl"), bytes).expect("no fault here");
        }),
        ("path-bits: it is not of this set", |d| {
            fs::write(d.join("path-bits"), "").expect("no fault here");
        }),
        ("route.json: it is cut or altered", |d| {
            let text = fs::read_to_string(d.join("route.json")).expect("no fault here");
            fs::write(d.join("route.json"), &text[..text.len() / 2]).expect("no fault here");
        }),
        ("fdbs.gz: it is not of this set", |d| {
            fs::write(d.join("fdbs.gz"), "").expect("no fault here");
        }),
    ];
    for (expected, spoil) in spoil {
        let (_home, dir) = with_old_set();
        spoil(&dir);
        let error = verify(&dir).expect_err("it is refused").to_string();
        assert!(error.contains(expected), "{error}");
    }
    let (_home, dir) = with_old_set();
    let text = fs::read(dir.join("route.json")).expect("no fault here");
    for bit in 0..8 * text.len() {
        let mut other = text.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        fs::write(dir.join("route.json"), other).expect("no fault here");
        assert!(verify(&dir).is_err(), "bit {bit} of the manifest");
    }
    fs::remove_file(dir.join("route.json")).expect("no fault here");
    assert!(verify(&dir).expect("no fault here").note.is_some());
}

#[test]
fn a_reader_notices_that_the_set_was_replaced() {
    let (_home, dir) = with_old_set();
    let verified = verify(&dir).expect("no fault here");
    verified.check_unchanged().expect("no fault here");
    write_set(&Os, &dir, NEW, "new", false).expect("no fault here");
    assert!(
        verified
            .check_unchanged()
            .expect_err("it is refused")
            .to_string()
            .contains("replaced while it was read")
    );
}

#[test]
fn links_and_devices_stay_what_they_are() {
    let home = tempfile::tempdir().expect("no fault here");
    let (link, file) = (home.path().join("link"), home.path().join("file"));
    fs::write(&file, "old").expect("no fault here");
    std::os::unix::fs::symlink("file", &link).expect("no fault here");
    replace_on(&Os, &link, |out| out.write_all(b"new")).expect("no fault here");
    assert!(fs::symlink_metadata(&link).expect("no fault here").is_symlink());
    assert_eq!(fs::read_to_string(&file).expect("no fault here"), "new");
    replace_on(&Os, Path::new("/dev/null"), |out| out.write_all(b"new")).expect("no fault here");
    assert!(!fs::metadata("/dev/null").expect("no fault here").is_file());
    assert!(replace_on(&Os, Path::new("/dev/full"), |out| out.write_all(b"new")).is_err());
    // A table that is a link would be lost with the folder.
    let (_home, dir) = with_old_set();
    fs::rename(dir.join("lfts.dump"), dir.join("elsewhere")).expect("no fault here");
    std::os::unix::fs::symlink("elsewhere", dir.join("lfts.dump")).expect("no fault here");
    let refused = write_set(&Os, &dir, NEW, "new", false).expect_err("it is refused");
    assert!(matches!(refused, SetError::NoRegularFile { .. }), "{refused}");
    write_set(&Os, &dir, NEW, "new", true).expect("no fault here");
    assert!(fs::symlink_metadata(dir.join("lfts.dump")).expect("no fault here").is_symlink());
    assert_eq!(held(&dir), Ok("new"));
}
