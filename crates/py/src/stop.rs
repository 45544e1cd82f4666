//! A wish that work ends before it is done.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish that work ends before it is done, shared by who works and who waits.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

/// What a thread is unwound with that was asked to stop.
struct Stopped;

impl Stop {
    /// Asks for it.
    pub(crate) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends this thread if somebody asked: for loops that cannot be left otherwise. Nobody hears of it but who waits.
    pub(crate) fn unwind_if_asked(&self) {
        if self.is_asked() {
            resume_unwind(Box::new(Stopped));
        }
    }
}
