//! Victims and aggressors, compared with runs in isolation, and in shape.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Mutex;

use darkfiber_packetsim::{CONGESTIONS, Observer, Pulse, routing};
use darkfiber_scenario::value::{Bytes, Chosen};
use darkfiber_scenario::{Case, Chain, Depth, Folder, Medium, PacketsPart, Scenario};
use darkfiber_study::congest::{
    Cell, CongestPlan, Contender, Hosts, Mechanism, PlanError, Row, Rule, Split, Store, Times, run,
};
use darkfiber_workload::collective::Library;
use darkfiber_workload::placement::allocator;
use darkfiber_workload::play::SECOND;

const US: u64 = 1_000_000;

/// A dragonfly of 64 hosts, and its tables.
fn fabric() -> Case {
    let scenario = Scenario {
        fabric: "dragonfly:p=4,a=4,h=2,g=4,gbps=200".to_owned(),
        depth: Depth::Packet,
        hosts: Chosen::named("slingshot").expect("known"),
        packets: PacketsPart {
            switches: Some(Chosen::named("rosetta").expect("known")),
            size: Some(Bytes(4096)),
            ..PacketsPart::default()
        },
        ..Scenario::default()
    };
    let case = scenario.open(&Folder::default(), &mut ()).expect("a spec");
    let tables = case.route(&Chain::parse("minhop").expect("known")).expect("routed");
    case.with(tables)
}

fn parts(specs: &[&str]) -> Vec<Contender> {
    specs.iter().map(|s| Contender::new(s, s).expect("known")).collect()
}

fn plan<'a>(
    case: &'a Case,
    victims: &[&str],
    aggressors: &[&str],
    splits: &[(u32, u32)],
    congestion: &[&str],
) -> CongestPlan<'a> {
    let mechanism = |name: &&str| {
        let scheme = CONGESTIONS.iter().find(|c| c.name == *name).expect("known");
        Mechanism {
            name: scheme.name.to_owned(),
            congestion: scheme.congestion,
            tuning: darkfiber_packetsim::Tuning::DEFAULT,
            routing: routing::kind("four-ways").expect("known"),
            apart: false,
        }
    };
    CongestPlan {
        case,
        hosts: Hosts::first(case.topology(), 64).expect("there are more"),
        victims: parts(victims),
        aggressors: parts(aggressors),
        splits: splits.iter().map(|&(victim, aggressor)| Split { victim, aggressor }).collect(),
        allocations: vec![allocator("interleaved").expect("known")],
        mechanisms: congestion.iter().map(mechanism).collect(),
        per_node: 1,
        library: Library::OpenMpi,
        rule: Rule { iterations: 60, runs: 6, precision: 0.05, limit: 10_000 * US },
        warmup: 500 * US,
        seed: 1,
    }
}

/// C of a row.
fn impact(row: &Row) -> f64 {
    let impact = row.impact().expect("it ran");
    assert!(!impact.is_bound, "something ended");
    impact.times
}

const ALLREDUCE: &str = "imb:op=allreduce,bytes=8,root=0";
/// A service whose requests are timed.
const SERVICE: &str = "silo";

#[test]
fn an_incast_holds_up_who_shares_switches_unless_it_is_held_back() {
    let there = fabric();
    let plan = plan(&there, &[ALLREDUCE], &["bursts"], &[(32, 32)], &["none", "pairs"]);
    plan.check().expect("fine");
    let rows = run(&plan, None, &|_| ());
    let [none, pairs] = [impact(&rows[0]), impact(&rows[1])];
    assert!(none > 3.0, "{none}");
    assert!((0.99..1.2).contains(&pairs), "{pairs}");
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let there = fabric();
    let victims = [ALLREDUCE, "silo:service=5us,requests=16"];
    let plan =
        plan(&there, &victims, &["bursts", "gpcnet-alltoall"], &[(60, 4), (8, 8)], &["none"]);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| run(&plan, None, &|_| ()))
    };
    let rows = with(1);
    assert_eq!(rows, with(3));
    // Rows are in order, and a victim in isolation is the same for every aggressor.
    let cells: Vec<Cell> = rows.iter().map(|r| r.cell).collect();
    assert!(cells.is_sorted() && cells.len() == 8);
    for pair in rows.chunks(2) {
        let alone = |r: &Row| r.ran.as_ref().expect("it ran").isolated.clone();
        assert_eq!(alone(&pair[0]), alone(&pair[1]));
    }
}

