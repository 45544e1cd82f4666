//! OpenSM subnet link lists.

use std::path::Path;

use darkfiber_fabric::Topology;

use crate::{Diagnostics, ReadError};

/// Reads an `opensm-subnet.lst`.
///
/// # Errors
/// Always, for now.
pub fn read(_text: &str, path: &Path) -> Result<(Topology, Diagnostics), ReadError> {
    Err(ReadError::not_such(
        path,
        "OpenSM subnet.lst files are not supported yet",
        "an ibnetdiscover file",
        "",
    ))
}
