//! What a signal does to a run with a store: cells under way are finished, no other is begun, and the exit code says that there is more.

use crate::failure::Exit;
use crate::{out, signals};

/// The exit code that asks for the same command again.
const AGAIN: i32 = 75;

/// Has the first signal stop the run after the cells that are under way.
pub(super) fn listen() {
    // Runs that are kept while they last end the process themselves.
    signals::end_with(AGAIN);
    signals::instead(|| {
        out::eprint_line(
            "a signal: cells under way are finished, no other is begun; a second one ends the run at once",
        );
    });
}

/// Whether a signal asked for an end.
pub(super) fn is_asked() -> bool {
    signals::asked().is_some()
}

/// Says that there is more.
pub(super) fn stopped(left: usize) -> Exit {
    out::eprint_line(&format!(
        "stopped: {left} cells are left, or more; the same command goes on from there (exit code 75)"
    ));
    Exit::Again
}
