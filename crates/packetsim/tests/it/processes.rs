//! A network that several processes simulate together: here each is a thread that knows of the others by channels only.

use std::io::{Cursor, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use darkfiber_packetsim::routing::AnyRouting;
use darkfiber_packetsim::{
    ConfigError, Load, LoadOutcome, Measured, Observer, Processes, Pulse, Series, Stalled,
    SwitchModel, Targets, Tuned,
};
use darkfiber_routing::{Request, Routes, find_engine};
use darkfiber_testkit::processes::{ThreadProcess, in_processes};

use crate::bench::{Bench, load};

/// All that a run has found.
type Found = (Measured, [u64; 7], bool, [f64; 2], usize, Option<Stalled>, Option<Series>);

fn found(outcome: LoadOutcome) -> Found {
    let LoadOutcome { measured, missing, crossed, again, events, begin, long, end, .. } = outcome;
    let numbers = [missing, crossed, again, events, begin, long, end];
    let LoadOutcome { fell_behind, accepted, created, most, stalled, series, .. } = outcome;
    (measured, numbers, fell_behind, [accepted, created], most, stalled, series)
}

/// Runs a load in several processes of several threads each, with an observer for each of them.
fn run_in<O: Observer>(
    bench: &Bench,
    made: &AnyRouting<'_>,
    what: &Load,
    (size, threads): (usize, usize),
    observer: impl Fn(usize) -> O + Sync,
) -> Vec<Result<Found, ConfigError>> {
    let micro = &SwitchModel { lanes: made.lanes(), ..bench.micro.clone() };
    let observer = &observer;
    let one = |process: ThreadProcess| {
        let (follow, processes) = (observer(process.rank()), Some(Arc::new(process) as Arc<_>));
        let what = Load { processes, ..what.clone() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| made.load(&bench.net, micro, &what, &follow)).map(found)
    };
    in_processes(size, one)
}

/// Every process finds what one alone does, for any number of them and of their threads.
fn is_the_same(bench: &Bench, routing: &str, routes: Option<&Routes>, what: &Load) -> Found {
    let alone = found(bench.run(routing, routes, 1, what));
    let made = bench.make(routing, routes, what.bytes).expect("it suits");
    let what = Load { parts: 14, ..what.clone() };
    for size in [1, 2, 4, 7] {
        for threads in [1, 2] {
            let all = run_in(bench, &made, &what, (size, threads), |_| |_: Pulse| ());
            assert_eq!(all.len(), size);
            for one in all {
                assert!(one.expect("it runs") == alone, "{routing}: {size} x {threads}");
            }
        }
    }
    alone
}

/// As [`is_the_same`], where packets arrive.
fn arrives_the_same(bench: &Bench, routing: &str, what: &Load) {
    let (measured, ..) = is_the_same(bench, routing, None, what);
    assert!(measured.packets > 500, "{routing}: {} packets", measured.packets);
}

/// A measurement that begins anew, for twice as long, does so in all of them.
#[test]
fn a_measurement_that_is_short_is_so_for_everybody() {
    let bench = Bench::new("kary:k=4,n=2", "booksim-iq");
    let mut what = load(Targets::uniform(bench.terminals()), 0.9, 16, 1500);
    (what.warmup, what.doublings) = (None, 2);
    let (_, [.., long, _], ..) = is_the_same(&bench, "adaptive", None, &what);
    assert!(long > what.measure, "near saturation parts are alike");
}

/// At this load with each of the routings.
fn routings_arrive_the_same(bench: &Bench, at: f64, routings: &[&str]) {
    for routing in routings {
        let what = load(Targets::uniform(bench.terminals()), at, 16, 1500);
        arrives_the_same(bench, routing, &what);
    }
}

#[test]
fn dragonflies_are_the_same_in_any_number_of_processes() {
    let bench = Bench::new("dragonfly:p=2,a=4,h=2", "booksim-iq");
    routings_arrive_the_same(&bench, 0.4, &["minimal", "valiant", "ugal", "ugal-global"]);
}

#[test]
fn hyperx_is_the_same_in_any_number_of_processes() {
    let mut bench = Bench::new("hyperx:dims=4x4,t=2", "booksim-iq");
    bench.micro.buffer = 128;
    routings_arrive_the_same(&bench, 0.5, &["minimal", "ugal", "dimwar", "omniwar"]);
}

/// Until latencies have settled, with channels counted by intervals, and with notes that need no cable.
#[test]
fn what_is_decided_for_all_is_the_same_in_any_number_of_processes() {
    let mut bench = Bench::new("dragonfly:p=2,a=4,h=2", "booksim-iq");
    let mut what = load(Targets::uniform(bench.terminals()), 0.5, 16, 2000);
    (what.warmup, what.interval) = (None, Some(777_000));
    arrives_the_same(&bench, "ugal", &what);
    bench.micro = Tuned::parse("grants").expect("a scheme").on(bench.micro);
    what.interval = None;
    arrives_the_same(&bench, "minimal", &what);
}

/// Packets wait for each other over the borders of processes.
#[test]
fn deadlock_is_the_same_in_any_number_of_processes() {
    let mut bench = Bench::new("torus:dims=8,t=2", "booksim-iq");
    bench.micro.buffer = 32;
    let request = Request { shape: bench.topology.shape.as_ref(), ..Request::default() };
    let engine = find_engine("sssp").expect("registered");
    let routes = engine.route(&bench.topology.fabric, &request).expect("routes");
    let what = load(Targets::uniform(bench.terminals()), 0.9, 16, 20_000);
    let stalled = is_the_same(&bench, "tables", Some(&routes), &what).5.expect("it locks");
    assert_eq!(stalled.cycle.len(), 8);
}

/// Keeps the state of a run in a file that all processes find. Asks to be kept this many times.
struct Keeper<'a> {
    left: AtomicUsize,
    file: &'a Mutex<Vec<u8>>,
    rank: usize,
}

