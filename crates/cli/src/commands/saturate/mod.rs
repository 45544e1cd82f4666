//! `darkfiber saturate`: latency of packets by load.

mod args;
mod store;

use std::time::Instant;

use darkfiber_analysis::Names;
use darkfiber_fabric::{ChannelId, Fabric};
use darkfiber_mpi::World;
use darkfiber_packetsim::routing::ROUTINGS;
use darkfiber_packetsim::{Net, Pulse, Tuned};
use darkfiber_report::curve::{self as report, Curve, Held, LoadResult};
use darkfiber_report::number::{self, counted};
use darkfiber_scenario::value::Count;
use darkfiber_scenario::{Case, Folder, Medium, Scenario, Tables, channels};
use darkfiber_study::curve::{Point, Traffic};
use darkfiber_study::grid::{Curve as CurveFound, Details, Hooks, Ready};
use darkfiber_workload::play::SECOND;
use darkfiber_workload::quantity::{bytes, time};

use self::store::KeptRun;
use super::metrics;
use crate::checkpoint::Facts;
use crate::failure::{Exit, Failure};
use crate::kept_runs::RunsFolder;
use crate::options::{Common, optional};
use crate::out::Teller;
use crate::preset::{Preset, question, texts};
use crate::progress::Progress;
use crate::pulse::Rate;
use crate::run_store::RunStore;
use crate::{load, mpi, out, provenance, save};

pub(crate) use self::args::{HELP, SaturateCommand};

/// Switches if nobody says which.
const USUAL_SWITCHES: &str = "qdr";
/// Routings if nobody says which.
const USUAL: [&str; 3] = ["minimal", "valiant", "ugal"];
/// A study, what its curves are called, and tables that were read, if packets go by some.
struct CurveStudy {
    preset: Preset,
    called: Vec<String>,
    tables: Option<Tables>,
}

pub(crate) fn run(args: &SaturateCommand, common: &Common) -> Result<Exit, Failure> {
    mpi::in_all(args.mpi, common, |world, common| saturate(args, common, world))
}

/// What is read before the first load is simulated.
struct Prepared {
    loads: Vec<f64>,
    scenario: Scenario,
    case: Case<()>,
    parts: Vec<CurveStudy>,
    traffic: Traffic,
}

impl Prepared {
    /// A number that is another one if any result could be.
    fn digest(&self, args: &SaturateCommand, common: &Common) -> u64 {
        let tables: Vec<_> =
            self.parts.iter().map(|part| part.tables.as_ref().map(|t| &t.routes)).collect();
        let facts = Facts::new(self.case.fabric()).with("seed", &common.seed());
        facts.with_digest("options", args).with_digest("tables", &tables).digest()
    }
}

/// Reads the network, what is sent over it, and by which routings; `None` if that is only written down as a study.
fn prepared(args: &SaturateCommand, common: &Common) -> Result<Option<Prepared>, Failure> {
    let loads = checked(&args.loads)?;
    save::expect(args.svg.as_ref())?;
    save::expect_directory(args.output.as_ref())?;
    let mut scenario = args.fabric.scenario(common);
    scenario.routes.lanes = args.switch.vcs.map(|lanes| Count(lanes.into()));
    args.switch.fill(&mut scenario, USUAL_SWITCHES)?;
    // What is drawn at random has no order to keep.
    scenario.packets.ordered.get_or_insert(false);
    if let Some(spec) = &args.congestion {
        scenario.packets.congestion = Some(Tuned::parse(spec)?.into());
    }
    if args.preset.write(|| written(args, &scenario, &loads))?.is_some() {
        return Ok(None);
    }
    let case = load::open(&scenario, common)?;
    let terminals = case.fabric().terminal_count();
    if terminals < 2 {
        let hosts = counted(terminals, "host port", "host ports");
        return Err(Failure::infeasible(format!(
            "{}: {hosts}: packets go between two",
            case.fabric().name()
        )));
    }
    let parts = parts(args, &scenario, &loads, &case, common)?;
    // How long: time to settle, to measure and to drain.
    let interval = optional(args.interval.as_ref(), "--interval", time)?;
    if interval.is_some() && args.output.is_none() {
        return Err(Failure::usage("--interval: no output directory: give -o DIR"));
    }
    let traffic = Traffic {
        pattern: args.pattern.clone(),
        message: optional(args.message.as_ref(), "--message", bytes)?,
        measure: optional(args.measure.as_ref(), "--measure", time)?,
        warmup: optional(args.warmup.as_ref(), "--warmup", time)?,
        interval,
    };
    // A folder that cannot be made is reported before work begins.
    RunsFolder::of(&args.keep)?;
    Ok(Some(Prepared { loads, scenario, case, parts, traffic }))
}

