//! `darkfiber simulate`: a scenario in time.

mod steps;

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use darkfiber_analysis::Names;
use darkfiber_fabric::{ChannelId, Topology};
use darkfiber_packetsim::routing::Adaptive;
use darkfiber_packetsim::{Follow, Measured};
use darkfiber_report::simulate::{
    self as report, Carried, ChannelFacts, ClassRow, JobRow, Line, Lines, Matrix, MessageFacts,
    PacketFacts, SimulateResult,
};
use darkfiber_report::{Style, json};
use darkfiber_study::simulate::{
    Depth, Inside, Pair, Scenario, Setup, Simulated, Trouble, isolated, simulate,
};
use darkfiber_workload::play::{Host, Record, Repeat, SECOND};
use darkfiber_workload::schedule::Op;

use super::metrics;
use crate::args::{Common, Format, SimulateCommand};
use crate::cast::{self, Cast};
use crate::checkpoint::{Checkpoints, Facts, Followed};
use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use crate::scene::{Scene, in_scenario};
use crate::{classes, inside, out, provenance, save};

/// Channels of the map over time.
const BUSIEST: usize = 120;
/// Channels that are named.
const NAMED: usize = 20;
/// Time between two looks at the clock, in messages.
const LOOK: u64 = 1 << 8;

pub(crate) fn run(args: &SimulateCommand, common: &Common) -> Result<Exit, Failure> {
    for file in [&args.steps, &args.pairs, &args.timeline, &args.channels] {
        save::expect(file.as_ref())?;
    }
    save::expect_directory(args.output.as_ref())?;
    let path = args.scenario.as_path();
    let progress = Progress::new(3, common.quiet);
    let (scene, costs) = Scene::load(path, &args.names, common, &progress, Costs::of)?;
    let Scene { scenario, loaded, cast, routes, from, title, seed, .. } = &scene;
    let common = &Common { seed: Some(*seed), ..common.clone() };
    let topology = &loaded.topology;
    let depth = args.depth.map_or(scenario.depth, Depth::from);
    if args.steps.is_some() && costs.interval.is_none() {
        let what = "--steps counts by intervals, and the scenario keeps none".to_owned();
        let hint = "write `interval = \"1ms\"` under [keep], some tenth of what a step takes";
        return Err(in_scenario(path, Failure::input(what).hint(hint)));
    }

    let setup = Setup {
        topology,
        routes,
        depth,
        host: &costs.host,
        link_rate: costs.link_rate,
        small: costs.small,
        precision: costs.precision,
        jobs: &cast.jobs,
        weights: cast.weights.clone(),
        limits: cast.limits.clone(),
        lids: scenario.routes.lids,
        seed: *seed,
        interval: costs.interval,
        held: args.steps.is_some(),
        inside: costs.inside,
        messages: scenario.keep.messages && args.output.is_some(),
        follow: None,
    };
    let stuck = |trouble| in_scenario(path, Failure::infeasible(told(&trouble, cast, topology)));
    let alone = if args.isolated {
        progress.at("every job by itself");
        isolated(&setup).map_err(stuck)?
    } else {
        Vec::new()
    };
    let begin = Instant::now();
    let is_once = cast.jobs.iter().all(|j| j.repeat == Repeat::Once);
    let all = || cast.jobs.iter().map(|j| j.program.messages() as f64).sum();
    let mut watch = Watch {
        begin,
        last: begin,
        messages: 0,
        all: is_once.then(all),
        plain: args.progress,
        progress: &progress,
    };
    let followed = checkpoint(args, &setup)?;
    let follow = followed.as_ref().map(|f| f as &dyn Follow);
    let simulated =
        simulate(Setup { follow, ..setup }, &mut |record| watch.see(record)).map_err(stuck)?;
    let wall = begin.elapsed().as_secs_f64();
    drop(progress);

    let facts =
        metrics::facts(&topology.fabric, topology.shape.as_ref(), loaded.structure.as_ref(), false);
    let provenance = provenance::of(&topology.fabric, common);
    let jobs: Vec<JobRow> =
        (0..cast.jobs.len()).map(|j| job_row(cast, &simulated, alone.get(j).copied(), j)).collect();
    let classes = classes(cast, &simulated);
    let (channels, fullest) = channels(topology, &simulated);
    let result = SimulateResult {
        title,
        depth,
        routes: from,
        notes: &routes.notes,
        layers: routes.layer_count(),
        hosts: &scenario.hosts,
        seconds: simulated.end as f64 / SECOND as f64,
        jobs: &jobs,
        classes: &classes,
        channels,
        fullest: &fullest,
        flows: simulated.flows,
        solves: simulated.solves,
        events: simulated.events,
        wall_seconds: wall,
        fabric: &facts,
        provenance: &provenance,
    };
    let json_text = json::text(&result);
    let subtitle =
        format!("{}, routes of {from}, hosts {}", topology.fabric.name(), scenario.hosts);
    let pictures = Pictures { title, subtitle: &subtitle, cast, simulated: &simulated, topology };
    let mut problems = save::Unwritten::default();
    if let Some(path) = &args.steps {
        let seed = *seed;
        problems.note(save::file(path, |out| steps::write(out, seed, topology, cast, &simulated)));
    }
    if let Some(path) = &args.pairs {
        problems.note(pictures.pairs(path));
    }
    if let Some(path) = &args.timeline {
        problems.note(pictures.timeline(path));
    }
    if let Some(path) = &args.channels {
        problems.note(pictures.channels(path));
    }
    if let Some(dir) = &args.output {
        let path = dir.join("simulate.json");
        problems.note(save::file(&path, |out| out.write_all(json_text.as_bytes())));
        problems.note(pictures.pairs(&dir.join("pairs.svg")));
        problems.note(pictures.timeline(&dir.join("timeline.svg")));
        problems.note(pictures.channels(&dir.join("channels.svg")));
        #[cfg(feature = "parquet")]
        problems.note(crate::columns::write(
            dir,
            topology,
            cast,
            &simulated,
            scenario.keep.messages.then_some(&simulated.messages),
        ));
    }
    out::print(&match common.format {
        Format::Json => json_text,
        Format::Csv => report::csv(&result),
        Format::Table => report::text(&result, Style::of_stdout()),
    })?;
    problems.end(Exit::Fine)
}

