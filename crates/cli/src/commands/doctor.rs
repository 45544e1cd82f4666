//! `darkfiber doctor`: what is wrong with a fabric this morning, and what to do.

mod map;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use darkfiber_analysis::doctor::{Area, EngineLoad, Exam, Verdict, balance};
use darkfiber_analysis::doctor::{bad_cables, dark_fiber, hot_cables, lids, speeds};
use darkfiber_analysis::sharing::Sharing;
use darkfiber_analysis::{Finding, FindingKind, Names, finding, group, hottest};
use darkfiber_fabric::{ChannelId, Fabric, Faults, SYMBOL_ERRORS_OF_A_BAD_CABLE, TerminalId};
use darkfiber_formats::counters::symbol_errors::{self, SymbolErrors};
use darkfiber_formats::counters::{self, Device};
use darkfiber_formats::places::Places;
use darkfiber_formats::{Diagnostics, Severity as Remark, input};
use darkfiber_report::Routed;
use darkfiber_report::doctor::DoctorResult;
use darkfiber_report::number::counted;
use darkfiber_report::table::headline;
use darkfiber_routing::Request;
use darkfiber_scenario::Chain;
use darkfiber_scenario::tables::Read;

use self::map::CountedChannels;
use super::metrics;
use crate::failure::{Exit, Failure};
use crate::jobs::{self, Running};
use crate::load::{self, Loaded};
use crate::options::{BesideTables, Common, EngineArgs, FabricArgs, JobsArgs, PageArgs};
use crate::progress::Progress;
use crate::{out, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct DoctorCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Tables in use: a file, or a directory written by `darkfiber route -o` or OpenSM (its dump directory)
    #[arg(long, value_name = "PATH")]
    pub(crate) routes: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: BesideTables,
    /// Counters of ports, in the order of time: perfquery, ibqueryerrors, OpenSM's perfmgr dump, ibdiagnet's db_csv or .pm, or a
    /// table. Symbol errors show bad cables, data shows hot ones
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) counters: Vec<PathBuf>,
    /// Cables with more than N symbol errors at either end are bad [default: 10000]
    #[arg(long, value_name = "N", requires = "counters")]
    pub(crate) bad_above: Option<u64>,
    #[command(flatten)]
    pub(crate) jobs: JobsArgs,
    #[command(flatten)]
    pub(crate) engines: EngineArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
A line for each area, and what to do where something is wrong; -v lists all places. More files say more: --routes for
reachability, deadlock and balance, --counters for bad and hot cables, --jobs for who is concerned. Balance is judged
by the best engine of -e that reaches all pairs without deadlock [default: ftree, dfsssp].

Examples:
  darkfiber doctor ibnetdiscover.out
  darkfiber doctor ibnetdiscover.out --routes /var/log/opensm-lfts.dump
  darkfiber doctor ibnetdiscover.out --routes lfts.dump --counters errors.txt perfquery.txt --jobs squeue.txt

Exit code 1 if there is an ERROR.";

/// Engines that are compared with if nobody says which.
const USUAL: [&str; 2] = ["ftree", "dfsssp"];

