//! `darkfiber hot`: which channels are hot, whose traffic it is, who suffers, and which few entries to change.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use darkfiber_analysis::heat::{Fate, Heat, destinations};
use darkfiber_analysis::{ChannelName, Names};
use darkfiber_fabric::{AtPort, ChannelId, Fabric, SwitchId, TerminalId};
use darkfiber_page::{JobOnMap, Page, Unit};
use darkfiber_report::hot::{
    self as report, Adapter, Counted, Dest, HotChannel, HotResult, JobFate, Loads, MoveRow, Share,
};
use darkfiber_report::{Provenance, RouteOutcome as Row, Routed, Single, json};
use darkfiber_routing::reroute::{Goal, Move, Policy, Prepared, Relief, difference};
use darkfiber_routing::{DestId, Lids, Routes};
use darkfiber_scenario::demanded;
use darkfiber_workload::quantity::bytes;

use super::{measure, metrics, reroute};
use crate::counted::CountedTraffic;
use crate::failure::{Exit, Failure};
use crate::options::{Common, CountedArgs, PageArgs, SetArgs};
use crate::progress::Progress;
use crate::{addresses, damage, out, page, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct HotCommand {
    /// Fabric, tables, jobs and their traffic, in TOML, as for simulate; without, give --fabric and what was counted
    #[arg(value_name = "SCENARIO", required_unless_present = "fabric", conflicts_with = "fabric")]
    pub(crate) scenario: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) counted: CountedArgs,
    /// Channels that carry more (61.5GB, as on the fastest cable: one of half the speed is hot at half of it) are hot; entries
    /// are changed until none is. Without it, as long as the load of the hottest falls
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_load: Option<String>,
    /// Maximum number of entries to change
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) moves: usize,
    /// Which destination is moved off a hot channel
    #[arg(long, value_enum, default_value_t)]
    pub(crate) policy: HotPolicy,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    /// Draw channels by what they carry, now and after the changes
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Lines of each list; -v shows all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
}

/// Which destination is moved off a hot channel, and to which path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HotPolicy {
    /// That with the lowest LID, to the least loaded channel: the paper's
    First,
    /// That with most traffic, to the least loaded channel
    Largest,
    /// That with the lowest LID, on the least loaded path
    Path,
    /// That, and the path, after which the fuller of both is least full
    #[default]
    Best,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
