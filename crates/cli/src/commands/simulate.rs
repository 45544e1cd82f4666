//! `darkfiber simulate`: a scenario in time.

mod args;
mod busy;
mod compare;
mod estimate;
mod map;
mod steps;
mod watch;

use std::cmp::Reverse;
use std::path::Path;
use std::time::Instant;

use darkfiber_analysis::Names;
use darkfiber_fabric::{ChannelId, Topology};
use darkfiber_mpi::World;
use darkfiber_packetsim::Observer;
use darkfiber_report::json;
use darkfiber_report::quantity;
use darkfiber_report::simulate::{
    self as report, Carried, ChannelFacts, ClassRow, JobRow, Line, Lines, Matrix, MessageFacts,
    PacketFacts, PacketModel, PausedChannel, PfcFacts, SimulateResult, UpdateFacts,
};
use darkfiber_scenario::{
    Case, ClassTotals, Folder, Job, Pairs, Scenario, ScenarioFile, Setup, SimError, Simulated,
    isolated, simulate,
};
use darkfiber_study::grid::Axis;
use darkfiber_study::moved;
use darkfiber_workload::play::SECOND;

pub(crate) use self::args::{HELP, SimulateCommand};
use self::busy::busy;
use self::watch::ProgressWatch;
use super::metrics;
use crate::checkpoint::{Checkpoints, Facts, Followed};
use crate::failure::{Exit, Failure};
use crate::options::Common;
use crate::out::Teller;
use crate::progress::Progress;
use crate::{load, mpi, provenance, save};

/// Channels of the map over time.
const BUSIEST: usize = 120;
/// Channels that are named.
const NAMED: usize = 20;

pub(crate) fn run(args: &SimulateCommand, common: &Common) -> Result<Exit, Failure> {
    mpi::in_all(args.mpi, common, |world, common| {
        if world.is_some() && args.scenario.iter().any(|path| path.as_os_str() == "-") {
            return Err(Failure::usage("--mpi: only the first process has standard input")
                .hint("write the scenario to a file that all nodes share"));
        }
        let options = Facts::of("options", &format!("{args:?}"));
        let single = compare::refuse_twice(args, common).and_then(|()| compare::single(args));
        let set = mpi::agreed(world, single, |_| options.digest())?;
        match (set, &args.scenario[..]) {
            (Some(set), [path]) => run_one(path, &set, args, common, world),
            _ => compare::run(args, common),
        }
    })
}

/// Reads one scenario, as its file says and the options change it, and refuses what cannot be done or written.
fn opened(
    path: &Path,
    set: &[Axis],
    args: &SimulateCommand,
    (common, progress): (&Common, &Progress),
    world: Option<&World>,
) -> Result<(ScenarioFile, Case, Option<Followed<'static>>), Failure> {
    if args.svg.is_some() {
        return Err(Failure::usage("--svg draws several scenarios side by side, and there is one")
            .hint("name another one, give a key several values with --set, or count --seeds; --pairs, --timeline and \
                   --channels draw one scenario"));
    }
    // What cannot be written is refused before anything is computed.
    for file in [&args.steps, &args.pairs, &args.timeline, &args.channels] {
        save::expect(file.as_ref())?;
    }
    args.page.expect()?;
    save::expect_directory(args.output.as_ref())?;
    let mut file = compare::scenario(path, set, args, common)?;
    if let Some(depth) = args.depth {
        file.scenario.depth = depth.into();
    }
    if let Some(target) = &args.resolved {
        save::expect(Some(target))?;
        file.scenario.fill();
    }
    let case = load::case(&file, &mut Teller::with(common, progress))?;
    if let Some(target) = args.resolved.as_ref().filter(|_| mpi::is_first(world)) {
        let text = moved(resolved(&file.scenario)?, &Folder::of(path), target)?;
        save::file(target, |out| out.write_all(text.as_bytes()))?;
    }
    let about = |failure: darkfiber_scenario::Error| Failure::from(file.located(failure));
    case.expect_pairs().map_err(about)?;
    if args.output.is_some() {
        case.expect_memory().map_err(about)?;
    }
    if args.steps.is_some() && case.scenario.interval().is_none() {
        let what = "--steps counts by intervals, and the scenario keeps none";
        let hint = "write `interval = \"1ms\"` under [keep], some tenth of what a step takes";
        return Err(about(darkfiber_scenario::Error::input(what).hint(hint)));
    }
    if args.estimate && args.mpi {
        return Err(Failure::usage("--mpi: --estimate begins the run in one process"));
    }
    if let (Some(why), true) = (case.setup().cannot_be_shared(), args.mpi) {
        return Err(Failure::usage(format!("--mpi: {why}")));
    }
    let followed = checkpoint(args, &setup(&case, args, world))?;
    Ok((file, case, followed))
}