fn saturate(
    args: &SaturateCommand,
    common: &Common,
    world: Option<&World>,
) -> Result<Exit, Failure> {
    let prepared = mpi::agreed(world, prepared(args, common), |prepared| {
        prepared.as_ref().map_or(0, |prepared| prepared.digest(args, common))
    })?;
    let Some(Prepared { loads, scenario, case, parts, traffic }) = prepared else {
        return Ok(Exit::Fine);
    };
    let (fabric, shape) = (case.fabric(), case.topology().shape.as_ref());
    let facts = metrics::of_loaded(&case.loaded);
    let Medium::Packet(options) = &case.medium else { unreachable!("switches send packets") };
    let (micro, packet) = (&options.micro, options.bytes);
    let net = Net::new(fabric, micro);
    let what = traffic.load((fabric, shape), &net, micro, packet, common.seed())?;
    let (message, measure) = (what.message, what.measure);
    if let Some((option, given, longest)) = traffic
        .too_short(fabric, &net, micro, packet)
        .filter(|_| !common.quiet && mpi::is_first(world))
    {
        let [given, longest] =
            [given, longest].map(|ps| number::duration(ps as f64 / SECOND as f64));
        out::eprint_line(&format!(
            "note: --{option} {given} is shorter than a packet's longest way through the idle network, {longest}: what is accepted \
             looks lower than it is, and loads look saturated"
        ));
    }

    // A curve for each routing, a run for each load.
    let rate = Rate::default();
    let count = parts.iter().map(|part| part.called.len()).sum::<usize>() * loads.len();
    let progress = Progress::new(count as u64, common.quiet);
    progress.at("routes");
    let begin = Instant::now();
    let over = |_: &str| progress.step();
    let pulse = |run: &str, pulse: &Pulse| {
        let number = run.split(' ').nth(1).and_then(|load| load.parse::<f64>().ok());
        let text = rate.of(number.unwrap_or(0.0).to_bits(), pulse);
        let load = run.split(" of ").next().unwrap_or(run);
        progress.at(format!("{load}: {text}"));
    };
    let (mut curves, mut kept) = (Vec::new(), Vec::new());
    let mut first_refusal: Option<Failure> = None;
    for part in parts {
        let digest =
            Facts::new(fabric).with_digest("tables", &part.tables.as_ref().map(|t| &t.routes));
        let store = RunStore {
            runs: RunsFolder::of(&args.keep)?,
            read: format!("{:016x}", digest.digest()),
            over: &over,
            pulse: &pulse,
        };
        let ready = [Ready { tables: part.tables, ..Ready::of(&scenario.fabric, &case.loaded) }];
        let files = Folder::default();
        let hooks = Hooks {
            details: Details::Drawn,
            alone: true,
            processes: world.map(World::processes),
            ready: &ready,
            ..Hooks::of(&store, &files)
        };
        let records = part.preset.run(&hooks)?;
        for (called, record) in part.called.into_iter().zip(&records) {
            let answer = record.answers.first();
            let Some(found) = answer.and_then(|answer| answer.detail.get::<CurveFound>()) else {
                let why = answer.map_or_else(
                    || Failure::infeasible(format!("{called}: nothing was found")),
                    |answer| {
                        let error = answer.error.as_deref().unwrap_or_default();
                        // An engine that refuses names itself.
                        let engine =
                            called.strip_prefix("tables of ").filter(|e| error.starts_with(e));
                        crate::preset::failure(answer, if engine.is_some() { "" } else { &called })
                    },
                );
                // Others may have a curve all the same.
                if why.exit != Exit::Infeasible {
                    return Err(why);
                }
                curves.push(refused(called, &why));
                first_refusal.get_or_insert(why);
                continue;
            };
            let points: Vec<Point> = found.found.iter().map(|f| f.0.clone()).collect();
            kept.extend(found.found.iter().map(|(p, outcome)| KeptRun {
                routing: called.clone(),
                load: p.offered,
                outcome: outcome.clone(),
            }));
            let locked = points.iter().find(|p| !p.cycle.is_empty());
            curves.push(Curve {
                routing: called,
                lanes: found.lanes,
                most_accepted: points.iter().map(|p| p.accepted).fold(0.0, f64::max),
                deadlock: locked.map_or(Vec::new(), |p| held(&net, fabric, &p.cycle)),
                points,
                refused: None,
            });
        }
    }
    drop(progress);
    if let Some(why) = first_refusal.filter(|_| curves.iter().all(|c| c.refused.is_some())) {
        return Err(why);
    }
    // What came out: files, then what is printed.
    let provenance = provenance::of(fabric, common);
    let result = LoadResult {
        switches: scenario.packets.switches().name,
        pattern: &args.pattern,
        packet_bytes: packet,
        message_bytes: message,
        measured: measure as f64 / 1000.0,
        curves: &curves,
        seconds: begin.elapsed().as_secs_f64(),
        fabric: &facts,
        provenance: &provenance,
    };
    let locked = curves.iter().any(|c| !c.deadlock.is_empty());
    let exit = if locked { Exit::Finding } else { Exit::Fine };
    if !mpi::is_first(world) {
        return Ok(exit);
    }
    let mut problems = save::Unwritten::default();
    if let Some(path) = &args.svg {
        let svg = report::picture(&result);
        problems.note(save::file(path, |out| out.write_all(svg.as_bytes())));
    }
    if let Some(dir) = &args.output {
        problems.note(store::write(dir, &net, fabric, &result, &kept));
    }
    common.show(&result)?;
    problems.end(exit)
}

