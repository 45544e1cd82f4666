//! Whether the machine has the memory that something takes.

pub use darkfiber_fabric::memory::{amount, free};

use crate::Error;

/// Refuses an operation that does not fit into memory, before it starts; `what` describes it.
///
/// # Errors
/// If less memory is free.
pub fn expect(bytes: u128, what: impl FnOnce() -> String) -> Result<(), Error> {
    darkfiber_fabric::memory::expect(bytes)
        .map_err(|shortage| Error::infeasible(format!("{} take {shortage}", what())))
}
