//! netloc node and path files.

use std::path::Path;

use darkfiber_fabric::Topology;

use crate::{Diagnostics, ReadError};

/// Reads a netloc nodes file.
///
/// # Errors
/// Always, for now.
pub fn read_nodes(_text: &str, path: &Path) -> Result<(Topology, Diagnostics), ReadError> {
    Err(ReadError::not_such(
        path,
        "netloc node files are not supported yet",
        "an ibnetdiscover file",
        "",
    ))
}