/// The study that is written down.
fn written(args: &SaturateCommand, scenario: &Scenario, loads: &[f64]) -> Result<Preset, Failure> {
    if args.interval.is_some() {
        return Err(Failure::usage("--write-study: --interval has no place in a study"));
    }
    args.beside.refuse_form()?;
    let made = made(args, scenario, loads)?;
    match (made, &args.routes) {
        (Some(_), Some(_)) => Err(Failure::usage(
            "--write-study: tables from a file beside others are no axis of a study",
        )
        .hint("write a study of each")),
        (None, Some(path)) => {
            let mut scenario = scenario.clone();
            scenario.routes.tables = Some(path.display().to_string());
            args.beside.name_in(&mut scenario.routes);
            Ok(preset(args, &scenario, loads, vec![("packets.routing", texts(["tables"]))]))
        }
        (Some((preset, _)), None) => Ok(preset),
        (None, None) => Err(Failure::usage("there is no routing")),
    }
}

/// What is asked, and what each routing is called.
fn preset(
    args: &SaturateCommand,
    scenario: &Scenario,
    loads: &[f64],
    axes: Vec<(&'static str, Vec<toml::Value>)>,
) -> Preset {
    let words = |text: &Option<String>| text.as_ref().map(|text| crate::preset::text(text));
    let asked = question(
        "latency",
        vec![
            ("loads", Some(toml::Value::Array(loads.iter().copied().map(Into::into).collect()))),
            ("pattern", Some(crate::preset::text(&args.pattern))),
            ("message", words(&args.message)),
            ("measure", words(&args.measure)),
            ("warmup", words(&args.warmup)),
            ("interval", words(&args.interval)),
        ],
    );
    let zip = vec!["packets.routing", "routes.engine"];
    Preset { scenario: scenario.clone(), axes, zip, questions: vec![asked], seeds: None }
}

/// Routings, and tables of engines, which are a routing with that engine; nothing if only a file has tables.
fn made(
    args: &SaturateCommand,
    scenario: &Scenario,
    loads: &[f64],
) -> Result<Option<(Preset, Vec<String>)>, Failure> {
    let chains = args.engines.chains()?;
    let nothing = args.routing.is_empty() && chains.is_empty() && args.routes.is_none();
    let mut routings: Vec<&str> =
        if nothing { USUAL.to_vec() } else { args.routing.iter().map(String::as_str).collect() };
    for name in &routings {
        if ROUTINGS.get(name)?.name == "tables" && chains.is_empty() && args.routes.is_none() {
            return Err(Failure::usage("tables of whom? give -e ENGINE or --routes PATH"));
        }
    }
    // Each engine's tables are a routing already.
    routings.retain(|&name| name != "tables");
    if routings.is_empty() && chains.is_empty() {
        return Ok(None);
    }
    // Routings that go by no tables have some engine, too: keys that go together have as many values.
    let engines = chains.iter().map(|chain| chain.name.as_str());
    let all = routings.iter().map(|_| "minhop").chain(engines.clone());
    let tables = chains.iter().map(|_| "tables");
    let mut axes = vec![("packets.routing", texts(routings.iter().copied().chain(tables)))];
    if !chains.is_empty() {
        axes.push(("routes.engine", texts(all)));
    }
    let called = routings.iter().map(|&name| name.to_owned());
    let called = called.chain(engines.map(|name| format!("tables of {name}"))).collect();
    Ok(Some((preset(args, scenario, loads, axes), called)))
}

/// All that is asked, as studies: tables that are read are one by themselves.
fn parts(
    args: &SaturateCommand,
    scenario: &Scenario,
    loads: &[f64],
    case: &Case<()>,
    common: &Common,
) -> Result<Vec<CurveStudy>, Failure> {
    let made = made(args, scenario, loads)?;
    let mut all: Vec<CurveStudy> = made
        .into_iter()
        .map(|(preset, called)| CurveStudy { preset, called, tables: None })
        .collect();
    if let Some(path) = &args.routes {
        let read = case.read(&args.beside.files(path), &mut Teller::new(common))?;
        let preset = preset(args, scenario, loads, vec![("packets.routing", texts(["tables"]))]);
        all.push(CurveStudy { preset, called: vec![read.from.clone()], tables: Some(read) });
    }
    Ok(all)
}

fn checked(loads: &[f64]) -> Result<Vec<f64>, Failure> {
    let mut loads = loads.to_vec();
    loads.sort_by(f64::total_cmp);
    match loads.iter().find(|l| !(**l > 0.0 && **l <= 1.0)) {
        Some(l) => Err(Failure::usage(format!("--loads: {l} is not above 0 and at most 1"))
            .hint("loads are parts of what channels of terminals carry")),
        None => Ok(loads),
    }
}

/// The curve of a routing that refuses the fabric.
fn refused(routing: String, why: &Failure) -> Curve {
    let (points, deadlock) = (Vec::new(), Vec::new());
    let said = why.message.strip_prefix(&format!("{routing}: ")).unwrap_or(&why.message);
    let refused = Some(said.to_owned());
    Curve { routing, lanes: 0, most_accepted: 0.0, points, deadlock, refused }
}

/// Buffers by the names of the ports of their channels.
fn held(net: &Net, fabric: &Fabric, cycle: &[(u32, u8)]) -> Vec<Held> {
    let names = Names::new(fabric);
    let one = |(channel, lane): (ChannelId, u8)| {
        let name = names.channel(channel);
        Held {
            from: name.from,
            from_port: name.from_port,
            to: name.to,
            to_port: name.to_port,
            lane,
        }
    };
    channels(net, fabric, cycle).into_iter().map(one).collect()
}
