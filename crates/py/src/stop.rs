//! A wish that work ends before it is done.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish that work ends before it is done, shared by who works and who waits.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

/// Payload of the unwinding of a thread that was stopped.
struct Stopped;

impl Stop {
    /// Requests the stop.
    pub(crate) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was requested.
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends this thread if a stop was requested: for loops that cannot be left otherwise. Only the waiting thread
    /// notices it.
    pub(crate) fn unwind_if_asked(&self) {
        if self.is_asked() {
            resume_unwind(Box::new(Stopped));
        }
    }
}
