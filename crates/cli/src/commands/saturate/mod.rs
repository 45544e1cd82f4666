//! `darkfiber load`: latency of packets by load.

mod args;
mod store;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use darkfiber_analysis::Names;
use darkfiber_fabric::{ChannelId, Fabric};
use darkfiber_packetsim::Tuned;
use darkfiber_packetsim::routing::ROUTINGS;
use darkfiber_packetsim::routing::{self, RoutingContext, RoutingKind};
use darkfiber_packetsim::{Net, Observer, Pulse, SwitchModel};
use darkfiber_report::curve::{self as report, Curve, Held, LoadResult};
use darkfiber_routing::Routes;
use darkfiber_scenario::value::Count;
use darkfiber_scenario::{Case, Medium, Scenario, channels};
use darkfiber_study::curve::{Point, Traffic, curve};
use darkfiber_workload::quantity::{bytes, time};

use self::store::KeptRun;
use super::{metrics, route};
use crate::checkpoint::{Checkpoints, Facts, Followed};
use crate::failure::{Exit, Failure};
use crate::options::{Common, optional};
use crate::out::Teller;
use crate::preset::{Preset, question, texts};
use crate::progress::Progress;
use crate::pulse::Rate;
use crate::{load, provenance, save};

pub(crate) use self::args::{HELP, SaturateCommand};

/// Switches if nobody says which.
const USUAL_SWITCHES: &str = "qdr";
/// Routings if nobody says which.
const USUAL: [&str; 3] = ["minimal", "valiant", "ugal"];
/// A routing to look at, and tables if it goes by some.
struct Candidate {
    kind: &'static RoutingKind,
    called: String,
    routes: Option<Arc<Routes>>,
}

pub(crate) fn run(args: &SaturateCommand, common: &Common) -> Result<Exit, Failure> {
    // The network, what is sent over it, and by which routings.
    let loads = checked(&args.loads)?;
    save::expect(args.svg.as_ref())?;
    save::expect_directory(args.output.as_ref())?;
    let mut scenario = args.fabric.scenario(common);
    scenario.routes.lanes = args.switch.vcs.map(|lanes| Count(lanes.into()));
    args.switch.fill(&mut scenario, USUAL_SWITCHES)?;
    // What is drawn by chance has no order to keep.
    scenario.packets.ordered.get_or_insert(false);
    if let Some(spec) = &args.congestion {
        scenario.packets.congestion = Some(Tuned::parse(spec)?.into());
    }
    if let Some(exit) = args.preset.write(|| preset(args, &scenario, &loads))? {
        return Ok(exit);
    }
    let case = load::open(&scenario, common)?;
    let (fabric, shape) = (case.fabric(), case.topology().shape.as_ref());
    let facts = metrics::of_loaded(&case.loaded);
    let Medium::Packet(options) = &case.medium else { unreachable!("switches send packets") };
    let (micro, packet) = (&options.micro, options.bytes);
    let net = Net::new(fabric, micro);
    let candidates = candidates(args, &case, common)?;
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
    let what = traffic.load((fabric, shape), &net, micro, packet, common.seed())?;
    let (message, measure) = (what.message, what.measure);

    // A curve for each routing, a run for each load.
    let checkpoints = Checkpoints::of(&args.keep)?;
    let rate = Rate::default();
    let progress = Progress::new((candidates.len() * loads.len()) as u64, common.quiet);
    let begin = Instant::now();
    let (mut curves, mut kept) = (Vec::new(), Vec::new());
    for c in &candidates {
        progress.at(format!("{}: ways", c.called));
        let routes = c.routes.as_deref();
        let adaptive = options.adaptive;
        let given = RoutingContext { net: &net, fabric, shape, routes, bytes: packet, adaptive };
        let impossible =
            |e: darkfiber_packetsim::ConfigError| Failure::infeasible(format!("{}: {e}", c.called));
        // The switches of this routing, with as many lanes as it needs.
        let made = routing::make(c.kind, &given).map_err(impossible)?;
        let lanes = options.lanes.unwrap_or(made.lanes().max(1));
        let micro = SwitchModel { lanes, ..micro.clone() };
        let facts = || {
            let tables = c.routes.as_ref();
            Facts::new(fabric)
                .with("routing", &c.called)
                .with("packet", &format!("{packet} B"))
                .with("message", &format!("{message} B"))
                .with("measured time", &format!("{} ps", what.measure))
                .with("warm-up", &format!("{:?}", what.warmup))
                .with("interval", &format!("{interval:?}"))
                .with("seed", &what.seed)
                .with_digest("switches", &micro)
                .with_digest("tables", &tables)
                .with_digest("traffic", &what.targets)
        };
        // Each load is a run of its own, kept in a file of its own.
        let mut files = BTreeMap::new();
        if let Some(all) = &checkpoints {
            let facts = facts();
            for load in &loads {
                let name = format!("{}-{load}", c.called);
                files.insert(load.to_bits(), all.run(&name, facts.clone().with("load", &load))?);
            }
        }
        let files = Mutex::new(files);
        let follow = |load: f64| -> Box<dyn Observer + '_> {
            let (progress, rate) = (&progress, &rate);
            let pulse = move |pulse: Pulse| {
                let text = rate.of(load.to_bits(), &pulse);
                progress.at(format!("{} at {load}: {text}", c.called));
            };
            let checkpoint = files.lock().ok().and_then(|mut all| all.remove(&load.to_bits()));
            Box::new(Followed { pulse: Box::new(pulse), checkpoint })
        };
        let done = || progress.step();
        let found =
            curve(&net, &micro, &made, &loads, &what, &follow, &done).map_err(impossible)?;
        let points: Vec<Point> = found.iter().map(|f| f.0.clone()).collect();
        kept.extend(found.into_iter().map(|(p, outcome)| KeptRun {
            routing: c.called.clone(),
            load: p.offered,
            outcome,
        }));
        let locked = points.iter().find(|p| !p.cycle.is_empty());
        curves.push(Curve {
            routing: c.called.clone(),
            lanes,
            most_accepted: points.iter().map(|p| p.accepted).fold(0.0, f64::max),
            deadlock: locked.map_or(Vec::new(), |p| held(&net, fabric, &p.cycle)),
            points,
        });
    }
    drop(progress);
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
    let mut problems = save::Unwritten::default();
    if let Some(path) = &args.svg {
        let svg = report::picture(&result);
        problems.note(save::file(path, |out| out.write_all(svg.as_bytes())));
    }
    if let Some(dir) = &args.output {
        problems.note(store::write(dir, &net, fabric, &result, &kept));
    }
    common.show(&result)?;
    let locked = curves.iter().any(|c| !c.deadlock.is_empty());
    problems.end(if locked { Exit::Finding } else { Exit::Fine })
}

