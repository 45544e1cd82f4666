//! The journal on disk: synced before anything is done about a step, bounded, and read again at the start.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use darkfiber_formats::output;
use darkfiber_operate::journal::{self, FORMAT, Journal, JournalError, JournalHeader, Step};
use darkfiber_operate::{Action, Input, Millis, ReviewedDecision, State};
use darkfiber_scenario::Error;

/// Most steps of the journal that are shown at once.
const SHOWN: usize = 1000;

/// The journal of a state folder, with exclusive access.
pub(crate) struct Store {
    folder: PathBuf,
    site: String,
    file: File,
    bytes: u64,
    most: u64,
    next: u64,
    /// A write that failed may have left part of a line: nothing may be appended to it.
    torn: bool,
    _lock: File,
}

fn cannot(path: &Path, e: &io::Error) -> Error {
    let (what, hint) = match e.kind() {
        io::ErrorKind::PermissionDenied => (
            "no permission; the state folder and all in it must be writable for the user that this program runs as",
            "chown -R that user, or let `state` name another folder",
        ),
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => (
            "it is no folder, and a folder is expected",
            "move it away, or let `state` name another folder",
        ),
        io::ErrorKind::ReadOnlyFilesystem => (
            "the file system is read-only",
            "let `state` name a folder that can be written (systemd: StateDirectory=)",
        ),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ("no space is left for the journal", "make room: it takes at most twice `journal_mib`")
        }
        io::ErrorKind::NotFound => {
            ("there is no such file", "give the journal of a state folder: STATE/journal")
        }
        io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => {
            ("it is no regular file, and a journal is expected", "STATE/journal is one")
        }
        _ => {
            let text = format!("{}: {e}", path.display());
            return Error::input(text).hint("a folder that can be written is expected as `state`");
        }
    };
    Error::input(format!("{}: {what}", path.display())).hint(hint)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn first_line(site: &str, first: u64, state: &State) -> String {
    let site = site.to_owned();
    journal::line(&JournalHeader { format: FORMAT, site, first, state: state.clone() })
}

/// Reads a regular file completely: a device or a pipe may have no end.
fn whole(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.is_file() {
        fs::read(path)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "no regular file"))
    }
}

/// Reads and checks a journal.
fn read(path: &Path) -> Result<Journal, Error> {
    let bytes = whole(path).map_err(|e| cannot(path, &e))?;
    journal::read(&bytes).map_err(|e| {
        let hint = match e {
            JournalError::Format { .. } => {
                "another version of darkfiber wrote it; run that one, or give another state folder"
            }
            _ => {
                "only what a crash left of the last line is cut; move the folder away to begin anew"
            }
        };
        Error::input(format!("{}: {e}", path.display())).hint(hint)
    })
}

/// Whether nobody has the lock. A child that another thread starts has all files for a moment, also those of a store that is closed.
fn is_free(lock: &File) -> bool {
    for _ in 0..20 {
        if lock.try_lock().is_ok() {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    false
}

impl Store {
    /// Opens the journal of a folder, or creates one; returns the state after its last step.
    pub(crate) fn open(folder: &Path, site: &str, most: u64) -> Result<(Self, State), Error> {
        fs::create_dir_all(folder).map_err(|e| cannot(folder, &e))?;
        let lock_path = folder.join("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.map_err(|e| cannot(&lock_path, &e))?;
        if !is_free(&lock) {
            return Err(Error::input(format!(
                "{}: another darkfiber operate runs here",
                folder.display()
            ))
            .hint("`darkfiber operate status` asks it"));
        }
        let path = folder.join("journal");
        if !path.exists() {
            let text = first_line(site, 1, &State::default());
            output::replace_as_is(&path, |out| out.write_all(text.as_bytes()))
                .map_err(|e| cannot(&path, &e))?;
        }
        let journal = read(&path)?;
        if journal.beginning.site != site {
            return Err(Error::input(format!(
                "{}: this is the state of site \"{}\", not \"{site}\"",
                path.display(),
                journal.beginning.site
            ))
            .hint("give another state folder, or the name of that site"));
        }
        let file = OpenOptions::new().append(true).open(&path).map_err(|e| cannot(&path, &e))?;
        let whole = journal.whole as u64;
        file.set_len(whole).and_then(|()| file.sync_all()).map_err(|e| cannot(&path, &e))?;
        let (folder, site) = (folder.to_owned(), site.to_owned());
        let next = journal.next();
        let store = Self { folder, site, file, bytes: whole, most, next, torn: false, _lock: lock };
        Ok((store, journal.state()))
    }

    /// Size of the journal.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes a step and has it reach the disk.
    pub(crate) fn append(
        &mut self,
        at: Millis,
        input: &Input,
        actions: &[Action],
    ) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.bytes)?;
            self.torn = false;
        }
        let (input, actions) = (input.clone(), actions.to_vec());
        let line = journal::line(&Step { step: self.next, at, input, actions });
        self.torn = true;
        self.file.write_all(line.as_bytes())?;
        self.file.sync_data()?;
        self.torn = false;
        self.bytes += line.len() as u64;
        self.next += 1;
        Ok(())
    }

    /// Restarts the journal with the state, if it is long; the previous one stays as `journal.1`.
    pub(crate) fn rotate(&mut self, state: &State) -> io::Result<()> {
        if self.bytes < self.most {
            return Ok(());
        }
        let path = self.folder.join("journal");
        let old = self.folder.join("journal.1");
        match fs::remove_file(&old) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        fs::hard_link(&path, &old)?;
        let text = first_line(&self.site, self.next, state);
        output::replace_as_is(&path, |out| out.write_all(text.as_bytes()))?;
        sync_folder(&self.folder)?;
        self.file = OpenOptions::new().append(true).open(&path)?;
        self.bytes = text.len() as u64;
        Ok(())
    }
}