/// Where the run is kept, if it is.
fn checkpoint(
    args: &SimulateCommand,
    setup: &Setup<'_>,
) -> Result<Option<Followed<'static>>, Failure> {
    let Some(all) = Checkpoints::of(&args.keep)? else { return Ok(None) };
    let Some(inside) = setup.inside.as_ref().filter(|_| setup.depth == Depth::Packet) else {
        return Err(Failure::usage("--checkpoint: only packets are kept")
            .hint("flows are quick: leave it away, or look at packets with --depth packet"));
    };
    let facts = Facts::new(&setup.topology.fabric)
        .with("seed", &setup.seed)
        .with("interval", &format!("{:?}", setup.interval))
        .with("messages", &setup.messages)
        .with("routing", &inside.routing.name)
        .with("packet", &format!("{} B", inside.bytes))
        .with("lanes", &format!("{:?}", inside.lanes))
        .with("rate of cables", &format!("{:?}", setup.link_rate))
        .with("choice of LIDs", &format!("{:?}", setup.lids))
        .with_digest("hosts", setup.host)
        .with_digest("switches", &inside.micro)
        .with_digest("tables", setup.routes)
        .with_digest("traffic", &setup.jobs);
    let checkpoint = Some(all.run("simulate", facts)?);
    Ok(Some(Followed { pulse: Box::new(|_| {}), checkpoint }))
}

