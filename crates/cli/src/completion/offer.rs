//! What is typed, and what is offered for it.

use std::ffi::OsStr;

use clap_complete::engine::{CompletionCandidate as Candidate, PathCompleter};

use super::line::{BREAKS, Line, at_home};

/// The words that are typed, without the name of the program.
pub(super) fn words() -> Vec<String> {
    let mut asked = std::env::args_os().skip_while(|word| word != "--").skip(1);
    if std::env::var_os(BREAKS).is_some() {
        let line = asked.next().unwrap_or_default();
        return Line::read(&line.to_string_lossy()).words.into_iter().skip(1).collect();
    }
    asked.skip(1).map(|word| at_home(&word.to_string_lossy())).collect()
}

/// Names that begin with what is typed, with their descriptions.
pub(super) fn beginning<'a>(
    typed: &OsStr,
    names: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<Candidate> {
    let typed = typed.to_string_lossy();
    let fitting = names.into_iter().filter(|(name, _)| name.starts_with(&*typed));
    fitting.map(|(name, about)| Candidate::new(name).help(first_line(about))).collect()
}

/// The part of what is typed that stays, up to the last of these characters, and what is completed.
pub(super) fn parted<'a>(typed: &'a OsStr, at: &[char]) -> (&'a str, &'a str) {
    let typed = typed.to_str().unwrap_or_default();
    typed.split_at(typed.rfind(at).map_or(0, |place| place + 1))
}

/// Candidates for the end of what is typed, as whole words.
pub(super) fn behind(kept: &str, candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.into_iter().map(|candidate| candidate.add_prefix(kept)).collect()
}

/// Files and folders that begin with what is typed.
pub(super) fn files(typed: &OsStr) -> Vec<Candidate> {
    use clap_complete::engine::ValueCompleter;
    PathCompleter::any().complete(typed)
}

/// What fits beside a name.
fn first_line(text: &str) -> Option<clap::builder::StyledStr> {
    let line = text.lines().next().filter(|line| !line.is_empty())?;
    Some(line.to_owned().into())
}
