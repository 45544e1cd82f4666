//! `darkfiber route`: compute, check, measure and write routes; compare engines.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use darkfiber_analysis::{Finding, Severity, finding};
use darkfiber_fabric::{Fabric, Shape, TerminalId, Topology};
use darkfiber_formats::places::Places;
use darkfiber_formats::{demands, input, tables as forwarding};
use darkfiber_page::{Page, Unit, View};
use darkfiber_report::engines::{Engines, Findings};
use darkfiber_report::svg::{Panel, load_histograms};
use darkfiber_report::{
    FabricFacts, Provenance, Refused, RouteOutcome, Routed, Single, findings, json, number,
};
use darkfiber_routing::reroute::{Book, Fault, Prepared};
use darkfiber_routing::{
    self as routing, Deadlock, Demand, Engine, Lids, Refusal, Request, Routes, layers_by_hop,
    layers_by_source, spread_lanes,
};
use darkfiber_study::Chain;

use super::in_place::InPlace;
use super::metrics;
use crate::failure::{Exit, Failure};
use crate::load::{self, Loaded};
use crate::options::{
    Common, EaseArgs, EngineArgs, FabricArgs, JobsArgs, LayerBy, PageArgs, RequestArgs, SetArgs,
};
use crate::progress::Progress;
use crate::{addresses, jobs, out, page, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct RouteCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) engines: EngineArgs,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    /// What a path's virtual layer may depend on; an engine whose layers need more refuses
    #[arg(long, value_enum, default_value_t, value_name = "BY")]
    pub(crate) layer_by: LayerBy,
    /// Spread paths evenly by load over the --lanes that no layer needs
    #[arg(long)]
    pub(crate) spread_lanes: bool,
    /// Use the --lanes for repairs: paths share a lane only where the detours around every single cable fit into it,
    /// too, so that fewer faults touch running connections (`darkfiber survive`)
    #[arg(long, conflicts_with = "spread_lanes")]
    pub(crate) protect: bool,
    /// Refuse tables if fewer repairs of single cables leave running connections untouched (`darkfiber survive`);
    /// `a+b` falls back to `b`
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) survive: Option<f64>,
    #[command(flatten)]
    pub(crate) jobs: JobsArgs,
    /// What nodes send to each other, for engines that follow it (parx): `node: node=weight ...` on each line, weights
    /// 0 to 255 or bytes
    #[arg(long, value_name = "FILE", help_heading = "Job options")]
    pub(crate) demands: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ease: EaseArgs,
    /// Draw the load of all channels, one panel for each engine
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Write routes that can deadlock, unless the engine guarantees freedom
    #[arg(long, requires = "output")]
    pub(crate) allow_deadlock: bool,
}

/// Data lanes that InfiniBand has.
const MOST_LANES: u8 = 15;

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Engines are timed alone, then every pair of terminals is traced by a checker that shares no code with
them. EFI (edge forwarding index) = routes that cross a switch-to-switch channel; dark fiber = share of
those channels that no route crosses; hops are switches crossed, as OpenSM counts.

Examples:
  darkfiber route my-fabric.topo -e minhop -e updn -e ftree -e dfsssp
  darkfiber route my-fabric.topo -e ftree+updn -o new      updn if ftree refuses
  darkfiber route my-fabric.topo -e ease --from in-use --jobs squeue.txt -o new

Written with -o (to DIR/<engine> if there are several): lfts.dump (OpenSM's `routing_engine file`,
`lfts_file`), guid2lid, fabric.topo, subnet.lst, fdbs, route.json, path-sl if there are several layers, sl2vl
if switches choose lanes (--layer-by hop), path-bits if paths depend on the source, lid-choice if senders choose
a LID for each message (parx), groups.far with groups of ports. They replace the old set atomically; other files of DIR stay. --write
lfts,path-sl.zst chooses files, and compresses. Where DIR cannot be replaced atomically (NFS, a mount point), it
must be new or empty, or --in-place must be given.
Nothing is written that failed the check.

Exit code 1 if pairs are unreachable, or routes can deadlock that were guaranteed not to or were to be written; 4 if
no engine could route, or routes could not be written.";