/// Why there is no result, with the names of jobs and hosts.
fn told(trouble: &Trouble, cast: &Cast, topology: &Topology) -> String {
    let stuck = match trouble {
        Trouble::Stuck(stuck) => stuck,
        Trouble::NoRoute(lost) => {
            let names = Names::new(&topology.fabric);
            let (from, to) = (names.terminal(lost.from), names.terminal(lost.to));
            return format!("the tables have no route from {from} to {to}");
        }
        Trouble::Impossible(why) => return why.to_string(),
        Trouble::Deadlock(cycle) => {
            let names = Names::new(&topology.fabric);
            let channel = |(c, lane): &(ChannelId, u8)| {
                let n = names.channel(*c);
                format!(
                    "{} port {} -> {} port {}, lane {lane}",
                    n.from, n.from_port, n.to, n.to_port
                )
            };
            let all: Vec<String> = cycle.iter().map(channel).collect();
            return format!(
                "deadlock: each of these buffers is full of packets for the next one: {}",
                all.join("; ")
            );
        }
    };
    let mut text = format!("ranks wait for ever ({} operations)", stuck.waiting);
    for (i, &(job, rank, op, what)) in stuck.examples.iter().enumerate() {
        let lead = if i == 0 { ": " } else { "; " };
        let name = &cast.names[job as usize];
        let _infallible = write!(text, "{lead}rank {rank} of {name}, operation {op}, ");
        let _infallible = match what {
            Op::Send { to, bytes, .. } => {
                write!(text, "has {bytes} B for rank {to}, who asks for nothing")
            }
            Op::Recv { from, tag, .. } => write!(text, "waits for rank {from} with tag {tag}"),
            Op::Put { to, bytes } => write!(text, "puts {bytes} B at rank {to}"),
            Op::Compute { .. } => write!(text, "computes"),
        };
    }
    text
}

/// What a scenario says of costs, and what to keep.
struct Costs {
    host: Host,
    link_rate: Option<f64>,
    small: u64,
    precision: f64,
    interval: Option<u64>,
    inside: Option<Inside>,
}

impl Costs {
    fn of(scenario: &Scenario) -> Result<Self, Failure> {
        let cost = &scenario.cost;
        Ok(Self {
            host: cast::host(scenario)?,
            link_rate: cast::rate(cost.link_rate.as_ref(), "cost: link-rate")?,
            small: cast::bytes(cost.small.as_ref(), "cost: small")?.unwrap_or(0),
            precision: cast::precision(scenario)?,
            interval: cast::time(scenario.keep.interval.as_ref(), "keep: interval")?
                .filter(|&ps| ps > 0),
            inside: Some(within(scenario)?),
        })
    }
}

/// What a scenario says of packets.
fn within(scenario: &Scenario) -> Result<Inside, Failure> {
    let p = &scenario.packets;
    let mut micro = inside::switches(p.switches.as_deref().unwrap_or("qdr"))?;
    let routing = inside::routing(p.routing.as_deref().unwrap_or("tables"))?;
    if let Some(bytes) = cast::bytes(p.shared_buffer.as_ref(), "packets: shared-buffer")? {
        micro.shared_buffer = inside::short(bytes);
    }
    if let Some(bytes) = cast::bytes(p.buffer.as_ref(), "packets: buffer")? {
        micro.buffer = inside::short(bytes);
    }
    if let Some(name) = &p.queues {
        micro.queues = inside::queues(name)?;
    }
    if let Some(name) = &p.arbitration {
        micro.arbitration = inside::arbitration(name)?;
    }
    if let Some(name) = &p.congestion {
        micro.congestion = inside::congestion(name)?;
    }
    if let Some(name) = &p.framing {
        micro.framing = inside::framing(name)?;
    }
    micro.bit_errors = p.bit_errors;
    let (classes, of_jobs) = classes::classes(scenario)?;
    micro.classes = classes;
    let a = &p.adaptive;
    let adaptive = Adaptive {
        minimal: a.minimal,
        round: a.round,
        bias: cast::bytes(a.bias.as_ref(), "packets: adaptive: bias")?.map(inside::short),
        news: cast::time(a.news.as_ref(), "packets: adaptive: news")?,
    };
    let bytes = inside::short(cast::bytes(p.size.as_ref(), "packets: size")?.unwrap_or(2048));
    let lanes = p.lanes;
    Ok(Inside { micro, lanes, routing, bytes, adaptive, classes: of_jobs, parts: None })
}

/// Tells how far a simulation is.
struct Watch<'a> {
    begin: Instant,
    last: Instant,
    messages: u64,
    /// Messages of all jobs, if none is repeated.
    all: Option<f64>,
    plain: bool,
    progress: &'a Progress,
}

