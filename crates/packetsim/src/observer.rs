//! Observers of a run, which receive its progress and save it for resumption.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ConfigError;

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Pulse {
    /// Simulated time, in picoseconds.
    pub now: u64,
    /// Expected end, as far as is known; the latest one, while latencies have not settled.
    pub end: u64,
    /// Number of events so far.
    pub events: u64,
    /// Packets in the network and its sources.
    pub packets: usize,
}

/// Observes a run. A function of [`Pulse`] is an observer that only follows its progress.
pub trait Observer: Sync {
    /// Hears how far it is.
    fn pulse(&self, pulse: Pulse);

    /// Whether it is time to keep the run.
    fn is_due(&self) -> bool {
        false
    }

    /// Whether this process was asked to end. Looked at before the run is saved, so that several processes can agree.
    fn is_asked_to_end(&self) -> bool {
        false
    }

    /// Saves the run with `write`, which is called once at most. Called at its end, too; of several processes only in the first.
    /// `ends`: all of them end afterwards.
    fn keep(&self, write: &dyn Fn(&mut dyn Write) -> io::Result<()>, ends: bool) {
        let _ = (write, ends);
    }

    /// Called in every process once the run is saved: the place to end it if it `ends`.
    fn after_keep(&self, ends: bool) {
        let _ = ends;
    }

    /// The saved state of this run, if any.
    fn kept(&self) -> Option<Box<dyn Read + '_>> {
        None
    }
}

impl<F: Fn(Pulse) + Sync> Observer for F {
    fn pulse(&self, pulse: Pulse) {
        self(pulse);
    }
}

/// Writes a state of a run.
///
/// # Errors
/// Those of `out`.
pub fn write<S: Serialize>(state: &S, out: &mut dyn Write) -> io::Result<()> {
    postcard::to_io(state, out).map(drop).map_err(io::Error::other)
}

/// The error for a saved state that is valid, but of another run.
pub fn unlike() -> ConfigError {
    ConfigError(
        "what was kept of this run names what is not in its network: remove it, and the run starts over"
            .to_owned(),
    )
}

/// The state that was kept, if any was.
///
/// # Errors
/// If it is damaged.
pub fn read<S: DeserializeOwned>(follow: &dyn Observer) -> Result<Option<S>, ConfigError> {
    let Some(mut input) = follow.kept() else { return Ok(None) };
    read_next(&mut *input).map(Some)
}

/// The next value of a saved state that is read piece by piece.
///
/// # Errors
/// If it is damaged.
pub(crate) fn read_next<S: DeserializeOwned>(input: &mut dyn Read) -> Result<S, ConfigError> {
    // No saved state contains text.
    let mut none = [0; 64];
    match postcard::from_io((input, &mut none[..])) {
        Ok((state, _)) => Ok(state),
        Err(e) => Err(ConfigError(format!(
            "what was kept of this run is damaged ({e}): remove it, and the run starts over"
        ))),
    }
}