impl Observer for Keeper<'_> {
    fn pulse(&self, _: Pulse) {}

    fn is_due(&self) -> bool {
        let left =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        left.is_ok()
    }

    fn keep(&self, write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>, _: bool) {
        assert_eq!(self.rank, 0, "one process writes");
        // Not the end of the run.
        if self.left.load(Ordering::Relaxed) > 0 {
            let mut file = self.file.lock().expect("nobody panicked");
            file.clear();
            write(&mut *file).expect("memory takes it");
        }
    }

    fn kept(&self) -> Option<Box<dyn Read + '_>> {
        let file = self.file.lock().expect("nobody panicked").clone();
        (!file.is_empty()).then(|| Box::new(Cursor::new(file)) as Box<_>)
    }
}

/// Is asked to end once a run was looked at this many times, or never, and notes whether it is to end at each save.
struct Asked<'a> {
    looks: AtomicUsize,
    from: usize,
    heard: &'a Mutex<Vec<Vec<bool>>>,
    rank: usize,
}

impl Observer for Asked<'_> {
    fn pulse(&self, _: Pulse) {}

    fn is_due(&self) -> bool {
        self.looks.fetch_add(1, Ordering::Relaxed) < 6
    }

    fn is_asked_to_end(&self) -> bool {
        self.looks.load(Ordering::Relaxed) > self.from
    }

    fn after_keep(&self, ends: bool) {
        self.heard.lock().expect("nobody panicked")[self.rank].push(ends);
    }
}

