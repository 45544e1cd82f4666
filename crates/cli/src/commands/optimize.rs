//! `darkfiber optimise`: routes of a fat-tree that beat those made by rule.

use std::time::Instant;

use clap::{Args, ValueEnum};
use darkfiber_analysis::count::Precision;
use darkfiber_fabric::Fabric;
use darkfiber_report::measure::MeasureOutcome;
use darkfiber_report::optimise::OptimiseResult;
use darkfiber_report::{Refused, json};
use darkfiber_routing::optimise::{self as search, OptimizedRoutes, SearchEffort, optimise};
use darkfiber_routing::{Engine, Lids, Request, Routes, find_engine};
use darkfiber_scenario::{Folder, Listener};
use darkfiber_study::grid::Details;
use darkfiber_study::patterns::{PatternPart, PatternPlan};

use super::measure;
use super::metrics;
use crate::failure::{Exit, Failure};
use crate::options::{Common, FabricArgs, SetArgs};
use crate::out::Teller;
use crate::progress::Progress;
use crate::{damage, load, provenance, save};

/// What to search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// The mildest worst permutation, then the best average bisection bandwidth
    Worst,
    /// The best average bisection bandwidth
    Abb,
}

#[derive(Args, Debug)]
pub(crate) struct OptimizeCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// What to search for
    #[arg(long = "for", value_enum, value_name = "GOAL")]
    pub(crate) goal: Goal,
    /// LID mask control: up to 2^N LIDs for every terminal
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=7))]
    pub(crate) lmc: u8,
    /// Steps of each of four runs; a million take seconds to a minute
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pub(crate) steps: u32,
    #[command(flatten)]
    pub(crate) set: SetArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
With several LIDs a port the upward path of a fat-tree may depend on a class of sources and on the destination. The
search begins with the grids of OPT, with projective planes and with D-mod-k, and changes paths one by one
(simulated annealing). What it finds is proven and measured like any routes, beside dmodk, opt,
opt-rect, ftree, updn and minhop; if none of these is beaten it says so, and writes nothing.

The fabric: a fat-tree of two or three levels, generated or recognised.

Examples:
  darkfiber optimize fattree2:n=13,m=13,r=26 --for worst --lmc 4
  darkfiber optimize fattree2:n=12,m=12,r=24 --for abb --lmc 2 -o tables
  darkfiber optimize kary:k=6,n=3 --for abb --steps 1000000 --format json

Exit code 4 if nothing better was found.";

/// Engines that know no pattern.
const RIVALS: [&str; 6] = ["dmodk", "opt", "opt-rect", "ftree", "updn", "minhop"];
/// A mean better by this much is better: twice the width of the intervals.
const CLEARLY: f64 = 1.004;

