//! Runs inside cells of a study, in a folder: saved while they last, and their results.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use darkfiber_packetsim::Observer;
use darkfiber_study::grid::KeptRuns;

use crate::checkpoint::{Checkpoint, Checkpoints, Facts, Followed, TextDigest};
use crate::contents::of_scenario;
use crate::failure::Failure;
use crate::options::CheckpointArgs;
use crate::out;
use crate::sealed::Sealed;

/// A folder of runs, or none. Damaged files in it count as missing.
pub(crate) struct RunsFolder {
    files: Option<Checkpoints>,
    /// Runs that are kept line by line, and the digest of their lines so far.
    open: Mutex<BTreeMap<PathBuf, TextDigest>>,
}

impl RunsFolder {
    /// The folder that options name, made if it is not there.
    pub(crate) fn of(args: &CheckpointArgs) -> Result<Self, Failure> {
        Ok(Self { files: Checkpoints::of(args)?, open: Mutex::default() })
    }

    /// A store that keeps nothing.
    pub(crate) fn none() -> Self {
        Self { files: None, open: Mutex::default() }
    }

    /// Removes all that is kept of the runs of a cell.
    pub(crate) fn forget(&self, id: &str) {
        if let Some(all) = &self.files {
            all.forget_all(of_scenario(id));
        }
    }

    /// The file of a run of a cell while it lasts.
    pub(crate) fn checkpoint(&self, id: &str, run: &str) -> Option<Checkpoint> {
        let (all, name) = (self.files.as_ref()?, name(id, run));
        let open_run = || all.run(&name, facts(id, run));
        match open_run() {
            Ok(checkpoint) => Some(checkpoint),
            Err(e) => {
                out::eprint_line(&format!("warning: {}; it starts over", e.message));
                all.forget(&name);
                open_run().ok()
            }
        }
    }

    fn result(&self, id: &str, run: &str) -> Option<PathBuf> {
        Some(self.files.as_ref()?.dir().join(format!("{}.json", name(id, run))))
    }

    /// Lines of a run depend on everything in the cell, including files that its question names.
    fn log(&self, id: &str, run: &str) -> Option<PathBuf> {
        let digest = whole_facts(id, run).digest();
        let name = format!("{}-{digest:016x}.lines", of_scenario(id));
        Some(self.files.as_ref()?.dir().join(name))
    }
}

/// All that a run depends on.
fn facts(id: &str, run: &str) -> Facts {
    Facts::of("scenario", &of_scenario(id)).with("run", &run)
}

/// Everything that a run depends on if its question names files.
fn whole_facts(id: &str, run: &str) -> Facts {
    Facts::of("cell", &id).with("run", &run)
}

/// File name of a run.
fn name(id: &str, run: &str) -> String {
    format!("{}-{:016x}", of_scenario(id), facts(id, run).digest())
}

impl KeptRuns for RunsFolder {
    fn follow(&self, id: &str, run: &str) -> Box<dyn Observer + '_> {
        Box::new(Followed { pulse: Box::new(|_| ()), checkpoint: self.checkpoint(id, run) })
    }

    fn saved_result(&self, id: &str, run: &str) -> Option<String> {
        let path = self.result(id, run).filter(|path| path.exists())?;
        let sealed: Result<Sealed<Facts, String>, Failure> = Sealed::read(&path, "run");
        match sealed {
            Ok(sealed) => (sealed.facts == facts(id, run)).then_some(sealed.result),
            Err(e) => {
                out::eprint_line(&format!("warning: {}; it is run again", e.message));
                None
            }
        }
    }

    fn lines(&self, id: &str, run: &str) -> Vec<String> {
        let Some(path) = self.log(id, run) else { return Vec::new() };
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut digest = TextDigest::default();
        digest.add(&whole_facts(id, run).digest().to_string());
        // Data after a torn or altered line does not count.
        let mut whole = 0;
        let lines: Vec<String> = text
            .split_inclusive('\n')
            .map_while(|line| {
                let (kept, line) = line.strip_suffix('\n')?.split_once(' ')?;
                digest.add(line);
                (kept == format!("{:016x}", digest.value())).then(|| line.to_owned())
            })
            .inspect(|line| whole += line.len() + 18)
            .collect();
        if whole < text.len() {
            let cut = fs::OpenOptions::new().write(true).open(&path);
            let _it_shows_below = cut.and_then(|file| file.set_len(whole as u64));
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(path, digest);
        lines
    }

    fn add_line(&self, id: &str, run: &str, line: &str) -> bool {
        let Some(path) = self.log(id, run) else { return true };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(digest) = open.get_mut(&path) else { return true };
        digest.add(line);
        let whole = format!("{:016x} {line}\n", digest.value());
        let file = fs::OpenOptions::new().create(true).append(true).open(&path);
        if let Err(e) = file.and_then(|mut file| file.write_all(whole.as_bytes())) {
            // A failure to save does not end the run.
            out::eprint_line(&format!("warning: a run is not kept: {}: {e}", path.display()));
            open.remove(&path);
        }
        true
    }

    fn keep_run(&self, id: &str, run: &str, text: &str) {
        let Some(path) = self.result(id, run) else { return };
        let _a_warning_was_shown = Sealed::new(facts(id, run), text.to_owned()).keep(&path);
        // Its result is no longer needed.
        if let Some(all) = &self.files {
            all.forget(&name(id, run));
        }
    }
}