What one run of every job sends is counted on all channels. A job waits for the slowest of its channels: `alone`
is what that needs for the job itself, `together` with what others send meanwhile, each at the rate at which it would
send alone, for as long as the job takes. Then entries of the tables are changed, one after the other
(adaptive flow-aware routing, Smith et al., SC'18), so that the load of the hottest channel falls and no other
becomes as high; no
path loses its virtual layer, and layers stay free of cycles. If nothing helps, the answer is no change.
Exit code 1 if pairs that send have no route.

Examples:
  darkfiber hot examples/cab.toml
  darkfiber hot examples/cab.toml --max-load 61.5GB -o new-tables --svg hot.svg
  darkfiber hot examples/cab.toml --policy first --format csv";

/// Layers that new paths may use beside those of the tables: every path keeps its own.
const KEPT: u8 = 1;
/// Channels whose destinations are listed.
const MOST_REPORTED: usize = 50;

impl From<HotPolicy> for Policy {
    fn from(policy: HotPolicy) -> Self {
        match policy {
            HotPolicy::First => Self::First,
            HotPolicy::Largest => Self::Largest,
            HotPolicy::Path => Self::Path,
            HotPolicy::Best => Self::Best,
        }
    }
}

pub(crate) fn run(args: &HotCommand, common: &Common) -> Result<Exit, Failure> {
    // Options first: what cannot be is refused before anything is read.
    let most = args
        .max_load
        .as_ref()
        .map(|text| bytes(text).map_err(|e| Failure::usage(format!("--max-load: {e}"))))
        .transpose()?;
    save::expect(args.svg.as_ref())?;
    args.page.expect()?;
    let target = save::Target::of(&args.set, common)?;
    let progress = Progress::new(5, common.quiet);
    let mut given =
        CountedTraffic::load(args.scenario.as_deref(), &args.counted, common, &progress)?;
    let common = &Common { seed: Some(given.case.seed), ..common.clone() };
    given.case.tables.expect_tables("hot")?;
    if target.is_some() {
        damage::refuse(&given.case.loaded)?;
    }
    let lids = given.case.tables.lids.take();
    let topology = given.case.topology();
    let fabric = &topology.fabric;
    // Routes of more LIDs than InfiniBand has can be looked at, but not be written.
    let lids = match (lids, &args.set.output) {
        (Some(lids), _) => lids,
        (None, None) if given.case.tables.routes.lmc().is_none() => {
            Lids::assign(fabric, 0).map_err(Failure::infeasible)?
        }
        (None, _) => {
            addresses::assign(fabric, topology.shape.as_ref(), &given.case.tables.routes, 0)?
        }
    };
    // Loads of channels as they are.
    progress.at("counting");
    let flows = &given.flows;
    let demands = demanded(flows);
    let jobs = given.jobs.len();
    let now = Heat::of(fabric, &given.case.tables.routes, flows, jobs);
    progress.step();
    // Loads after as many changed entries as are allowed.
    progress.at("relieving");
    let start = Instant::now();
    let mut prepared = Prepared::with_demands(fabric, &given.case.tables.routes, KEPT, &demands)?;
    let seconds_prepare = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let goal = Goal {
        most: most.map_or(0.0, |b| b as f64),
        moves: args.moves,
        policy: args.policy.into(),
        ..Goal::default()
    };
    let relief = prepared.relieve(&goal);
    let seconds_compute = start.elapsed().as_secs_f64();
    let then_routes = prepared.into_routes();
    let then = Heat::of(fabric, &then_routes, flows, jobs);
    progress.step();
    drop(progress);

    // What is reported: names in place of numbers.
    let changed = difference(fabric, &given.case.tables.routes, &then_routes, &lids);
    let view = View { fabric, names: Names::new(fabric), given: &given };
    let threshold = most.map(|b| b as f64);
    let facts = metrics::of_loaded(&given.case.loaded);
    let provenance = provenance::of(fabric, common);
    let channels = view.channels((&now, &then), threshold);
    let fates = view.fates(&now, &then);
    let moves = view.moves(&relief, &given.case.tables.routes, &lids);
    let stuck: Vec<ChannelName> = relief.stuck.iter().map(|&c| view.names.channel(c)).collect();
    let result = HotResult {
        title: &given.case.title,
        tables: &given.case.tables.from,
        pairs: flows.len() - now.inside,
        bytes: (now.load[fabric.channel_count()..][..fabric.terminal_count()]).iter().sum(),
        lost: now.lost,
        counters: view.counters(),
        max_load: most,
        now: loads(&now, threshold),
        then: loads(&then, threshold),
        fullest_adapter: view.fullest_adapter(&now),
        channels: &channels,
        jobs: &fates,
        moves: &moves,
        most_moves: args.moves,
        stuck: &stuck,
        entries_changed: changed.entries,
        blocks_changed: changed.blocks,
        coexistence: reroute::verdict(Some(&relief.coexistence)),
        seconds_prepare,
        seconds_compute,
        fabric: &facts,
        provenance: &provenance,
    };
    // Files before the report, so that what was not written is said last.
    let mut problems = save::Unwritten::default();
    if let Some(path) = &args.svg {
        let map = measure::map(fabric, topology.shape.as_ref());
        let after = format!("after {} changed entries", relief.changes.len());
        let mut panels = vec![("now", now.between_switches())];
        if !relief.changes.is_empty() {
            panels.push((&after, then.between_switches()));
        }
        let subtitle = format!("{}, tables of {}", fabric.name(), given.case.tables.from);
        let svg = report::picture(&given.case.title, &subtitle, &map, &panels);
        problems.note(save::file(path, |out| out.write_all(svg.as_bytes())));
    }
    problems.note(args.page.write(|| {
        let is_eased = !relief.changes.is_empty();
        picture(&given, (&now, Some(&then).filter(|_| is_eased)), &fates, &provenance)
    }));
    // Tables are written only if the checker finds them as good as the old ones.
    let json_text = json::text(&result);
    let dir = target.as_ref().map(|t| t.dir().to_owned());
    if let Some(target) = target {
        let mut after = metrics::measure(fabric, &then_routes, None);
        after.seconds = Some(seconds_compute);
        sound(&given.case.tables.routes, fabric, &after)?;
        let row = Row::Routed(Box::new(after));
        let single = json::text(&Single { outcome: &row, fabric: &facts, provenance: &provenance });
        let more = [("hot.json", json_text.as_str())];
        problems.note(target.write(fabric, &then_routes, &lids, &single, &more));
    }
    common.show_lines(&result, args.top)?;
    let found = if result.lost > 0 { Exit::Finding } else { Exit::Fine };
    let exit = problems.end(found)?;
    if let (Some(dir), false) = (dir, common.quiet) {
        out::eprint_line(&format!("wrote the new routes to {}", dir.display()));
    }
    Ok(exit)
}

/// The map: bytes on channels now and after the changes, and whose they are.
fn picture<'a>(
    given: &'a CountedTraffic,
    (now, then): (&Heat, Option<&Heat>),
    fates: &[JobFate],
    provenance: &Provenance,
) -> Page<'a> {
    let topology = &given.case.loaded.topology;
    let channels = topology.fabric.channel_count();
    let view = |name, heat: &Heat| {
        page::view(name, Unit::Bytes, heat.between_switches(), channels, |bytes| bytes as f64)
    };
    let mut views = vec![view("now", now)];
    views.extend(then.map(|then| view("after the changes", then)));
    let job = |(j, name): (usize, &String)| {
        let load = now.of_job(j).iter().filter(|&&(c, _)| (c as usize) < channels);
        let fate = fates.iter().find(|f| f.job == *name);
        JobOnMap {
            name: name.clone(),
            terminals: given.places.get(j).cloned().unwrap_or_default(),
            runs: Vec::new(),
            views: Vec::new(),
            load: load.map(|&(c, bytes)| (c, bytes as f64)).collect(),
            fact: fate.map(|f| format!("\u{d7}{:.2}", f.slowdown)).unwrap_or_default(),
        }
    };
    Page {
        subtitle: format!("bytes of all jobs, tables of {}", given.case.tables.from),
        views,
        jobs: given.jobs.iter().enumerate().map(job).collect(),
        routes: Some(&given.case.tables.routes),
        ..page::of(given.case.title.as_str(), topology, provenance)
    }
}

