//! What an algorithm for a collective is.

use super::call::{Call, Team};
use crate::schedule::Script;

/// A way to do a collective.
pub struct Algorithm {
    /// Its name, unique within the collective.
    pub name: &'static str,
    /// How it goes.
    pub doc: &'static str,
    /// Where it is from.
    pub source: &'static str,
    /// Writes it for a communicator of two ranks or more.
    pub(super) write: fn(&mut Team<'_, '_>),
}

impl std::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Algorithm {
    /// Writes what all ranks of a communicator do; each waits for its part at the end. Ranks begin when they are done
    /// with what they were told before.
    ///
    /// # Panics
    /// If the root is not in the communicator, a rank not in the script, or there are too few sizes.
    pub fn write(&self, script: &mut Script, call: &Call<'_>) {
        if call.comm.len() > 1 {
            assert!((call.root as usize) < call.comm.len(), "the root is in the communicator");
            script.wait_all(call.comm);
            (self.write)(&mut Team { script, call: *call });
            script.wait_all(call.comm);
        }
    }
}
