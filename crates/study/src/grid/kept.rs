//! Long runs inside cells: saved while they last, and their results saved until all runs of the cell are done.

use darkfiber_packetsim::{Observer, Pulse};

/// Store of the runs of cells; by default nothing is stored.
pub trait KeptRuns: Sync {
    /// The observer of a run of the cell with this digest, which saves the run while it lasts.
    fn follow(&self, id: &str, run: &str) -> Box<dyn Observer + '_> {
        let _ = (id, run);
        Box::new(|_: Pulse| ())
    }

    /// The saved result of a run, if any.
    fn saved_result(&self, id: &str, run: &str) -> Option<String> {
        let _ = (id, run);
        None
    }

    /// The saved lines of a run, as far as they are complete.
    fn lines(&self, id: &str, run: &str) -> Vec<String> {
        let _ = (id, run);
        Vec::new()
    }

    /// Stores another line of a run; returns whether the run is to continue.
    fn add_line(&self, id: &str, run: &str, line: &str) -> bool {
        let _ = (id, run, line);
        true
    }

    /// Saves the result of a run that is over.
    fn keep_run(&self, id: &str, run: &str, text: &str) {
        let _ = (id, run, text);
    }
}
