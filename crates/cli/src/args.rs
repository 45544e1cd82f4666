//! The command line, as clap reads it: the commands, their common options, and the layout of their help.

use std::fmt::Write as _;

use clap::error::{ContextKind, ContextValue};
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};
use darkfiber_fabric::Unknown;

use crate::commands::{
    blast, check, completions, congest, diff, doctor, ecmp, explain, fabric, framing, hot, jobs,
    list, man, measure, nccl, operate, optimize, place, rails, replay, reproduce, reroute, route,
    saturate, simulate, study, survive, sweep, top,
};
use crate::help_text::{laid_out, plain};
use crate::options::Common;
use crate::scenario_keys;
use crate::terminal::wrapped;

/// Routing and analysis of InfiniBand and HPC fabrics: what would each engine do with my fabric, is it
/// free of deadlock, how even is the load, and can I load it into my OpenSM tonight?
#[derive(Parser, Debug)]
#[command(name = "darkfiber", version = env!("DARKFIBER_VERSION"), after_help = TOP, max_term_width = 100)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Inspect a fabric; convert, degrade or anonymize it
    #[command(after_help = fabric::HELP)]
    Fabric(fabric::FabricCommand),
    /// Compute, check, measure and write routes; several engines are compared side by side
    #[command(after_help = route::HELP)]
    Route(route::RouteCommand),
    /// Check existing forwarding tables: unreachable pairs, loops, deadlock, load balance
    #[command(after_help = check::HELP)]
    Check(check::CheckCommand),
    /// Examine a running fabric: what is wrong this morning, area by area, and what to do
    #[command(after_help = doctor::HELP)]
    Doctor(doctor::DoctorCommand),
    /// Compare two dumps, or a dump with the plan of the cabling, cable by cable
    #[command(after_help = diff::HELP)]
    Diff(diff::DiffCommand),
    /// Measure traffic patterns by counting flows on channels: worst permutation, random bisections, collectives
    #[command(after_help = measure::HELP)]
    Measure(measure::MeasureCommand),
    /// Read the jobs of a batch system: filter changes, report shared links, allocate hosts
    #[command(after_help = jobs::HELP)]
    Jobs(jobs::JobsCommand),
    /// Replay a job log on a fabric: what would each engine have done for the jobs of a month?
    #[command(after_help = replay::HELP)]
    Replay(replay::ReplayCommand),
    /// Fail growing shares of cables at random, many times, and compare how engines cope
    #[command(after_help = sweep::HELP)]
    Sweep(sweep::SweepCommand),
    /// Repair tables after a fault with few changed entries
    #[command(after_help = reroute::HELP)]
    Reroute(reroute::RerouteCommand),
    /// Repair every single cable and switch fault in advance, and report which leave running connections untouched
    #[command(after_help = survive::HELP)]
    Survive(survive::SurviveCommand),
    /// Fail every cable and switch in turn: which jobs stop, how much slower they are on repaired tables, and what flaps cost a day
    #[command(after_help = blast::HELP)]
    Blast(blast::BlastCommand),
    /// Simulate a scenario over time: jobs, their messages, and the channels that they share
    #[command(after_help = simulate::HELP)]
    Simulate(simulate::SimulateCommand),
    /// Ask questions of one scenario over axes of any of its keys; resumable, and in shards
    #[command(after_help = study::HELP)]
    Study(study::StudyCommand),
    /// Measure packet latency under increasing load: adaptive routings and tables, in lossless switches
    #[command(name = "saturate", alias = "load", after_help = saturate::HELP)]
    Saturate(Box<saturate::SaturateCommand>),
    /// Measure the congestion impact of aggressors on victims, by congestion control and routing
    #[command(after_help = congest::HELP)]
    Congest(Box<congest::CongestCommand>),
    /// Find hot channels: whose traffic it is, which jobs it slows, and which few table entries to change
    #[command(after_help = hot::HELP)]
    Hot(hot::HotCommand),
    /// Explain the run times of jobs by load or by port counters
    #[command(after_help = explain::HELP)]
    Explain(explain::ExplainCommand),
    /// Count how evenly hashes of Ethernet switches spread flows (ECMP), and prove that no choice of theirs deadlocks
    #[command(after_help = ecmp::HELP)]
    Ecmp(ecmp::EcmpCommand),
    /// Find the cables that carry the rings of GPU jobs, from logs or dumps of NCCL: shared ones, rails left, bandwidth
    #[command(after_help = nccl::HELP)]
    Nccl(nccl::NcclCommand),
    /// List what crosses the rails of a GPU cluster: how many pairs of NICs, over which switches and cables
    #[command(after_help = rails::HELP)]
    Rails(rails::RailsCommand),
    /// Choose free hosts for a new job, and the order of its ranks on them
    #[command(after_help = place::HELP)]
    Place(place::PlaceCommand),
    /// Watch fabric, tables and jobs beside OpenSM and SLURM, and propose proved changes of few entries
    #[command(after_help = operate::HELP)]
    Operate(operate::OperateCommand),
    /// Watch the fullest channels, jobs and alarms of a running `darkfiber operate` in a terminal
    #[command(after_help = top::HELP)]
    Top(top::TopCommand),
    /// Search for fat-tree routes that beat those of rule-based engines
    #[command(name = "optimize", alias = "optimise", after_help = optimize::HELP)]
    Optimize(optimize::OptimizeCommand),
    /// Compute what headers, minimum frames and gaps leave of a channel's bandwidth: Ethernet, RoCEv2, Slingshot
    #[command(after_help = framing::HELP)]
    Framing(framing::FramingCommand),
    /// Repeat a published experiment, and compare our numbers with the printed ones
    #[command(after_help = reproduce::HELP)]
    Reproduce(reproduce::ReproduceCommand),
    /// List engines, families, presets, traffic, hosts, collectives, allocators, ...
    #[command(after_help = list::HELP)]
    List(list::ListCommand),
    /// The words of this program: of networks, routes, traffic, simulation and operation
    #[command(hide = true, long_about = plain(include_str!("glossary.md")))]
    Glossary,
    /// The keys of a scenario file, section by section
    #[command(hide = true)]
    Scenario,
    /// Write a shell's completions of commands, options and names
    #[command(after_help = completions::HELP)]
    Completions(completions::CompletionsCommand),
    /// Write the manual page of darkfiber or of a command
    #[command(after_help = man::HELP)]
    Man(man::ManCommand),
}

