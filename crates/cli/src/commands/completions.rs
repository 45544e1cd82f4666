//! `darkfiber completions`: what makes a shell complete commands, options and names.

use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::Shell;
use darkfiber_analysis::count::{Bandwidth, METRICS};
use darkfiber_fabric::{FAMILIES, PRESETS};
use darkfiber_packetsim::routing::ROUTINGS;
use darkfiber_packetsim::{CONGESTIONS, MICROS};
use darkfiber_routing::ENGINES;
use darkfiber_study::reproduce::EXPERIMENTS;
use darkfiber_workload::PATTERNS;
use darkfiber_workload::placement::ALLOCATORS;
use darkfiber_workload::play::HOSTS;

use super::list;
use crate::failure::{Exit, Failure};
use crate::out;

#[derive(Args, Debug)]
pub(crate) struct CompletionsCommand {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Examples:
  darkfiber completions bash > ~/.local/share/bash-completion/completions/darkfiber
  darkfiber completions zsh > ~/.zfunc/_darkfiber                where `fpath` has ~/.zfunc
  darkfiber completions fish > ~/.config/fish/completions/darkfiber.fish";

pub(crate) fn run(args: &CompletionsCommand, darkfiber: Command) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_names(darkfiber), "darkfiber", &mut script);
    out::print_with(|out| out.write_all(&script))?;
    Ok(Exit::Fine)
}

/// The command line with the names that some of its values can have. When it is read they are no part
/// of it: chains of engines are values, too, and a close name is suggested for a wrong one. A FABRIC
/// stays without names, as most shells would then no longer complete files.
fn with_names(mut command: Command) -> Command {
    let engines: Vec<&str> = ENGINES.iter().map(|e| e.name()).collect();
    let families = FAMILIES.iter().map(|f| f.name());
    let presets = PRESETS.iter().map(|p| p.name);
    let patterns: Vec<&str> = PATTERNS.iter().map(|k| k.name()).collect();
    let metrics: Vec<&str> =
        METRICS.iter().map(|m| m.name).chain(Bandwidth::ALL.map(Bandwidth::name)).collect();
    let experiments: Vec<&str> = EXPERIMENTS.iter().map(|e| e.id).chain(["all"]).collect();
    let listed: Vec<&str> =
        engines.iter().chain(&patterns).copied().chain(families).chain(presets).collect();
    for (name, argument, values) in [
        ("route", "engines", engines.clone()),
        ("sweep", "engines", engines.clone()),
        ("measure", "engines", engines.clone()),
        ("measure", "patterns", patterns.clone()),
        ("measure", "metrics", metrics),
        ("reproduce", "ids", experiments),
        ("reroute", "engine", engines.clone()),
        ("fabric", "to", super::fabric::writable()),
        ("congest", "congestion", CONGESTIONS.iter().map(|c| c.name).collect()),
        ("congest", "routing", ROUTINGS.iter().map(|r| r.name).collect()),
        ("congest", "place", ALLOCATORS.iter().map(|a| a.name).collect()),
        ("congest", "switches", MICROS.iter().map(|m| m.name).collect()),
        ("congest", "host_model", HOSTS.iter().map(|h| h.name).collect()),
        ("congest", "engine", engines.clone()),
        ("list", "kind", list::kinds()),
        ("list", "name", listed),
    ] {
        let named = PossibleValuesParser::new(values);
        command = command.mut_subcommand(name, |c| c.mut_arg(argument, |a| a.value_parser(named)));
    }
    command
}