pub(crate) fn run(args: &DoctorCommand, common: &Common) -> Result<Exit, Failure> {
    args.page.expect()?;
    let loaded = load::fabric(&args.fabric, common)?;
    let fabric = &loaded.topology.fabric;
    // A name that is no engine is an error, though nothing is compared with it.
    let tried = args.engines.or(&USUAL)?;
    if args.routes.is_some() {
        load::refuse_planes(fabric, "doctor --routes")?;
    }
    let progress = Progress::new(4, common.quiet);
    let mut exams = vec![cabling(&loaded), speeds(fabric), names(&loaded)];
    progress.step();

    progress.at("checking");
    let read = match &args.routes {
        Some(path) => {
            let tables = args.beside.of(path);
            Some(load::tables(&tables, args.fabric.name(), &loaded, common)?)
        }
        None => None,
    };
    exams.push(lids(fabric, read.as_ref().and_then(|read| read.lids.as_ref())));
    let row = read.as_ref().map(|read| metrics::measure(fabric, &read.routes, None));
    exams.extend(routes(&tried, &loaded, read.as_ref().zip(row.as_ref()), common));
    progress.step();

    progress.at("counters and jobs");
    let running = match &args.jobs.jobs {
        Some(path) => {
            let aliases = args.jobs.aliases.as_deref();
            Some(Running::load(path, aliases, args.jobs.at, fabric, common)?)
        }
        None => None,
    };
    let shared = read
        .as_ref()
        .zip(running.as_ref())
        .map(|(read, running)| (Sharing::of(fabric, &read.routes, &running.places), running));
    let known = (read.as_ref(), shared.as_ref(), running.as_ref());
    let (of_cables, counted) = cables(args, &loaded, known, common)?;
    exams.extend(of_cables);
    exams.push(sharing(fabric, shared.as_ref()));
    progress.step();
    drop(progress);

    let is_wrong = exams.iter().any(|exam| exam.verdict == Verdict::Error);
    let shape = loaded.topology.shape.as_ref();
    let facts = metrics::facts(fabric, shape, loaded.structure.as_ref(), false);
    let provenance = provenance::of(fabric, common);
    let mut problems = save::Unwritten::default();
    let examined = map::Examined {
        loaded: &loaded,
        read: read.as_ref(),
        row: row.as_ref(),
        counted: &counted,
        shared: shared.as_ref(),
        exams: &exams,
    };
    problems.note(args.page.write(|| examined.page(&provenance)));
    common.show(&DoctorResult {
        fabric: headline(&facts),
        exams,
        in_full: common.verbose,
        provenance,
    })?;
    problems.end(if is_wrong { Exit::Finding } else { Exit::Fine })
}

/// Pieces, adapters without a cable, and what the structure has and the fabric lacks.
fn cabling(loaded: &Loaded) -> Exam {
    let fabric = &loaded.topology.fabric;
    let mut found = finding::of_fabric(fabric);
    found.extend(metrics::of_input(&loaded.diagnostics));
    found.extend(metrics::of_structure(loaded.structure.as_ref()));
    let cables = counted(fabric.link_count(), "cable", "cables");
    let make = if fabric.link_count() == 1 { "it makes" } else { "they make" };
    let is_known = |text: &str| !text.starts_with("irregular");
    let taken = if loaded.degraded { " with those that --fail takes away" } else { "" };
    let text = match &loaded.structure {
        Some(Ok(found)) if found.text == "one switch" => format!("{cables}, all on one switch"),
        Some(Ok(found)) if is_known(&found.text) => {
            format!("{cables}; {make} a complete {}{taken}", found.text)
        }
        Some(_) => {
            let pieces = match fabric.components().len() {
                0 | 1 => "one piece".to_owned(),
                pieces => format!("{pieces} pieces"),
            };
            format!(
                "{cables} in {pieces}; there is no regular structure to compare with (`darkfiber diff PLAN` has)"
            )
        }
        None if loaded.degraded => format!("{cables} of those generated"),
        None => format!("{cables}, as generated"),
    };
    Exam::of(Area::Cabling, &found, text)
}

/// Descriptions that say nothing.
fn names(loaded: &Loaded) -> Exam {
    let fabric = &loaded.topology.fabric;
    let found = metrics::of_names(fabric, &loaded.shared);
    let hosts = counted(fabric.host_count(), "host", "hosts");
    Exam::of(Area::Names, &found, format!("{hosts}, each with a name of its own"))
}

