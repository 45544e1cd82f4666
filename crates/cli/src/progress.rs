//! Progress on standard error: on a terminal a line for work that takes over a second, elsewhere a line every ten seconds.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::remarks::{eprint_line, release};

/// Time that work may take in silence.
const PATIENCE: Duration = Duration::from_secs(1);

/// Interval of progress lines in a log.
const BEAT: Duration = Duration::from_secs(10);

/// Shows the current work and its progress; removed when dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    done: Option<Sender<()>>,
    waiter: Option<JoinHandle<()>>,
}

impl Progress {
    /// A line for `steps` steps.
    pub(crate) fn new(steps: u64, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        if quiet {
            return Self { bar, done: None, waiter: None };
        }
        let (done, wait) = channel::<()>();
        if !std::io::stderr().is_terminal() {
            let watched = bar.clone();
            let waiter = std::thread::spawn(move || beats(&watched, &wait, BEAT, eprint_line));
            return Self { bar, done: Some(done), waiter: Some(waiter) };
        }
        let (_, columns) = console::Term::stderr().size();
        if let Ok(style) = ProgressStyle::with_template(template(columns)) {
            bar.set_style(style.progress_chars("=> "));
        }
        let waiting = bar.clone();
        let waiter = std::thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                release();
                waiting.set_draw_target(ProgressDrawTarget::stderr());
                waiting.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Self { bar, done: Some(done), waiter: Some(waiter) }
    }

    /// Sets the current stage.
    pub(crate) fn at(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    /// Sets the current stage, and its completed share, in place of the steps.
    pub(crate) fn share(&self, done: f64, what: impl Into<String>) {
        self.bar.set_length(100);
        #[expect(clippy::cast_sign_loss, reason = "a share is not below zero")]
        self.bar.set_position((100.0 * done) as u64);
        self.bar.set_message(what.into());
    }

    /// A line of its own on standard error, above what is shown.
    pub(crate) fn say(&self, line: &str) {
        self.bar.suspend(|| eprint_line(line));
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

/// What is shown in a terminal of this many columns: what is done comes before the bar that shows it.
fn template(columns: u16) -> &'static str {
    match columns {
        100.. => "{spinner} [{bar:20}] {pos}/{len} {wide_msg} ({elapsed})",
        60.. => "{spinner} [{bar:10}] {pos}/{len} {wide_msg}",
        _ => "{spinner} {pos}/{len} {wide_msg}",
    }
}

/// Says how far work is, again and again until it is over.
fn beats(bar: &ProgressBar, done: &Receiver<()>, every: Duration, say: impl Fn(&str)) {
    while done.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        let of = bar.length().map_or_else(String::new, |len| format!("/{len}"));
        let seconds = bar.elapsed().as_secs();
        let line = format!("{}{of} {} ({seconds} s)", bar.position(), bar.message());
        say(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_hears_of_work_until_it_is_over() {
        let bar = ProgressBar::with_draw_target(Some(3), ProgressDrawTarget::hidden());
        bar.set_message("routing");
        bar.inc(1);
        let (done, wait) = channel::<()>();
        let (said, received) = channel();
        let watched = bar.clone();
        let waiter = std::thread::spawn(move || {
            beats(&watched, &wait, Duration::from_millis(5), |line| {
                let _nobody_listens = said.send(line.to_owned());
            });
        });
        let line = received.recv_timeout(Duration::from_mins(1)).expect("a line");
        assert!(line.starts_with("1/3 routing ("), "{line}");
        drop(done);
        waiter.join().expect("it ends");
    }
}
