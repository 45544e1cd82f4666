//! `darkfiber`: routing and analysis of InfiniBand and HPC fabrics.
//!
//! One file for each command in `commands/`. This file parses the command line, starts the thread pool, and turns
//! every result into one message and a documented exit code.

mod addresses;
mod args;
mod checkpoint;
mod color;
#[cfg(feature = "parquet")]
mod columns;
mod commands;
mod completion;
mod contents;
mod counted;
mod damage;
mod failure;
mod first_steps;
mod help_text;
mod history;
mod job_log;
mod jobs;
mod kept_runs;
mod load;
mod mpi;
mod options;
mod out;
mod page;
mod preset;
mod process;
mod progress;
mod provenance;
mod pulse;
mod remarks;
mod run_store;
mod save;
mod scenario_keys;
mod sealed;
mod shard;
mod signals;
mod terminal;

use std::panic::set_hook;
use std::process::ExitCode;

use args::{Cli, Command};
use commands::jobs::JobsAction;
use commands::study::StudyAction;
pub(crate) use darkfiber_scenario::moment;
use failure::{Exit, Failure};
use options::Format;

fn main() -> ExitCode {
    set_hook(Box::new(|info| out::eprint_line(&failure::bug(info))));
    failure::guarded(|| {
        match completion::answer(args::command) {
            Ok(true) => return Ok(Exit::Fine),
            Ok(false) => {}
            Err(answer) => return answered(&answer),
        }
        signals::watch()?;
        if std::env::args_os().len() <= 1 {
            out::eprint_line(&first_steps::here());
            return Ok(Exit::Usage);
        }
        match Cli::read() {
            Ok(cli) => run(cli),
            Err(answer) => answered(&answer),
        }
    })
    .into()
}

/// Prints the output of clap: help and versions go to standard output and must get there, the rest is a usage error.
fn answered(answer: &clap::Error) -> Result<Exit, Failure> {
    let text = answer.render();
    if answer.use_stderr() {
        out::eprint_line(help_text::about_numbers(&text.to_string()).trim_end());
        return Ok(Exit::Usage);
    }
    let plain = !color::style().color;
    out::print(&if plain { text.to_string() } else { text.ansi().to_string() })?;
    Ok(Exit::Fine)
}

/// Refuses `--format` for commands whose output has one form.
fn refuse_format(cli: &Cli) -> Result<(), Failure> {
    let what = match &cli.command {
        Command::Glossary | Command::Scenario => "help prints text",
        Command::Completions(_) => "completions prints a script",
        Command::Man(_) => "man prints pages",
        Command::Jobs(jobs) => match &jobs.action {
            JobsAction::Allocate(_) => "jobs allocate prints hosts",
            JobsAction::Filter(_) => "jobs filter writes a list of nodes",
            JobsAction::Report(_) => return Ok(()),
        },
        Command::Study(study) => match &study.what {
            StudyAction::Slurm(_) => "study slurm writes a script",
            StudyAction::Export(_) => "study export prints a command",
            StudyAction::Plot(_) => "study plot draws a picture",
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    match cli.common.format {
        Format::Table => Ok(()),
        Format::Json | Format::Csv => {
            Err(Failure::usage(format!("{what}, in one form")).hint("leave --format out"))
        }
    }
}

/// Threads at most: more than there are cores only wait for each other. Results are the same with any number.
fn most_threads() -> usize {
    const ALWAYS: usize = 64;
    std::thread::available_parallelism().map_or(ALWAYS, |cores| (2 * cores.get()).max(ALWAYS))
}

fn run(cli: Cli) -> Result<Exit, Failure> {
    refuse_format(&cli)?;
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(n) = cli.common.threads {
        pool = pool.num_threads(usize::from(n).min(most_threads()));
    }
    let pool =
        pool.build().map_err(|e| Failure::infeasible(format!("cannot start threads: {e}")))?;
    let common = &cli.common;
    if let Some(bytes) = common.max_input {
        darkfiber_formats::input::set_limit(bytes);
    }
    // What goes on and on reads what it wrote.
    if !matches!(cli.command, Command::Operate(_)) {
        darkfiber_formats::named::watch();
    }
    let exit = pool.install(|| match cli.command {
        Command::Fabric(command) => commands::fabric::run(&command, common),
        Command::Route(command) => commands::ease::route_or_ease(&command, common),
        Command::Check(command) => commands::check::run(&command, common),
        Command::Measure(command) => commands::measure::run(&command, common),
        Command::Jobs(command) => commands::jobs::run(&command, common),
        Command::Replay(command) => commands::replay::run(&command, common),
        Command::Sweep(command) => commands::sweep::run(&command, common),
        Command::Reroute(command) => commands::reroute::run(&command, common),
        Command::Blast(command) => commands::blast::run(&command, common),
        Command::Survive(command) => commands::survive::run(&command, common),
        Command::Hot(command) => commands::hot::run(&command, common),
        Command::Explain(command) => commands::explain::run(&command, common),
        Command::Ecmp(command) => commands::ecmp::run(&command, common),
        Command::Rails(command) => commands::rails::run(&command, common),
        Command::Nccl(command) => commands::nccl::run(&command, common),
        Command::Place(command) => commands::place::run(&command, common),
        Command::Operate(command) => commands::operate::run(&command, common),
        Command::Glossary => {
            out::print(&help_text::plain(include_str!("glossary.md")))?;
            Ok(Exit::Fine)
        }
        Command::Scenario => {
            out::print(&scenario_keys::text())?;
            Ok(Exit::Fine)
        }
        Command::Top(command) => commands::top::run(&command, common),
        Command::Optimize(command) => commands::optimize::run(&command, common),
        Command::Simulate(command) => commands::simulate::run(&command, common),
        Command::Study(command) => commands::study::run(&command, common),
        Command::Saturate(command) => commands::saturate::run(&command, common),
        Command::Diff(command) => commands::diff::run(&command, common),
        Command::Doctor(command) => commands::doctor::run(&command, common),
        Command::Framing(command) => commands::framing::run(&command, common),
        Command::Congest(command) => commands::congest::run(&command, common),
        Command::Reproduce(command) => commands::reproduce::run(&command, common),
        Command::List(command) => commands::list::run(&command, common),
        Command::Completions(command) => commands::completions::run(&command),
        Command::Man(command) => commands::man::run(&command, args::command()),
    })?;
    Ok(damage::with_damage(exit))
}