/// Reachability, deadlock and balance of the tables in use.
fn routes(
    tried: &[Chain],
    loaded: &Loaded,
    read: Option<(&Read, &Routed)>,
    common: &Common,
) -> Vec<Exam> {
    const AREAS: [Area; 4] = [Area::Routes, Area::Deadlock, Area::Balance, Area::DarkFiber];
    let Some((read, row)) = read else {
        let ask = "give --routes: OpenSM's lfts dump, or its dump directory";
        return AREAS.map(|area| Exam::not_asked(area, ask)).to_vec();
    };
    let of = |kinds: &[FindingKind]| -> Vec<Finding> {
        row.findings.iter().filter(|f| kinds.contains(&f.kind)).cloned().collect()
    };
    let lost = of(&[FindingKind::Unreachable, FindingKind::Loops]);
    let pairs =
        format!("all {} pairs reach, in {:.2} hops in the mean", group(row.pairs), row.hops.mean);
    let free = format!("no cyclic channel dependency in {} lanes", row.layers);
    let cycles = of(&[FindingKind::CreditLoop]);
    let mut deadlock = Exam::of(Area::Deadlock, &cycles, free.replace("in 1 lanes", "in 1 lane"));
    if !row.deadlock_free && !read.has_levels {
        let assumed = finding::of_assumed_lane();
        // Nobody knows whether the subnet manager gives other levels.
        deadlock.verdict = Verdict::Warning;
        deadlock.message = format!("{}; {}", deadlock.message, assumed.message);
        let hint = assumed.hint.replace(" (of tables in place --from-sl)", "");
        deadlock.action = format!("{hint}; else {}", deadlock.action);
    }
    vec![
        Exam::of(Area::Routes, &lost, pairs),
        deadlock,
        balance_of(tried, loaded, row, common),
        dark_fiber(row.dark_fiber_percent, row.channels),
    ]
}

/// The fullest channel beside the best of the engines.
fn balance_of(tried: &[Chain], loaded: &Loaded, row: &Routed, common: &Common) -> Exam {
    let lost = row.unreachable + row.loops;
    if lost > 0 {
        let needed = "tables that reach all pairs: those that are lost load nothing";
        return Exam::not_asked(Area::Balance, needed);
    }
    let fabric = &loaded.topology.fabric;
    let request = Request {
        shape: loaded.topology.shape.as_ref(),
        seed: common.seed(),
        ..Request::default()
    };
    let tried = tried.iter().filter_map(|engine| {
        let routes = engine.route(fabric, &request).ok()?;
        let made = metrics::measure(fabric, &routes, None);
        let is_sound = made.deadlock_free && made.unreachable + made.loops == 0;
        is_sound.then(|| EngineLoad { engine: engine.name.clone(), max: made.efi.max })
    });
    let best = tried.min_by_key(|better| better.max);
    let fullest = hottest(&row.load, 1)
        .first()
        .map_or(String::new(), |&(c, _)| Names::new(fabric).channel(c).to_string());
    balance(&row.efi, &fullest, best.as_ref())
}

