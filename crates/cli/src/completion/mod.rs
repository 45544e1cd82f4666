//! What shells offer where a word is completed. A shell asks this program, so that what it offers is what the registries, the fabric on the
//! command line and the keys of scenarios have now; `darkfiber completions` writes the few lines with which it asks.

mod bash;
mod fabric;
mod fish;
mod keys;
mod line;
mod names;
mod offer;
mod shell;
mod zsh;

use std::ffi::OsStr;
use std::io;

use clap::{Arg, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate as Candidate,
};
use clap_complete::env::{Elvish, EnvCompleter, Powershell, Shells};

/// Is set to the name of a shell where that shell asks.
const ASKED: &str = "DARKFIBER_COMPLETE";

/// The shells that can ask.
const SHELLS: Shells<'static> =
    Shells(&[&bash::BASH, &Elvish, &fish::FISH, &Powershell, &zsh::ZSH]);

/// Answers a shell that asks about this command line; whether one did.
pub(crate) fn answer(command: fn() -> Command) -> Result<bool, clap::Error> {
    // Whatever else this program writes would be offered.
    if std::env::var_os(ASKED).is_none() {
        return Ok(false);
    }
    let here = std::env::current_dir().ok();
    let ask = CompleteEnv::with_factory(|| with_values(with_commands(command())))
        .var(ASKED)
        .shells(SHELLS);
    ask.try_complete(std::env::args_os(), here.as_deref())
}

/// The names of the shells that can ask.
pub(crate) fn shells() -> Vec<&'static str> {
    SHELLS.names().collect()
}

/// What makes a shell ask, in its language. None if the shell is not known.
pub(crate) fn script(shell: &str) -> Option<io::Result<Vec<u8>>> {
    let shell: &dyn EnvCompleter = SHELLS.completer(shell)?;
    let mut script = Vec::new();
    let written =
        shell.write_registration(ASKED, "darkfiber", "darkfiber", "darkfiber", &mut script);
    Some(written.map(|()| script))
}

/// The command line, where `man` knows its commands.
fn with_commands(command: Command) -> Command {
    let all: Vec<(String, Option<String>)> = (command.get_subcommands())
        .filter(|sub| !sub.is_hide_set())
        .map(|sub| (sub.get_name().to_owned(), sub.get_about().map(ToString::to_string)))
        .collect();
    let offered = move || {
        let candidate = |(name, about): &(String, Option<String>)| {
            Candidate::new(name).help(about.clone().map(Into::into))
        };
        all.iter().map(candidate).collect::<Vec<Candidate>>()
    };
    command.mut_subcommand("man", |man| {
        man.mut_arg("command", |arg| arg.add(ArgValueCandidates::new(offered)))
    })
}

/// A command and those below it.
fn with_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(|arg| match completer(&name, &arg) {
            Some(complete) => arg.add(ArgValueCompleter::new(complete)),
            None => arg,
        })
        .mut_subcommands(with_values)
}

/// What finds the values that begin with what is typed.
type Completer = fn(&OsStr) -> Vec<Candidate>;

/// What an argument's values are, by what help calls them.
fn completer(command: &str, arg: &Arg) -> Option<Completer> {
    let name = arg.get_value_names()?.first()?;
    let complete: Completer = match name.trim_end_matches(",..") {
        "FABRIC" | "EXPECTED" | "FOUND" => fabric::fabrics,
        // `hot`, `place` and `blast` take a fabric there, too.
        "SCENARIO" if command != "simulate" => fabric::fabrics,
        "WHO" => fabric::hosts,
        "LINK" => fabric::cables,
        "GUIDS" if arg.get_id() == "roots" => fabric::switch_guids,
        "GUIDS" => fabric::port_guids,
        "ENGINE" => names::engines,
        "PATTERN" => names::patterns,
        "TRAFFIC" => names::traffic,
        "METRIC" => names::metrics,
        "ROUTING" | "ROUTINGS" => |typed| names::listed("routings", typed),
        "SCHEME" => |typed| names::listed("congestion", typed),
        "ALLOCATOR" => |typed| names::listed("allocators", typed),
        "SWITCHES" => |typed| names::listed("switches", typed),
        "HOSTS" => |typed| names::listed("hosts", typed),
        "FRAMING" => |typed| names::listed("framing", typed),
        "ECMP" => names::hashes,
        "ID" if command == "reproduce" => names::experiments,
        "KIND" if command == "list" => names::lists,
        "NAME" if command == "list" => names::of_list,
        "FORM" if command == "fabric" => names::forms,
        "SHELL" => |typed| offer::beginning(typed, shells().into_iter().map(|s| (s, ""))),
        "KEY=VALUE" => keys::of_scenario,
        _ => return None,
    };
    Some(complete)
}
