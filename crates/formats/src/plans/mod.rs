//! Plans of the cabling, which name devices and ports and no GUIDs: UFM's network description and ibdm's topology
//! files. They do not contain a routable fabric, but can be compared with one.

mod build;
pub mod ibdm;
pub mod ndt;

use std::path::Path;

use darkfiber_fabric::Cabling;

use crate::{Diagnostics, Format, ReadError};

/// Reads a plan of this format; `None` if files of the format are no plans.
///
/// # Errors
/// If no cable can be read.
pub fn read(
    format: &Format,
    text: &str,
    path: &Path,
) -> Option<Result<(Cabling, Diagnostics), ReadError>> {
    if *format == ndt::FORMAT {
        Some(ndt::read(text, path))
    } else if *format == ibdm::FORMAT {
        Some(ibdm::read(text, path))
    } else {
        None
    }
}
