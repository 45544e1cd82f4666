//! `darkfiber route -e ease`: few entries of the tables in place, for the jobs that run.

use std::path::Path;
use std::time::Instant;

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_report::ease::{EaseResult, EaseStep};
use darkfiber_report::{RouteOutcome as Row, Single, json};
use darkfiber_routing::reroute::{Goal, Prepared, difference};
use darkfiber_routing::{Demand, find_engine, least_load_of_jobs};
use darkfiber_scenario::demanded;

use super::entries::step;
use super::route::RouteCommand;
use super::{metrics, reroute, route};
use crate::counted::CountedTraffic;
use crate::failure::{Exit, Failure};
use crate::load;
use crate::options::{BesideTables, Common, CountedArgs, JobsArgs, LayerBy};
use crate::progress::Progress;
use crate::{addresses, damage, out, provenance, save};

/// Its name among the engines of `route`.
const EASE: &str = "ease";
/// Layers that new paths may use beside those of the tables: every path keeps its own.
const KEPT: u8 = 1;
/// Entries that are listed.
const LISTED: usize = 10;
/// Entries that change, and steps, at most, if nobody says how many.
const MOVES: usize = 64;
const STEPS: u16 = 8;

/// `darkfiber route`: with `-e ease` few entries of tables in place, else new tables.
pub(crate) fn route_or_ease(args: &RouteCommand, common: &Common) -> Result<Exit, Failure> {
    if is_asked(args)? { run(args, common) } else { route::run(args, common) }
}

/// Whether `ease` is what is asked for.
///
/// # Errors
/// If it stands among engines, or its options without it.
fn is_asked(args: &RouteCommand) -> Result<bool, Failure> {
    let named = args.engines.engines.iter().any(|e| e.trim() == EASE);
    if named && args.engines.engines.len() > 1 {
        return Err(Failure::usage("-e ease stands alone: it changes tables that are in place")
            .hint("compare with `darkfiber check --jobs` of what -o writes"));
    }
    if !named && !args.ease.counters.is_empty() {
        return Err(Failure::usage("--counters say whom -e ease serves; other engines take none"));
    }
    let limits = [(args.ease.moves.is_some(), "--moves"), (args.ease.steps.is_some(), "--steps")];
    if let Some((_, option)) = limits.into_iter().find(|(given, _)| *given && !named) {
        return Err(Failure::usage(format!(
            "{option} limits what -e ease changes; other engines make new tables"
        ))
        .hint(format!("leave {option} out, or give -e ease --from TABLES")));
    }
    let args_of_new_tables = [
        (args.request.roots.is_some(), "--roots"),
        (args.layer_by != LayerBy::Pair, "--layer-by"),
        (args.survive.is_some(), "--survive"),
        (args.request.lmc > 0, "--lmc"),
    ];
    if let Some((_, option)) = args_of_new_tables.into_iter().find(|(given, _)| named && *given) {
        return Err(Failure::usage(format!(
            "{option} is for new tables: -e ease changes entries of those in place"
        ))
        .hint(format!("leave {option} out")));
    }
    let pictures = [
        (args.svg.is_some(), "--svg"),
        (args.page.map.is_some(), "--map"),
        (args.page.html.is_some(), "--html"),
    ];
    if let Some((_, option)) = pictures.into_iter().find(|(given, _)| named && *given) {
        return Err(Failure::usage(format!("{option} is not drawn of -e ease")).hint(format!(
            "darkfiber measure or check draws the tables that -o writes; leave {option} out"
        )));
    }
    Ok(named)
}

/// Whom the entries are to serve.
struct Traffic {
    from: &'static str,
    /// The terminals of each job that runs, where these are known.
    jobs: Option<Vec<Vec<TerminalId>>>,
    demands: Vec<Demand>,
}

