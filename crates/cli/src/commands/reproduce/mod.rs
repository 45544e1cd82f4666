//! `darkfiber reproduce`: published experiments, ours beside the printed numbers.

mod page;
mod store;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;
use darkfiber_report::figures::picture;
use darkfiber_report::listing::Listing;
use darkfiber_report::reproduce::{self as report, ReproduceAll, Reproduced, Verdict};
use darkfiber_study::reproduce::{Context, EXPERIMENTS, Experiment, Figure, Log, experiment};

use self::store::Folder;
use crate::failure::{Exit, Failure};
use crate::options::{Common, StoreArgs};
use crate::progress::Progress;
use crate::{out, preset, provenance, save, shard};

#[derive(Args, Debug)]
pub(crate) struct ReproduceCommand {
    /// Experiments, or all [default: list them]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// All of them, short ones first
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Write results here, a file for each experiment as soon as it ends, and a table of all, reproduced.md, with
    /// their numbers, reproduced.csv; results already there of the same version, seed and log are not computed again
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) keep: StoreArgs,
    /// Only the I-th of N parts that take about as long, for processes that share a store; the last one makes the table
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Write the study that the experiment is (- prints it), and run nothing: `darkfiber study run FILE` judges it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "output", "svg"])]
    pub(crate) write_study: Option<PathBuf>,
    /// Log of a real machine in Standard Workload Format, for experiments with jobs (SAR-...) [default: synthetic
    /// jobs like those of RICC]
    #[arg(long, value_name = "LOG")]
    pub(crate) log: Option<PathBuf>,
    /// Write pictures of experiments here, each as ID-NAME.svg; -o does so as well
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) svg: Option<PathBuf>,
    /// Write a page with all numbers and charts: one file to open, zoom, click and mail
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Each experiment says what it runs, which numbers the paper prints, and how far off is still the same, on both
sides: what is far better than printed is off, too (docs/reproduced.md has the rule). Numbers that the paper itself
contradicts are shown as misprints, with what they are read as.

Verdicts: reproduced (all judged numbers are in their bands), off (some are not), told (nothing is judged).

Classes: exact (it can be computed), shape (it can be simulated: who wins, by about how much), substitute (the
nearest to what needs a machine or data that are not public).

Examples:
  darkfiber reproduce                      list the experiments
  darkfiber reproduce OPT-T1 OPT-T2
  darkfiber reproduce SAR-F1 SAR-T1 --log RICC-2010-2.swf.gz
  darkfiber reproduce T2HX-F1 --svg pictures
  darkfiber reproduce --all -o reproduced  all of them: hours; what is over is kept, and a table made of it
  darkfiber reproduce --all -o reproduced --shard 2/8 -q      one of eight processes or array tasks

Experiments with jobs (SAR-...) take a log of the Parallel Workloads Archive with --log; SAR-T1 takes minutes. Numbers
that depend on what is not public are reported and not judged.

Exit code 1 if a number is off.";

/// Experiments that run side by side: most use all cores by themselves, but not all the time.
const AT_ONCE: usize = 2;

