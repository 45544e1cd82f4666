//! `darkfiber study export`: the same tasks for other programs that run many at a time.

use clap::{Args, ValueEnum};

use super::tasks::{TaskArgs, Tasks, plain_name, quoted};
use crate::failure::{Exit, Failure};
use crate::options::Common;
use crate::out;

/// Times that a task which was stopped is begun again.
const AGAIN: u32 = 3;

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) tasks: TaskArgs,
    /// What will run the tasks
    #[arg(long = "for", value_enum, value_name = "PROGRAM")]
    pub(crate) runner: Runner,
}

/// What runs tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Runner {
    /// GNU parallel: a shell command with a list of tasks
    Parallel,
    /// HyperQueue: the submission of a task array
    Hyperqueue,
}

pub(super) fn run(args: &ExportArgs, common: &Common) -> Result<Exit, Failure> {
    let Some(tasks) = Tasks::of(&args.tasks, common)? else {
        out::eprint_line("all cells are answered: there is nothing to run");
        return Ok(Exit::Fine);
    };
    if !common.quiet {
        for remark in tasks.remarks() {
            out::eprint_line(&remark);
        }
    }
    out::print(&match args.runner {
        Runner::Parallel => parallel(&tasks),
        Runner::Hyperqueue => hyperqueue(&tasks),
    })?;
    Ok(Exit::Fine)
}

/// A list of commands: in what stands in it nothing is replaced. Each has as many threads as it was given, so that as many run at a
/// time as leaves processors for these.
fn parallel(tasks: &Tasks) -> String {
    let share = (100 / u32::from(tasks.threads)).max(1);
    let mut text = format!("parallel --jobs {share}% --retries {AGAIN} <<'TASKS'\n");
    for number in 1..=tasks.count {
        text.push_str(&tasks.command(&number.to_string()));
        text.push_str(" >/dev/null\n");
    }
    text.push_str("TASKS\n");
    text
}

fn hyperqueue(tasks: &Tasks) -> String {
    format!(
        "hq submit --name {} --array 1-{} --cpus {} --stdout none -- sh -c {}\n",
        plain_name(&tasks.title),
        tasks.count,
        tasks.threads,
        quoted(&format!("exec {}", tasks.command("$HQ_TASK_ID")))
    )
}
