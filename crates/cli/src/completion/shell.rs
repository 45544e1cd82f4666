//! A shell that asks by a script of ours.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::env::EnvCompleter;

/// Writes the candidates for the last of the words that a shell asks about, as that shell reads them.
type Answer = fn(&mut Command, &[OsString], Option<&Path>, &mut dyn Write) -> io::Result<()>;

/// A shell, the script by which it asks, and the answer that it gets.
pub(super) struct Shell {
    pub(super) name: &'static str,
    pub(super) script: &'static str,
    pub(super) answer: Answer,
}

impl EnvCompleter for Shell {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is(&self, name: &str) -> bool {
        name == self.name
    }

    /// The script names the program itself.
    fn write_registration(
        &self,
        _var: &str,
        _name: &str,
        _bin: &str,
        _completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(self.script.as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        asked: Vec<OsString>,
        current_dir: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        (self.answer)(command, &asked, current_dir, out)
    }
}
