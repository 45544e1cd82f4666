//! Who hears what the program has to say.

/// Who hears what people should see, a line each.
pub trait Voice {
    /// A proposal was made.
    fn proposal(&self, text: &str);
    /// An alarm, or what else is of interest.
    fn note(&self, text: &str);
}
