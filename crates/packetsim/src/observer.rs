//! Who follows a run: hears how far it is, and keeps it to go on from there.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ConfigError;

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Pulse {
    /// Simulated time, in picoseconds.
    pub now: u64,
    /// When it will be over, as far as is known; at the latest, while latencies have not settled.
    pub end: u64,
    /// Events so far.
    pub events: u64,
    /// Packets in the network and its sources.
    pub packets: usize,
}

/// Who follows a run. Whoever only wants to hear how far it is, is a function of that.
pub trait Observer: Sync {
    /// Hears how far it is.
    fn pulse(&self, pulse: Pulse);

    /// Whether it is time to keep the run.
    fn is_due(&self) -> bool {
        false
    }

    /// Keeps the run: what `write` writes. At its end, too.
    fn keep(&self, write: &dyn Fn(&mut dyn Write) -> io::Result<()>) {
        let _ = write;
    }

    /// What was kept of this run before, if anything.
    fn kept(&self) -> Option<Box<dyn Read + '_>> {
        None
    }
}

impl<F: Fn(Pulse) + Sync> Observer for F {
    fn pulse(&self, pulse: Pulse) {
        self(pulse);
    }
}

/// Writes a state.
///
/// # Errors
/// Whatever `out` says.
pub fn write<S: Serialize>(state: &S, out: &mut dyn Write) -> io::Result<()> {
    postcard::to_io(state, out).map(drop).map_err(io::Error::other)
}

/// What was kept is whole, but of no such run.
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
    let Some(input) = follow.kept() else { return Ok(None) };
    // Nothing that is kept has text in it.
    let mut none = [0; 64];
    match postcard::from_io((input, &mut none[..])) {
        Ok((state, _)) => Ok(Some(state)),
        Err(e) => Err(ConfigError(format!(
            "what was kept of this run is damaged ({e}): remove it, and the run starts over"
        ))),
    }
}
