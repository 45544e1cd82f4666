//! Figure 14: what traffic classes get of a bisection.

use std::sync::Arc;

use darkfiber_packetsim::routing;
use darkfiber_packetsim::{Congestion, TrafficClass, WHOLE};
use darkfiber_workload::play::{self, Record, Repeat};
use darkfiber_workload::traffic::{Ranks, traffic};

use super::PAPER;
use super::tapered::{NODES, PER_NODE, Tapered};
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Row, USUAL};
use darkfiber_scenario::{Job, Medium, Setup, simulate};

/// When the second job begins, and intervals of the picture, in picoseconds.
const SECOND: u64 = 900_000_000;
const BIN: u64 = 100_000_000;
/// What is looked at begins and ends so long after jobs do, in intervals.
const SETTLE: usize = 10;

/// In one class or in two, and what is printed of both jobs.
const CASES: [(bool, &str, [f64; 2]); 2] =
    [(false, "one class", [50.0, 50.0]), (true, "TC1 and TC2", [80.0, 20.0])];

/// What two jobs receive, by interval, in bytes.
struct Received {
    bins: [Vec<u64>; 2],
    /// When they end.
    ends: [u64; 2],
}

impl Received {
    /// Mean of a job over intervals, in bytes a second.
    fn mean(&self, job: usize, from: usize, to: usize) -> f64 {
        let bins = &self.bins[job];
        let sum: u64 = (from..to).map(|b| bins.get(b).copied().unwrap_or(0)).sum();
        sum as f64 / ((to - from) as f64 * BIN as f64 * 1e-12)
    }

    /// Intervals in which both run and have settled.
    fn beside(&self) -> [usize; 2] {
        let (begin, end) = ((SECOND / BIN) as usize, (self.ends[0] / BIN) as usize);
        let to = begin + end.saturating_sub(begin) * 3 / 4;
        [begin + SETTLE.min(to.saturating_sub(begin + 1)), to.max(begin + 1)]
    }
}

/// Runs both jobs, in one class or in one each.
fn run(tapered: &Tapered, routing: &str, apart: bool, seed: u64) -> Received {
    let mut given = Ranks::new(NODES * PER_NODE);
    (given.per_node, given.seed) = (PER_NODE, seed);
    let program = traffic("bisection:bytes=64KiB,iterations=20", &given).expect("registered");
    let program = Arc::new(program);
    let [first, second] = tapered.seats();
    let seats = [(first, 0, 0), (second, SECOND, u8::from(apart))];
    let jobs = seats.map(|(terminals, start, class)| {
        let (program, repeat) = (Arc::clone(&program), Repeat::Once);
        let mut job = Job::from(play::Job { program, terminals, start, repeat });
        job.classes = vec![(u64::MAX, class)];
        job
    });
    let class = |name: &str, percent: u32| TrafficClass {
        least: WHOLE / 100 * percent,
        ..TrafficClass::plain(name)
    };
    let Medium::Packet(mut options) = tapered.0.medium.clone() else { unreachable!("packets") };
    options.routing = routing::kind(routing).expect("registered");
    options.micro.congestion = Congestion::Pairs;
    options.micro.classes = vec![class("TC1", 80), class("TC2", 10)];
    let medium = Medium::Packet(options);
    let setup = Setup { seed, jobs: jobs.to_vec(), medium, ..tapered.0.setup() };
    let mut received = Received { bins: [Vec::new(), Vec::new()], ends: [0, 0] };
    let mut each = |r: &Record| {
        let job = r.job as usize;
        received.ends[job] = received.ends[job].max(r.arrived);
        // What is received was under way all the time since it departed.
        let (from, to) = (r.departed, r.arrived.max(r.departed + 1));
        let bins = &mut received.bins[job];
        bins.resize(bins.len().max((to / BIN) as usize + 1), 0);
        for (b, bin) in bins.iter_mut().enumerate().skip((from / BIN) as usize) {
            let (begin, end) = (from.max(b as u64 * BIN), to.min((b as u64 + 1) * BIN));
            let part = u128::from(end.saturating_sub(begin)) * u128::from(r.bytes);
            *bin += (part / u128::from(to - from)) as u64;
        }
    };
    simulate(&setup, &mut each).expect("everybody receives what is sent");
    received
}

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F14",
    title: "Two bisection tests in one traffic class and in two (figure 14)",
    paper: PAPER,
    setup: "Malbec with a quarter of its cables between groups (`taper=25`), routing `slingshot`, two jobs of 64 interleaved nodes with \
     16 ranks each, each of which exchanges 64 KiB with one of the other half again and again; the second begins after 0.9 ms. \
     TC1 is owed 80 %, TC2 10 %. Told beside it: shortest ways, and one cable between any two groups (25 % of what half of \
     the nodes of a job inject), where the cut is what both wait for. \
     Shares are of what both receive together, from 1 ms after the second begins until three quarters of the time until the \
     first ends are over.",
    class: Class::Shape,
    seconds: 60.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let quarter = Tapered::quarter();
    let mut rows = Vec::new();
    for (apart, name, printed) in CASES {
        (context.at)(name);
        let got = run(&quarter, "slingshot", apart, context.seed);
        let [from, to] = got.beside();
        let both = [0, 1].map(|job| got.mean(job, from, to));
        // What the cut carries, which both share.
        let all = both[0] + both[1];
        for (job, word) in [(0, "first"), (1, "second")] {
            rows.push(Row::new(
                format!("{name}: {word} job beside the other, %"),
                printed[job],
                100.0 * both[job] / all,
                Allowed::Absolute(2.0),
            ));
        }
        let ends = got.ends.map(|end| (end / BIN) as usize);
        let begin = (SECOND / BIN) as usize;
        for (job, word, from, to) in [
            (0, "first job before", begin / 2, begin),
            (1, "second job after", ends[0] + 2, ends[1].saturating_sub(2)),
        ] {
            if from < to {
                rows.push(Row::told(
                    format!("{name}: {word} the other, % of what both have together"),
                    100.0 * got.mean(job, from, to) / all,
                ));
            }
        }
        let line = |job: usize| {
            let bins = 0..got.bins[job].len();
            bins.map(|b| (b as f64 * BIN as f64 * 1e-9, 100.0 * got.mean(job, b, b + 1) / all))
                .collect()
        };
        (context.draw)(Figure {
            name: if apart { "two-classes" } else { "one-class" },
            title: format!("Two bisection tests, {name}"),
            subtitle: "of what both receive together beside each other".to_owned(),
            what: Drawn::Lines {
                x: "time, ms",
                y: "share, %",
                lines: vec![("first job".to_owned(), line(0)), ("second job".to_owned(), line(1))],
            },
        });
    }
    let thin = Tapered::thin();
    for (machine, tapered, routing) in [
        ("a quarter of the cables, minimal paths", &quarter, "minimal"),
        ("one cable between groups, minimal paths", &thin, "minimal"),
        ("one cable between groups, slingshot", &thin, "slingshot"),
    ] {
        for (apart, name, _) in CASES {
            (context.at)(&format!("{machine}, {name}"));
            let got = run(tapered, routing, apart, context.seed);
            let [from, to] = got.beside();
            let both = [0, 1].map(|job| got.mean(job, from, to));
            rows.push(Row::told(
                format!("{machine}, {name}: first job beside the other, %"),
                100.0 * both[0] / (both[0] + both[1]),
            ));
        }
    }
    rows
}