#[test]
fn a_victim_alone_takes_as_long_every_time() {
    // Only a ping to the neighbour: eager, two hosts of one switch.
    let mut there = fabric();
    let Medium::Packet(options) = &mut there.medium else { panic!("it is of packets") };
    // Switches whose latency is not random.
    let micro = &mut options.micro;
    (micro.pipeline, micro.spread) = (micro.pipeline + micro.spread / 2, 0);
    let victim = "pattern:of=shift:by=1,bytes=1000";
    let plan = plan(&there, &[victim], &["bursts"], &[(2, 2)], &["none"]);
    let rows = run(&plan, None, &|_| ());
    let times = &rows[0].ran.as_ref().expect("it ran").isolated;
    assert_eq!(times.samples.len(), 60);
    assert!(times.settled && times.samples.iter().all(|t| t.abs_diff(times.samples[0]) <= 2_000));
    assert_eq!(times.simulated, times.samples.iter().sum::<u64>());
    let summary = times.summary().expect("some");
    assert!(
        summary.ci_low <= summary.median
            && summary.median <= summary.ci_high
            && summary.p95 <= summary.p99
    );
    // Two overheads, the adapters, a switch, and 1000 bytes on two cables of 100 Gbit/s or more.
    assert!(summary.mean > 1.9e-6 && summary.mean < 2.5e-6, "{}", summary.mean);
}

#[test]
fn requests_are_those_of_clients() {
    let there = fabric();
    let plan = plan(&there, &["silo:service=20us,sigma=0"], &["bursts"], &[(5, 4)], &["none"]);
    let rows = run(&plan, None, &|_| ());
    let times = &rows[0].ran.as_ref().expect("it ran").isolated;
    // Two clients, and no server's time: each request is served for 20 us and on the cables there and back.
    assert_eq!(times.samples.len(), 60);
    assert!(times.samples.iter().all(|t| (22 * US..28 * US).contains(t)), "{times:?}");
}

#[test]
fn what_cannot_be_is_reported_and_the_rest_goes_on() {
    let there = fabric();
    let victims = ["milc:iterations=1,side=2", "imb:op=barrier,root=0"];
    let plan = plan(&there, &victims, &["bursts"], &[(13, 8)], &["none"]);
    plan.check().expect("milc can run on 16");
    let rows = run(&plan, None, &|_| ());
    let why = rows[0].ran.as_ref().expect_err("13 is no power of two");
    assert!(why.contains("power of two") && why.contains("take 8 or 16"), "{why}");
    assert!(rows[1].ran.is_ok());
}

#[test]
fn the_limit_ends_what_does_not_settle() {
    let there = fabric();
    let mut plan = plan(&there, &["halo3d:iterations=1000"], &["bursts"], &[(8, 8)], &["none"]);
    plan.rule.limit = 100 * US;
    let rows = run(&plan, None, &|_| ());
    let times = &rows[0].ran.as_ref().expect("it ran").congested;
    assert!(times.samples.is_empty() && !times.settled && times.summary().is_none());
    assert!((100 * US..SECOND / 1000).contains(&times.simulated), "{}", times.simulated);
}

#[derive(Default)]
struct Memory(Mutex<BTreeMap<Cell, Times>>);

impl Store for Memory {
    fn find(&self, cell: &Cell) -> Option<Times> {
        self.0.lock().expect("whole").get(cell).cloned()
    }

    fn keep(&self, cell: &Cell, times: &Times) {
        let before = self.0.lock().expect("whole").insert(*cell, times.clone());
        assert_eq!(before, None, "it was there");
    }
}

#[test]
fn what_was_kept_is_not_run_again() {
    let there = fabric();
    let plan = plan(&there, &[ALLREDUCE], &["bursts"], &[(8, 8)], &["none"]);
    let memory = Memory::default();
    let rows = run(&plan, Some(&memory), &|_| ());
    assert_eq!(memory.0.lock().expect("whole").len(), 2);
    assert_eq!(run(&plan, Some(&memory), &|_| ()), rows);
}

/// Keeps a run as often as it may, and begins with one of the states that it was in.
#[derive(Default)]
struct States {
    begin: Option<Vec<u8>>,
    kept: Mutex<Vec<Vec<u8>>>,
}

impl Observer for &States {
    fn pulse(&self, _: Pulse) {}

    fn is_due(&self) -> bool {
        true
    }