impl Watch<'_> {
    fn see(&mut self, record: &Record) {
        self.messages += 1;
        if !self.messages.is_multiple_of(LOOK) {
            return;
        }
        let now = Instant::now();
        if now - self.last < Duration::from_millis(if self.plain { 2_000 } else { 200 }) {
            return;
        }
        self.last = now;
        let rate = self.messages as f64 / (now - self.begin).as_secs_f64();
        let mut text = format!(
            "{} simulated, {:.2} million messages, {:.2} million a second",
            report::seconds(record.arrived as f64 / SECOND as f64),
            self.messages as f64 / 1e6,
            rate / 1e6
        );
        if let Some(all) = self.all.filter(|all| *all > 0.0) {
            let (part, open) = (self.messages as f64 / all, all - self.messages as f64);
            let _infallible =
                write!(text, ", {:.0} % of all, about {:.0} s left", 100.0 * part, open / rate);
        }
        if self.plain {
            out::tell(&text);
        } else {
            self.progress.at(text);
        }
    }
}

/// What became of the messages of each class, by name.
fn classes(cast: &Cast, simulated: &Simulated) -> Vec<ClassRow> {
    let mut names: Vec<&String> = cast.classes.iter().flatten().collect();
    names.sort_unstable();
    names.dedup();
    let of = |name: &String| {
        let is_of = |j: &usize| cast.classes[*j].as_ref() == Some(name);
        let jobs: Vec<usize> = (0..cast.jobs.len()).filter(is_of).collect();
        let mut total = Pair::default();
        let mut times = simulated.pairs[jobs[0]].times.clone();
        times.reset();
        let mut packets = (!simulated.packets.is_empty()).then(Measured::new);
        for &j in &jobs {
            total.join(&simulated.pairs[j].total);
            let _it_grows = times.add(&simulated.pairs[j].times);
            if let (Some(all), Some(one)) = (&mut packets, simulated.packets.get(j)) {
                all.add(one);
            }
        }
        ClassRow {
            name: name.clone(),
            jobs: jobs.len(),
            sent: MessageFacts::of(&total, &times),
            packets: packets.as_ref().map(PacketFacts::of),
        }
    };
    names.into_iter().map(of).collect()
}

fn job_row(cast: &Cast, simulated: &Simulated, alone: Option<u64>, j: usize) -> JobRow {
    let (runs, pairs) = (&simulated.runs[j], &simulated.pairs[j]);
    let s = |ps: u64| ps as f64 / SECOND as f64;
    let times: Vec<f64> = runs.iter().map(|r| s(r.end - r.begin)).collect();
    let until = match cast.jobs[j].repeat {
        Repeat::Once => u64::MAX,
        Repeat::Until(until) => until,
    };
    let run_mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
    let run_isolated = alone.map(s);
    JobRow {
        name: cast.names[j].clone(),
        ranks: cast.jobs[j].program.ranks(),
        nodes: cast.hosts[j].len(),
        begin: runs.first().map_or(0.0, |r| s(r.begin)),
        end: runs.last().map_or(0.0, |r| s(r.end)),
        runs: runs.len(),
        runs_in_time: runs.iter().filter(|r| r.end <= until).count(),
        run_mean,
        run_isolated,
        slowdown: run_isolated.filter(|&alone| alone > 0.0).map(|alone| run_mean / alone),
        run_min: times.iter().copied().reduce(f64::min).unwrap_or(0.0),
        run_max: times.iter().copied().fold(0.0, f64::max),
        sent: MessageFacts::of(&pairs.total, &pairs.times),
        pair_bandwidth: pairs.mean_bandwidth(),
        packets: simulated.packets.get(j).map(PacketFacts::of),
    }
}

/// Share of what a channel could have carried all the time.
fn busy(simulated: &Simulated, c: usize) -> f64 {
    let could = simulated.capacity[c] * simulated.end as f64;
    if could > 0.0 { simulated.carried[c] as f64 / could } else { 0.0 }
}

