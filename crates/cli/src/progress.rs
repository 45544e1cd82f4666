//! A progress line on standard error, on a terminal and only for what takes over a second.

use std::io::IsTerminal;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long work may take in silence.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows what is being done and how far it is; gone when dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    done: Option<Sender<()>>,
    waiter: Option<JoinHandle<()>>,
}

impl Progress {
    /// A line for `steps` steps.
    pub(crate) fn new(steps: u64, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        if quiet || !std::io::stderr().is_terminal() {
            return Self { bar, done: None, waiter: None };
        }
        if let Ok(style) =
            ProgressStyle::with_template("{spinner} [{bar:20}] {pos}/{len} {msg} ({elapsed})")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        let (done, wait) = channel::<()>();
        let waiting = bar.clone();
        let waiter = std::thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                waiting.set_draw_target(ProgressDrawTarget::stderr());
                waiting.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Self { bar, done: Some(done), waiter: Some(waiter) }
    }

    /// Says what is done now.
    pub(crate) fn at(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    /// This many steps were done before.
    pub(crate) fn skip(&self, steps: u64) {
        self.bar.set_position(steps);
    }

    /// One step is done.
    pub(crate) fn step(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(waiter) = self.waiter.take() {
            let _a_spinner_cannot_fail_the_work = waiter.join();
        }
        self.bar.finish_and_clear();
    }
}
