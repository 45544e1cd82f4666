//! Engine lists of OpenSM that are safe to fall back on.

use thiserror::Error;

/// Why an engine list of OpenSM is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the engine list \"{list}\" ends in minhop, which can deadlock off trees, as soon as no engine of it can route the \
     fabric; end it with no_fallback (trees: ftree,updn,no_fallback; others: nue,no_fallback)"
)]
pub struct EnginesRefused {
    /// The list as configured.
    pub list: String,
}

/// Whether OpenSM never programs `minhop` with this list: it does where all engines before fail, unless the list says
/// `no_fallback` (S9).
///
/// # Errors
/// If it may.
pub fn engines_allowed(engines: &[String]) -> Result<(), EnginesRefused> {
    let minhop = engines.iter().any(|e| e == "minhop");
    let ends = engines.iter().any(|e| e == "no_fallback");
    if ends && !minhop && engines.len() > 1 {
        return Ok(());
    }
    Err(EnginesRefused { list: engines.join(",") })
}