/// What is simulated, as the options want it.
fn setup<'c>(case: &'c Case, args: &SimulateCommand, world: Option<&'c World>) -> Setup<'c> {
    Setup {
        held: args.steps.is_some(),
        messages: case.scenario.keep.messages && args.output.is_some(),
        processes: world.map(|world| &**world.processes()),
        ..case.setup()
    }
}

/// One scenario, looked at in full.
fn run_one(
    path: &Path,
    set: &[Axis],
    args: &SimulateCommand,
    common: &Common,
    world: Option<&World>,
) -> Result<Exit, Failure> {
    let begin = Instant::now();
    let progress = Progress::new(4, common.quiet);
    let opened = opened(path, set, args, (common, &progress), world);
    let (file, case, followed) =
        mpi::agreed(world, opened, |(_, case, _)| facts(&setup(case, args, world)).digest())?;
    let common = &Common { seed: Some(case.seed), ..common.clone() };
    let about = |failure: darkfiber_scenario::Error| Failure::from(file.located(failure));
    progress.step();
    if args.estimate {
        return estimate::run(&case, begin.elapsed(), common).map_err(about)?;
    }

    // The jobs together.
    let (topology, jobs) = (case.topology(), case.jobs.as_slice());
    let mut setup = setup(&case, args, world);
    let stuck = |error: SimError| {
        about(darkfiber_scenario::Error::infeasible(error.describe(jobs, topology)))
    };
    // The run, which is followed and kept.
    let begin = Instant::now();
    progress.at("simulating");
    let plain = args.progress && mpi::is_first(world);
    let mut watch = ProgressWatch::new((jobs, &case.medium), plain, common.quiet, &progress);
    setup.follow = followed.as_ref().map(|f| f as &dyn Observer);
    let simulated = simulate(&setup, &mut |record| watch.see(record)).map_err(stuck)?;
    let wall = begin.elapsed().as_secs_f64();
    // Each in isolation, if that was asked for.
    let alone = if args.isolated {
        progress.at("every job in isolation");
        isolated(&setup).map_err(stuck)?
    } else {
        Vec::new()
    };
    drop(progress);
    if !mpi::is_first(world) {
        return Ok(Exit::Fine);
    }

    // What came out, as it is reported.
    let facts = metrics::of_loaded(&case.loaded);
    let provenance = provenance::of(&topology.fabric, common);
    let rows: Vec<JobRow> = (0..jobs.len())
        .map(|j| JobRow::of(&jobs[j], &simulated, alone.get(j).copied(), j))
        .collect();
    let classes = classes(&simulated);
    let (channels, fullest) = channels(topology, &simulated);
    let model = model(&case);
    let update = case.update.as_ref().zip(simulated.update.as_ref()).map(|(update, found)| {
        UpdateFacts::of(update, found, jobs.iter().map(|job| job.name.as_str()))
    });
    let result = SimulateResult {
        title: &case.title,
        depth: case.medium.depth(),
        routes: &case.tables.from,
        notes: &case.tables.routes.notes,
        layers: case.tables.routes.layer_count(),
        hosts: case.host.name,
        packet_model: model.as_ref(),
        seconds: simulated.end as f64 / SECOND as f64,
        jobs: &rows,
        classes: &classes,
        channels,
        fullest: &fullest,
        pauses: pauses(topology, &simulated),
        update: update.as_ref(),
        effort: simulated.effort,
        wall_seconds: wall,
        fabric: &facts,
        provenance: &provenance,
    };
    let json_text = json::text(&result);
    let subtitle = format!("{}, {}", topology.fabric.name(), report::made_by(&result));
    let pictures =
        Pictures { title: &case.title, subtitle: &subtitle, jobs, simulated: &simulated, topology };
    // Files and pictures first: what is printed is there even if one of them fails.
    let mut problems = save::Unwritten::default();
    if let Some(path) = &args.steps {
        let seed = case.seed;
        problems.note(save::file(path, |out| steps::write(out, seed, topology, jobs, &simulated)));
    }
    problems.note(args.page.write(|| map::page(&case, &simulated, &rows, &subtitle, &provenance)));
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
            jobs,
            &simulated,
            case.scenario.keep.messages.then_some(&simulated.messages),
        ));
    }
    common.show(&result)?;
    let is_stuck = update.is_some_and(|u| u.deadlock.is_some() || u.broken > 0);
    problems.end(if is_stuck { Exit::Finding } else { Exit::Fine })
}

/// Where the run is kept, if it is.
fn checkpoint(
    args: &SimulateCommand,
    setup: &Setup<'_>,
) -> Result<Option<Followed<'static>>, Failure> {
    let Some(all) = Checkpoints::of(&args.keep)? else { return Ok(None) };
    if let Some(why) = setup.cannot_be_kept() {
        return Err(Failure::usage(format!("--store: {why}")));
    }
    let checkpoint = Some(all.run("simulate", facts(setup))?);
    Ok(Some(Followed { pulse: Box::new(|_| {}), checkpoint }))
}

