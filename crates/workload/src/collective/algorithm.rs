//! The interface of an algorithm for a collective.

use super::call::{Call, CollectiveWriter};
use crate::schedule::Script;

/// An algorithm for a collective.
pub struct Algorithm {
    /// Its name, unique within the collective.
    pub name: &'static str,
    /// Description of the algorithm.
    pub doc: &'static str,
    /// Publication or program that it is from.
    pub source: &'static str,
    /// Writes it for a communicator of two ranks or more.
    pub(super) write: fn(&mut CollectiveWriter<'_, '_>),
}

impl std::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Algorithm {
    /// Writes the operations of all ranks of a communicator; each waits for its part at the end. Ranks start when
    /// their previous operations are done.
    ///
    /// # Panics
    /// If the root is not in the communicator, a rank not in the script, or there are too few sizes.
    pub fn write(&self, script: &mut Script, call: &Call<'_>) {
        if call.comm.len() > 1 {
            assert!((call.root as usize) < call.comm.len(), "the root is in the communicator");
            script.wait_all(call.comm);
            (self.write)(&mut CollectiveWriter { script, call: *call });
            script.wait_all(call.comm);
        }
    }
}