fn channels(topology: &Topology, simulated: &Simulated) -> (ChannelFacts, Vec<Carried>) {
    let fabric = &topology.fabric;
    let m = fabric.channel_count();
    let carried = &simulated.carried[..m];
    let mut order: Vec<usize> = (0..m).filter(|&c| carried[c] > 0).collect();
    order.sort_by(|&a, &b| busy(simulated, b).total_cmp(&busy(simulated, a)).then(a.cmp(&b)));
    let names = Names::new(fabric);
    let fullest = order.iter().take(NAMED).map(|&c| Carried {
        channel: names.channel(ChannelId::new(c)),
        bytes: carried[c],
        busy_percent: 100.0 * busy(simulated, c),
    });
    let fullest = fullest.collect();
    let n = m.max(1) as f64;
    let facts = ChannelFacts {
        channels: m,
        dark_percent: 100.0 * (m - order.len()) as f64 / n,
        bytes_max: carried.iter().copied().max().unwrap_or(0),
        bytes_mean: carried.iter().map(|&b| b as f64).sum::<f64>() / n,
        busy_max_percent: order.first().map_or(0.0, |&c| 100.0 * busy(simulated, c)),
        busy_mean_percent: 100.0 * order.iter().map(|&c| busy(simulated, c)).sum::<f64>() / n,
    };
    (facts, fullest)
}

/// What is drawn.
struct Pictures<'a> {
    title: &'a str,
    subtitle: &'a str,
    cast: &'a Cast,
    simulated: &'a Simulated,
    topology: &'a Topology,
}

impl Pictures<'_> {
    fn pairs(&self, path: &Path) -> Result<(), Failure> {
        let panels: Vec<Matrix<'_>> = (self.simulated.pairs.iter().zip(&self.cast.names))
            .map(|(pairs, name)| Matrix {
                title: name,
                subtitle: format!("mean {}", report::rate(pairs.mean_bandwidth())),
                ranks: pairs.ranks(),
                cells: (pairs.sent().filter(|(_, cell)| cell.bytes > 0))
                    .map(|(pair, cell)| (pair, cell.bandwidth()))
                    .collect(),
            })
            .collect();
        let svg = report::matrices(self.title, self.subtitle, &panels);
        save::file(path, |out| out.write_all(svg.as_bytes()))
    }

    fn timeline(&self, path: &Path) -> Result<(), Failure> {
        let s = |ps: u64| ps as f64 / SECOND as f64;
        let jobs: Vec<Line<'_>> = (self.simulated.runs.iter().zip(&self.cast.names))
            .map(|(runs, name)| Line {
                name,
                runs: runs.iter().map(|r| (s(r.begin), s(r.end))).collect(),
            })
            .collect();
        let m = self.topology.fabric.channel_count();
        let lines = self.simulated.grid.as_ref().map_or_else(Lines::default, |grid| {
            let mut order: Vec<usize> = (0..m).filter(|&c| self.simulated.carried[c] > 0).collect();
            let busy = |c: usize| busy(self.simulated, c);
            order.sort_by(|&a, &b| busy(b).total_cmp(&busy(a)).then(a.cmp(&b)));
            let interval = grid.interval() as f64;
            let share = |c: usize| {
                let most = self.simulated.capacity[c] * interval;
                (0..grid.len()).map(|i| grid.at(i)[c] / most).collect()
            };
            Lines {
                what: "busy",
                interval: s(grid.interval()),
                channels: order.iter().take(BUSIEST).map(|&c| share(c)).collect(),
                all: m,
            }
        });
        let end = s(self.simulated.end);
        let svg = report::timeline(self.title, self.subtitle, end, &jobs, &lines);
        save::file(path, |out| out.write_all(svg.as_bytes()))
    }

    fn channels(&self, path: &Path) -> Result<(), Failure> {
        let m = self.topology.fabric.channel_count();
        let shares: Vec<f64> = (0..m).map(|c| busy(self.simulated, c)).collect();
        let map = super::measure::map(&self.topology.fabric, self.topology.shape.as_ref());
        let svg = report::busy(self.title, self.subtitle, &map, &shares);
        save::file(path, |out| out.write_all(svg.as_bytes()))
    }
}
