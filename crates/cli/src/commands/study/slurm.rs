//! `darkfiber study slurm`: the script of a job array.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use darkfiber_workload::play::SECOND;
use darkfiber_workload::quantity::time;

use super::tasks::{TaskArgs, Tasks, plain_name};
use crate::failure::{Exit, Failure};
use crate::options::Common;
use crate::{out, save};

/// Seconds before its time limit at which a task gets a signal, at least.
const NOTICE: u64 = 60;
/// Most seconds of notice that SLURM takes.
const MOST_NOTICE: u64 = 65_535;
/// Most seconds of a task.
const MOST_TIME: u64 = 365 * 24 * 3600;
/// Times that a task goes back to the queue by itself.
const AGAIN: u32 = 100;

#[derive(Args, Debug)]
pub(crate) struct SlurmArgs {
    #[command(flatten)]
    pub(crate) tasks: TaskArgs,
    /// Time limit of a task, e.g. 30min or 4h [default: twice what its work is expected to take, notice and 5 min]
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// How long before its time limit a task gets the signal to begin no other cell [default: 60s, or twice the longest cell]
    #[arg(long, value_name = "TIME")]
    pub(crate) notice: Option<String>,
    /// Write the script there instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
}

pub(super) fn run(args: &SlurmArgs, common: &Common) -> Result<Exit, Failure> {
    save::expect(args.script.as_ref())?;
    let seconds = |option: &str, text: &Option<String>| {
        let read = text.as_deref().map(|text| time(text).map(|ps| ps / SECOND));
        read.transpose().map_err(|e| Failure::usage(format!("--{option}: {e}")))
    };
    let (limit, notice) = (seconds("time", &args.time)?, seconds("notice", &args.notice)?);
    let Some(tasks) = Tasks::of(&args.tasks, common)? else {
        out::eprint_line("all cells are answered: there is nothing to submit");
        return Ok(Exit::Fine);
    };
    let script = script(&tasks, &Times::of(&tasks, limit, notice)?);
    if !common.quiet {
        for remark in tasks.remarks() {
            out::eprint_line(&remark);
        }
    }
    match &args.script {
        Some(path) => save::file(path, |out| out.write_all(script.as_bytes()))?,
        None => out::print(&script)?,
    }
    Ok(Exit::Fine)
}

/// Time limit of a task, and how long before it the signal comes, in seconds.
struct Times {
    limit: u64,
    notice: u64,
}

impl Times {
    #[expect(clippy::cast_sign_loss, reason = "times are above zero")]
    fn of(tasks: &Tasks, limit: Option<u64>, notice: Option<u64>) -> Result<Self, Failure> {
        let longest = (2.0 * tasks.longest).ceil() as u64;
        let notice = notice.unwrap_or_else(|| longest.clamp(NOTICE, MOST_NOTICE));
        if !(1..=MOST_NOTICE).contains(&notice) {
            return Err(Failure::usage(format!("--notice: SLURM takes 1 s to {MOST_NOTICE} s")));
        }
        let usual = || ((2.0 * tasks.seconds).ceil() as u64).min(MOST_TIME - 2 * MOST_NOTICE);
        let limit = limit.unwrap_or_else(|| usual() + notice + 300);
        if limit > MOST_TIME {
            return Err(Failure::usage("--time: a task has a year at most"));
        }
        // Whole minutes are what SLURM counts in.
        let limit = limit.div_ceil(60) * 60;
        // The signal may come a minute too early, and a task needs time to begin.
        let least = notice + 2 * 60;
        if limit < least {
            return Err(Failure::usage(format!(
                "--time: {limit} s are too few: the signal comes {notice} s before the time limit"
            ))
            .hint(format!("give it {} min or more, or less --notice", least.div_ceil(60))));
        }
        Ok(Self { limit, notice })
    }

    /// The limit as SLURM reads it: hours, minutes and seconds.
    fn limit(&self) -> String {
        let minutes = self.limit / 60;
        format!("{:02}:{:02}:00", minutes / 60, minutes % 60)
    }
}

/// The script. What is trapped ends `wait`, not what it waits for; SLURM's TERM means that the task is cancelled or that SLURM queues
/// it again by itself.
fn script(tasks: &Tasks, times: &Times) -> String {
    let mut text = "#!/bin/bash\n".to_owned();
    let title: String = tasks.title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _infallible = writeln!(text, "# darkfiber study: {title}");
    for remark in tasks.remarks() {
        let _infallible = writeln!(text, "# {remark}");
    }
    let _infallible = write!(
        text,
        r#"#SBATCH --job-name={name}
#SBATCH --array=1-{count}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={threads}
#SBATCH --time={limit}
#SBATCH --requeue
#SBATCH --signal=B:USR1@{notice}
#SBATCH --open-mode=append

# USR1 is said {notice} s before the time is over, TERM when the task is cancelled or preempted: no other cell is begun then.
told= taken= run=
tell() {{ told=yes; [ -z "$run" ] || kill -s "$1" "$run" 2>/dev/null; }}
trap 'tell USR1' USR1
trap 'taken=yes; tell TERM' TERM

{command} >/dev/null &
run=$!
[ -z "$told" ] || kill -s USR1 "$run" 2>/dev/null
wait "$run"; code=$?
# A signal ends wait, not the run.
while [ -n "$told" ]; do
  told=
  wait "$run"; last=$?
  [ "$last" -eq 127 ] || code=$last
done

# 75: cells of this task are left. Whoever cancels it does not want it back; what is preempted SLURM queues again itself.
if [ "$code" -eq 75 ] && [ -z "$taken" ]; then
  if [ "${{SLURM_RESTART_COUNT:-0}}" -lt {AGAIN} ]; then
    scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
  else
    echo "the time was not enough {AGAIN} times: submit it again with more" >&2
  fi
fi
exit "$code"
"#,
        name = plain_name(&tasks.title),
        count = tasks.count,
        threads = tasks.threads,
        limit = times.limit(),
        notice = times.notice,
        command = tasks.command("$SLURM_ARRAY_TASK_ID"),
    );
    text
}
