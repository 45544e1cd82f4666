//! How bash asks. Bash parts a line at `@`, `:` and `=`, too, and takes what stands behind the last of these to be the word; here a word is
//! what a command gets, and what bash has of it already is cut off.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::engine;

use super::line::{BREAKS, Line};
use super::shell::Shell;

/// Bash.
pub(super) const BASH: Shell = Shell { name: "bash", script: SCRIPT, answer };

/// The function that asks.
const SCRIPT: &str = r#"_darkfiber() {
    local program=${1:-darkfiber} word
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(DARKFIBER_COMPLETE=bash _DARKFIBER_BREAKS=$COMP_WORDBREAKS \
        "${program/#\~/$HOME}" -- "${COMP_LINE:0:COMP_POINT}" 2> /dev/null)
    if [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *[=/:[] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o bashdefault -o default -F _darkfiber darkfiber
"#;

/// Characters that bash would take for something else in a word.
const SPECIAL: &[char] = &[
    ' ', '\t', '\'', '"', '\\', '$', '`', '&', ';', '|', '<', '>', '(', ')', '*', '?', '!', '#',
    '[', ']', '{', '}',
];

/// Writes the possible completions of the part of the last word that bash completes, a line each. It asks with the whole line.
fn answer(
    command: &mut Command,
    asked: &[OsString],
    current_dir: Option<&Path>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let text = asked.first().map(|line| line.to_string_lossy()).unwrap_or_default();
    let line = Line::parted(&text, &std::env::var(BREAKS).unwrap_or_default());
    let last = line.words.len() - 1;
    let typed = line.words[last].clone();
    let words = line.words.iter().map(OsString::from).collect();
    for candidate in engine::complete(command, words, last, current_dir)? {
        let word = candidate.get_value().to_string_lossy();
        let Some(rest) = word.strip_prefix(&typed[..line.kept]) else { continue };
        if line.is_quoted {
            writeln!(out, "{rest}")?;
        } else {
            writeln!(out, "{}", escaped(rest))?;
        }
    }
    Ok(())
}

/// A word as bash reads it without quotes.
fn escaped(word: &str) -> String {
    let mut escaped = String::with_capacity(word.len());
    for character in word.chars() {
        if SPECIAL.contains(&character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
