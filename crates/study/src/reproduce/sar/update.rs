//! Figure 9 and Definition 6: tables are updated in five phases while jobs run.

use std::sync::Arc;

use darkfiber_fabric::{Fabric, SwitchId, TerminalId, Topology, open};
use darkfiber_packetsim::update::{Datagrams, Delays, Hosts};
use darkfiber_packetsim::{Queues, preset, routing};
use darkfiber_routing::check::check;
use darkfiber_routing::{DestId, Request, Routes, find_engine};
use darkfiber_scenario::{
    HowPart, Medium, PacketOptions, Setup, Simulated, UpdateCase, UpdateOutcome, simulate,
};
use darkfiber_workload::play::{Job, Repeat, host};
use darkfiber_workload::traffic::{Ranks, traffic};
use rayon::prelude::*;

use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Row, USUAL};

const MILLISECOND: u64 = 1_000_000_000;
/// Between two readings of the counters.
const SAMPLE: u64 = 70 * MILLISECOND;
/// Start of the update, the manager's wait before it writes, and the time from which no broadcast starts.
const BEGIN: u64 = 2_100 * MILLISECOND;
const PAUSE: u64 = 10_000 * MILLISECOND;
const END: u64 = 14_700 * MILLISECOND;
/// Runs on a torus.
const SEEDS: u64 = 10;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SAR-F9",
    title: "Property preserving network update in five phases: the test bed (figure 9) and Definition 6 in execution",
    paper: "Domke, Hoefler: Scheduling-Aware Routing for Supercomputers, SC'16, sections 2 (Definition 6), 3.3 (figure 6) and 4.3.5 \
     (figure 9)",
    setup: "@sar-testbed packet by packet: Bcasts of 1 MiB between two nodes, one on each switch, over reliable connections; base LIDs \
     routed by sar, high LIDs by updn in a lane of their own, over the other of the two links; published times for writing \
     blocks; 10 s between unpath and repath, counters every 70 ms. The paper's firmware refused to drain queue pairs: here \
     they are drained as its protocol has it. sar gives the two nodes the same link before and after, so that no block changes. It shows 28 s before and some after, which is 2.1 s here on both sides. Then Definition 6 on a 4x4 torus whose \
     Up*/Down* tables get another root under an Alltoall, with queues by lane and buffers of two packets, ten seeds: with datagrams that stay on base LIDs, as the \
     protocol leaves them, and with datagrams that move, too. Decisions: 50 us for a message between manager and host, 5 us to \
     change a path, 16 packets under way.",
    class: Class::Shape,
    seconds: 180.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let mut rows = test_bed(context);
    rows.extend(torus(context));
    rows
}

/// Tables of an engine.
fn routes(topology: &Topology, engine: &str, request: &Request<'_>) -> Routes {
    let request = Request { shape: topology.shape.as_ref(), ..request.clone() };
    find_engine(engine)
        .expect("registered")
        .route(&topology.fabric, &request)
        .expect("it routes this")
}

/// The tables of the second LIDs of an engine that routes two as differently as possible, as tables of one.
fn second(fabric: &Fabric, both: &Routes) -> Routes {
    let mut one = Routes::empty(&both.engine, fabric, 1);
    for d in (0..fabric.terminal_count()).map(DestId::new) {
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            if let Some(port) = both.lft_entry(fabric, s, d, 1) {
                one.set_lft_entry(fabric, s, d, 0, port);
            }
        }
    }
    one
}

/// The conditions of Definition 6, judged.
fn conditions(
    what: &str,
    states: [&Routes; 3],
    fabric: &Fabric,
    found: &[UpdateOutcome],
) -> Vec<Row> {
    let sum = |of: fn(&UpdateOutcome) -> u64| found.iter().map(of).sum::<u64>() as f64;
    let is_free = states.iter().all(|routes| {
        let report = check(fabric, routes);
        report.complete() && report.deadlock_free()
    });
    let none = |quantity: &str, ours: f64| {
        Row::derived(format!("{what}: {quantity}"), 0.0, ours, Allowed::Nothing)
    };
    vec![
        Row::holds(format!("{what}: 1) all routing configurations are free of deadlock"), is_free),
        none(
            "2) messages of reliable connections that met both states, or packets overtaken",
            sum(|o| o.messages_met_both + o.reliable.out_of_order),
        ),
        none("2) unreliable datagrams that met both states", sum(|o| o.datagrams.met_both)),
        none("3) deadlocks", sum(|o| u64::from(o.deadlock.is_some()))),
        none("packets lost", sum(|o| o.reliable.lost + o.datagrams.lost)),
    ]
}