/// Bad and hot cables.
fn cables(
    args: &DoctorCommand,
    loaded: &Loaded,
    (read, shared, running): (Option<&Read>, Option<&(Sharing, &Running)>, Option<&Running>),
    common: &Common,
) -> Result<([Exam; 2], CountedChannels), Failure> {
    let fabric = &loaded.topology.fabric;
    let mut by_channel = CountedChannels::default();
    if args.counters.is_empty() {
        let exams = [
            Exam::not_asked(
                Area::BadCables,
                "give --counters: what ibqueryerrors or perfquery printed",
            ),
            Exam::not_asked(
                Area::HotCables,
                "give --counters: perfquery -x of all ports, before and after",
            ),
        ];
        return Ok((exams, by_channel));
    }
    let lids = read.and_then(|read| read.lids.as_ref());
    let mut bad: Option<Faults> = None;
    let mut files = Vec::new();
    let mut with_errors: Vec<(&Path, Vec<SymbolErrors>, Diagnostics)> = Vec::new();
    for path in &args.counters {
        let text = input::read_text(path)?;
        let has_errors = symbol_errors::is_such(&text);
        // Without a counter of symbol errors (`perfquery -x`) it says nothing of them.
        let counted = has_errors.then(|| symbol_errors::read(&text, path));
        if let Some(Ok((counted, remarks))) = counted {
            // Files are in the order of time: what a port has counted now is in the last one that names it.
            let now: BTreeSet<(&Device, u8)> =
                counted.iter().map(|of| (&of.device, of.port)).collect();
            for (_, before, _) in &mut with_errors {
                before.retain(|of| !now.contains(&(&of.device, of.port)));
            }
            with_errors.push((path, counted, remarks));
        }
        match counters::read(&text, path) {
            Ok((readings, remarks)) => {
                out::diagnostics(&path.display().to_string(), &remarks, common);
                files.push((path.as_path(), readings));
            }
            Err(_) if has_errors => {}
            Err(error) => return Err(error.into()),
        }
    }
    for (path, counted, mut remarks) in with_errors {
        let most = args.bad_above.unwrap_or(SYMBOL_ERRORS_OF_A_BAD_CABLE);
        let (found, more) = symbol_errors::bad(fabric, lids, &counted, most, path)?;
        remarks.0.extend(more.0);
        // Bad cables are reported below.
        remarks.0.retain(|r| r.severity > Remark::Note);
        out::diagnostics(&path.display().to_string(), &remarks, common);
        by_channel.count_errors(&symbol_errors::by_channel(fabric, lids, &counted));
        bad.get_or_insert_default().extend(found);
    }
    let crossing = |c: ChannelId| {
        shared.map_or_else(Vec::new, |(sharing, running)| {
            sharing.on(c).iter().map(|&(job, _)| running.ids[job as usize].clone()).collect()
        })
    };
    let on = |t: TerminalId| {
        running.map_or_else(Vec::new, |running| {
            let has = |places: &&(usize, &Vec<TerminalId>)| places.1.binary_search(&t).is_ok();
            let jobs = running.places.iter().enumerate();
            jobs.filter(|places| has(&places)).map(|(j, _)| running.ids[j].clone()).collect()
        })
    };
    // Files from before and after have the same cables.
    if let Some(bad) = &mut bad {
        bad.links.iter_mut().for_each(|c| *c = (*c).min(fabric.reverse(*c)));
        bad.links.sort_unstable();
        bad.links.dedup();
        bad.terminals.sort_unstable();
        bad.terminals.dedup();
    }
    by_channel.bad = bad.clone().unwrap_or_default();
    let bad = match bad {
        Some(bad) => {
            let mut exam = bad_cables(fabric, &bad, crossing, on);
            if let Some(most) = args.bad_above {
                let limited = format!("--fail FILE --symbol-errors {most}");
                exam.action = exam.action.replace("--fail FILE", &limited);
            }
            exam
        }
        None => Exam::not_asked(
            Area::BadCables,
            "no file of --counters has symbol errors (ibqueryerrors, perfquery)",
        ),
    };
    if files.is_empty() {
        let ask = "no file of --counters says what ports carried (perfquery -x)";
        return Ok(([bad, Exam::not_asked(Area::HotCables, ask)], by_channel));
    }
    let files: Vec<_> = files.iter().map(|(path, r)| (*path, r.as_slice())).collect();
    let places = Places::new(fabric, jobs::aliases(None, fabric, common)?);
    let (window, remarks) = counters::window(fabric, lids, &places, &files)?;
    out::diagnostics("counters", &remarks, common);
    let hot = if 2 * window.backwards > window.ports {
        let message = format!(
            "{} of {} ports have counters that ran backwards: cleared in between, or files out of order",
            window.backwards, window.ports
        );
        let action = "give the files of --counters in the order of time".to_owned();
        let (area, verdict, places) = (Area::HotCables, Verdict::Warning, Vec::new());
        Exam { area, verdict, message, action, places }
    } else {
        hot_cables(fabric, &window.carried)
    };
    by_channel.carried = window.carried;
    by_channel.steps = window.steps;
    Ok(([bad, hot], by_channel))
}

/// How the jobs that run share channels.
fn sharing(fabric: &Fabric, shared: Option<&(Sharing, &Running)>) -> Exam {
    let Some((sharing, running)) = shared else {
        return Exam::not_asked(
            Area::Jobs,
            "give --routes and --jobs: squeue, scontrol, a PBS list",
        );
    };
    let facts = sharing.all.facts();
    let most = (0..fabric.channel_count())
        .map(|c| (sharing.on(ChannelId::new(c)).len(), std::cmp::Reverse(c)))
        .max();
    let most = most.filter(|(jobs, _)| *jobs > 1).map_or_else(
        || "no two share a channel".to_owned(),
        |(jobs, std::cmp::Reverse(c))| {
            let channel = Names::new(fabric).channel(ChannelId::new(c));
            format!("at most {jobs} on one channel: {channel}")
        },
    );
    Exam::good(
        Area::Jobs,
        format!(
            "{}, {} on several switches, {} of their routes on the fullest channel; {most}",
            counted(running.ids.len(), "job", "jobs"),
            facts.multi_switch_jobs,
            group(facts.effective_efi.max)
        ),
    )
}
