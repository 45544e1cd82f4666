//! Checkpoints of runs, from which they are resumed later.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use darkfiber_fabric::{Digest, Fabric};
use darkfiber_formats::{ReadError, checked};
use darkfiber_packetsim::{Observer, Pulse};
use darkfiber_workload::quantity::time;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::options::CheckpointArgs;
use crate::{out, save, signals};

/// Folder of the checkpoints, and their interval.
pub(crate) struct Checkpoints {
    dir: PathBuf,
    every: Duration,
}

impl Checkpoints {
    /// The store, if it was requested.
    pub(crate) fn of(args: &CheckpointArgs) -> Result<Option<Self>, Failure> {
        let every =
            time(&args.store_every).map_err(|e| Failure::usage(format!("--store-every: {e}")))?;
        let Some(dir) = &args.keep.store else { return Ok(None) };
        save::directory(dir)?;
        Ok(Some(Self { dir: dir.clone(), every: Duration::from_nanos(every / 1000) }))
    }

    /// The file of a run; an error, if it is there and of another run.
    pub(crate) fn run(&self, name: &str, facts: Facts) -> Result<Checkpoint, Failure> {
        let path = self.path(name);
        if path.exists() {
            facts.compare(&path)?;
        }
        let keeping = signals::KeptRunGuard::default();
        Ok(Checkpoint { path, facts, every: self.every, last: Mutex::new(Instant::now()), keeping })
    }
}

impl Checkpoints {
    /// The folder of the store.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, name: &str) -> PathBuf {
        let name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
            .collect();
        self.dir.join(format!("{name}.run.zst"))
    }

    /// Removes the saved state of a run.
    pub(crate) fn forget(&self, name: &str) {
        let _it_may_not_be_there = fs::remove_file(self.path(name));
    }

    /// Removes the saved states of all runs whose names begin with this text.
    pub(crate) fn forget_all(&self, begin: &str) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(begin) {
                let _another_process_may_have = fs::remove_file(entry.path());
            }
        }
    }
}

/// Everything that the result of a run depends on: names and values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts(Vec<(String, String)>);

impl Facts {
    /// Of a run on a fabric.
    pub(crate) fn new(fabric: &Fabric) -> Self {
        Self(Vec::new())
            .with("version", &env!("CARGO_PKG_VERSION"))
            .with("fabric", &format!("{} {:016x}", fabric.name(), fabric.digest()))
    }

    /// Facts of a run that differs in one fact from all others.
    pub(crate) fn of(name: &str, value: &dyn fmt::Display) -> Self {
        Self(Vec::new()).with("version", &env!("CARGO_PKG_VERSION")).with(name, value)
    }

    /// Adds another fact.
    pub(crate) fn with(mut self, name: &str, value: &dyn fmt::Display) -> Self {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    /// With another one that is too large to be written down.
    pub(crate) fn with_digest(self, name: &str, value: &impl fmt::Debug) -> Self {
        let mut digest = TextDigest::default();
        let _infallible = write!(digest, "{value:?}");
        self.with(name, &format!("{:016x}", digest.value()))
    }

    /// A number that only distinguishes them from others.
    pub(crate) fn digest(&self) -> u64 {
        let mut digest = TextDigest::default();
        let _infallible = write!(digest, "{:?}", self.0);
        digest.value()
    }

    /// Whether a file is of this run.
    fn compare(&self, path: &Path) -> Result<(), Failure> {
        let again = "remove it to start over, or name another folder";
        let (kept, _) = open(path).map_err(|e| Failure::input(e).hint(again))?;
        let other = self.0.iter().zip(&kept.0).find(|(here, there)| here != there);
        match other {
            None if self.0.len() == kept.0.len() => Ok(()),
            None => {
                Err(Failure::input(format!("{}: kept by another version", path.display()))
                    .hint(again))
            }
            Some((here, there)) => Err(Failure::input(format!(
                "{}: the run that was kept there is another one: its {} is {}, not {}",
                path.display(),
                there.0,
                there.1,
                here.1
            ))
            .hint(again)),
        }
    }
}

/// The digest of a text that is being written.
#[derive(Default)]
pub(crate) struct TextDigest(Digest);

impl TextDigest {
    /// Takes a piece of text in; pieces that are cut otherwise give another digest.
    pub(crate) fn add(&mut self, text: &str) {
        for part in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.0.add(u64::from_le_bytes(word));
        }
    }

    /// The digest of all text so far.
    pub(crate) fn value(&self) -> u64 {
        self.0.value()
    }
}

impl fmt::Write for TextDigest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text);
        Ok(())
    }
}

/// The facts of a file, and the data after them.
fn open(path: &Path) -> Result<(Facts, Box<dyn BufRead>), String> {
    let not_kept =
        |e: &dyn fmt::Display| format!("{}: this is no run that was kept: {e}", path.display());
    let mut file = checked::open(path).map_err(|e| match e {
        // Its first words name the file.
        ReadError::NotSuchAFile { what, .. } => not_kept(&what),
        other => other.to_string(),
    })?;
    let mut line = String::new();
    // A line of facts is short; other data may be endless.
    file.by_ref().take(1 << 16).read_line(&mut line).map_err(|e| not_kept(&e))?;
    let facts = serde_json::from_str(&line).map_err(|e| not_kept(&e))?;
    Ok((facts, file))
}

/// The file of a run.
pub(crate) struct Checkpoint {
    path: PathBuf,
    facts: Facts,
    every: Duration,
    last: Mutex<Instant>,
    keeping: signals::KeptRunGuard,
}

impl Checkpoint {
    /// When it was kept last, or began.
    fn last(&self) -> MutexGuard<'_, Instant> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The observer of a run, which saves it if that was requested.
pub(crate) struct Followed<'a> {
    pub(crate) pulse: Box<dyn Fn(Pulse) + Sync + 'a>,
    pub(crate) checkpoint: Option<Checkpoint>,
}

impl Observer for Followed<'_> {
    fn pulse(&self, pulse: Pulse) {
        (self.pulse)(pulse);
    }

    fn is_due(&self) -> bool {
        let Some(c) = &self.checkpoint else { return false };
        c.keeping.begin();
        signals::asked().is_some() || c.last().elapsed() >= c.every
    }

    fn is_asked_to_end(&self) -> bool {
        self.checkpoint.is_some() && signals::asked().is_some()
    }

    fn keep(&self, write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>, ends: bool) {
        let Some(c) = &self.checkpoint else { return };
        let kept = checked::write(&c.path, |out| {
            serde_json::to_writer(&mut *out, &c.facts)?;
            out.write_all(b"\n")?;
            write(out)
        });
        // A failure to save does not end the run.
        if let Err(e) = &kept {
            out::eprint_line(&format!(
                "warning: the run is not kept: cannot write {}: {e}",
                c.path.display()
            ));
        }
        if ends && kept.is_ok() {
            out::eprint_line(&format!(
                "stopped: the run is kept in {}; the same command resumes from there",
                c.path.display()
            ));
        }
    }

    fn after_keep(&self, ends: bool) {
        let Some(c) = &self.checkpoint else { return };
        *c.last() = Instant::now();
        if ends {
            c.keeping.end();
        }
    }

    fn kept(&self) -> Option<Box<dyn Read + '_>> {
        let path = self.checkpoint.as_ref().map(|c| &c.path).filter(|path| path.exists())?;
        let (_, behind) = open(path).ok()?;
        Some(Box::new(behind))
    }
}
