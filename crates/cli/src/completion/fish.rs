//! How fish asks. It gives the word under the cursor as it is typed, with its quotes, and quotes what it completes by itself; a `~` it
//! completes alone.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::env::{EnvCompleter, Fish};

use super::line::Line;
use super::shell::Shell;

/// Fish.
pub(super) const FISH: Shell = Shell { name: "fish", script: SCRIPT, answer };

/// The function that asks.
const SCRIPT: &str = r#"function __darkfiber_offered
    set -l typed (commandline --current-token --cut-at-cursor)
    if string match --quiet '~*' -- $typed
        complete --do-complete "'' $typed"
        return
    end
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l program (string replace --regex '^~' $HOME -- $words[1])
    env DARKFIBER_COMPLETE=fish $program -- $words $typed 2> /dev/null
end
complete --keep-order --exclusive --command darkfiber --arguments '(__darkfiber_offered)'
"#;

/// Reads the word under the cursor without its quotes.
fn answer(
    command: &mut Command,
    asked: &[OsString],
    current_dir: Option<&Path>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut asked = asked.to_vec();
    if let Some(typed) = asked.last_mut() {
        let read = Line::read(&typed.to_string_lossy()).words.pop();
        *typed = read.unwrap_or_default().into();
    }
    Fish.write_complete(command, asked, current_dir, out)
}