/// A job over packets while its tables are updated.
fn run(
    topology: &Topology,
    routes: &Routes,
    update: &UpdateCase,
    job: Job,
    (interval, queues, buffer): (Option<u64>, Queues, u32),
    seed: u64,
) -> Simulated {
    let ideal = host("ideal").expect("registered");
    let mut micro = preset("qdr").expect("registered").micro();
    (micro.queues, micro.buffer) = (queues, buffer);
    let tables = routing::kind("tables").expect("registered");
    let setup = Setup {
        medium: Medium::Packet(Box::new(PacketOptions::new(micro, tables, 2048))),
        interval,
        seed,
        update: Some(update),
        ..Setup::new(topology, routes, ideal, [job])
    };
    simulate(&setup, &mut |_| ()).expect("everybody receives what is sent")
}

fn test_bed(context: &Context<'_>) -> Vec<Row> {
    (context.at)("test bed");
    let bed = open("@sar-testbed").expect("a preset");
    let fabric = &bed.fabric;
    let seats: Vec<TerminalId> = (0..fabric.switch_count())
        .map(|s| TerminalId::new(fabric.terminals_on(SwitchId::new(s)).start))
        .collect();
    // Tables before and after the job is known, and those that carry traffic in flight meanwhile.
    let before = routes(&bed, "sar", &Request::default());
    let jobs = [seats.clone()];
    let after = routes(&bed, "sar", &Request { jobs: &jobs, ..Request::default() });
    let both = routes(&bed, "updn", &Request { lmc: 1, ..Request::default() });
    let high = second(fabric, &both);
    // One job of Bcasts, together with datagrams that show when connections pause.
    let bcast = traffic("imb:op=bcast,bytes=1MiB,repeat=16", &Ranks::new(2)).expect("two ranks");
    let job = Job {
        program: Arc::new(bcast),
        terminals: seats.clone(),
        start: 0,
        repeat: Repeat::Until(END),
    };
    let update = UpdateCase {
        at: BEGIN,
        delays: Delays::PUBLISHED,
        hosts: Hosts {
            pause: PAUSE,
            interval: SAMPLE,
            datagrams: Some(Datagrams { interval: MILLISECOND, bytes: 256, until: END }),
            datagrams_migrate: false,
            ..Hosts::default()
        },
        seed: context.seed,
        ..UpdateCase::new(fabric, &before, after.clone(), HowPart::FivePhase, Some(high.clone()))
            .expect("no stages are asked for")
    };
    let simulated =
        run(&bed, &before, &update, job, (Some(SAMPLE), Queues::Outputs, 16 << 10), context.seed);
    let found = simulated.update.clone().expect("an update");
    let mut rows =
        conditions("test bed", [&before, &after, &high], fabric, std::slice::from_ref(&found));

    // Load of each of the two cables, both directions, by sample.
    let grid = simulated.grid.as_ref().expect("intervals were asked for");
    let port = |c: usize| {
        fabric.tail_ports()[c]
            .min(fabric.tail_ports()[fabric.reverse(darkfiber_fabric::ChannelId::new(c)).index()])
    };
    let mut ports: Vec<u8> = (0..fabric.channel_count()).map(port).collect();
    ports.sort_unstable();
    ports.dedup();
    let carried = |i: usize, p: u8| -> f64 {
        (0..fabric.channel_count()).filter(|&c| port(c) == p).map(|c| grid.at(i)[c]).sum()
    };
    let seconds = grid.interval() as f64 * 1e-12;
    let lines = ports
        .iter()
        .map(|&p| {
            let points =
                (0..grid.len()).map(|i| (i as f64 * seconds, carried(i, p) / seconds * 1e-9));
            (format!("link {p}"), points.collect())
        })
        .collect();
    (context.draw)(Figure {
        name: "update",
        title: "Five phases on the test bed".to_owned(),
        subtitle: "Bcasts of 1 MiB; bytes of both directions of each link".to_owned(),
        what: Drawn::Lines { x: "seconds", y: "GB/s", lines },
    });
    // The share of each link by phase: the job must move from one link to the other.
    let phase = |name: &str| found.phases.iter().find(|p| p.name == name).expect("it went through");
    let (unpath, repath) = (phase("unpath"), phase("repath"));
    let share = |from: u64, to: u64| -> Vec<f64> {
        let width = grid.interval();
        let (first, last) = (from.div_ceil(width) as usize, (to / width) as usize);
        let sum = |p: u8| (first..last.min(grid.len())).map(|i| carried(i, p)).sum::<f64>();
        let all: f64 = ports.iter().map(|&p| sum(p)).sum();
        ports.iter().map(|&p| sum(p) / all.max(1.0)).collect()
    };
    let most = |shares: &[f64]| (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
    let [base, moved] = [share(0, unpath.begin), share(unpath.end, repath.begin)];
    let link = most(&base).unwrap_or(0);
    rows.extend([
        Row::expected(
            "test bed: share of one link before unpath",
            base[link],
            Allowed::AtLeast(0.95),
        ),
        Row::expected(
            "test bed: share of the other link between unpath and repath",
            1.0 - moved[link],
            Allowed::AtLeast(0.95),
        ),
    ]);
    // Throughput by phase: it must not suffer.
    let rate = |from: u64, to: u64| {
        let width = found.interval;
        let (first, last) = (from.div_ceil(width) as usize, (to / width) as usize);
        let samples = found.arrived.get(first..last.min(found.arrived.len())).unwrap_or_default();
        samples.iter().sum::<u64>() as f64 / (samples.len().max(1) as f64 * width as f64 * 1e-12)
    };
    let before = rate(0, unpath.begin);
    rows.extend([
        Row::told("test bed: throughput before, GB/s", before * 1e-9),
        Row::expected(
            "test bed: throughput between unpath and repath over before",
            rate(unpath.begin, repath.begin) / before,
            Allowed::Between(0.95, 1.05),
        ),
        Row::expected(
            "test bed: throughput after repath over before",
            rate(repath.end, END) / before,
            Allowed::Between(0.95, 1.05),
        ),
        Row::told(
            "test bed: longest pause of a connection, us",
            found.jobs[0].longest as f64 * 1e-6,
        ),
        Row::told(
            "test bed: seconds from unpath to the end of repath",
            (repath.end - unpath.begin) as f64 * 1e-12,
        ),
    ]);
    rows
}

fn torus(context: &Context<'_>) -> Vec<Row> {
    let topology = open("torus:dims=4x4,t=1").expect("a spec");
    let fabric = &topology.fabric;
    let rooted = |root: u32| {
        routes(&topology, "updn", &Request { roots: &[SwitchId(root)], ..Request::default() })
    };
    let (from, to, high) = (rooted(0), rooted(10), rooted(5));
    let program =
        traffic("imb:op=alltoall,bytes=32KiB,repeat=2", &Ranks::new(16)).expect("any ranks");
    let job = Job {
        program: Arc::new(program),
        terminals: (0..16).map(TerminalId::new).collect(),
        start: 0,
        repeat: Repeat::Until(800_000_000),
    };
    let each = |how: HowPart, migrate: bool| -> Vec<UpdateOutcome> {
        (1..=SEEDS)
            .into_par_iter()
            .map(|k| {
                (context.at)(&format!("torus, {how}, {k}"));
                let seed = context.seed * 1000 + k;
                let update = UpdateCase {
                    at: 200_000_000,
                    delays: Delays { round: (150_000_000, 150_000_000), ..Delays::PUBLISHED },
                    hosts: Hosts {
                        notice: 20_000_000,
                        lifetime: 100_000_000,
                        timeout: 400_000_000,
                        datagrams: Some(Datagrams {
                            interval: 5_000_000,
                            bytes: 256,
                            until: MILLISECOND,
                        }),
                        datagrams_migrate: migrate,
                        ..Hosts::default()
                    },
                    seed,
                    ..UpdateCase::new(fabric, &from, to.clone(), how, Some(high.clone()))
                        .expect("no stages are asked for")
                };
                let simulated =
                    run(&topology, &from, &update, job.clone(), (None, Queues::Lanes, 4096), seed);
                simulated.update.expect("an update")
            })
            .collect()
    };
    let published = each(HowPart::FivePhase, false);
    let moved = each(HowPart::FivePhase, true);
    let naive = each(HowPart::Naive, true);
    let states = [&from, &to, &high];
    let mut rows = conditions("torus, datagrams stay", states, fabric, &published);
    for row in &mut rows {
        if row.quantity.contains("unreliable") {
            row.note = Some(
                "base LIDs are rewritten while datagrams use them: the protocol is for reliable connections, and leaves this open"
                    .to_owned(),
            );
        }
    }
    rows.extend(conditions("torus, datagrams move", states, fabric, &moved));
    let deadlocks = naive.iter().filter(|o| o.deadlock.is_some()).count();
    rows.push(Row::told("torus, blocks overwritten: deadlocks of 10 runs", deadlocks as f64));
    rows
}
