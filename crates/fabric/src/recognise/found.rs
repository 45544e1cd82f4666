//! The result of a recogniser, or why a fabric was not recognised.

use thiserror::Error;

use crate::Shape;

use super::fit::Fit;

/// Why a fabric was not recognised.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", reasons.iter().map(|(family, why)| format!("{family}: {why}")).collect::<Vec<_>>().join("; "))]
pub struct Unrecognised {
    /// For each recogniser that looked, its name and why it is not that.
    pub reasons: Vec<(&'static str, String)>,
}

/// The result of a recogniser; switches by their number in the [`Net`](super::net::Net).
pub(super) struct RecognizedStructure {
    pub(super) shape: Shape,
    pub(super) text: String,
    pub(super) fit: Fit,
}