/// Refuses options that do not go together. Why lanes of tables are chosen anew, if they are.
fn lanes_chosen_anew(args: &RouteCommand) -> Result<Option<&'static str>, Failure> {
    let again = match args.layer_by {
        LayerBy::Source => Some("--layer-by source assigns new service levels to hosts"),
        LayerBy::Hop => Some("--layer-by hop assigns new lanes to all hops"),
        LayerBy::Pair | LayerBy::Destination => None,
    };
    let others = args.spread_lanes || args.protect || args.ease.from.is_some();
    if let Some(again) = again.filter(|_| others) {
        return Err(Failure::usage(format!(
            "{again}: without --spread-lanes, --protect and --from"
        )));
    }
    if args.layer_by == LayerBy::Destination && args.ease.from.is_some() {
        return Err(Failure::usage(
            "--layer-by destination: layers are chosen towards the tables of --from, for each pair",
        )
        .hint("leave one of both out"));
    }
    if args.layer_by == LayerBy::Destination && args.protect {
        return Err(Failure::usage(
            "--layer-by destination: --protect chooses a layer for each pair, not for each destination",
        )
        .hint("leave one of both out"));
    }
    if args.layer_by == LayerBy::Hop && args.survive.is_some() {
        return Err(Failure::usage(
            "--survive repairs tables, and those in which switches choose lanes (--layer-by hop) cannot be repaired yet",
        ));
    }
    Ok(again)
}

/// Refuses what tables of one subnet only can have, on a fabric of several planes.
fn refuse_planes(args: &RouteCommand, fabric: &Fabric) -> Result<(), Failure> {
    let of_one_subnet = [
        (args.set.output.is_some(), "-o"),
        (args.ease.from.is_some(), "--from"),
        (args.protect, "--protect"),
        (args.survive.is_some(), "--survive"),
        (args.spread_lanes, "--spread-lanes"),
        (args.layer_by == LayerBy::Source, "--layer-by source"),
        (args.layer_by == LayerBy::Hop, "--layer-by hop"),
    ];
    for (_, option) in of_one_subnet.iter().filter(|(is_given, _)| *is_given) {
        load::refuse_planes(fabric, option)?;
    }
    Ok(())
}

