//! What somebody should look at, for pages.

use serde::{Deserialize, Serialize};

/// What somebody should look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopAlarm {
    /// Milliseconds since 1970.
    pub at: u64,
    /// `notice`, `warning` or `critical`.
    pub level: String,
    /// What.
    pub text: String,
}
