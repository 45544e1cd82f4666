//! `darkfiber reroute`: from a fault to tables that differ from the old ones in few entries.

use std::collections::BTreeMap;
use std::time::Instant;

use clap::Args;
use darkfiber_analysis::{Names, finding};
use darkfiber_fabric::{
    AtPort, ChannelId, Fabric, Faults, Renumbering, SwitchId, TerminalId, Topology,
};
use darkfiber_page::{Page, Unit};
use darkfiber_report::ease::EaseStep;
use darkfiber_report::reroute::{
    Failed, LostTerminal, RerouteResult, Scratch, SwitchChange, Verdict,
};
use darkfiber_report::{Provenance, RouteOutcome as Row, Routed, Single, json, number};
use darkfiber_routing::reroute::{
    Changed, Coexistence, Drain, Prepared, RerouteError, RerouteOutcome, Rung, changed_by_switch,
};
use darkfiber_routing::{DestId, ENGINES, Engine, LayerBy, Layers, Lids, Request, Routes};
use darkfiber_scenario::faults;
use serde_json::Value;

use super::{entries, metrics};
use crate::failure::{Exit, Failure};
use crate::load::{self, Loaded};
use crate::options::{Common, FabricArgs, PageArgs, SetArgs, TableArgs};
use crate::progress::Progress;
use crate::{damage, out, page, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct RerouteCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    /// Engine that made the old tables, for --compare and should mending fail [default: what
    /// route.json beside them says]
    #[arg(short, long, value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
    /// Root switches that the old tables were made with: GUIDs (a file, or separated by commas)
    /// [default: what route.json beside them says]
    #[arg(long, value_name = "GUIDS")]
    pub(crate) roots: Option<String>,
    /// Route from scratch, too, with the engine, roots and seed of the old tables, and show what that
    /// would change
    #[arg(long)]
    pub(crate) compare: bool,
    /// Data virtual lanes that may be used (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    #[command(flatten)]
    pub(crate) levels: LevelArgs,
    /// Write routes even if they can deadlock, if the old ones could
    #[arg(long, requires = "output")]
    pub(crate) allow_deadlock: bool,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// What may become of the service levels of pairs; without either they stay wherever they can.
#[derive(Args, Debug)]
pub(crate) struct LevelArgs {
    /// Write nothing if service levels cannot be kept: the verdict says `reconnect`, and the exit code is 1
    #[arg(long)]
    pub(crate) keep_sl: bool,
    /// Let paths move to other service levels rather than become longer: connections that run must ask for theirs again
    #[arg(long, conflicts_with = "keep_sl")]
    pub(crate) move_sl: bool,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Switches that the fault cut off get new entries, all others keep theirs; changes are counted in entries
of LIDs that are left, and in blocks (64 LIDs, the unit in which tables are sent). Times are given apart: 'prepare' reads
loads and dependencies from the old tables, which a running service does once; 'compute' is the reaction to the
fault. Without --fail all pairs that do not reach are repaired: FABRIC from after a fault, tables from before.

Old and new tables may coexist 'in any order' if whatever mix of old and new entries packets meet while
switches are updated one by one, no packet loops and no layer gets a cycle of channel dependencies; 'in
steps' if the switches of each step must be done before the next begins; else 'drain': traffic to the
destinations that change must stop meanwhile. 'reconnect': paths move to other service levels, and the
connections that run on the old ones could deadlock on the new paths, so they must be re-established.

Running connections keep the service level that they were given. So no pair changes its own as long as any
tables do without: paths may become longer, and switches beside the fault may change, too. Where old and new
paths may not be in use together the verdict is 'drop-drain': the entries that change are first set to no
route, and written when the packets under way are gone. --move-sl prefers even loads and short paths.

Examples:
  darkfiber reroute my-fabric.topo --routes lfts.dump --fail 0x0002c903000a1b2c:7
  darkfiber reroute my-fabric.topo --routes old-routes --fail leaf1[7] spine3 -o new-routes
  darkfiber reroute my-fabric.topo --routes old-routes --fail dead-cables.txt --compare
  darkfiber reroute my-fabric.topo --routes old-routes --fail leaf1[7] --keep-sl
  darkfiber reroute after-fault.topo --routes lfts.dump -o new-routes
  darkfiber reroute my-fabric.topo --routes old-routes --fail-links 1 --format json

Exit code 1 if nothing sound could be written, or --keep-sl could not be kept; 4 if the faults split the
fabric.";

/// New tables, and how they came to be.
struct NewTables {
    routes: Routes,
    outcome: Result<RerouteOutcome, String>,
    /// How they may be put in place, where service levels had to stay.
    rung: Option<Rung>,
    prepare: f64,
    compute: f64,
}

pub(crate) fn run(args: &RerouteCommand, common: &Common) -> Result<Exit, Failure> {
    args.page.expect()?;
    // The fabric before the fault, its tables, and what made them.
    let target = save::Target::of(&args.set, common)?;
    let fabric = args.fabric.without_faults();
    let loaded = load::one_plane(&fabric, common)?;
    if target.is_some() {
        damage::refuse(&loaded)?;
    }
    let mut old = load::tables_in_lanes(&args.tables, args.fabric.name(), &loaded, common)?;
    let Loaded { topology, .. } = loaded;
    let recorded = recorded(args);
    let engine = engine(args, &recorded)?;
    let roots = roots(&topology.fabric, args, &recorded, common)?;
    if let Some(engine) = engine {
        engine.name().clone_into(&mut old.routes.engine);
    }
    // The fabric after the fault.
    let gone = failed(&topology.fabric, args, common)?;
    let (damaged, map) = topology.with_faults(&gone);
    if damaged.fabric.terminal_count() == 0 {
        let what = "no terminal is left after these faults: there is nothing to route";
        return Err(Failure::infeasible(what).hint("leave a switch with hosts out of --fail"));
    }

    let progress = Progress::new(3, common.quiet);
    // Tables of another fabric would be mended into nonsense.
    progress.at("checking the old tables");
    let before = metrics::measure(&topology.fabric, &old.routes, None);
    let lost = before.unreachable + before.loops;
    if lost * 2 > before.paths {
        return Err(Failure::input(format!(
            "{}: {} do not reach: these are not tables of this fabric",
            args.tables.routes.display(),
            finding::of_pairs(lost, before.pairs, before.paths),
        ))
        .hint("FABRIC is the fabric that the old tables were made for"));
    }
    progress.step();
    progress.at("mending");
    let of_old = RoutingRecipe {
        engine,
        roots: &roots.iter().filter_map(|s| map.switch[s.index()]).collect::<Vec<_>>(),
        seed: common.seed.or_else(|| recorded["provenance"]["seed"].as_u64()),
    };
    let new = mend(args, &topology, &old.routes, &gone, (&damaged, &map), &of_old)?;
    progress.step();
    progress.at("checking the new tables");
    let mut after = metrics::measure(&damaged.fabric, &new.routes, None);
    after.seconds = Some(new.compute);
    after.roots = roots.iter().map(|&s| topology.fabric.switch(s).guid.to_string()).collect();
    progress.step();
    drop(progress);

    // What changed, switch by switch; beside tables made anew, if that was asked for.
    let lids = lids(&topology.fabric, &old, &map)?;
    let difference = |routes: &Routes| {
        let (whole, damaged) = (&topology.fabric, &damaged.fabric);
        changed_by_switch((whole, &old.routes), (damaged, routes), &map, &lids)
    };
    let changed = difference(&new.routes);
    let total = |changed: &BTreeMap<SwitchId, Changed>| {
        changed.values().fold((0, 0), |(e, b), c| (e + c.entries, b + c.blocks))
    };
    let (mut scratch, mut scratch_refused) = (None, None);
    if args.compare {
        let engine = engine.ok_or_else(no_engine)?;
        let start = Instant::now();
        match engine.route(&damaged.fabric, &of_old.request(args, &damaged, &old.routes)) {
            Err(refusal) => scratch_refused = Some(refusal.to_string()),
            Ok(routes) => {
                let seconds = start.elapsed().as_secs_f64();
                let mut routed = metrics::measure(&damaged.fabric, &routes, None);
                routed.seconds = Some(seconds);
                let (entries_changed, blocks_changed) = total(&difference(&routes));
                scratch = Some(Scratch { entries_changed, blocks_changed, routed });
            }
        }
    }

    // Only sound tables are written.
    let facts = metrics::facts(&damaged.fabric, damaged.shape.as_ref(), None, false);
    let provenance = provenance::of(&damaged.fabric, common);
    let sound = soundness(&before, &after, args.allow_deadlock)
        .and_then(|()| if args.levels.keep_sl { kept(&new) } else { Ok(()) });
    let mut written = None;
    let mut problems = save::Unwritten::default();
    if let (Some(target), Ok(())) = (target, &sound) {
        let row = Row::Routed(Box::new(after.clone()));
        let single = json::text(&Single { outcome: &row, fabric: &facts, provenance: &provenance });
        written = Some(target.dir().to_owned());
        problems.note(target.write(&damaged.fabric, &new.routes, &lids, &single, &[]));
    }
    problems.note(args.page.write(|| {
        let whole = (&topology.fabric, &before);
        picture(whole, (&damaged, &map), (&after, &new.routes), &provenance)
    }));
    let (entries_changed, blocks_changed) = total(&changed);
    // The report, whose exit code tells of unsound tables.
    let verdict = match &new.outcome {
        Ok(outcome) => verdict_of(outcome, new.rung),
        Err(_) => verdict(None),
    };
    let mended = new.outcome.as_ref().ok();
    let result = RerouteResult {
        method: if mended.is_some() { "mended" } else { "anew" },
        not_mended: new.outcome.as_ref().err().cloned(),
        failed: Failed {
            links: gone.links.len(),
            switches: gone.switches.len(),
            terminals: gone.terminals.len(),
        },
        terminals_lost: terminals_lost(&topology.fabric, &map),
        rows_affected: mended.map_or(0, |o| o.rows),
        lids_changed: lids_changed(
            &topology.fabric,
            &old.routes,
            (&damaged.fabric, &new.routes),
            &map,
        ),
        entries_changed,
        blocks_changed,
        switches_changed: changed.len(),
        paths_moved: mended.map_or(0, |o| o.moved.len()),
        seconds_prepare: new.prepare,
        seconds_compute: new.compute,
        switches: switches(&damaged.fabric, &changed, mended, &map),
        coexistence: verdict,
        steps_by_entry: steps_by_entry(&topology.fabric, &old, mended)?,
        before,
        after,
        scratch,
        scratch_refused,
        fabric: facts,
        provenance,
    };
    common.show(&result)?;
    let exit = problems.end(Exit::Fine)?;
    if let (Some(dir), false) = (written, common.quiet) {
        out::eprint_line(&format!("wrote the new routes to {}", dir.display()));
    }
    match sound {
        Err(problem) if args.set.output.is_some() || problem.exit == Exit::Bug => Err(problem),
        Err(_) => Ok(Exit::Finding),
        Ok(()) => Ok(exit),
    }
}

/// The map of what is left: routes on its channels after the repair, and before the faults.
fn picture<'a>(
    (whole, before): (&Fabric, &Routed),
    (damaged, map): (&'a Topology, &Renumbering),
    (after, routes): (&Routed, &'a Routes),
    provenance: &Provenance,
) -> Page<'a> {
    let fabric = &damaged.fabric;
    let channels = fabric.channel_count();
    // Switches and ports stay, so that a channel is found again by them.
    let old = |c: ChannelId| {
        let tail = map.old_switch[fabric.tail(c).index()];
        match whole.at_port(tail, fabric.tail_port(c)) {
            AtPort::Switch(c, _) => before.load[c.index()] as f64,
            _ => 0.0,
        }
    };
    let old: Vec<f64> = (0..channels).map(|c| old(ChannelId::new(c))).collect();
    Page {
        subtitle: "routes after the repair, and before the faults".to_owned(),
        views: vec![
            page::view("after", Unit::Routes, &after.load, channels, |x| x as f64),
            page::view("before", Unit::Routes, &old, channels, |x| x),
        ],
        findings: page::Notes::new(fabric).of(&after.findings),
        routes: Some(routes),
        ..page::of(fabric.name(), damaged, provenance)
    }
}

/// Terminals that are not there any more: a switch that dies takes its hosts.
fn terminals_lost(whole: &Fabric, map: &Renumbering) -> Vec<LostTerminal> {
    let is_lost = |t: &TerminalId| map.terminal[t.index()].is_none();
    let mut left = vec![false; whole.hosts().len()];
    let all = || (0..whole.terminal_count()).map(TerminalId::new);
    for t in all().filter(|t| !is_lost(t)) {
        left[whole.host_of(t).index()] = true;
    }
    let names = Names::new(whole);
    let lost = |t: TerminalId| LostTerminal {
        name: names.terminal(t),
        guid: whole.terminal(t).guid.to_string(),
        switch: names.switch(whole.terminal(t).switch),
        host_lost: !left[whole.host_of(t).index()],
    };
    all().filter(is_lost).map(lost).collect()
}

fn failed(fabric: &Fabric, args: &RerouteCommand, common: &Common) -> Result<Faults, Failure> {
    let mut gone =
        faults::named(fabric, &args.fabric.faults.fail, args.fabric.faults.symbol_errors)?;
    if let Some(count) = args.fabric.faults.fail_links {
        let drawn = Faults::random_links(fabric, count, common.seed())
            .map_err(|e| Failure::infeasible(e).hint("give --fail-links a smaller number"))?;
        gone.links.extend(drawn.links);
    }
    // A cable has two ends, and may be named twice.
    for link in &mut gone.links {
        *link = (*link).min(fabric.reverse(*link));
    }
    gone.links.sort_unstable();
    gone.links.dedup();
    gone.switches.sort_unstable();
    gone.switches.dedup();
    gone.terminals.sort_unstable();
    gone.terminals.dedup();
    Ok(gone)
}

/// What `route.json` beside the old tables says; null if there is none.
fn recorded(args: &RerouteCommand) -> Value {
    let text = std::fs::read_to_string(args.tables.routes.join("route.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// The roots of the old tables: as told, or as recorded.
fn roots(
    fabric: &Fabric,
    args: &RerouteCommand,
    recorded: &Value,
    common: &Common,
) -> Result<Vec<SwitchId>, Failure> {
    if let Some(text) = &args.roots {
        return load::roots(fabric, text, common);
    }
    let guids = recorded["roots"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let known = |guid: &str| {
        fabric.switches().iter().position(|s| s.guid.to_string() == guid).map(SwitchId::new)
    };
    Ok(guids.filter_map(known).collect())
}

/// The engine of the old tables: as told, or as recorded.
fn engine(args: &RerouteCommand, recorded: &Value) -> Result<Option<&'static dyn Engine>, Failure> {
    let find = |name: &str| ENGINES.iter().copied().find(|e| e.name() == name);
    if let Some(name) = &args.engine {
        let known: Vec<&str> = ENGINES.iter().map(|e| e.name()).collect();
        return find(name).map(Some).ok_or_else(|| Failure::unknown("engine", name, &known));
    }
    Ok(recorded["engine"].as_str().and_then(find))
}

fn no_engine() -> Failure {
    Failure::usage("it is not known which engine made the old tables").hint("give it with --engine")
}

/// How the old tables were made, for routing the damaged fabric in the same way.
struct RoutingRecipe<'a> {
    engine: Option<&'static dyn Engine>,
    /// Those that are left, in the ids of the damaged fabric.
    roots: &'a [SwitchId],
    seed: Option<u64>,
}

impl RoutingRecipe<'_> {
    fn request<'a>(
        &'a self,
        args: &RerouteCommand,
        damaged: &'a Topology,
        old: &Routes,
    ) -> Request<'a> {
        Request {
            shape: damaged.shape.as_ref(),
            roots: self.roots,
            lmc: old.paths().trailing_zeros() as u8,
            lanes_by_lid: true,
            lanes: args.lanes,
            layer_by: match old.layers {
                Layers::ByRow(_) => LayerBy::Destination,
                _ => LayerBy::Pair,
            },
            jobs: &[],
            demands: &[],
            seed: self.seed.unwrap_or(Request::default().seed),
        }
    }
}

fn mend(
    args: &RerouteCommand,
    whole: &Topology,
    old: &Routes,
    gone: &Faults,
    (damaged, map): (&Topology, &Renumbering),
    of_old: &RoutingRecipe<'_>,
) -> Result<NewTables, Failure> {
    let start = Instant::now();
    let mut prepared = Prepared::new(&whole.fabric, old, args.lanes)?;
    let prepare = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let mended = if args.levels.move_sl {
        prepared.reroute(gone).map(|outcome| (outcome, None))
    } else {
        prepared.reroute_on_lowest_rung(gone).map(|(outcome, rung)| (outcome, Some(rung)))
    };
    match mended {
        Ok((outcome, rung)) => {
            let routes = prepared.into_tables(&damaged.fabric, map);
            let compute = start.elapsed().as_secs_f64();
            Ok(NewTables { routes, outcome: Ok(outcome), rung, prepare, compute })
        }
        Err(RerouteError::CutOff { source_switch, home }) => {
            let name = |s: u32| &whole.fabric.switch(SwitchId(s)).description;
            Err(Failure::infeasible(format!(
                "the faults split the fabric: no way is left from \"{}\" to \"{}\"",
                name(source_switch),
                name(home)
            ))
            .hint("name the switches beyond the split as failed, too"))
        }
        Err(error) if args.levels.keep_sl => Err(Failure::infeasible(error).hint(
            "without --keep-sl the fabric is re-routed from scratch, which moves service levels",
        )),
        Err(error) => {
            let why = error.to_string();
            let engine =
                of_old.engine.ok_or_else(|| Failure::infeasible(&why).hint(no_engine().hint))?;
            let start = Instant::now();
            let routes = engine
                .route(&damaged.fabric, &of_old.request(args, damaged, old))
                .map_err(|refusal| Failure::infeasible(format!("{why}; {refusal}")))?;
            let compute = start.elapsed().as_secs_f64();
            Ok(NewTables { routes, outcome: Err(why), rung: None, prepare, compute })
        }
    }
}

/// The LIDs of what is left, as they were.
fn lids(
    fabric: &Fabric,
    old: &darkfiber_scenario::tables::Read,
    map: &Renumbering,
) -> Result<Lids, Failure> {
    let assigned;
    let lids = if let Some(lids) = &old.lids {
        lids
    } else {
        assigned = Lids::assign(fabric, old.routes.paths().trailing_zeros() as u8)
            .map_err(Failure::infeasible)?;
        &assigned
    };
    let terminals: Vec<u16> = map.old_terminal.iter().map(|&t| lids.terminal(t)).collect();
    let switches: Vec<u16> = map.old_switch.iter().map(|&s| lids.switch(s)).collect();
    Lids::from_bases(lids.lmc(), &terminals, &switches).map_err(Failure::input)
}

/// Whether the new tables may be used: complete, and free of deadlock unless the old ones were not.
pub(super) fn soundness(
    before: &Routed,
    after: &Routed,
    allow_deadlock: bool,
) -> Result<(), Failure> {
    let lost = after.unreachable + after.loops;
    if lost > 0 {
        return Err(Failure::new(
            Exit::Bug,
            format!("{} pairs do not reach, so nothing is written", number::group(lost)),
        )
        .hint("mending promised that they do: please report this"));
    }
    match (before.deadlock_free, after.deadlock_free) {
        (true, false) => Err(Failure::new(
            Exit::Bug,
            "the new routes can deadlock although the old ones could not; nothing is written",
        )
        .hint("mending promised that they cannot: please report this")),
        (false, false) if !allow_deadlock => Err(Failure::new(
            Exit::Finding,
            "the old routes can deadlock, and so can the new ones; nothing is written",
        )
        .hint("--allow-deadlock writes them all the same; updn or dfsssp are free of deadlock")),
        _ => Ok(()),
    }
}

/// Whether service levels stayed, where they had to.
fn kept(new: &NewTables) -> Result<(), Failure> {
    match (&new.outcome, new.rung) {
        (Ok(outcome), Some(Rung::Reconnect)) => Err(Failure::new(
            Exit::Finding,
            format!(
                "no tables were found that keep service levels: the paths of {} (source switch, LID) pairs would move, so nothing is written",
                number::group(outcome.moved.len() as u64)
            ),
        )
        .hint("without --keep-sl they are written; connections of these pairs must then be re-established")),
        _ => Ok(()),
    }
}

/// How mended tables may be put in place while connections run.
fn verdict_of(outcome: &RerouteOutcome, rung: Option<Rung>) -> Verdict {
    if let Some(layer) = outcome.old_levels {
        let reason = format!(
            "reconnect: {} (source switch, LID) pairs move to other service levels; connections that keep the old ones \
             could deadlock on the new paths in layer {layer}, so these must be re-established",
            number::group(outcome.moved.len() as u64)
        );
        return Verdict { verdict: Rung::Reconnect.name(), steps: None, reason };
    }
    if rung == Some(Rung::DropDrain) {
        let switches: std::collections::BTreeSet<SwitchId> =
            outcome.changes.iter().map(|c| c.switch).collect();
        let reason = format!(
            "drop-drain: write no route into the {} entries of {} switches that change, wait for one packet lifetime, \
             then write the new ones; service levels stay",
            number::group(outcome.changes.len() as u64),
            number::group(switches.len() as u64)
        );
        return Verdict { verdict: Rung::DropDrain.name(), steps: None, reason };
    }
    verdict(Some(&outcome.coexistence))
}

/// Whether tables may be updated one by one; nothing is known of the fabric re-routed from scratch.
pub(super) fn verdict(coexistence: Option<&Coexistence>) -> Verdict {
    let drain = |why: &str| {
        format!("drain: {why}; stop traffic to the LIDs that change until all switches are updated")
    };
    let (verdict, reason) = match coexistence {
        Some(Coexistence::AnyOrder) => {
            ("any-order", "switches may be updated in any order".to_owned())
        }
        Some(order @ Coexistence::Order(_)) => {
            let steps = order.steps().unwrap_or(1);
            ("steps", format!("{steps} steps, each complete before the next begins"))
        }
        Some(order @ Coexistence::OrderOfEntries(_)) => {
            let steps = order.steps().unwrap_or(1);
            let reason = format!(
                "{steps} steps, each complete before the next begins; some switches take part in several \
                 (--format json lists the entries)"
            );
            ("steps", reason)
        }
        Some(Coexistence::Drain(Drain::Loop)) => {
            ("drain", drain("in every order there is a moment at which packets loop"))
        }
        Some(Coexistence::Drain(Drain::Cycle { layer })) => {
            ("drain", drain(&format!("old and new paths together could deadlock in layer {layer}")))
        }
        None => ("drain", drain("the fabric was re-routed from scratch")),
    };
    Verdict { verdict, steps: coexistence.and_then(Coexistence::steps), reason }
}

fn switches(
    damaged: &Fabric,
    changed: &BTreeMap<SwitchId, Changed>,
    outcome: Option<&RerouteOutcome>,
    map: &Renumbering,
) -> Vec<SwitchChange> {
    let step = |s: SwitchId| match &outcome?.coexistence {
        Coexistence::AnyOrder => Some(1),
        Coexistence::Order(rank) => {
            rank[map.old_switch[s.index()].index()].map(|rank| rank as usize + 1)
        }
        Coexistence::OrderOfEntries(rank) => {
            let of = map.old_switch[s.index()];
            // One that takes part in several has none of its own.
            let mut ranks = rank.range((of, 0)..=(of, u32::MAX)).map(|(_, &rank)| rank);
            let first = ranks.next()?;
            ranks.all(|rank| rank == first).then_some(first as usize + 1)
        }
        Coexistence::Drain(_) => None,
    };
    let mut list: Vec<SwitchChange> = changed
        .iter()
        .map(|(&s, changed)| SwitchChange {
            guid: damaged.switch(s).guid.to_string(),
            name: damaged.switch(s).description.clone(),
            entries: changed.entries,
            blocks: changed.blocks,
            step: step(s),
        })
        .collect();
    list.sort_by(|a, b| a.guid.cmp(&b.guid));
    list
}

/// The entries of each step, if whole switches cannot be updated one by one.
fn steps_by_entry(
    whole: &Fabric,
    old: &darkfiber_scenario::tables::Read,
    outcome: Option<&RerouteOutcome>,
) -> Result<Vec<EaseStep>, Failure> {
    let Some(outcome) = outcome else { return Ok(Vec::new()) };
    let Coexistence::OrderOfEntries(_) = &outcome.coexistence else { return Ok(Vec::new()) };
    let (_, nothing_failed) = whole.with_faults(&Faults::default());
    let lids = lids(whole, old, &nothing_failed)?;
    let steps = outcome.coexistence.by_step(&outcome.changes).unwrap_or_default();
    Ok(steps.iter().map(|changes| entries::step(whole, &old.routes, &lids, changes)).collect())
}

/// LIDs of which some entry changed.
fn lids_changed(
    whole: &Fabric,
    old: &Routes,
    (damaged, new): (&Fabric, &Routes),
    map: &Renumbering,
) -> usize {
    let lids = (0..new.dest_count()).map(DestId::new).flat_map(|d| {
        let paths = d.as_terminal(damaged).map_or(1, |_| new.paths());
        (0..paths).map(move |path| (d, path))
    });
    lids.filter(|&(d, path)| {
        let before = match d.as_terminal(damaged) {
            Some(t) => DestId::terminal(map.old_terminal[t.index()]),
            None => DestId::switch(whole, map.old_switch[d.home(damaged).index()]),
        };
        let (was, is) = (old.ports(old.row(before, path)), new.ports(new.row(d, path)));
        is.iter().zip(&map.old_switch).any(|(entry, s)| *entry != was[s.index()])
    })
    .count()
}