/// Steps of the journal of a state folder from one on, without their checksums, a line each: at most a thousand.
pub(crate) fn since(folder: &Path, step: u64) -> Result<String, String> {
    let mut text = String::new();
    let mut left = SHOWN;
    for name in ["journal.1", "journal"] {
        let path = folder.join(name);
        let bytes = match whole(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            other => other.map_err(|e| format!("{}: {e}\n", path.display()))?,
        };
        for line in journal::since(&bytes, step).take(left) {
            text.push_str(line);
            text.push('\n');
            left -= 1;
        }
    }
    Ok(text)
}

/// Does the steps of a journal again: their actions as they come out now, a line each, and how many differ from the journal.
///
/// # Errors
/// If it cannot be read.
pub fn replay(path: &Path) -> Result<(String, usize), Error> {
    let journal = read(path)?;
    let (again, differ) = journal::replay(&journal);
    Ok((again.iter().map(journal::line).collect(), differ.len()))
}

/// What a journal shows.
pub struct ReviewedJournal {
    /// Name of the site.
    pub site: String,
    /// Number of steps.
    pub steps: usize,
    /// Times of the first and the last step, in ms since 1970.
    pub from_to: Option<(Millis, Millis)>,
    /// Decisions that began in it, in the order of time.
    pub decisions: Vec<ReviewedDecision>,
}

/// Follows a journal: the advice that was given, and what became of it.
///
/// # Errors
/// If it cannot be read.
pub fn review(path: &Path) -> Result<ReviewedJournal, Error> {
    let journal = read(path)?;
    let ends = journal.steps.first().zip(journal.steps.last());
    Ok(ReviewedJournal {
        site: journal.beginning.site.clone(),
        steps: journal.steps.len(),
        from_to: ends.map(|(first, last)| (first.at, last.at)),
        decisions: darkfiber_operate::review(&journal),
    })
}

#[cfg(test)]
mod tests {
    use darkfiber_operate::step;

    use super::*;

    /// Ticks and bad input, written as the owner does.
    fn go_on(store: &mut Store, state: &mut State, steps: u64) {
        for i in 0..steps {
            let input =
                Input::Bad { source: darkfiber_operate::InputSource::Jobs, what: "x".repeat(100) };
            let (next, actions) = step(state, i, &input);
            store.append(i, &input, &actions).expect("it can be written");
            *state = next;
            store.rotate(state).expect("it can be written");
        }
    }

    #[test]
    fn the_journal_is_bounded_and_its_state_goes_on() {
        let dir = tempfile::tempdir().expect("a folder");
        let (mut store, mut state) = Store::open(dir.path(), "a", 5000).expect("a journal");
        go_on(&mut store, &mut state, 200);
        let long = |name: &str| fs::metadata(dir.path().join(name)).expect("a file").len();
        assert!(long("journal") < 6000 && long("journal.1") < 6000, "a line beyond at most");
        assert_eq!(store.bytes(), long("journal"));
        // The output covers both, without gaps.
        let text = since(dir.path(), 1).expect("a journal");
        let numbers: Vec<u64> = text
            .lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).expect("JSON")["step"].as_u64())
            .map(|n| n.expect("a number"))
            .collect();
        assert!(numbers.len() > 20 && numbers.windows(2).all(|w| w[1] == w[0] + 1), "{numbers:?}");
        assert_eq!(numbers.last(), Some(&200));
        assert!(Store::open(dir.path(), "a", 5000).is_err(), "somebody has it");
        drop(store);
        let (_store, again) = Store::open(dir.path(), "a", 5000).expect("a journal");
        assert_eq!(again, state);
    }

    #[test]
    fn a_line_that_was_torn_is_cut_and_anything_else_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let open = || Store::open(dir.path(), "a", 1 << 20);
        let (mut store, mut state) = open().expect("a journal");
        go_on(&mut store, &mut state, 5);
        drop(store);
        let path = dir.path().join("journal");
        let whole = fs::read(&path).expect("a journal");
        for cut in (whole.len() - 100..whole.len()).step_by(7) {
            fs::write(&path, &whole[..cut]).expect("a file");
            let (store, _) = open().expect("a torn line is no error");
            assert_eq!(store.next, 5, "the last step is lost, as it was not acted upon");
            drop(store);
        }
        let mut altered = whole.clone();
        altered[whole.len() / 2] ^= 1;
        fs::write(&path, &altered).expect("a file");
        assert!(open().is_err_and(|e| e.to_string().contains("line ")));
        fs::write(&path, &whole).expect("a file");
        let other = Store::open(dir.path(), "b", 1 << 20);
        assert!(other.is_err_and(|e| e.to_string().contains("state of site \"a\", not \"b\"")));
    }
}
