//! Whose times they are.

/// Whose times they are: what is said of them with every explanation.
#[derive(Clone, Copy)]
pub(super) struct Times<'a> {
    /// The file.
    pub(super) file: &'a str,
    /// Column of times.
    pub(super) column: &'a str,
    /// Rows that have all that counts.
    pub(super) rows: usize,
}