pub(crate) fn run(args: &RouteCommand, common: &Common) -> Result<Exit, Failure> {
    // What the options say, and the fabric with all that engines are given beside it.
    let chains = args.engines.chains()?;
    let again = lanes_chosen_anew(args)?;
    let loaded = load::fabric(&args.fabric, common)?;
    refuse_planes(args, &loaded.topology.fabric)?;
    let in_place = args.ease.from.as_deref();
    let in_place = in_place
        .map(|path| InPlace::load(path, &args.ease.beside, &args.fabric, &loaded, common))
        .transpose()?;
    let Loaded { topology, diagnostics, structure, .. } = loaded;
    let Topology { fabric, shape } = &topology;
    let contradiction = metrics::of_input(&diagnostics).filter(|f| f.severity == Severity::Error);
    let roots = match &args.request.roots {
        Some(text) => load::roots(fabric, text, common)?,
        None => Vec::new(),
    };
    let jobs = args.jobs.load(fabric, common)?;
    let demands = match &args.demands {
        Some(path) => demanded(path, args.jobs.aliases.as_deref(), fabric, common)?,
        None => Vec::new(),
    };
    // What cannot be written is refused before anything is computed.
    save::expect(args.svg.as_ref())?;
    args.page.expect()?;
    let mut targets = targets(args, &chains, common)?.into_iter();
    let request = Request {
        shape: shape.as_ref(),
        roots: &roots,
        lmc: in_place.as_ref().map_or(args.request.lmc, InPlace::lmc),
        lanes: if again.is_some() { MOST_LANES } else { args.request.lanes },
        lanes_by_lid: again.is_none() && !args.protect,
        layer_by: match args.layer_by {
            // Layers by source and lanes by hop are found when paths are made.
            LayerBy::Pair | LayerBy::Source | LayerBy::Hop => routing::LayerBy::Pair,
            LayerBy::Destination => routing::LayerBy::Destination,
        },
        jobs: jobs.as_deref().unwrap_or_default(),
        demands: &demands,
        seed: common.seed(),
    };
    let facts = metrics::facts(fabric, shape.as_ref(), structure.as_ref(), false);
    let provenance = provenance::of(fabric, common);

    // Each chain of engines: routes, what the options make of them, and the checker's figures. For the page, those of the first.
    let (mut drawn, mut lanes) = (None, Vec::new());
    let mut outcomes = Vec::new();
    let mut problems = save::Unwritten::default();
    let progress = Progress::new(2 * chains.len() as u64, common.quiet);
    for chain in &chains {
        progress.at(format!("{}: routing", chain.name));
        let (mut layers_needed, mut layers_by_pair, mut survives) = (None, None, None);
        let mut towards = None;
        let mut finished = |engine: &dyn Engine, mut routes: Routes| -> Result<Routes, String> {
            let has_groups = routes.groups.is_some();
            layers_needed = (args.spread_lanes || args.protect).then(|| routes.layer_count());
            layers_by_pair = self::layers_by_pair(engine, fabric, &request, &routes);
            let lanes = args.request.lanes;
            if args.layer_by == LayerBy::Hop {
                layers_by_hop(fabric, &mut routes, lanes).map_err(|none| none.to_string())?;
            }
            if args.layer_by == LayerBy::Source {
                layers_by_pair = Some(routes.layer_count());
                layers_by_source(fabric, &mut routes, lanes).map_err(|none| none.to_string())?;
                layers_by_pair = layers_by_pair.filter(|&pair| pair != routes.layer_count());
            }
            if let Some(in_place) = &in_place {
                let (near, facts) = in_place.towards(fabric, routes)?;
                (routes, towards) = (near, Some(facts));
            }
            if args.spread_lanes {
                let (used, lanes) = (routes.layer_count(), args.request.lanes);
                if spread_lanes(fabric, &mut routes, lanes) == used {
                    let note = format!(
                        "--spread-lanes changed nothing: {used} of {lanes} lanes are in use, and no part of a layer can have another one"
                    );
                    routes.notes.push(note);
                }
            }
            if args.protect {
                let made = protected(fabric, &routes, args.request.lanes, common);
                routes = made.map_err(|failure| failure.message)?;
            }
            if let Some(least) = args.survive {
                progress.at(format!("{}: mending every cable", engine.name()));
                survives = survived(fabric, &routes, args.request.lanes, least)?;
            }
            if has_groups && routes.groups.is_none() {
                let note = "groups of ports are left out: these tables are static ones";
                routes.notes.push(note.to_owned());
            }
            Ok(routes)
        };
        let (outcome, routes) = match computed(chain, fabric, &request, &mut finished) {
            Err(refused) => (RouteOutcome::Refused(refused), None),
            Ok((engine, routes, seconds, refusals)) => {
                progress.step();
                progress.at(format!("{}: checking", chain.name));
                let mut row = metrics::measure(fabric, &routes, jobs.as_deref());
                row.layers_needed = layers_needed;
                row.layers_by_pair = layers_by_pair;
                row.cables_untouched_percent = survives;
                row.towards = towards;
                row.seconds = Some(seconds);
                row.promises_freedom = engine.deadlock().promised();
                row.refusals = refusals;
                for note in routes.notes.iter().filter(|_| !common.quiet) {
                    out::eprint_line(&format!("{}: note: {note}", chain.name));
                }
                // Those that the tables were made with.
                let roots = roots.iter().filter(|_| !routes.leaves_roots);
                row.roots = roots.map(|&s| fabric.switch(s).guid.to_string()).collect();
                if chain.engines.len() > 1 {
                    row.chain = chain.engines.iter().map(|e| e.name().to_owned()).collect();
                }
                (RouteOutcome::Routed(Box::new(row)), Some((engine, routes)))
            }
        };
        progress.step();
        if let Some((_, routes)) = routes.as_ref().filter(|_| args.page.is_asked()) {
            lanes.push(page::lanes(fabric, routes));
            drawn.get_or_insert_with(|| routes.clone());
        }
        // Tables are written as soon as they are checked: the next engine may take long.
        let target = targets.next();
        if let (Some(set), Some((engine, routes)), RouteOutcome::Routed(row)) =
            (target, &routes, &outcome)
        {
            let dir = set.dir().to_owned();
            let single =
                json::text(&Single { outcome: &outcome, fabric: &facts, provenance: &provenance });
            let target = CheckedOutput {
                set,
                shape: shape.as_ref(),
                allow_deadlock: args.allow_deadlock,
                damaged: contradiction.as_ref(),
                lids: in_place.as_ref().and_then(|from| from.lids.as_ref()),
                lmc: request.lmc,
                quiet: common.quiet,
            };
            match target.write(fabric, *engine, routes, row, &single) {
                Ok(()) if !common.quiet => {
                    out::eprint_line(&format!(
                        "wrote the routes of {} to {}",
                        row.engine,
                        dir.display()
                    ));
                }
                Ok(()) => {}
                Err(problem) => problems.note(Err(problem)),
            }
        }
        outcomes.push(outcome);
    }
    drop(progress);

    // Pictures, unless there are no routes; then the table, whose exit code tells of what was found.
    if outcomes.iter().any(|outcome| matches!(outcome, RouteOutcome::Routed(_))) {
        problems.note(args.page.write(|| {
            picture((&topology, drawn.as_ref()), jobs.as_deref(), (&outcomes, &lanes), &provenance)
        }));
        if let Some(path) = &args.svg {
            problems.note(draw(path, &facts, &outcomes));
        }
    }
    common.show(&Engines {
        rows: &outcomes,
        findings: Findings::Faults,
        fabric: &facts,
        provenance: &provenance,
    })?;
    let exit = problems.end(exit(&outcomes))?;
    if let (Some(finding), Exit::Fine) = (&contradiction, exit) {
        out::eprint_line(findings::text(std::slice::from_ref(finding), false).trim_end());
        return Ok(Exit::Finding);
    }
    Ok(exit)
}