fn loads(heat: &Heat, threshold: Option<f64>) -> Loads {
    let m = heat.between_switches().len();
    Loads {
        most: heat.fills().fold(0.0, f64::max),
        mean: heat.fills().sum::<f64>() / (m as f64).max(1.0),
        hot: threshold.map_or(0, |most| heat.fills().filter(|&f| f > most).count()),
        idle: heat.between_switches().iter().filter(|&&b| b == 0).count(),
        seconds: heat.seconds[..m].iter().copied().fold(0.0, f64::max),
    }
}

/// The new tables must be as good as the old ones; the checker, not what made them, says so.
fn sound(old: &Routes, fabric: &Fabric, after: &Routed) -> Result<(), Failure> {
    let before = metrics::measure(fabric, old, None);
    let lost = |r: &Routed| r.unreachable + r.loops;
    if lost(after) > lost(&before) || (before.deadlock_free && !after.deadlock_free) {
        return Err(Failure::new(
            Exit::Bug,
            "the new routes lose pairs or can deadlock although the old ones do not; nothing is written",
        )
        .hint("relieving promised that they do not: please report this"));
    }
    Ok(())
}

/// Names for what is listed.
struct View<'a> {
    fabric: &'a Fabric,
    names: Names<'a>,
    given: &'a CountedTraffic,
}