/// Text below the commands.
const TOP: &str = "\
A FABRIC is
  a file              ibnetdiscover output, subnet.lst, netloc nodes, edge list, JSON; gz and zst
                      too; recognised by its content; - is standard input
  @preset             a machine or tree of the literature     (darkfiber list presets)
  @preset:key=value   the same with other values of its generator's keys, e.g. @shandy:taper=25
  family:key=value,.. a generated network                     (darkfiber list families)

Examples:
  darkfiber fabric my-fabric.topo                             what is in this dump?
  darkfiber route my-fabric.topo -e minhop -e updn -e dfsssp  compare engines side by side
  darkfiber route my-fabric.topo -e dfsssp -o new-routes      write tables that OpenSM can load
  darkfiber check my-fabric.topo --routes opensm-lfts.dump    is what OpenSM runs sound?

Exit codes:
  0   fine
  1   a finding in what is checked or written: unreachable pairs, loops, possible
      deadlock; a broken fabric (`route` that writes nothing only compares)
  2   the command line is wrong
  3   a file cannot be read or written
  4   infeasible: no engine can route this fabric, or no forwarding table can hold the routes
  70  a bug in darkfiber
  75  a signal stopped a study that is kept: the same command goes on from there";

/// Commands by purpose, the ones to start with first.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start here", &["fabric", "route", "check"]),
    (
        "Plan",
        &["measure", "ecmp", "sweep", "reroute", "survive", "blast", "optimize", "jobs", "replay"],
    ),
    ("Simulate", &["simulate", "study", "saturate", "congest", "framing", "reproduce"]),
    ("Operate", &["operate", "top", "doctor", "diff", "hot", "nccl", "rails", "place", "explain"]),
    ("More", &["list", "help", "completions", "man"]),
];

/// Options that many commands have and few users need: the help of commands leaves them to that of `darkfiber` and
/// `darkfiber fabric`, and to manual pages.
const ELSEWHERE: [&str; 10] = [
    "color",
    "threads",
    "max_input",
    "quiet",
    "fabric",
    "storage",
    "hosts_per_switch",
    "symbol_errors",
    "in_place",
    "map",
];

/// Options that the help of these commands has all the same: their texts and examples name them.
const STAY: [(&str, &[&str]); 3] =
    [("blast", &["fabric", "map"]), ("hot", &["fabric"]), ("place", &["fabric"])];

