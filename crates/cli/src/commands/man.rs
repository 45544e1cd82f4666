//! `darkfiber man`: manual pages, made from what `--help` says.

use std::io::{self, Write};

use clap::{Args, Command};
use clap_mangen::Man;

use crate::failure::{Exit, Failure};
use crate::out;

#[derive(Args, Debug)]
pub(crate) struct ManCommand {
    /// A command [default: darkfiber itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Examples:
  darkfiber man | man -l -
  darkfiber man route > /usr/local/share/man/man1/darkfiber-route.1";

pub(crate) fn run(args: &ManCommand, darkfiber: Command) -> Result<Exit, Failure> {
    let mut command = darkfiber.disable_help_subcommand(true);
    // Common options become those of each command.
    command.build();
    if let Some(name) = &args.command {
        let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let found = command.find_subcommand(name).cloned();
        command = found.ok_or_else(|| Failure::unknown("command", name, &known))?;
    }
    out::print_with(|out| page(out, command))?;
    Ok(Exit::Fine)
}

fn page(out: &mut dyn Write, command: Command) -> io::Result<()> {
    let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let commands = command.has_subcommands();
    let source = concat!("darkfiber ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).source(source);
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if commands {
        man.render_subcommands_section(out)?;
    }
    // Tables and examples: lines stay as they are.
    writeln!(out, ".SH NOTES\n.nf")?;
    for line in notes.lines() {
        let line = line.replace('\\', r"\e").replace('-', r"\-");
        let shield = if line.starts_with(['.', '\'']) { r"\&" } else { "" };
        writeln!(out, "{shield}{line}")?;
    }
    writeln!(out, ".fi")
}