/// The same tables in lanes that leave room for repairs; says how much room there was.
pub(super) fn protected(
    fabric: &Fabric,
    routes: &Routes,
    lanes: u8,
    common: &Common,
) -> Result<Routes, Failure> {
    let prepared = Prepared::new(fabric, routes, lanes).map_err(Failure::infeasible)?;
    let (protected, protection) = prepared.protected(lanes);
    if !common.quiet {
        out::eprint_line(&format!(
            "{}: note: {} of {} detours around single cables fit into the service levels of their paths",
            routes.engine,
            number::group(protection.protected as u64),
            number::group(protection.detours as u64)
        ));
    }
    Ok(protected)
}

/// The share of single cables whose repairs leave running connections alone, in percent of those that leave the fabric connected, if
/// there are any; a refusal if it is less than `least`.
fn survived(
    fabric: &Fabric,
    routes: &Routes,
    lanes: u8,
    least: f64,
) -> Result<Option<f64>, String> {
    let prepared = Prepared::new(fabric, routes, lanes).map_err(|e| e.to_string())?;
    let share = Book::of(&prepared.book(&Fault::cables(fabric), || ())).untouched_percent();
    if let Some(share) = share.filter(|&share| share < least) {
        return Err(format!(
            "the repairs of {share:.1} % of the single cables leave running connections alone, fewer than {least} %"
        ));
    }
    Ok(share)
}

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("\"{text}\" is no number"))?;
    if (0.0..=100.0).contains(&number) { Ok(number) } else { Err("expected 0 to 100".to_owned()) }
}

/// What nodes send to each other.
pub(super) fn demanded(
    path: &Path,
    aliases: Option<&Path>,
    fabric: &Fabric,
    common: &Common,
) -> Result<Vec<Demand>, Failure> {
    let places = Places::new(fabric, jobs::aliases(aliases, fabric, common)?);
    let (found, remarks) = demands::read(&input::read_text(path)?, path, &places)?;
    out::diagnostics(&path.display().to_string(), &remarks, common);
    Ok(found)
}

/// Reads one of `-e`: an engine, or a fallback chain `a+b`; its name is the text of the user, also the name of its directory.
pub(crate) fn chain(text: &str) -> Result<Chain, Failure> {
    Ok(Chain::parse(text)?)
}

/// How many layers the engine would take if it told them by pair, where it was asked to tell them by
/// destination and made `routes`; `None` where that makes no difference.
fn layers_by_pair(
    engine: &dyn Engine,
    fabric: &Fabric,
    request: &Request<'_>,
    routes: &Routes,
) -> Option<usize> {
    if request.layer_by == routing::LayerBy::Pair || engine.deadlock() != Deadlock::Layers {
        return None;
    }
    let by_pair = Request { layer_by: routing::LayerBy::Pair, ..request.clone() };
    let other = engine.route(fabric, &by_pair).ok()?;
    (other != *routes).then(|| other.layer_count())
}

