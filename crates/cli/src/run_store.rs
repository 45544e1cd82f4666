//! Store of the runs of a command that is a study.

use darkfiber_packetsim::{Observer, Pulse};
use darkfiber_study::grid::{KeptRuns, Prepared, Record, Store};

use crate::checkpoint::Followed;
use crate::contents::half;
use crate::kept_runs::RunsFolder;

/// Runs inside cells are saved, answers are not: the output of a command has more than these.
pub(crate) struct RunStore<'a> {
    /// Folder of the runs.
    pub(crate) runs: RunsFolder,
    /// All that was read for them, in words.
    pub(crate) read: String,
    /// Called with the name of every run that is over.
    pub(crate) over: &'a (dyn Fn(&str) + Sync),
    /// Hears how far each is.
    pub(crate) pulse: &'a (dyn Fn(&str, &Pulse) + Sync),
}

/// Reports that a run is over when its observer is dropped.
struct RunEndReporter<'a> {
    report: &'a (dyn Fn(&str) + Sync),
    run: String,
}

impl Drop for RunEndReporter<'_> {
    fn drop(&mut self) {
        (self.report)(&self.run);
    }
}

impl KeptRuns for RunStore<'_> {
    fn follow(&self, id: &str, run: &str) -> Box<dyn Observer + '_> {
        let over = RunEndReporter { report: self.over, run: run.to_owned() };
        let pulse = move |pulse: Pulse| (self.pulse)(&over.run, &pulse);
        Box::new(Followed { pulse: Box::new(pulse), checkpoint: self.runs.checkpoint(id, run) })
    }

    fn saved_result(&self, id: &str, run: &str) -> Option<String> {
        self.runs.saved_result(id, run).inspect(|_| (self.over)(run))
    }

    fn keep_run(&self, id: &str, run: &str, text: &str) {
        self.runs.keep_run(id, run, text);
    }
}

impl Store for RunStore<'_> {
    fn id(&self, asked: &str, cell: &Prepared) -> String {
        let version = env!("CARGO_PKG_VERSION");
        half(&format!("{version}\n{}\n{}", cell.key, self.read)) + &half(asked)
    }

    fn find(&self, _: &str) -> Option<Record> {
        None
    }

    fn keep(&self, _: Record) {}
}
