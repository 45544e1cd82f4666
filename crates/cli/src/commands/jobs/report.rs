//! `darkfiber jobs report`: who shares what with whom, what stays dark, and what each engine would change.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use darkfiber_analysis::Names;
use darkfiber_analysis::jobs::Effective;
use darkfiber_analysis::sharing::Sharing;
use darkfiber_fabric::{ChannelId, Fabric, TerminalId};
use darkfiber_page::{JobOnMap, Page, Unit};
use darkfiber_report::sharing::{Change, ChannelRow, JobRow, Share, SharingResult, With};
use darkfiber_routing::reroute::difference;
use darkfiber_routing::{Lids, Request, Routes};
use darkfiber_scenario::Chain;

use super::super::metrics;
use crate::failure::{Exit, Failure};
use crate::jobs::Running;
use crate::load::Loaded;
use crate::options::{BesideTables, Common, EngineArgs, FabricArgs, PageArgs};
use crate::progress::Progress;
use crate::{load, page, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct ReportCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Jobs that run and their nodes, of any kind that is known
    #[arg(long, value_name = "FILE")]
    pub(crate) jobs: PathBuf,
    /// Other names of hosts: an alias and the name or GUID in the fabric on each line, in any order; `@group hosts`
    /// names several
    #[arg(long, value_name = "FILE")]
    pub(crate) aliases: Option<PathBuf>,
    /// Jobs running at this time of the log: a date, or a time after its first job started (10d)
    #[arg(long, value_name = "WHEN", value_parser = crate::moment::when)]
    pub(crate) at: Option<crate::moment::LogMoment>,
    /// Tables in use: a file, or a directory written by `darkfiber route -o`
    #[arg(long, value_name = "PATH")]
    pub(crate) routes: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: BesideTables,
    #[command(flatten)]
    pub(crate) engines: EngineArgs,
    /// Data virtual lanes that engines may use (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// Lines of each list; -v shows all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Routes between terminals of one job are counted over every channel between switches. `meets` is the most routes of
all jobs over a channel that the job crosses; `better` and `worse` count jobs for which that changes. Entries and
blocks are what an engine's tables would change of those in use. CSV has a line for each channel in use.

Examples:
  darkfiber jobs report --fabric my-fabric.topo --routes lfts.dump --jobs squeue.json
  darkfiber jobs report --fabric @tsubame25 --jobs placed.log --at 12d -e updn,sar,sar-best";

/// Engines that are asked if nobody says which.
const USUAL: [&str; 3] = ["dfsssp", "sar", "sar-best"];

pub(super) fn run(args: &ReportCommand, common: &Common) -> Result<Exit, Failure> {
    args.page.expect()?;
    let engines = args.engines.or(&USUAL)?;
    let loaded = load::one_plane(&args.fabric, common)?;
    let fabric = &loaded.topology.fabric;
    let running = Running::load(&args.jobs, args.aliases.as_deref(), args.at, fabric, common)?;
    if running.places.is_empty() {
        let runs = if args.at.is_some() { "ran then" } else { "runs" };
        return Err(Failure::input(format!("{}: no job in it {runs}", args.jobs.display()))
            .hint("there is nothing to report: --at WHEN looks at another time"));
    }
    let request = Request {
        shape: loaded.topology.shape.as_ref(),
        jobs: &running.places,
        seed: common.seed(),
        lanes: args.lanes,
        ..Request::default()
    };
    let progress = Progress::new(engines.len() as u64 + 1, common.quiet);
    let (name, routes, lids) = if let Some(path) = &args.routes {
        let tables = args.beside.of(path);
        let read = load::tables_in_lanes(&tables, args.fabric.name(), &loaded, common)?;
        load::counts_by_sources(&read.routes, &args.beside, common)?;
        (path.display().to_string(), read.routes, read.lids)
    } else {
        let engine = engines.first().ok_or_else(|| {
            Failure::usage("which tables are in use?").hint("give --routes DUMP, or -e ENGINE")
        })?;
        let routes = engine.route(fabric, &request)?;
        (engine.name.clone(), routes, None)
    };
    let lids = match lids {
        Some(lids) => lids,
        None => Lids::assign(fabric, routes.lmc().unwrap_or(0)).map_err(Failure::infeasible)?,
    };
    progress.at("counting");
    let now = Sharing::of(fabric, &routes, &running.places);
    progress.step();
    let asked = if args.routes.is_some() { engines.as_slice() } else { &engines[1..] };
    let mut changes = Vec::new();
    for engine in asked {
        progress.at(format!("{}: routing", engine.name));
        changes.push(change(engine, fabric, &request, &running.places, (&routes, &now), &lids));
        progress.step();
    }
    drop(progress);
    show(args, common, &loaded, &running, (&name, &routes), &now, &changes)
}

/// What an engine would change.
fn change(
    engine: &Chain,
    fabric: &Fabric,
    request: &Request<'_>,
    jobs: &[Vec<TerminalId>],
    (old, now): (&Routes, &Sharing),
    lids: &Lids,
) -> Change {
    let mut change = Change {
        engine: engine.name.clone(),
        refused: None,
        then: None,
        better: 0,
        worse: 0,
        entries: 0,
        blocks: 0,
        seconds: None,
    };
    // As many LIDs as the tables in use have, so that they can be compared.
    let lmc = old.lmc().unwrap_or(0);
    let start = Instant::now();
    let routes = match engine.route(fabric, &Request { lmc, ..request.clone() }) {
        Ok(routes) => routes,
        Err(refusal) => {
            change.refused = Some(refusal.to_string());
            return change;
        }
    };
    change.seconds = Some(start.elapsed().as_secs_f64());
    let then = Sharing::of(fabric, &routes, jobs);
    let meets = |s: &Sharing, job: usize| {
        s.jobs[job].load.iter().map(|&(c, _)| s.all.load[c as usize]).max().unwrap_or(0)
    };
    for job in 0..jobs.len() {
        let (before, after) = (meets(now, job), meets(&then, job));
        change.better += usize::from(after < before);
        change.worse += usize::from(after > before);
    }
    if routes.paths() == old.paths() {
        let changed = difference(fabric, old, &routes, lids);
        (change.entries, change.blocks) = (changed.entries, changed.blocks);
    }
    change.then = Some(Effective::facts(&then.all));
    change
}

fn show(
    args: &ReportCommand,
    common: &Common,
    loaded: &Loaded,
    running: &Running,
    (tables, routes): (&str, &Routes),
    now: &Sharing,
    changes: &[Change],
) -> Result<Exit, Failure> {
    let fabric = &loaded.topology.fabric;
    let names = Names::new(fabric);
    let mut jobs: Vec<JobRow> = (0..running.places.len())
        .map(|j| {
            let of = now.of_job(j);
            JobRow {
                id: running.ids[j].clone(),
                user: running.users[j].clone(),
                terminals: running.places[j].len(),
                switches: now.jobs[j].switches,
                links: now.jobs[j].links(),
                shared_links: of.shared,
                gamma_max: now.jobs[j].max(),
                meets: of.fullest.map_or(0, |f| f.1),
                at: of.fullest.map(|f| names.channel(f.0)),
                with: of
                    .with
                    .iter()
                    .map(|&(k, links)| With { id: running.ids[k as usize].clone(), links })
                    .collect(),
            }
        })
        .collect();
    // Jobs in the order of their log where they are alike.
    jobs.sort_by_key(|j| std::cmp::Reverse((j.meets, j.shared_links)));
    let mut loaded_channels: Vec<ChannelId> = (0..fabric.channel_count())
        .map(ChannelId::new)
        .filter(|c| now.all.load[c.index()] > 0)
        .collect();
    loaded_channels.sort_by_key(|c| (std::cmp::Reverse(now.all.load[c.index()]), c.0));
    let channels: Vec<ChannelRow> = loaded_channels
        .into_iter()
        .map(|c| {
            let mut on: Vec<(u32, u32)> = now.on(c).to_vec();
            on.sort_by_key(|&(job, routes)| (std::cmp::Reverse(routes), job));
            let share =
                |&(j, routes): &(u32, u32)| Share { id: running.ids[j as usize].clone(), routes };
            ChannelRow {
                channel: names.channel(c),
                routes: now.all.load[c.index()],
                jobs: on.iter().map(share).collect(),
            }
        })
        .collect();
    let dark: Vec<_> = now.dark_cables(fabric).into_iter().map(|c| names.channel(c)).collect();
    let facts =
        metrics::facts(fabric, loaded.topology.shape.as_ref(), loaded.structure.as_ref(), false);
    let provenance = provenance::of(fabric, common);
    let result = SharingResult {
        tables,
        now: now.all.facts(),
        jobs: &jobs,
        channels: &channels,
        dark_cables: &dark,
        engines: changes,
        fabric: &facts,
        provenance: &provenance,
    };
    let mut problems = save::Unwritten::default();
    problems.note(args.page.write(|| {
        let view =
            page::view(tables, Unit::Routes, &now.all.load, fabric.channel_count(), |x| x as f64);
        let on_map = |j: usize| JobOnMap {
            name: running.ids[j].clone(),
            terminals: running.places[j].clone(),
            runs: Vec::new(),
            views: Vec::new(),
            load: now.jobs[j].load.iter().map(|&(c, routes)| (c, f64::from(routes))).collect(),
            fact: running.users[j].clone().unwrap_or_default(),
        };
        Page {
            subtitle: format!("routes inside jobs, tables {tables}"),
            views: vec![view],
            jobs: (0..running.places.len()).map(on_map).collect(),
            routes: Some(routes),
            ..page::of(fabric.name(), &loaded.topology, &provenance)
        }
    }));
    common.show_lines(&result, args.top)?;
    problems.end(Exit::Fine)
}