pub(super) type ComputedRoutes = (&'static dyn Engine, Routes, f64, Vec<Refused>);

/// Routes with the first engine that does not refuse; the time is that engine's alone.
pub(crate) fn compute(
    chain: &Chain,
    fabric: &Fabric,
    request: &Request<'_>,
) -> Result<ComputedRoutes, Refused> {
    computed(chain, fabric, request, &mut |_, routes| Ok(routes))
}

/// The name of the first engine of a chain that does not refuse, and its tables.
pub(crate) fn tables(
    chain: &Chain,
    fabric: &Fabric,
    request: &Request<'_>,
) -> Result<(String, Routes), Failure> {
    compute(chain, fabric, request)
        .map(|(engine, routes, ..)| (engine.name().to_owned(), routes))
        .map_err(|r| Failure::infeasible(format!("{}: {}", r.engine, r.refused)))
}

/// As [`compute`], of which `finished` may refuse what an engine made, or make something else of it.
fn computed(
    chain: &Chain,
    fabric: &Fabric,
    request: &Request<'_>,
    finished: &mut dyn FnMut(&dyn Engine, Routes) -> Result<Routes, String>,
) -> Result<ComputedRoutes, Refused> {
    let mut refusals = Vec::new();
    for &engine in &chain.engines {
        let start = Instant::now();
        let made = engine.route(fabric, request);
        let seconds = start.elapsed().as_secs_f64();
        let made = made.map_err(|refusal| reason(engine, &refusal));
        match made.and_then(|routes| finished(engine, routes)) {
            Ok(routes) => return Ok((engine, routes, seconds, refusals)),
            Err(refused) => {
                refusals.push(Refused { engine: engine.name().to_owned(), refused });
            }
        }
    }
    Err(match refusals.len() {
        1 => refusals.remove(0),
        _ => Refused {
            engine: chain.name.clone(),
            refused: refusals
                .iter()
                .map(|r| format!("{}: {}", r.engine, r.refused))
                .collect::<Vec<_>>()
                .join("; "),
        },
    })
}

/// The reason without the name of the engine, which stands before it anyway.
fn reason(engine: &dyn Engine, refusal: &Refusal) -> String {
    let text = refusal.to_string();
    text.strip_prefix(engine.name())
        .map(|rest| rest.trim_start_matches(':').trim_start().to_owned())
        .unwrap_or(text)
}

/// The directories of the chains, in their order; none if nothing is written.
fn targets(
    args: &RouteCommand,
    chains: &[Chain],
    common: &Common,
) -> Result<Vec<save::Target>, Failure> {
    let Some(dir) = &args.set.output else { return Ok(Vec::new()) };
    if chains.len() > 1 && save::holds_tables(dir) {
        let what = format!(
            "{} has tables of its own, which would stay beside those of several engines, in folders of theirs",
            dir.display()
        );
        return Err(Failure::usage(what).hint("give another directory, or remove this one first"));
    }
    let of = |chain: &Chain| if chains.len() > 1 { dir.join(&chain.name) } else { dir.clone() };
    chains.iter().map(|chain| save::Target::open(&of(chain), &args.set, common)).collect()
}

/// Where routes are written, if they pass the check.
struct CheckedOutput<'a> {
    set: save::Target,
    shape: Option<&'a Shape>,
    allow_deadlock: bool,
    /// What is wrong with the input, if the fabric is not what it describes.
    damaged: Option<&'a Finding>,
    /// The LIDs in use, if tables are in place.
    lids: Option<&'a Lids>,
    lmc: u8,
    quiet: bool,
}