pub(crate) fn run(args: &OptimizeCommand, common: &Common) -> Result<Exit, Failure> {
    let target = save::Target::of(&args.set, common)?;
    let loaded = load::one_plane(&args.fabric, common)?;
    if target.is_some() {
        damage::refuse(&loaded)?;
    }
    let (fabric, shape) = (&loaded.topology.fabric, loaded.topology.shape.as_ref());
    // Worst permutation and averages of all terminals that run jobs, closely.
    let shown = ["worst", "abb", "afpb"];
    // Bisections need an even number.
    let count = fabric.compute_terminal_count();
    let among = (count % 2 == 1 && count > 2).then(|| format!("0-{}", count - 2));
    let listener = &mut Teller::new(common);
    if among.is_some() {
        listener.note(&format!(
            "bisections need an even number of terminals: the last one of {count} is left out of all numbers"
        ));
    }
    let part = PatternPart {
        among,
        metrics: shown.iter().map(|&name| name.to_owned()).collect(),
        precision: Precision { width: 0.002, ..Precision::default() },
        ..PatternPart::default()
    };
    let (files, seed) = (Folder::default(), common.seed());
    let plan = PatternPlan::of(&part, &loaded.topology, seed, &files, listener)?;
    let answer = |routes: &Routes, engine: String, seconds: f64| match plan.count(
        routes,
        Details::Found,
        &|_| (),
    ) {
        Ok(found) => {
            let row = measure::row(&found, engine, Some(seconds), (fabric, &plan.who));
            MeasureOutcome::Measured(Box::new(row))
        }
        Err(e) => MeasureOutcome::Refused(Refused { engine, refused: e.to_string() }),
    };
    let request = Request { shape, lmc: args.lmc, seed: common.seed(), ..Request::default() };
    let goal = match args.goal {
        Goal::Worst => search::SearchGoal::Worst,
        Goal::Abb => search::SearchGoal::Average,
    };
    let progress = Progress::new(RIVALS.len() as u64 + 2, common.quiet);
    progress.at("searching");
    let begin = Instant::now();
    let effort = SearchEffort { lids: 1 << args.lmc, steps: args.steps };
    let found = optimise(fabric, &request, goal, effort).map_err(Failure::infeasible)?;
    let seconds = begin.elapsed().as_secs_f64();
    progress.step();
    let routes = &found.routes;
    let mut outcomes = vec![answer(routes, routes.engine.clone(), seconds)];
    progress.step();
    for name in RIVALS {
        let engine = find_engine(name).map_err(Failure::infeasible)?;
        let begin = Instant::now();
        // Those that cannot take part (opt on three levels), or can deadlock, are no rivals.
        let routes = engine.route(fabric, &rival(engine, &request)).ok();
        if let Some(routes) =
            routes.filter(|routes| metrics::measure(fabric, routes, None).deadlock_free)
        {
            let seconds = begin.elapsed().as_secs_f64();
            outcomes.push(answer(&routes, name.to_owned(), seconds));
        }
        progress.step();
    }
    drop(progress);

    let facts = metrics::facts(fabric, shape, loaded.structure.as_ref(), false);
    let provenance = provenance::of(fabric, common);
    let (better, verdict) = verdict(goal, &outcomes);
    let result = OptimiseResult {
        goal: if goal == search::SearchGoal::Worst { "worst" } else { "abb" },
        start: &found.start,
        lids: routes.paths(),
        better,
        verdict: &verdict,
        engines: &outcomes,
        metrics: &shown,
        fabric: &facts,
        provenance: &provenance,
    };
    let text = json::text(&result);
    let mut problems = save::Unwritten::default();
    if let (Some(target), true) = (target, better) {
        problems.note(write(target, fabric, &found, &text));
    }
    common.show(&result)?;
    problems.end(if better { Exit::Fine } else { Exit::Infeasible })
}

/// The request for an engine made by rule: one LID where more do not help.
fn rival<'a>(engine: &dyn Engine, request: &Request<'a>) -> Request<'a> {
    Request { lmc: if engine.by_source() { request.lmc } else { 0 }, ..request.clone() }
}

/// Whether the first of the rows beats all others, and how.
fn verdict(goal: search::SearchGoal, outcomes: &[MeasureOutcome]) -> (bool, String) {
    let numbers = |o: &MeasureOutcome| match o {
        MeasureOutcome::Measured(m) => Some((m.engine.clone(), m.worst?, m.abb?.mean)),
        MeasureOutcome::Refused(_) => None,
    };
    let mut rows = outcomes.iter().filter_map(numbers);
    let Some((_, worst, abb)) = rows.next() else {
        return (false, "the routes found could not be measured".to_owned());
    };
    let beats = |(_, w, a): &(String, u32, f64)| match goal {
        search::SearchGoal::Worst => worst < *w || worst == *w && abb > a * CLEARLY,
        search::SearchGoal::Average => abb > a * CLEARLY,
    };
    // The rival that is hardest to beat.
    let best = rows.min_by(|x, y| {
        let average = y.2.total_cmp(&x.2);
        match goal {
            search::SearchGoal::Worst => x.1.cmp(&y.1).then(average),
            search::SearchGoal::Average => average,
        }
    });
    match best {
        None => (true, "there is nothing to compare it with".to_owned()),
        Some(rival) => {
            let better = beats(&rival);
            let gain = 100.0 * (abb / rival.2 - 1.0);
            let text = format!(
                "{}: worst permutation {worst} against {} of {}, average bisection bandwidth {gain:+.1} %",
                if better { "better" } else { "nothing better found" },
                rival.1,
                rival.0
            );
            (better, text)
        }
    }
}

fn write(
    target: save::Target,
    fabric: &Fabric,
    found: &OptimizedRoutes,
    summary: &str,
) -> Result<(), Failure> {
    let row = metrics::measure(fabric, &found.routes, None);
    if row.unreachable + row.loops > 0 || !row.deadlock_free {
        return Err(Failure::new(Exit::Finding, "the routes found did not pass the check")
            .hint("nothing is written; please report this"));
    }
    let lids = found
        .routes
        .lmc()
        .ok_or_else(|| Failure::infeasible("more than 128 LIDs a port: nothing is written"))
        .and_then(|lmc| Lids::assign(fabric, lmc).map_err(Failure::infeasible))?;
    target.write(fabric, &found.routes, &lids, summary, &[])
}
