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

/// Does `work` on a separate thread while this one, without Python's lock, waits for it and checks for signals. Work that
/// does not heed `stop` continues after Ctrl-C until it is done, and its result is dropped.
pub(crate) fn long<T: Send + 'static>(
    py: Python<'_>,
    stop: &Stop,
    work: impl FnOnce() -> Result<T, ScenarioError> + Send + 'static,
) -> PyResult<T> {
    let (to, from) = channel();
    let builder = thread::Builder::new().name("darkfiber".to_owned()).stack_size(8 << 20);
    let started = builder.spawn(move || {
        // The receiver is gone after Ctrl-C.
        let _ignored = to.send(work());
    });
    started.map_err(|e| bug(py, &format!("no thread: {e}")))?;
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