pub(crate) fn run(args: &ReproduceCommand, common: &Common) -> Result<Exit, Failure> {
    let chosen = chosen(args)?;
    if chosen.is_empty() {
        list(common)?;
        return Ok(Exit::Fine);
    }
    if let Some(path) = &args.write_study {
        return write_study(path, &chosen);
    }
    let log = args.log.as_deref().map(|path| Log::read(path, None)).transpose()?;
    let dir = args.keep.store.as_deref().or(args.output.as_deref());
    let folder = dir.map(|dir| Folder::of(dir, args.log.as_deref(), common)).transpose()?;
    let shard = args.shard.as_deref().map(shard::parse).transpose()?;
    if shard.is_some() && folder.is_none() {
        return Err(Failure::usage("--shard: where are the results of all parts?")
            .hint("-o DIR, the same for all of them"));
    }
    save::expect_directory(args.svg.as_ref())?;
    save::expect(args.html.as_ref())?;
    // Parts that take about as long: the longest are dealt first.
    let mut dealt: Vec<usize> = (0..chosen.len()).collect();
    dealt.sort_by(|&a, &b| chosen[b].seconds.total_cmp(&chosen[a].seconds).then(a.cmp(&b)));
    let is_ours = |n: u64| shard.is_none_or(|s| n % s.of == s.part);
    dealt = (0..).zip(dealt).filter(|(n, _)| is_ours(*n)).map(|(_, i)| i).collect();
    let count = dealt.len();
    let mut lab = Lab {
        log: log.as_ref(),
        pictures: args
            .svg
            .as_deref()
            .or(args.output.as_deref())
            .or(folder.as_ref().map(Folder::dir)),
        seed: common.seed(),
        clock: Instant::now(),
        progress: Progress::new(count as u64, common.quiet),
        problems: Mutex::default(),
        drawn: args.html.as_ref().map(|_| Mutex::default()),
    };
    let mut done: Vec<Option<Reproduced>> = Vec::new();
    for e in &chosen {
        done.push(folder.as_ref().map(|f| f.find(e)).transpose()?.flatten());
    }
    // Short ones first; what measures time runs by itself.
    let mut left: Vec<usize> = dealt.into_iter().filter(|&i| done[i].is_none()).collect();
    left.sort_by(|&a, &b| chosen[a].seconds.total_cmp(&chosen[b].seconds).then(a.cmp(&b)));
    let (timed, others): (Vec<usize>, Vec<usize>) =
        left.into_iter().partition(|&i| chosen[i].is_timed);
    let found = Mutex::new(&mut done);
    let one = |i: usize| {
        let result = lab.run(chosen[i]);
        if let Some(folder) = &folder {
            folder.keep(&result);
        }
        if let Ok(mut found) = found.lock() {
            found[i] = Some(result);
        }
    };
    timed.into_iter().for_each(one);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(others.len()) {
            scope.spawn(|| {
                while let Some(&i) = others.get(next.fetch_add(1, Ordering::Relaxed)) {
                    one(i);
                }
            });
        }
    });
    // What other parts ended meanwhile.
    if let (Some(folder), Some(_)) = (&folder, shard) {
        for (found, e) in done.iter_mut().zip(&chosen).filter(|(found, _)| found.is_none()) {
            *found = folder.find(e)?;
        }
    }
    let open = done.iter().filter(|found| found.is_none()).count();
    let done: Vec<Reproduced> = done.into_iter().flatten().collect();
    let mut problems = lab.take_problems();
    let drawn = lab.take_drawn();
    drop(lab);
    if open > 0 && !common.quiet {
        out::eprint_line(&format!(
            "{open} experiments are left to other parts; the last makes the table"
        ));
    }
    if let Some(folder) = folder.as_ref().filter(|_| open == 0) {
        let dir = args.output.as_deref().unwrap_or(folder.dir());
        save::directory(dir)?;
        for (name, text) in
            [("reproduced.md", report::markdown(&done)), ("reproduced.csv", report::csv(&done))]
        {
            problems.note(save::file(&dir.join(name), |out| out.write_all(text.as_bytes())));
        }
    }
    if let Some(path) = &args.html {
        let provenance = provenance::of_all(std::iter::empty(), common);
        problems.note(page::write(path, &done, &drawn, &provenance));
    }
    print_results(&done, common)?;
    let off = done.iter().any(|e| e.verdict == Verdict::Off);
    problems.end(if off { Exit::Finding } else { Exit::Fine })
}

/// Writes the study that an experiment is.
fn write_study(path: &Path, chosen: &[&Experiment]) -> Result<Exit, Failure> {
    let [one] = chosen else {
        return Err(Failure::usage("--write-study: which experiment? Give one")
            .hint("darkfiber reproduce OPT-T1 --write-study opt-t1.toml"));
    };
    let Some(paper) = one.papers.first() else {
        let known = EXPERIMENTS.iter().filter(|e| !e.papers.is_empty()).map(|e| e.id);
        let known: Vec<&str> = known.collect();
        return Err(Failure::usage(format!("{} is a program, not a study", one.id))
            .hint(format!("these are studies: {}", known.join(", "))));
    };
    preset::write(path, || Ok(paper.text.to_owned()))
}