/// Options of switches that the help of `congest` leaves to that of `saturate`.
const OF_SWITCHES: [&str; 9] = [
    "queues",
    "arbitration",
    "interleave",
    "framing",
    "ordered",
    "bit_errors",
    "degraded",
    "cable",
    "global_cable",
];

impl Cli {
    /// Reads the command line.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let found = command().try_get_matches().map_err(with_nearest_command)?;
        Self::from_arg_matches(&found)
    }
}

/// The error for an unknown command, with the names near to it: behind `help` clap looks for none.
fn with_nearest_command(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    if error.get(ContextKind::SuggestedSubcommand).is_none() {
        let command = command();
        let known = command.get_subcommands().map(clap::Command::get_name);
        let mut nearest = Unknown::new("command", name, known).nearest;
        // Behind `operate` and the like, a command of that very name is no help.
        nearest.retain(|near| near != name);
        if !nearest.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(nearest));
        }
    }
    error
}

/// The commands as users see them. Texts that differ between the users of an option struct are set here.
pub(crate) fn command() -> clap::Command {
    let needs_engines = |c: clap::Command| c.mut_arg("engines", |a| a.required(true));
    // `--fail A B` names several.
    let fails_several = |c: clap::Command| c.mut_arg("fail", |a| a.num_args(1..));
    let command = Cli::command()
        .mut_subcommand("route", needs_engines)
        .mut_subcommand("sweep", needs_engines)
        .mut_subcommand("reroute", fails_several)
        .mut_subcommand("congest", |c| c.mut_args(|arg| without(&OF_SWITCHES, arg)))
        .mut_subcommand("scenario", |c| {
            // It takes a while to find all keys.
            let is_asked = std::env::args_os().any(|word| word == "scenario");
            if is_asked { c.long_about(scenario_keys::text()) } else { c }
        });
    let groups = groups(&command);
    let command = with_negative_numbers(command)
        .mut_args(elsewhere)
        .mut_subcommands(|sub| if sub.get_name() == "fabric" { sub } else { with_less(sub) });
    with_help(command, ArgAction::HelpLong).help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

/// Options whose values may look like `-1`, so that a message says what is wrong with that number,
/// not how to pass it.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes = |arg: clap::Arg| {
        let is_option = !arg.is_positional() && arg.get_action().takes_values();
        if is_option { arg.allow_negative_numbers(true) } else { arg }
    };
    command.mut_args(takes).mut_subcommands(with_negative_numbers)
}

/// An option that short help leaves out, if it is one of those.
fn without(ids: &[&str], arg: clap::Arg) -> clap::Arg {
    let is_left_out = ids.contains(&arg.get_id().as_str());
    if is_left_out { arg.hide_short_help(true) } else { arg }
}

fn elsewhere(arg: clap::Arg) -> clap::Arg {
    without(&ELSEWHERE, arg)
}

/// A command and its subcommands, with options removed from help that are documented elsewhere. Those that its texts
/// name stay.
fn with_less(command: clap::Command) -> clap::Command {
    let stay = STAY.iter().find(|(name, _)| *name == command.get_name()).map_or(&[][..], |s| s.1);
    let less = |arg: clap::Arg| {
        if stay.contains(&arg.get_id().as_str()) { arg } else { elsewhere(arg) }
    };
    command.mut_args(less).mut_subcommands(with_less)
}

/// Help of commands fits two screens; `darkfiber help COMMAND` and manual pages have the rest.
fn with_help(command: clap::Command, action: ArgAction) -> clap::Command {
    let text = "Print help (`darkfiber help COMMAND` has all options)";
    let help = clap::Arg::new("help").short('h').long("help").action(action).help(text);
    let below = command.get_after_help().map(|text| laid_out(&text.to_string()));
    let command = command.disable_help_flag(true).arg(help);
    let command = below.into_iter().fold(command, clap::Command::after_help);
    command.mut_subcommands(|sub| with_help(sub, ArgAction::HelpShort))
}

/// The commands with their descriptions, by group.
fn groups(command: &clap::Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(title);
        text.push_str(":\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map_or_else(
                || {
                    "This message, all options of a command, `help glossary`: the words of the field, `help scenario`: the keys of a scenario"
                        .to_owned()
                },
                ToString::to_string,
            );
            for (i, line) in wrapped(&about, 64).lines().enumerate() {
                let name = if i == 0 { name } else { "" };
                let _infallible = writeln!(text, "  {name:<12} {line}");
            }
        }
        text.push('\n');
    }
    text
}
