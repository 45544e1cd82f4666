//! The origin of the explained times.

/// The origin of times: it is printed with every explanation.
#[derive(Clone, Copy)]
pub(super) struct Times<'a> {
    /// Path of the file.
    pub(super) file: &'a str,
    /// Name of the column of times.
    pub(super) column: &'a str,
    /// Rows that have all that counts.
    pub(super) rows: usize,
}