/// All that a run depends on.
fn facts(setup: &Setup<'_>) -> Facts {
    Facts::new(&setup.topology.fabric)
        .with("seed", &setup.seed)
        .with("depth", &setup.medium.depth())
        .with("interval", &format!("{:?}", setup.interval))
        .with("messages", &setup.messages)
        .with("held", &setup.held)
        .with("rate of cables", &format!("{:?}", setup.link_rate))
        .with("latencies of cables", &format!("{:?}", setup.latencies))
        .with("choice of LIDs", &format!("{:?}", setup.lids))
        .with_digest("switches, routing and packets", &setup.medium)
        .with_digest("hosts", setup.host)
        .with_digest("tables", setup.routes)
        .with_digest("traffic", &setup.jobs)
}

/// A scenario with every default filled in, as a file.
fn resolved(scenario: &Scenario) -> Result<String, Failure> {
    toml::to_string(scenario).map_err(|e| Failure::infeasible(format!("a scenario: {e}")))
}

/// What switches are like and where packets go, at that depth.
fn model(case: &Case) -> Option<PacketModel> {
    let options = case.medium.packets()?;
    let part = &case.scenario.packets;
    Some(PacketModel {
        switches: part.switches().name,
        routing: options.routing.name,
        congestion: part
            .congestion
            .as_ref()
            .and_then(|control| control.tuned().ok())
            .map_or_else(|| "none".to_owned(), |tuned| tuned.to_string()),
        framing: options.micro.framing.name,
        packet_bytes: options.bytes,
        buffer_bytes: options.micro.buffer,
        flowlet: options.micro.flowlet.map(|gap| gap as f64 / SECOND as f64),
        reorder_window: options.micro.reorder,
        pfc: options.micro.pfc.map(|pfc| [pfc.xoff, pfc.xon]),
        pause_storms: options.micro.storms.len(),
    })
}

/// What became of the messages of each class, by name.
fn classes(simulated: &Simulated) -> Vec<ClassRow> {
    let of = |class: &ClassTotals| {
        let Pairs { total, time, times, .. } = &class.messages;
        ClassRow {
            name: class.name.clone(),
            jobs: class.jobs,
            sent: MessageFacts::of(total, *time, times),
            packets: class.packets.as_ref().map(PacketFacts::of),
        }
    };
    simulated.classes.iter().map(of).collect()
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
        // A sum of nothing is -0.
        busy_mean_percent: 100.0
            * order.iter().map(|&c| busy(simulated, c)).fold(0.0, |a, b| a + b)
            / n,
    };
    (facts, fullest)
}

/// Who was paused, if switches pause.
fn pauses(topology: &Topology, simulated: &Simulated) -> Option<PfcFacts> {
    let (adapters, channels) = simulated.pauses.as_ref()?;
    let s = |ps: u64| ps as f64 / SECOND as f64;
    let mut order: Vec<usize> = (0..channels.len()).filter(|&c| channels[c].count > 0).collect();
    order.sort_by_key(|&c| (Reverse(channels[c].long), c));
    let names = Names::new(&topology.fabric);
    let longest = order.iter().take(NAMED).map(|&c| PausedChannel {
        channel: names.channel(ChannelId::new(c)),
        pauses: channels[c].count,
        seconds: s(channels[c].long),
    });
    Some(PfcFacts {
        pauses: channels.iter().map(|c| c.count).sum(),
        seconds: s(channels.iter().map(|c| c.long).sum()),
        channels: order.len(),
        adapter_pauses: adapters.count,
        adapter_seconds: s(adapters.long),
        longest: longest.collect(),
    })
}

/// What is drawn.
struct Pictures<'a> {
    title: &'a str,
    subtitle: &'a str,
    jobs: &'a [Job],
    simulated: &'a Simulated,
    topology: &'a Topology,
}

impl Pictures<'_> {
    fn pairs(&self, path: &Path) -> Result<(), Failure> {
        let panels: Vec<Matrix<'_>> = (self.simulated.pairs.iter().zip(self.jobs))
            .map(|(pairs, job)| Matrix {
                title: &job.name,
                subtitle: pairs.mean_bandwidth().map_or_else(
                    || "too many pairs to keep them".to_owned(),
                    |mean| format!("mean {}", quantity::rate(mean)),
                ),
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
        let jobs: Vec<Line<'_>> = (self.simulated.runs.iter().zip(self.jobs))
            .map(|(runs, job)| Line {
                name: &job.name,
                runs: runs.iter().map(|r| (s(r.begin), s(r.end))).collect(),
            })
            .collect();
        let update = self.simulated.update.iter().flat_map(|u| &u.phases);
        let phases = update.map(|p| Line { name: &p.name, runs: vec![(s(p.begin), s(p.end))] });
        let jobs: Vec<Line<'_>> = jobs.into_iter().chain(phases).collect();
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