/// The same as a study: tables of an engine are a routing with that engine.
fn preset(args: &SaturateCommand, scenario: &Scenario, loads: &[f64]) -> Result<Preset, Failure> {
    if args.interval.is_some() {
        return Err(Failure::usage("--write-study: --interval has no place in a study"));
    }
    let chains = args.engines.chains()?;
    let nothing = args.routing.is_empty() && chains.is_empty() && args.routes.is_none();
    let routings: Vec<&str> =
        if nothing { USUAL.to_vec() } else { args.routing.iter().map(String::as_str).collect() };
    let mut scenario = scenario.clone();
    let mut axes = Vec::new();
    if let Some(path) = &args.routes {
        if !routings.is_empty() || !chains.is_empty() {
            return Err(Failure::usage(
                "--write-study: tables from a file beside others are no axis of a study",
            )
            .hint("write a study of each"));
        }
        scenario.routes.tables = Some(path.display().to_string());
        axes.push(("packets.routing", texts(["tables"])));
    } else {
        // Routings that go by no tables have some engine, too: keys that go together have as many values.
        let engines = chains.iter().map(|chain| chain.name.as_str());
        let all = routings.iter().map(|_| "minhop").chain(engines);
        let tables = chains.iter().map(|_| "tables");
        axes.push(("packets.routing", texts(routings.iter().copied().chain(tables))));
        if !chains.is_empty() {
            axes.push(("routes.engine", texts(all)));
        }
    }
    let words = |text: &Option<String>| text.as_ref().map(|text| crate::preset::text(text));
    let asked = question(
        "latency",
        vec![
            ("loads", Some(toml::Value::Array(loads.iter().copied().map(Into::into).collect()))),
            ("pattern", Some(crate::preset::text(&args.pattern))),
            ("message", words(&args.message)),
            ("measure", words(&args.measure)),
            ("warmup", words(&args.warmup)),
        ],
    );
    let zip = vec!["packets.routing", "routes.engine"];
    Ok(Preset { scenario, axes, zip, questions: vec![asked], seeds: None })
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

/// The routings, engines and tables that were asked for.
fn candidates(
    args: &SaturateCommand,
    case: &Case<()>,
    common: &Common,
) -> Result<Vec<Candidate>, Failure> {
    let tables = ROUTINGS.get("tables")?;
    let mut all = Vec::new();
    let asked: Vec<&str> =
        if args.routing.is_empty() && args.engines.engines.is_empty() && args.routes.is_none() {
            USUAL.to_vec()
        } else {
            args.routing.iter().map(String::as_str).collect()
        };
    for name in asked {
        let kind = ROUTINGS.get(name)?;
        if kind.name == "tables" {
            return Err(Failure::usage("tables of whom? give -e ENGINE or --routes PATH"));
        }
        all.push(Candidate { kind, called: kind.name.to_owned(), routes: None });
    }
    for chain in &args.engines.chains()? {
        let (_, routes, ..) = route::compute(chain, case.fabric(), &case.request())
            .map_err(|r| Failure::infeasible(format!("{}: {}", chain.name, r.refused)))?;
        let called = format!("tables of {}", chain.name);
        all.push(Candidate { kind: tables, called, routes: Some(Arc::new(routes)) });
    }
    if let Some(path) = &args.routes {
        let read = case.read(&args.beside.files(path), &mut Teller::new(common))?;
        all.push(Candidate { kind: tables, called: read.from, routes: Some(read.routes) });
    }
    Ok(all)
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
