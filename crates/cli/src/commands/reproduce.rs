//! `darkfiber reproduce`: published experiments, ours beside the printed numbers.

use std::sync::Mutex;
use std::time::Instant;

use darkfiber_report::figures::picture;
use darkfiber_report::reproduce::{
    self as report, ReproduceAll, ReproduceOne, Reproduced, Verdict,
};
use darkfiber_report::{Style, comma, json, table};
use darkfiber_study::reproduce::{Context, EXPERIMENTS, Experiment, Figure, experiment};

use crate::args::{Common, Format, ReproduceCommand};
use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use crate::{history, out, provenance, save};

pub(crate) fn run(args: &ReproduceCommand, common: &Common) -> Result<Exit, Failure> {
    if args.ids.is_empty() {
        out::print(&list(common))?;
        return Ok(Exit::Fine);
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
    let log = args.log.as_deref().map(|path| history::log(path, common)).transpose()?;
    let clock = Instant::now();
    let clock = || clock.elapsed().as_secs_f64();
    let progress = Progress::new(chosen.len() as u64, common.quiet);
    save::expect_directory(args.svg.as_ref())?;
    let mut problems = save::Unwritten::default();
    let mut done = Vec::new();
    for e in chosen {
        let begin = Instant::now();
        let at = |what: &str| progress.at(format!("{}: {what}", e.id()));
        let figures = Mutex::new(Vec::new());
        let draw = |figure: Figure| {
            if let Ok(mut figures) = figures.lock() {
                figures.push(figure);
            }
        };
        let (seed, log) = (common.seed(), log.as_ref());
        let rows = e.run(&Context { seed, log, clock: &clock, at: &at, draw: &draw });
        if let (Some(dir), Ok(figures)) = (&args.svg, figures.into_inner()) {
            for figure in figures {
                let path = dir.join(format!("{}-{}.svg", e.id(), figure.name));
                problems.note(save::file(&path, |out| out.write_all(picture(&figure).as_bytes())));
            }
        }
        progress.step();
        let within = rows.iter().all(|r| r.within);
        done.push(Reproduced {
            id: e.id().to_owned(),
            title: e.title().to_owned(),
            paper: e.paper().to_owned(),
            setup: e.setup().to_owned(),
            class: e.class(),
            rows,
            verdict: if within { Verdict::Reproduced } else { Verdict::Differs },
            seconds: begin.elapsed().as_secs_f64(),
        });
    }
    drop(progress);
    let provenance = provenance::of_all(std::iter::empty(), common);
    out::print(&match (common.format, done.as_slice()) {
        (Format::Json, [experiment]) => {
            json::text(&ReproduceOne { experiment, provenance: &provenance })
        }
        (Format::Json, experiments) => {
            json::text(&ReproduceAll { experiments, provenance: &provenance })
        }
        (Format::Csv, experiments) => report::csv(experiments),
        (Format::Table, experiments) => {
            let style = Style::of_stdout();
            experiments.iter().map(|e| report::text(e, style)).collect::<Vec<_>>().join("\n")
        }
    })?;
    let off = done.iter().any(|e| e.verdict == Verdict::Differs);
    problems.end(if off { Exit::Finding } else { Exit::Fine })
}

fn list(common: &Common) -> String {
    let heading = ["experiment", "class", "what it shows", "paper"];
    let rows: Vec<Vec<String>> = EXPERIMENTS
        .iter()
        .map(|e| [e.id(), e.class().label(), e.title(), e.paper()].map(str::to_owned).to_vec())
        .collect();
    match common.format {
        Format::Table => {
            let short: Vec<Vec<String>> = rows.iter().map(|r| r[..3].to_vec()).collect();
            table::plain(&heading[..3], &short, &[], Style::of_stdout())
        }
        Format::Csv => {
            let mut lines = vec![heading.map(str::to_owned).to_vec()];
            lines.extend(rows);
            comma::text(&lines)
        }
        Format::Json => {
            let keys = || heading.iter().map(|h| h.replace(' ', "_"));
            let items = rows.iter().map(|row| keys().zip(row.iter().cloned()).collect());
            json::text(&darkfiber_report::Listed { items: items.collect() })
        }
    }
}
