//! For tests only: fabrics from a line of text, random fabrics, and oracles that share no code with the code that
//! they judge.

pub mod docs;
pub mod families;
pub mod figures;
mod lines;
mod members;
pub mod oracle;
pub mod pairs;
pub mod passages;
pub mod processes;
mod random;
pub mod reach;
mod skipped;
mod text;
pub mod transitions;

pub use lines::lines;
pub use members::members;
pub use random::{any_fabric, connected_fabric};
pub use skipped::skipped;
pub use text::fabric;

use std::path::PathBuf;

/// A file of the shared data set (real fabrics, reference outputs), or `None` if this machine does not have it, which
/// is reported ([`skipped`]). The folder is `../shared` next to the checkout, or the one in `DARKFIBER_SHARED`.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("DARKFIBER_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let file = root.join(path);
    if file.exists() {
        return Some(file);
    }
    skipped(&format!("{path} of the shared data set is not here"));
    None
}
