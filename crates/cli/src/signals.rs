//! Handling of SIGINT, SIGTERM, SIGHUP and SIGUSR1 (batch systems send the last one before the time limit): save runs that
//! have a store, leave no temporary file and no process behind, and end the process as the signals would by default.

use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use darkfiber_formats::disk;
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::{emulate_default_handler, signal_name};

use crate::failure::Failure;
use crate::{out, remarks};

/// The signal that requested an end; 0 if none did.
static ASKED: AtomicI32 = AtomicI32::new(0);
/// Runs that will be kept before the end.
static RUNS: Mutex<usize> = Mutex::new(0);
/// End of the process once runs are saved: by the signal, or with this code.
static CODE: AtomicI32 = AtomicI32::new(0);
/// Action of the first signal where a long-running program can end without being killed.
static INSTEAD: Mutex<Option<Box<dyn Fn() + Send>>> = Mutex::new(None);
/// Process groups that were started and have not ended.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listens to signals, unless the parent of the process has it ignore them (`nohup`).
pub(crate) fn watch() -> Result<(), Failure> {
    let ignored = ignored();
    // Where a file may become no larger (`ulimit -f`), writing fails, and says so, instead of ending the process.
    let all = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXFSZ];
    let received = all.into_iter().filter(|s| ignored >> (s - 1) & 1 == 0);
    let cannot = |e| Failure::infeasible(format!("cannot listen to signals: {e}"));
    let mut signals = Signals::new(received.collect::<Vec<_>>()).map_err(cannot)?;
    let listen = move || {
        for signal in signals.forever().filter(|&signal| signal != SIGXFSZ) {
            let is_second = ASKED.swap(signal, Ordering::SeqCst) != 0;
            if let (false, Some(stop)) = (is_second, &*lock(&INSTEAD)) {
                stop();
                continue;
            }
            if is_second || *lock(&RUNS) == 0 {
                end(signal);
            }
            out::eprint_line(&format!(
                "{}: the run is being kept; a second signal ends it at once",
                signal_name(signal).unwrap_or("signal")
            ));
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(cannot)?;
    Ok(())
}

/// Lets the first signal end the program by a custom action; a second one ends it immediately.
pub(crate) fn instead(stop: impl Fn() + Send + 'static) {
    *lock(&INSTEAD) = Some(Box::new(stop));
}

/// Has the program end with this code once runs are kept after a signal.
pub(crate) fn end_with(code: i32) {
    CODE.store(code, Ordering::SeqCst);
}

/// The signals that are ignored, one bit each from signal 1 on.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Ends the process as the signal does, once no temporary files are left.
fn end(signal: i32) {
    remarks::release();
    disk::stop(|| {
        for &group in lock(&GROUPS).iter() {
            let _it_may_have_ended = kill_process_group(group, Signal::KILL);
        }
        let _it_does_not_return = emulate_default_handler(signal);
        std::process::exit(128 + signal);
    });
}

/// The signal that requested an end, if one did.
pub(crate) fn asked() -> Option<i32> {
    Some(ASKED.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
}

/// A run that is kept before a signal ends the process, from its first moment on.
#[derive(Default)]
pub(crate) struct KeptRunGuard(AtomicBool);

impl KeptRunGuard {
    /// Registers a running run.
    pub(crate) fn begin(&self) {
        if !self.0.swap(true, Ordering::SeqCst) {
            *lock(&RUNS) += 1;
        }
    }

    /// The run is saved, and must not continue: waits for the others, the last of which ends the process.
    pub(crate) fn end(&self) {
        // Of several processes of a run another one may have been asked.
        let _it_was_this_one =
            ASKED.compare_exchange(0, SIGTERM, Ordering::SeqCst, Ordering::SeqCst);
        self.over();
        loop {
            std::thread::park();
        }
    }

    fn over(&self) {
        if !self.0.swap(false, Ordering::SeqCst) {
            return;
        }
        let left = {
            let mut runs = lock(&RUNS);
            *runs -= 1;
            *runs
        };
        if let (0, Some(signal)) = (left, asked()) {
            match CODE.load(Ordering::SeqCst) {
                0 => end(signal),
                code => disk::stop(|| std::process::exit(code)),
            }
        }
    }
}

impl Drop for KeptRunGuard {
    fn drop(&mut self) {
        self.over();
    }
}

/// The process group of a command, killed with this process.
pub(crate) struct Group(Option<Pid>);

impl Group {
    pub(crate) fn of(child: &Child) -> Self {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        lock(&GROUPS).extend(pid);
        Self(pid)
    }

    /// Kills all processes of the group.
    pub(crate) fn kill(&self) {
        if let Some(pid) = self.0 {
            let _it_may_have_ended = kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        lock(&GROUPS).retain(|pid| Some(*pid) != self.0);
    }
}
