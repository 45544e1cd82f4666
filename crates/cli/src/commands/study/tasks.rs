//! A study as tasks for whoever runs many at a time: how many there are, and what each of them runs.

use std::path::{Path, PathBuf};

use clap::Args;
use darkfiber_scenario::Folder;
use darkfiber_study::grid::StudyFile;

use super::source::{StudyArgs, read};
use super::store::FolderStore;
use crate::failure::Failure;
use crate::options::Common;
use crate::options::values::above_zero;

/// Seconds that a cell takes as far as nobody knows.
const UNKNOWN: f64 = 10.0;
/// Tasks at most unless somebody says how many: SLURM takes indexes up to 1000 unless its MaxArraySize says otherwise.
const MOST: u64 = 1000;
/// Seconds of work that are worth starting a task.
const WORTH: f64 = 60.0;

#[derive(Args, Debug)]
pub(crate) struct TaskArgs {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
    /// The folder in which cells are kept, on a file system that all tasks share
    #[arg(short = 'o', long, value_name = "DIR")]
    pub(crate) store: PathBuf,
    /// Tasks [default: as many as have --minutes-a-task of work each, at most 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) tasks: Option<u64>,
    /// Work that a task has at least, by what cells are expected to take
    #[arg(long, value_name = "MINUTES", default_value = "10", value_parser = above_zero)]
    pub(crate) minutes_a_task: f64,
    /// Seconds that a cell takes [default: what answered cells took on average; 10 if there is none]
    #[arg(long, value_name = "SECONDS", value_parser = above_zero)]
    pub(crate) cell_seconds: Option<f64>,
}

/// Tasks that together answer a study.
pub(super) struct Tasks {
    /// What the study is called.
    pub(super) title: String,
    /// How many tasks.
    pub(super) count: u64,
    /// Threads of each.
    pub(super) threads: u16,
    /// Cells of the study.
    pub(super) cells: u64,
    /// Of these, cells without an answer.
    pub(super) open: u64,
    /// Seconds that a task is expected to take.
    pub(super) seconds: f64,
    /// Seconds of the longest cell that is known of.
    pub(super) longest: f64,
    /// Whence it is known how long a cell takes, in words.
    pub(super) estimate: String,
    /// The command of a task, but for its shard, as a shell reads it.
    command: String,
}

impl Tasks {
    /// Of the options; none if all cells are answered.
    pub(super) fn of(args: &TaskArgs, common: &Common) -> Result<Option<Self>, Failure> {
        if args.study.file == Path::new("-") {
            return Err(Failure::usage("tasks read the study from a file: name it"));
        }
        if args.store.as_os_str().is_empty() {
            return Err(Failure::usage("-o: the name of a folder is expected"));
        }
        let study = read(&args.study, common)?;
        let all = study.cells(None)?;
        // What is no scenario is said now, and not by every task.
        all.into_iter().next().map(|cell| study.prepare(cell)).transpose()?;
        let known = MeasuredTimes::of(args, &study)?;
        let (open, cells) = (known.open, known.cells + known.open);
        if open == 0 {
            return Ok(None);
        }
        let (each, estimate) = match (args.cell_seconds, known.mean()) {
            (Some(seconds), _) => (seconds, format!("{seconds} s a cell, as --cell-seconds says")),
            (None, Some(mean)) => {
                (mean, format!("{mean:.3} s a cell, the mean of {} that are answered", known.cells))
            }
            (None, None) => (
                UNKNOWN,
                format!(
                    "{UNKNOWN} s a cell is assumed: none is answered yet, and there is no --cell-seconds"
                ),
            ),
        };
        let threads = common.threads.unwrap_or(1);
        let all = each * open as f64 / f64::from(threads);
        #[expect(clippy::cast_sign_loss, reason = "above zero")]
        let fitting = (all / (60.0 * args.minutes_a_task)).floor().clamp(1.0, MOST as f64) as u64;
        let count = args.tasks.unwrap_or(fitting).min(cells);
        Ok(Some(Self {
            title: study.title(),
            count,
            threads,
            cells,
            open,
            seconds: all / count as f64,
            longest: known.longest.max(each),
            estimate,
            command: command(args, common, threads)?,
        }))
    }

    /// The command of a task, as a shell reads it; `number` is what becomes its number, from 1 on.
    pub(super) fn command(&self, number: &str) -> String {
        format!("{} --shard {number}/{} -q", self.command, self.count)
    }

    /// What one should know before they are started: what was assumed, and that tasks are short.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut all =
            vec![format!("{} of {} cells are open; {}", self.open, self.cells, self.estimate)];
        let tasks =
            if self.count == 1 { "1 task".to_owned() } else { format!("{} tasks", self.count) };
        all.push(format!("{tasks} of about {} each", minutes(self.seconds)));
        if self.count > 1 && self.seconds < WORTH {
            all.push(
                "a task has less than a minute of work: fewer --tasks cost the batch system less"
                    .to_owned(),
            );
        }
        all
    }
}

/// A time in minutes for people.
fn minutes(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.0} s"),
        s if s < 36_000.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// What a store knows of how long cells take.
#[derive(Default)]
struct MeasuredTimes {
    cells: u64,
    /// Cells without an answer, as far as it is known which there are.
    open: u64,
    seconds: f64,
    longest: f64,
}

impl MeasuredTimes {
    fn of(args: &TaskArgs, study: &StudyFile) -> Result<Self, Failure> {
        if !args.store.exists() {
            return Ok(Self { open: study.open_cells(None, &[])? as u64, ..Self::default() });
        }
        let folder = Folder::of(&args.study.file);
        let records = FolderStore::existing(&args.store, study, &folder)?.records(study)?;
        let seconds = records.iter().map(|record| record.seconds);
        Ok(Self {
            cells: records.len() as u64,
            open: study.open_cells(None, &records)? as u64,
            seconds: seconds.clone().sum(),
            longest: seconds.fold(0.0, f64::max),
        })
    }

    fn mean(&self) -> Option<f64> {
        (self.cells > 0).then(|| self.seconds / self.cells as f64)
    }
}

/// What a task runs, but for its shard. Files are named from the root on: tasks may run elsewhere.
fn command(args: &TaskArgs, common: &Common, threads: u16) -> Result<String, Failure> {
    let study = &args.study;
    let mut words = vec![program()?, "study".to_owned(), "run".to_owned(), whole(&study.file)?];
    words.extend(["-o".to_owned(), whole(&args.store)?]);
    for set in &study.set {
        words.extend(["--set".to_owned(), set.clone()]);
    }
    let mut number = |option: &str, value: Option<u64>| {
        words.extend(
            value.map(|value| [option.to_owned(), value.to_string()]).into_iter().flatten(),
        );
    };
    number("--max-cells", study.max_cells);
    number("--seed", common.seed);
    number("--max-input", common.max_input);
    number("--threads", Some(threads.into()));
    Ok(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

/// This program, as it was called: by its name if a shell found it by that.
fn program() -> Result<String, Failure> {
    let called = std::env::args_os().next().unwrap_or_default();
    let called = Path::new(&called);
    if called.components().count() == 1 { text(called) } else { whole(called) }
}

fn whole(path: &Path) -> Result<String, Failure> {
    text(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::usage(format!("{}: a name in a script must be UTF-8", path.display()))
    })
}

/// A word as a shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// What is called like this in a batch system: letters, digits, dashes.
pub(super) fn plain_name(title: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = title.chars().take(40).map(plain).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "study".to_owned() } else { name.to_owned() }
}
