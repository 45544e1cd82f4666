//! Calls that may take long: without Python's lock, and interrupted by Ctrl-C.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use darkfiber_routing::Stop;
use darkfiber_scenario::Error as ScenarioError;
use pyo3::prelude::*;

use crate::error::{bug, raised};

/// Time between two looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Does `work` in threads of its own while this one, without Python's lock, waits for it and checks for signals. After Ctrl-C they end
/// at the next row of tables, destination, sample or event; what is not worth a look goes on until it is done, and its result is
/// dropped.
pub(crate) fn long<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T, ScenarioError> + Send + 'static,
) -> PyResult<T> {
    let stop = Stop::default();
    let no_threads = |e: &dyn std::fmt::Display| {
        let error = ScenarioError::infeasible(format!("this machine gives no more threads: {e}"));
        raised(py, &error.hint("RAYON_NUM_THREADS=1 takes fewer; or raise the limits of ulimit"))
    };
    let pool = stop.pool().map_err(|e| no_threads(&e))?;
    let asked = stop.clone();
    let (to, from) = channel();
    let builder = thread::Builder::new().name("darkfiber".to_owned()).stack_size(8 << 20);
    let started = builder.spawn(move || {
        // The receiver is gone after Ctrl-C.
        let _ignored = to.send(pool.install(|| work(&asked)));
    });
    started.map_err(|e| no_threads(&e))?;
    let mut from = Some(from);
    loop {
        let receiver = from.take();
        let (heard, receiver) = py.detach(move || {
            let heard = receiver.as_ref().map(|receiver| receiver.recv_timeout(LOOK));
            (heard, receiver)
        });
        from = receiver;
        match heard {
            Some(Ok(done)) => return done.map_err(|e| raised(py, &e)),
            Some(Err(RecvTimeoutError::Timeout)) => {
                if let Err(interrupted) = py.check_signals() {
                    stop.ask();
                    return Err(interrupted);
                }
            }
            Some(Err(RecvTimeoutError::Disconnected)) | None => {
                return Err(bug(py, "the work ended without a result"));
            }
        }
    }
}
