//! `darkfiber man`: manual pages, made from what `--help` says.

use std::io::{self, Write};

use clap::{Args, Command};
use clap_mangen::Man;

use crate::failure::{Exit, Failure};
use crate::out;

#[derive(Args, Debug)]
pub(crate) struct ManCommand {
    /// A command, and one of its own, such as `study run` [default: darkfiber itself]
    #[arg(value_name = "COMMAND", num_args = 0..=2)]
    pub(crate) command: Vec<String>,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Examples:
  darkfiber man | man -l -
  darkfiber man route > /usr/local/share/man/man1/darkfiber-route.1
  darkfiber man study run > /usr/local/share/man/man1/darkfiber-study-run.1";

pub(crate) fn run(args: &ManCommand, darkfiber: Command) -> Result<Exit, Failure> {
    let mut command = darkfiber.disable_help_subcommand(true);
    // Common options become those of each command.
    command.build();
    // `darkfiber study-run` is how pages call it.
    let words = args.command.iter().flat_map(|word| word.split(['-', ' ']));
    for name in words {
        let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let found = command.find_subcommand(name).cloned();
        command = found.ok_or_else(|| Failure::unknown("command", name, &known))?;
    }
    // What short help leaves out has a text all the same.
    let command = command.mut_args(|arg| arg.hide_short_help(false));
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
