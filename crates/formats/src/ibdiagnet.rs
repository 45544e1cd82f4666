//! What all text files of ibdiagnet 2 have in common: they say where they begin and where they end.

/// Whether a text begins as a file of ibdiagnet's, and lacks its end.
pub(crate) fn is_cut(text: &str) -> bool {
    let says = |what: &str| text.lines().any(|line| line.trim_start().starts_with(what));
    says("# File created at") && !says("# File closed at")
}
