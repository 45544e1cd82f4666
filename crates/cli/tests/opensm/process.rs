//! Child processes that never outlive their test.

use std::io::Write;
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(5);

/// A child that is killed and reaped when it goes out of scope, by a panic, too.
pub(crate) struct Guarded(Child);

impl Guarded {
    pub(crate) fn start(command: &mut Command) -> Self {
        let child = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
        Self(child)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Writes a line to its standard input.
    pub(crate) fn say(&mut self, line: &str) {
        let input = self.0.stdin.as_mut().expect("its input is a pipe");
        writeln!(input, "{line}").expect("it listens");
    }

    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().expect("the child is ours")
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // Fails if the child has ended, which is as well.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Whether `done` comes true in time.
pub(crate) fn wait_for(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if done() {
            return true;
        }
        if start.elapsed() > limit {
            return false;
        }
        sleep(POLL);
    }
}

/// Runs a command to its end; its exit code, `None` if a signal ended it.
pub(crate) fn finish(command: &mut Command, limit: Duration) -> Option<i32> {
    let mut child = Guarded::start(command);
    let mut status = None;
    let ended = wait_for(limit, || {
        status = child.ended();
        status.is_some()
    });
    assert!(ended, "not finished in {limit:?}: {command:?}");
    status.and_then(|s| s.code())
}