impl CheckedOutput<'_> {
    fn write(
        self,
        fabric: &Fabric,
        engine: &dyn Engine,
        routes: &Routes,
        row: &Routed,
        summary: &str,
    ) -> Result<(), Failure> {
        let name = engine.name();
        if let Some(finding) = self.damaged {
            let what = format!("{name}: {}, so nothing is written", finding.message);
            return Err(Failure::new(Exit::Finding, what).hint(finding.hint));
        }
        let lids = match self.lids {
            Some(lids) => lids.clone(),
            None => addresses::assign(fabric, self.shape, routes, self.lmc)?,
        };
        if row.unreachable + row.loops > 0 {
            return Err(Failure::new(
                Exit::Finding,
                format!(
                    "{name}: {} do not reach, so nothing is written",
                    finding::of_pairs(row.unreachable + row.loops, row.pairs, row.paths)
                ),
            )
            .hint("look at the findings with --format json, or try another engine"));
        }
        if !row.deadlock_free && (row.promises_freedom || !self.allow_deadlock) {
            let failure = Failure::new(
                Exit::Finding,
                format!("{name}: these routes can deadlock, so nothing is written"),
            );
            return Err(if row.promises_freedom {
                failure.hint("the engine promised that they cannot: please report this")
            } else {
                failure.hint("use updn or dfsssp; --allow-deadlock writes them all the same")
            });
        }
        if let Some(moved) = addresses::moved(fabric, &lids).filter(|_| !self.quiet) {
            out::eprint_line(&format!("{name}: warning: {moved}"));
        }
        for fewer in forwarding::fewer_lids(fabric, &lids).0.iter().filter(|_| !self.quiet) {
            out::eprint_line(&format!("{name}: warning: {} (--lmc gives them all)", fewer.what));
        }
        self.set.write(fabric, routes, &lids, summary, &[])
    }
}

/// The map with the load of every engine; jobs and paths are those of the first that routes.
fn picture<'a>(
    (topology, routes): (&'a Topology, Option<&'a Routes>),
    jobs: Option<&[Vec<TerminalId>]>,
    (outcomes, lanes): (&[RouteOutcome], &[Vec<u8>]),
    provenance: &Provenance,
) -> Page<'a> {
    let fabric = &topology.fabric;
    let rows: Vec<&Routed> = outcomes
        .iter()
        .filter_map(|o| match o {
            RouteOutcome::Routed(r) => Some(&**r),
            RouteOutcome::Refused(_) => None,
        })
        .collect();
    let notes = page::Notes::new(fabric);
    let named = |row: &&Routed| {
        let mut found = notes.of(&row.findings);
        for note in found.iter_mut().filter(|_| rows.len() > 1) {
            note.message = format!("{}: {}", row.engine, note.message);
        }
        found
    };
    Page {
        subtitle: routes.map(|r| format!("routes of {}", r.engine)).unwrap_or_default(),
        views: (rows.iter().zip(lanes))
            .map(|(r, lanes)| {
                let view = page::view(&r.engine, Unit::Routes, &r.load, r.channels, |x| x as f64);
                View { lanes: lanes.clone(), ..view }
            })
            .collect(),
        jobs: routes.map_or_else(Vec::new, |routes| {
            let name = |j| format!("job {}", j + 1);
            page::jobs_by_routes(fabric, routes, jobs.unwrap_or_default(), name)
        }),
        findings: rows.iter().flat_map(named).collect(),
        routes,
        ..page::of(fabric.name(), topology, provenance)
    }
}

fn draw(path: &Path, facts: &FabricFacts, outcomes: &[RouteOutcome]) -> Result<(), Failure> {
    let panels: Vec<Panel<'_>> = outcomes
        .iter()
        .filter_map(|o| match o {
            RouteOutcome::Routed(r) => Some(Panel { title: &r.engine, load: &r.load }),
            RouteOutcome::Refused(_) => None,
        })
        .collect();
    let subtitle = format!(
        "{} switches, {} terminals; share of the {} directed switch-to-switch channels by load",
        number::group(facts.switches as u64),
        number::group(facts.terminals as u64),
        number::group(2 * facts.switch_links as u64)
    );
    let title = format!("Channel load on {}", facts.name);
    let svg = load_histograms(&title, &subtitle, &panels);
    save::file(path, |out| out.write_all(svg.as_bytes()))
}

fn exit(outcomes: &[RouteOutcome]) -> Exit {
    let routed = outcomes.iter().filter_map(|o| match o {
        RouteOutcome::Routed(r) => Some(r),
        RouteOutcome::Refused(_) => None,
    });
    let mut any = false;
    for row in routed {
        any = true;
        if row.findings.iter().any(|f| row.is_at_fault(f.kind)) {
            return Exit::Finding;
        }
    }
    if any { Exit::Fine } else { Exit::Infeasible }
}