    fn keep(&self, write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>, _: bool) {
        let mut state = Vec::new();
        write(&mut state).expect("it is kept");
        self.kept.lock().expect("whole").push(state);
    }

    fn kept(&self) -> Option<Box<dyn Read + '_>> {
        self.begin.as_deref().map(|state| Box::new(state) as Box<dyn Read>)
    }
}

/// The runs of a victim with its aggressor are kept, others are not.
struct Followed(States);

impl Store for Followed {
    fn find(&self, _: &Cell) -> Option<Times> {
        None
    }

    fn keep(&self, _: &Cell, _: &Times) {}

    fn follow(&self, cell: &Cell) -> Box<dyn Observer + '_> {
        match cell.aggressor {
            Some(_) => Box::new(&self.0),
            None => Box::new(|_: Pulse| ()),
        }
    }
}

#[test]
fn a_run_that_is_resumed_finds_the_same() {
    let there = fabric();
    // One settles, one is stopped by the limit; requests are counted by client.
    for (victim, limit) in
        [(ALLREDUCE, 100_000 * US), (ALLREDUCE, 2_000 * US), (SERVICE, 20_000 * US)]
    {
        let mut plan = plan(&there, &[victim], &["bursts"], &[(8, 8)], &["none"]);
        // Long enough that a run is saved several times.
        (plan.rule.iterations, plan.rule.limit) = (1000, limit);
        let first = Followed(States::default());
        let rows = run(&plan, Some(&first), &|_| ());
        assert_eq!(rows, run(&plan, None, &|_| ()), "{victim}");
        let states = first.0.kept.into_inner().expect("whole");
        assert!(states.len() > 3, "{victim}: {} states", states.len());
        for at in [0, states.len() / 2, states.len() - 2, states.len() - 1] {
            let begin = Some(states[at].clone());
            let again = Followed(States { begin, ..States::default() });
            assert_eq!(run(&plan, Some(&again), &|_| ()), rows, "{victim}, from state {at}");
            let left = again.0.kept.into_inner().expect("whole").len();
            assert!(left < states.len() - at + 1, "{victim}: it began anew");
        }
    }
}

#[test]
fn hosts_must_be_there() {
    let there = fabric();
    let plan_error = |hosts, split, victim: &str| {
        let mut plan = plan(&there, &[victim], &["bursts"], &[split], &["none"]);
        Hosts::first(there.topology(), hosts)
            .and_then(|hosts| {
                plan.hosts = hosts;
                plan.check()
            })
            .expect_err("wrong")
    };
    let text = |wrong: PlanError| wrong.to_string();
    assert!(text(plan_error(65, (2, 2), ALLREDUCE)).contains("the fabric has 64"));
    assert!(text(plan_error(64, (60, 5), ALLREDUCE)).contains("60/5 are more than the 64"));
    assert!(text(plan_error(64, (63, 1), ALLREDUCE)).contains("two hosts each"));
    let spec = plan_error(64, (8, 8), "halo3d:cels=3");
    assert!(matches!(&spec, PlanError::Traffic(_)) && text(spec).contains("cells"));
}

#[test]
fn aggressors_side_by_side_send_more() {
    let there = fabric();
    let of = |per_node| {
        let mut plan = plan(&there, &[ALLREDUCE], &["bursts:bytes=4096"], &[(32, 32)], &["none"]);
        plan.per_node = per_node;
        impact(&run(&plan, None, &|_| ())[0])
    };
    let [one, many] = [of(1), of(16)];
    assert!(many > 1.5 * one, "{one} {many}");
}

#[test]
fn clients_that_are_held_up_count_as_much() {
    let there = fabric();
    let plan =
        plan(&there, &["silo:service=20us,requests=16"], &["bursts"], &[(10, 10)], &["none"]);
    let rows = run(&plan, None, &|_| ());
    let ran = rows[0].ran.as_ref().expect("it ran");
    for times in [&ran.isolated, &ran.congested] {
        assert!(times.samples.len().is_multiple_of(5) && times.samples.len() >= 60);
    }
    // The same requests, in the same order: none is quicker than on an idle network by more than the random choice of
    // paths.
    let quicker = |(a, b): (&u64, &u64)| b + 200_000 < *a;
    let pairs = ran.isolated.samples.iter().zip(&ran.congested.samples);
    assert_eq!(pairs.filter(|&p| quicker(p)).count(), 0);
}
