//! Runs inside cells that take long: kept while they last, and what came of them while others of their cell are to come.

use darkfiber_packetsim::{Observer, Pulse};

/// Where runs of cells are kept; nowhere, unless whoever implements this says so.
pub trait KeptRuns: Sync {
    /// Who follows a run of the cell with this digest, to keep it while it lasts.
    fn follow(&self, id: &str, run: &str) -> Box<dyn Observer + '_> {
        let _ = (id, run);
        Box::new(|_: Pulse| ())
    }

    /// What came of a run, if that was kept.
    fn came_of(&self, id: &str, run: &str) -> Option<String> {
        let _ = (id, run);
        None
    }

    /// What was kept of a run line by line, as far as it is whole.
    fn lines(&self, id: &str, run: &str) -> Vec<String> {
        let _ = (id, run);
        Vec::new()
    }

    /// Keeps another line of a run; whether the run is to go on.
    fn add_line(&self, id: &str, run: &str, line: &str) -> bool {
        let _ = (id, run, line);
        true
    }

    /// Keeps what came of a run, which is over.
    fn keep_run(&self, id: &str, run: &str, text: &str) {
        let _ = (id, run, text);
    }
}