/// A signal may reach one process between two saves, or during one: all end after the same save.
#[test]
fn one_process_that_is_asked_to_end_ends_all_after_the_same_save() {
    let bench = Bench::new("dragonfly:p=2,a=4,h=2", "booksim-iq");
    let made = bench.make("minimal", None, 16).expect("it suits");
    let what = load(Targets::uniform(bench.terminals()), 0.5, 16, 2000);
    let what = Load { parts: 14, ..what };
    for asked in [0, 2] {
        let heard = Mutex::new(vec![Vec::new(); 3]);
        let observer = |rank| Asked {
            looks: AtomicUsize::new(0),
            from: if rank == asked { 3 } else { usize::MAX },
            heard: &heard,
            rank,
        };
        assert!(run_in(&bench, &made, &what, (3, 1), observer).iter().all(Result::is_ok));
        let heard = heard.into_inner().expect("nobody panicked");
        assert!(heard.iter().all(|of| *of == heard[0]), "{asked}: {heard:?}");
        assert_eq!(heard[0][..4], [false, false, false, true], "{asked}");
    }
}

/// What some processes have kept, any other number of them resumes; and the file is that of one.
#[test]
fn a_run_is_resumed_by_another_number_of_processes() {
    let bench = Bench::new("dragonfly:p=2,a=4,h=2", "booksim-iq");
    let routing = "ugal-global";
    let made = bench.make(routing, None, 16).expect("it suits");
    let mut what = load(Targets::uniform(bench.terminals()), 0.5, 16, 2000);
    (what.parts, what.warmup, what.interval) = (28, None, Some(777_000));
    let alone = found(bench.run(routing, None, 1, &what));
    for by in [1, 4] {
        let kept = Mutex::new(Vec::new());
        let keep = |rank| Keeper { left: AtomicUsize::new(6), file: &kept, rank };
        for one in run_in(&bench, &made, &what, (by, 1), keep) {
            assert!(one.expect("it runs") == alone, "{routing}: kept by {by}");
        }
        let kept = kept.into_inner().expect("nobody panicked");
        assert!(kept.len() > 10_000);
        for of in [1, 2, 5] {
            let kept = Mutex::new(kept.clone());
            let keep = |rank| Keeper { left: AtomicUsize::new(0), file: &kept, rank };
            // The parts are those of the file.
            let what = Load { parts: 3, ..what.clone() };
            for one in run_in(&bench, &made, &what, (of, 1), keep) {
                assert!(one.expect("it runs") == alone, "{routing}: kept by {by}, for {of}");
            }
        }
        let kept = Mutex::new(kept);
        let keep = |rank| Keeper { left: AtomicUsize::new(0), file: &kept, rank };
        for one in run_in(&bench, &made, &what, (29, 1), keep) {
            let refused = one.expect_err("28 parts").to_string();
            assert!(refused.contains("28 parts, which 29 processes"), "{refused}");
        }
    }
}

#[test]
fn what_cannot_be_shared_is_refused_by_all() {
    let bench = Bench::new("hyperx:dims=2,t=2", "booksim-iq");
    let what = load(Targets::uniform(bench.terminals()), 0.5, 16, 100);
    let made = bench.make("minimal", None, 16).expect("it suits");
    for one in run_in(&bench, &made, &what, (3, 1), |_| |_: Pulse| ()) {
        let refused = one.expect_err("two switches").to_string();
        assert!(
            refused.starts_with("3 processes cannot share a network of 2 switches"),
            "{refused}"
        );
    }
    let bench = Bench::new("dragonfly:p=2,a=4,h=2", "booksim-iq");
    let what = load(Targets::uniform(bench.terminals()), 0.5, 16, 100);
    let made = bench.make("minimal", None, 16).expect("it suits");
    // One of them does not find the file, or finds another one.
    let (kept, other) = (Mutex::new(Vec::new()), Mutex::new(vec![7; 99]));
    let none = Mutex::new(Vec::new());
    let keep = |rank| Keeper { left: AtomicUsize::new(3), file: &kept, rank };
    assert!(run_in(&bench, &made, &what, (2, 1), keep).iter().all(Result::is_ok));
    for (second, words) in [(&none, "process 1 does not find the same"), (&other, "damaged")] {
        let keep = |rank| Keeper {
            left: AtomicUsize::new(0),
            file: if rank == 0 { &kept } else { second },
            rank,
        };
        for one in run_in(&bench, &made, &what, (2, 1), keep) {
            let refused = one.expect_err(words).to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }
}
