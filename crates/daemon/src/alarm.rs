//! Alarms for operators, for pages.

use serde::{Deserialize, Serialize};

/// An alarm for operators.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopAlarm {
    /// Milliseconds since 1970.
    pub at: u64,
    /// `notice`, `warning` or `critical`.
    pub level: String,
    /// Text of the alarm.
    pub text: String,
}
