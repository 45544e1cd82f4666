//! What a signal does to a run with a store: cells under way are finished, no other is begun, and the exit code says that there is more.

use crate::failure::Exit;
use crate::{out, signals};

/// Has the first signal stop the run after the cells that are under way.
pub(super) fn listen() {
    signals::instead(|| {
        out::tell(
            "a signal: cells under way are finished, no other is begun; a second one ends the run at once",
        );
    });
}

/// Whether a signal asked for an end.
pub(super) fn is_asked() -> bool {
    signals::asked().is_some()
}

/// Says what is left.
pub(super) fn stopped(left: usize, cells: usize) -> Exit {
    out::tell(&format!(
        "stopped: {left} of {cells} cells are left; the same command goes on from there (exit code 75)"
    ));
    Exit::Again
}