impl View<'_> {
    fn share(&self, (job, bytes): (u32, u64)) -> Share {
        Share { job: self.given.jobs[job as usize].clone(), bytes }
    }

    fn channels(&self, (now, then): (&Heat, &Heat), threshold: Option<f64>) -> Vec<HotChannel> {
        let is_hot = |&(_, fill): &(usize, f64)| fill > threshold.unwrap_or(0.0);
        let mut order: Vec<usize> =
            now.fills().enumerate().filter(is_hot).map(|(c, _)| c).collect();
        order.sort_by(|&a, &b| now.seconds[b].total_cmp(&now.seconds[a]).then(a.cmp(&b)));
        let reported: Vec<ChannelId> =
            order.iter().take(MOST_REPORTED).map(|&c| ChannelId::new(c)).collect();
        let mut whom =
            destinations(self.fabric, &self.given.case.tables.routes, &self.given.flows, &reported)
                .into_iter();
        let row = |&c: &usize| HotChannel {
            channel: self.names.channel(ChannelId::new(c)),
            bytes: now.load[c],
            seconds: now.seconds[c],
            counted_bytes: self.given.counted.as_ref().and_then(|(w, _)| w.carried[c]),
            then_bytes: then.load[c],
            jobs: now.on(c as u32).into_iter().map(|s| self.share(s)).collect(),
            destinations: whom
                .next()
                .into_iter()
                .flatten()
                .map(|(t, bytes)| Dest { terminal: self.names.terminal(t), bytes })
                .collect(),
        };
        order.iter().map(row).collect()
    }

    /// What the traffic was estimated from.
    fn counters(&self) -> Option<Counted> {
        let (window, estimate) = self.given.counted.as_ref()?;
        Some(Counted {
            ports: window.ports,
            readings: window.readings,
            seconds: window.seconds,
            channels: estimate.known,
            pairs: estimate.pairs,
            residual: estimate.residual,
            held_out: estimate.held_out,
            undetermined: estimate.undetermined,
        })
    }

    fn fates(&self, now: &Heat, then: &Heat) -> Vec<JobFate> {
        let mut rows: Vec<JobFate> = (0..self.given.jobs.len())
            .map(|j| {
                let fate = now.fate(j);
                let later = Fate { alone: fate.alone, ..then.fate(j) };
                JobFate {
                    job: self.given.jobs[j].clone(),
                    terminals: self.given.places[j].len(),
                    alone_seconds: fate.alone,
                    together_seconds: fate.together,
                    slowdown: fate.slowdown(),
                    at: fate.at.map(|c| self.place(c)),
                    by: fate.by.into_iter().map(|s| self.share(s)).collect(),
                    then_seconds: later.together,
                    then_slowdown: later.slowdown(),
                }
            })
            .collect();
        rows.sort_by(|a, b| b.slowdown.total_cmp(&a.slowdown));
        rows
    }

    /// A channel of any kind in words.
    fn place(&self, c: u32) -> String {
        let (m, t) = (self.fabric.channel_count(), self.fabric.terminal_count());
        let c = c as usize;
        if c < m {
            return self.names.channel(ChannelId::new(c)).to_string();
        }
        let terminal = self.names.terminal(TerminalId::new((c - m) % t));
        let does = if c < m + t { "receives" } else { "sends" };
        format!("{terminal} {does}")
    }

    fn fullest_adapter(&self, heat: &Heat) -> Option<Adapter> {
        let (m, t) = (self.fabric.channel_count(), self.fabric.terminal_count());
        let order =
            |&a: &usize, &b: &usize| heat.seconds[a].total_cmp(&heat.seconds[b]).then(b.cmp(&a));
        let c = (m..m + 2 * t).filter(|&c| heat.load[c] > 0).max_by(order)?;
        Some(Adapter {
            terminal: self.names.terminal(TerminalId::new((c - m) % t)),
            sends: c >= m + t,
            bytes: heat.load[c],
            seconds: heat.seconds[c],
        })
    }

    fn moves(&self, relief: &Relief, routes: &Routes, lids: &Lids) -> Vec<MoveRow> {
        // Of each row that changes, who is reached on it, and by which LID.
        let mut whose: BTreeMap<u32, Vec<(TerminalId, u16)>> =
            relief.moves.iter().map(|m| (m.change.row, Vec::new())).collect();
        for t in (0..self.fabric.terminal_count()).map(TerminalId::new) {
            for path in 0..routes.paths() {
                let row = routes.row(DestId::terminal(t), path) as u32;
                if let Some(of) = whose.get_mut(&row) {
                    of.push((t, lids.terminal(t).saturating_add(path as u16)));
                }
            }
        }
        let behind = |s: SwitchId, port: u8| match self.fabric.at_port(s, port) {
            AtPort::Switch(_, to) => self.names.switch(to),
            _ => "nothing".to_owned(),
        };
        let row = |m: &Move| MoveRow {
            switch: self.names.switch(m.change.switch),
            guid: self.fabric.switch(m.change.switch).guid.to_string(),
            destinations: whose[&m.change.row]
                .iter()
                .map(|&(t, _)| self.names.terminal(t))
                .collect(),
            lids: whose[&m.change.row].iter().map(|&(_, lid)| lid).collect(),
            old_port: m.change.old,
            old_to: behind(m.change.switch, m.change.old),
            new_port: m.change.new,
            new_to: behind(m.change.switch, m.change.new),
            bytes: m.amount,
            relieves: self.names.channel(m.channel),
            before: m.fill,
            fullest: m.fullest,
        };
        relief.moves.iter().map(row).collect()
    }
}
