//! A wish that work ends before it is done.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

thread_local! {
    /// The wish that this thread heeds, if it is one of [`Stop::pool`].
    static HEEDED: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// Bytes of the stack of a thread.
const STACK: usize = 8 << 20;

/// A wish that work ends before it is done, shared by who works and who waits.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

/// Payload of the unwinding of a thread that was stopped.
struct Stopped;

impl Stop {
    /// Requests the stop.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was requested.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends this thread if a stop was requested: for loops that cannot be left otherwise. Only the waiting thread
    /// notices it.
    pub fn unwind_if_asked(&self) {
        if self.is_asked() {
            resume_unwind(Box::new(Stopped));
        }
    }

    /// Threads in which engines, proofs and counts end soon after a stop was requested, by unwinding: at the next destination, row of
    /// tables, or sample.
    ///
    /// # Errors
    /// If the system has no threads left.
    pub fn pool(&self) -> Result<ThreadPool, ThreadPoolBuildError> {
        let stop = self.clone();
        let heed = move |_| HEEDED.with_borrow_mut(|heeded| *heeded = Some(stop.clone()));
        ThreadPoolBuilder::new().stack_size(STACK).start_handler(heed).build()
    }
}

/// Ends this thread if a stop was requested of its pool ([`Stop::pool`]).
pub fn unwind_if_asked() {
    HEEDED.with_borrow(|heeded| {
        if let Some(stop) = heeded {
            stop.unwind_if_asked();
        }
    });
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::{Request, find_engine};

    /// Engines end without tables, and the threads can be used again by whoever asks for no stop.
    #[test]
    fn engines_end_when_they_are_asked_to() {
        let topology = darkfiber_fabric::parse_spec("torus:dims=4x4,t=2").expect("a spec");
        for name in ["minhop", "dfsssp", "lash", "nue", "updn"] {
            let engine = find_engine(name).expect("registered");
            let request =
                Request { lanes: 8, shape: topology.shape.as_ref(), ..Request::default() };
            let stop = Stop::default();
            let pool = stop.pool().expect("threads");
            let route = || pool.install(|| engine.route(&topology.fabric, &request).is_ok());
            assert!(route(), "{name}");
            stop.ask();
            let stopped = catch_unwind(AssertUnwindSafe(route)).expect_err("it was asked to");
            assert!(stopped.is::<Stopped>(), "{name}");
            assert!(engine.route(&topology.fabric, &request).is_ok(), "{name} elsewhere");
        }
    }
}
