//! `darkfiber completions`: what makes a shell complete commands, options, names, hosts and keys.

use clap::Args;

use crate::completion;
use crate::failure::{Exit, Failure};
use crate::out;

#[derive(Args, Debug)]
pub(crate) struct CompletionsCommand {
    /// The shell: bash, elvish, fish, powershell or zsh
    pub(crate) shell: String,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Examples:
  darkfiber completions bash > ~/.local/share/bash-completion/completions/darkfiber
  darkfiber completions zsh > ~/.zfunc/_darkfiber                where `fpath` has ~/.zfunc
  darkfiber completions fish > ~/.config/fish/completions/darkfiber.fish

A shell then asks darkfiber itself, so that presets, families and their keys, hosts and
cables of the fabric that is named, and keys of scenarios are completed, too.";

pub(crate) fn run(args: &CompletionsCommand) -> Result<Exit, Failure> {
    let script = completion::script(&args.shell)
        .ok_or_else(|| Failure::unknown("shell", &args.shell, &completion::shells()))?;
    let script = script.map_err(|e| Failure::infeasible(e.to_string()))?;
    out::print_with(|out| out.write_all(&script))?;
    Ok(Exit::Fine)
}