fn run(args: &RouteCommand, common: &Common) -> Result<Exit, Failure> {
    let Some(path) = &args.ease.from else {
        return Err(Failure::usage("-e ease needs --from: the tables in place")
            .hint("write even ones first: darkfiber route FABRIC -e ftree -o DIR"));
    };
    let target = save::Target::of(&args.set, common)?;
    let loaded = load::one_plane(&args.fabric, common)?;
    if target.is_some() {
        damage::refuse(&loaded)?;
    }
    let topology = &loaded.topology;
    let fabric = &topology.fabric;
    let tables = args.ease.beside.tables().of(path);
    let read = load::tables_in_lanes(&tables, args.fabric.name(), &loaded, common)?;
    let mut old = read.routes;
    if let Some(engine) = recorded_engine(path) {
        old.engine = engine;
    }
    let lids = match read.lids {
        Some(lids) => lids,
        None => addresses::assign(fabric, topology.shape.as_ref(), &old, args.request.lmc)?,
    };
    let progress = Progress::new(3, common.quiet);
    progress.at("reading the traffic");
    let traffic = traffic(args, path, fabric, common, &progress)?;
    progress.at("checking the tables in place");
    let before = metrics::measure(fabric, &old, traffic.jobs.as_deref());
    progress.step();
    progress.at("easing");
    let start = Instant::now();
    let prepared = Prepared::new(fabric, &old, KEPT)?;
    let seconds_prepare = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let mut prepared = prepared.serving(&traffic.demands);
    let goal = Goal { moves: args.ease.moves.unwrap_or(MOVES), ..Goal::default() };
    let eased = prepared.ease_for(&goal, args.ease.steps.unwrap_or(STEPS).into());
    let seconds_compute = start.elapsed().as_secs_f64();
    let new = prepared.into_routes();
    progress.step();
    progress.at("checking the eased tables");
    let mut after = metrics::measure(fabric, &new, traffic.jobs.as_deref());
    after.seconds = Some(seconds_compute);
    progress.step();
    drop(progress);

    let bound = match traffic.from {
        "jobs" if old.sources_agree() => {
            let jobs = traffic.jobs.as_deref().unwrap_or_default();
            Some(least_load_of_jobs(fabric, jobs))
        }
        _ => None,
    };
    let changed = difference(fabric, &old, &new, &lids);
    let steps: Vec<EaseStep> =
        eased.steps.iter().map(|changes| step(fabric, &old, &lids, changes)).collect();
    let facts = metrics::facts(fabric, topology.shape.as_ref(), loaded.structure.as_ref(), false);
    let provenance = provenance::of(fabric, common);
    let from = path.display().to_string();
    let result = EaseResult {
        from: &from,
        traffic: traffic.from,
        pairs: traffic.demands.len(),
        fullest_before: eased.relief.before,
        fullest_after: eased.relief.after,
        bound,
        moves: eased.relief.moves.len(),
        withheld: eased.withheld,
        entries_changed: changed.entries,
        blocks_changed: steps.iter().map(|s| s.blocks).sum(),
        steps: &steps,
        seconds_prepare,
        seconds_compute,
        before: &before,
        after: &after,
        fabric: &facts,
        provenance: &provenance,
    };
    let json_text = json::text(&result);
    let sound = reroute::soundness(&before, &after, args.allow_deadlock);
    let mut problems = save::Unwritten::default();
    let mut written = None;
    if let (Some(target), Ok(())) = (target, &sound) {
        let row = Row::Routed(Box::new(after.clone()));
        let single = json::text(&Single { outcome: &row, fabric: &facts, provenance: &provenance });
        written = Some(target.dir().to_owned());
        let more = [("ease.json", json_text.as_str())];
        problems.note(target.write(fabric, &new, &lids, &single, &more));
    }
    common.show_lines(&result, LISTED)?;
    let exit = problems.end(Exit::Fine)?;
    if let (Some(dir), false) = (written, common.quiet) {
        out::eprint_line(&format!("wrote the eased routes to {}", dir.display()));
    }
    match sound {
        Err(problem) if args.set.output.is_some() || problem.exit == Exit::Bug => Err(problem),
        Err(_) => Ok(Exit::Finding),
        Ok(()) => Ok(exit),
    }
}

/// The engine that made the tables, as `route.json` beside them says.
fn recorded_engine(tables: &Path) -> Option<String> {
    let text = std::fs::read_to_string(tables.join("route.json")).ok()?;
    let recorded: serde_json::Value = serde_json::from_str(&text).ok()?;
    let engine = find_engine(recorded["engine"].as_str()?).ok()?;
    Some(engine.name().to_owned())
}

/// What terminals send to each other: as demanded, as counted, or every pair of a job alike.
fn traffic(
    args: &RouteCommand,
    tables: &Path,
    fabric: &Fabric,
    common: &Common,
    progress: &Progress,
) -> Result<Traffic, Failure> {
    let aliases = args.jobs.aliases.as_deref();
    if let Some(path) = &args.demands {
        let demands = route::demanded(path, aliases, fabric, common)?;
        let jobs = args.jobs.load(fabric, common)?;
        return Ok(Traffic { from: "demands", jobs, demands });
    }
    if !args.ease.counters.is_empty() {
        let (options, faults) = (&args.fabric.options, &args.fabric.faults);
        if options.plane.is_some() || !faults.fail.is_empty() || faults.fail_links.is_some() {
            return Err(Failure::usage(
                "--counters are of a whole fabric, without --plane and --fail",
            )
            .hint("write what is left with `darkfiber fabric -o FILE`, and name that file"));
        }
        let JobsArgs { jobs, aliases, at } = &args.jobs;
        let counted = CountedArgs {
            names: options.names.clone(),
            fabric: Some(args.fabric.name().to_owned()),
            routes: Some(tables.to_owned()),
            beside: BesideTables::default(),
            sent: None,
            counters: args.ease.counters.clone(),
            jobs: JobsArgs { jobs: jobs.clone(), aliases: aliases.clone(), at: *at },
        };
        let given = CountedTraffic::load(None, &counted, common, progress)?;
        let jobs = args.jobs.load(fabric, &Common { quiet: true, ..common.clone() })?;
        return Ok(Traffic { from: "counters", jobs, demands: demanded(&given.flows) });
    }
    let jobs = args.jobs.load(fabric, common)?.ok_or_else(|| {
        Failure::usage("-e ease needs to know whom to serve: --jobs, --demands or --counters")
    })?;
    // A pair that shares two jobs sends in both.
    let of = |job: &Vec<TerminalId>| {
        let pairs = job.iter().flat_map(|&from| job.iter().map(move |&to| (from, to)));
        let far = pairs.filter(|(from, to)| from != to);
        far.map(|(from, to)| Demand { from, to, weight: 1 }).collect::<Vec<_>>()
    };
    let demands = jobs.iter().flat_map(of).collect();
    Ok(Traffic { from: "jobs", jobs: Some(jobs), demands })
}
