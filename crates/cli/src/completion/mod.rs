//! What shells offer where a word is completed. A shell asks this program, so that what it offers is what the registries, the fabric on the
//! command line and the keys of scenarios have now; `darkfiber completions` writes the few lines with which it asks.

mod bash;
mod fabric;
mod keys;
mod names;

use std::ffi::OsStr;
use std::io;

use clap::{Arg, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate as Candidate, PathCompleter};
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};

use crate::args;

/// Is set to the name of a shell where that shell asks.
const ASKED: &str = "DARKFIBER_COMPLETE";

/// The shells that can ask.
const SHELLS: Shells<'static> = Shells(&[&bash::Bash, &Elvish, &Fish, &Powershell, &Zsh]);

/// Answers a shell that asks; whether one did.
pub(crate) fn answer() -> Result<bool, clap::Error> {
    // Whatever else this program writes would be offered.
    if std::env::var_os(ASKED).is_none() {
        return Ok(false);
    }
    let here = std::env::current_dir().ok();
    let ask = CompleteEnv::with_factory(command).var(ASKED).shells(SHELLS);
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

/// The command line, with what its values can be.
fn command() -> Command {
    with_values(args::command())
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
type Complete = fn(&OsStr) -> Vec<Candidate>;

/// What an argument's values are, by what help calls them.
fn completer(command: &str, arg: &Arg) -> Option<Complete> {
    let name = arg.get_value_names()?.first()?;
    let complete: Complete = match name.trim_end_matches(",..") {
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
        "METRIC" => |typed| names::listed("metrics", typed),
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
        "COMMAND" if command == "man" => names::commands,
        "SHELL" => names::shells,
        "KEY=VALUE" => keys::of_scenario,
        _ => return None,
    };
    Some(complete)
}

/// The words that are typed, without the name of the program.
fn words() -> Vec<String> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(2);
    words.map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Names that begin with what is typed, with what is said of each.
fn beginning<'a>(
    typed: &OsStr,
    names: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<Candidate> {
    let typed = typed.to_string_lossy();
    let fitting = names.into_iter().filter(|(name, _)| name.starts_with(&*typed));
    fitting.map(|(name, told)| Candidate::new(name).help(first_line(told))).collect()
}

/// The part of what is typed that stays, up to the last of these characters, and what is completed.
fn parted<'a>(typed: &'a OsStr, at: &[char]) -> (&'a str, &'a str) {
    let typed = typed.to_str().unwrap_or_default();
    typed.split_at(typed.rfind(at).map_or(0, |place| place + 1))
}

/// Candidates for the end of what is typed, as whole words.
fn behind(kept: &str, candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.into_iter().map(|candidate| candidate.add_prefix(kept)).collect()
}

/// Files and folders that begin with what is typed.
fn files(typed: &OsStr) -> Vec<Candidate> {
    use clap_complete::engine::ValueCompleter;
    PathCompleter::any().complete(typed)
}

/// What fits beside a name.
fn first_line(text: &str) -> Option<clap::builder::StyledStr> {
    let line = text.lines().next().filter(|line| !line.is_empty())?;
    Some(line.to_owned().into())
}
