//! How bash asks. Bash parts a line at `@`, `:` and `=`, too, and takes what stands behind the last of these to be the word; here a word is
//! what a command gets.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::engine;
use clap_complete::env::EnvCompleter;

/// Bash.
pub(super) struct Bash;

/// The function that asks. It gives back what stands behind the last character at which bash parts words.
const SCRIPT: &str = r#"_darkfiber() {
    local line=${COMP_LINE:0:COMP_POINT} IFS=$' \t\n'
    local -a words
    read -a words <<< "$line"
    case $line in *[[:space:]]) words+=("") ;; esac
    local word=${words[${#words[@]} - 1]}
    local kept=${word%"${word##*[$COMP_WORDBREAKS]}"}
    IFS=$'\n'
    COMPREPLY=($(DARKFIBER_COMPLETE=bash darkfiber -- "${words[@]}" 2> /dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
    if [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *[=/:[] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o bashdefault -o default -F _darkfiber darkfiber
"#;

/// Characters that bash would take for something else in a word.
const SPECIAL: &[char] =
    &[' ', '\t', '\'', '"', '\\', '$', '`', '&', ';', '|', '<', '>', '(', ')', '*', '?', '!', '#'];

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        _var: &str,
        _name: &str,
        _bin: &str,
        _completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(SCRIPT.as_bytes())
    }

    /// Writes what can stand for the last word, a line each.
    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        current_dir: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let last = words.len().saturating_sub(1);
        for candidate in engine::complete(command, words, last, current_dir)? {
            let word = candidate.get_value().to_string_lossy();
            let mut escaped = String::with_capacity(word.len());
            for character in word.chars() {
                if SPECIAL.contains(&character) {
                    escaped.push('\\');
                }
                escaped.push(character);
            }
            writeln!(out, "{escaped}")?;
        }
        Ok(())
    }
}