/// The experiments that are asked for, each once.
fn chosen(args: &ReproduceCommand) -> Result<Vec<&'static Experiment>, Failure> {
    if args.all {
        return Ok(EXPERIMENTS.iter().collect());
    }
    let mut chosen: Vec<&'static Experiment> = Vec::new();
    for id in &args.ids {
        let found = if id == "all" {
            EXPERIMENTS.iter().collect()
        } else {
            let known: Vec<&str> = EXPERIMENTS.iter().map(|e| e.id).collect();
            vec![experiment(id).ok_or_else(|| Failure::unknown("experiment", id, &known))?]
        };
        for e in found {
            if chosen.iter().all(|c| c.id != e.id) {
                chosen.push(e);
            }
        }
    }
    Ok(chosen)
}

/// What experiments are run with.
struct Lab<'a> {
    log: Option<&'a Log>,
    /// Where pictures go.
    pictures: Option<&'a Path>,
    seed: u64,
    clock: Instant,
    progress: Progress,
    problems: Mutex<save::Unwritten>,
    /// Figures with their experiment, where a page is asked for.
    drawn: Option<Mutex<Vec<(String, Figure)>>>,
}

impl Lab<'_> {
    fn run(&self, e: &Experiment) -> Reproduced {
        let begin = Instant::now();
        let clock = || self.clock.elapsed().as_secs_f64();
        let at = |what: &str| self.progress.at(format!("{}: {what}", e.id));
        let figures = Mutex::new(Vec::new());
        let draw = |figure: Figure| {
            if let Ok(mut figures) = figures.lock() {
                figures.push(figure);
            }
        };
        let rows = (e.run)(&Context {
            seed: self.seed,
            log: self.log,
            clock: &clock,
            at: &at,
            draw: &draw,
        });
        let figures = figures.into_inner().unwrap_or_default();
        if let Some(Ok(mut drawn)) = self.drawn.as_ref().map(Mutex::lock) {
            drawn.extend(figures.iter().map(|figure| (e.id.to_owned(), figure.clone())));
        }
        if let Some(dir) = self.pictures {
            for figure in figures {
                let name = format!("{}-{}.svg", store::file_name(e.id), figure.name);
                let text = picture(&figure);
                let wrote = save::file(&dir.join(name), |out| out.write_all(text.as_bytes()));
                if let Ok(mut problems) = self.problems.lock() {
                    problems.note(wrote);
                }
            }
        }
        self.progress.step();
        Reproduced {
            id: e.id.to_owned(),
            title: e.title.to_owned(),
            paper: e.paper.to_owned(),
            setup: e.setup.to_owned(),
            class: e.class,
            verdict: Verdict::of(&rows),
            rows,
            seconds: begin.elapsed().as_secs_f64(),
        }
    }

    /// Figures in the order of their experiments.
    fn take_drawn(&mut self) -> Vec<(String, Figure)> {
        let drawn = self.drawn.as_mut().and_then(|drawn| drawn.get_mut().ok());
        let mut drawn = drawn.map(std::mem::take).unwrap_or_default();
        drawn.sort_by(|a, b| (&a.0, a.1.name).cmp(&(&b.0, b.1.name)));
        drawn
    }

    fn take_problems(&mut self) -> save::Unwritten {
        self.problems.get_mut().map(std::mem::take).unwrap_or_default()
    }
}

/// Prints what came out.
fn print_results(done: &[Reproduced], common: &Common) -> Result<(), Failure> {
    let provenance = provenance::of_all(std::iter::empty(), common);
    common.show(&ReproduceAll { experiments: done, provenance: &provenance })
}

fn list(common: &Common) -> Result<(), Failure> {
    let heading = ["experiment", "class", "what it shows", "paper"];
    let rows: Vec<Vec<String>> = EXPERIMENTS
        .iter()
        .map(|e| [e.id, e.class.label(), e.title, e.paper].map(str::to_owned).to_vec())
        .collect();
    common.show(&Listing { shown: 3, ..Listing::of(&heading, &rows) })
}
