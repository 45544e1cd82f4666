//! `darkfiber reproduce`: published experiments, ours beside the printed numbers.

mod store;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use darkfiber_report::figures::picture;
use darkfiber_report::listing::Listing;
use darkfiber_report::reproduce::{self as report, ReproduceAll, Reproduced, Verdict};
use darkfiber_study::reproduce::{Context, EXPERIMENTS, Experiment, Figure, Log, experiment};

use self::store::Folder;
use crate::args::{Common, ReproduceCommand};
use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use crate::{history, provenance, save};

/// Experiments that run side by side: most use all cores by themselves, but not all the time.
const AT_ONCE: usize = 2;

pub(crate) fn run(args: &ReproduceCommand, common: &Common) -> Result<Exit, Failure> {
    let chosen = chosen(args)?;
    if chosen.is_empty() {
        list(common)?;
        return Ok(Exit::Fine);
    }
    let log = args.log.as_deref().map(|path| history::log(path, common)).transpose()?;
    let folder = Folder::of(args, common)?;
    save::expect_directory(args.svg.as_ref())?;
    let mut lab = Lab {
        log: log.as_ref(),
        pictures: args.svg.as_deref().or(folder.as_ref().map(Folder::dir)),
        seed: common.seed(),
        clock: Instant::now(),
        progress: Progress::new(chosen.len() as u64, common.quiet),
        problems: Mutex::default(),
    };
    let mut done: Vec<Option<Reproduced>> = Vec::new();
    for e in &chosen {
        done.push(folder.as_ref().map(|f| f.find(*e)).transpose()?.flatten());
    }
    // Short ones first; what measures time runs by itself.
    let mut left: Vec<usize> = (0..chosen.len()).filter(|&i| done[i].is_none()).collect();
    left.sort_by(|&a, &b| chosen[a].seconds().total_cmp(&chosen[b].seconds()).then(a.cmp(&b)));
    let (timed, others): (Vec<usize>, Vec<usize>) =
        left.into_iter().partition(|&i| chosen[i].is_timed());
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
    let done: Vec<Reproduced> = done.into_iter().flatten().collect();
    let mut problems = lab.take_problems();
    drop(lab);
    if let Some(folder) = &folder {
        let path = folder.dir().join("reproduced.md");
        let text = report::markdown(&done);
        problems.note(save::file(&path, |out| out.write_all(text.as_bytes())));
    }
    told(&done, common)?;
    let off = done.iter().any(|e| e.verdict == Verdict::Off);
    problems.end(if off { Exit::Finding } else { Exit::Fine })
}

/// The experiments that are asked for, each once.
fn chosen(args: &ReproduceCommand) -> Result<Vec<&'static dyn Experiment>, Failure> {
    if args.all {
        return Ok(EXPERIMENTS.to_vec());
    }
    let mut chosen: Vec<&'static dyn Experiment> = Vec::new();
    for id in &args.ids {
        let found = if id == "all" {
            EXPERIMENTS.to_vec()
        } else {
            let known: Vec<&str> = EXPERIMENTS.iter().map(|e| e.id()).collect();
            vec![experiment(id).ok_or_else(|| Failure::unknown("experiment", id, &known))?]
        };
        for e in found {
            if chosen.iter().all(|c| c.id() != e.id()) {
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
}

impl Lab<'_> {
    fn run(&self, e: &dyn Experiment) -> Reproduced {
        let begin = Instant::now();
        let clock = || self.clock.elapsed().as_secs_f64();
        let at = |what: &str| self.progress.at(format!("{}: {what}", e.id()));
        let figures = Mutex::new(Vec::new());
        let draw = |figure: Figure| {
            if let Ok(mut figures) = figures.lock() {
                figures.push(figure);
            }
        };
        let rows =
            e.run(&Context { seed: self.seed, log: self.log, clock: &clock, at: &at, draw: &draw });
        if let (Some(dir), Ok(figures)) = (self.pictures, figures.into_inner()) {
            for figure in figures {
                let name = format!("{}-{}.svg", store::file_name(e.id()), figure.name);
                let text = picture(&figure);
                let wrote = save::file(&dir.join(name), |out| out.write_all(text.as_bytes()));
                if let Ok(mut problems) = self.problems.lock() {
                    problems.note(wrote);
                }
            }
        }
        self.progress.step();
        Reproduced {
            id: e.id().to_owned(),
            title: e.title().to_owned(),
            paper: e.paper().to_owned(),
            setup: e.setup().to_owned(),
            class: e.class(),
            verdict: Verdict::of(&rows),
            rows,
            seconds: begin.elapsed().as_secs_f64(),
        }
    }

    fn take_problems(&mut self) -> save::Unwritten {
        self.problems.get_mut().map(std::mem::take).unwrap_or_default()
    }
}

/// Prints what came out.
fn told(done: &[Reproduced], common: &Common) -> Result<(), Failure> {
    let provenance = provenance::of_all(std::iter::empty(), common);
    common.show(&ReproduceAll { experiments: done, provenance: &provenance })
}

fn list(common: &Common) -> Result<(), Failure> {
    let heading = ["experiment", "class", "what it shows", "paper"];
    let rows: Vec<Vec<String>> = EXPERIMENTS
        .iter()
        .map(|e| [e.id(), e.class().label(), e.title(), e.paper()].map(str::to_owned).to_vec())
        .collect();
    common.show(&Listing { shown: 3, ..Listing::of(&heading, &rows) })
}
