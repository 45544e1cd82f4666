//! How fish asks. It gives the word under the cursor as it is typed, with its quotes, and quotes what it completes by itself; a `~` it
//! completes alone.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::env::{EnvCompleter, Fish as Answer};

use super::line::Line;

/// Fish.
pub(super) struct Fish;

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

impl EnvCompleter for Fish {
    fn name(&self) -> &'static str {
        "fish"
    }

    fn is(&self, name: &str) -> bool {
        name == "fish"
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

    fn write_complete(
        &self,
        command: &mut Command,
        mut asked: Vec<OsString>,
        current_dir: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if let Some(typed) = asked.last_mut() {
            let read = Line::read(&typed.to_string_lossy()).words.pop();
            *typed = read.unwrap_or_default().into();
        }
        Answer.write_complete(command, asked, current_dir, out)
    }
}
