//! The output of the program for people.

/// Receives lines for people.
pub trait Console {
    /// A proposal was made.
    fn proposal(&self, text: &str);
    /// An alarm, or other information.
    fn note(&self, text: &str);
}
