//! Scenarios whose packets several processes share: each of them finds what one alone does.

use std::io::{Cursor, Read, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use darkfiber_packetsim::{Observer, Processes, Pulse};
use darkfiber_scenario::{
    Case, Effort, Folder, ScenarioFile, Setup, SimError, Simulated, isolated, simulate,
};
use darkfiber_testkit::processes::{ThreadProcess, in_processes};

fn case(text: &str) -> Case {
    let text = format!("depth = \"packet\"\n{text}");
    let file = ScenarioFile::parse(&text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
    file.resolve(&Folder::default(), &mut ()).unwrap_or_else(|e| panic!("{e}"))
}

/// The setup with all that can be counted, for this process of several, or alone.
fn setup<'a>(
    case: &'a Case,
    processes: Option<&'a ThreadProcess>,
    follow: Option<&'a dyn Observer>,
) -> Setup<'a> {
    let processes = processes.map(|p| p as &dyn Processes);
    Setup { held: true, processes, follow, ..case.setup() }
}

/// Simulates in several processes of several threads each, with an observer for each of them.
fn shared<O: Observer>(
    case: &Case,
    (size, threads): (usize, usize),
    observer: impl Fn(usize) -> O + Sync,
) -> Vec<Result<Simulated, SimError>> {
    in_processes(size, |process| {
        let follow = observer(process.rank());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| simulate(&setup(case, Some(&process), Some(&follow)), &mut |_| ()))
    })
}

/// What one process finds, after several have found the same.
fn found(text: &str) -> Result<Simulated, SimError> {
    let case = case(text);
    let alone = simulate(&setup(&case, None, None), &mut |_| ());
    for (size, threads) in [(2, 1), (3, 2)] {
        for one in shared(&case, (size, threads), |_| |_: Pulse| ()) {
            assert!(one == alone, "{size} x {threads}: {one:?}, not {alone:?} of\n{text}");
        }
    }
    alone
}

const DRAGONFLY: &str = "fabric = \"dragonfly:p=2,a=4,h=2\"\n[routes]\nengine = \"minhop\"\n";
/// A job that ends, and one that is repeated until a moment; channels are counted by interval.
const JOBS: &str = "[keep]\ninterval = \"10us\"\nmessages = true\n[[job]]\ntraffic = \"imb:op=alltoall,bytes=4KiB,repeat=3\"\n\
                    nodes = 24\nplacement = \"random\"\n[[job]]\ntraffic = \"bis:steps=1,iterations=1\"\nnodes = 16\n\
                    repeat-until = \"2ms\"\n";

#[test]
fn jobs_are_the_same_in_any_number_of_processes() {
    for routing in ["tables", "ugal", "ugal-global", "four-ways"] {
        let packets = format!("[packets]\nrouting = \"{routing}\"\nglobal-cable = \"500ns\"\n");
        let found = found(&format!("{DRAGONFLY}{packets}{JOBS}")).expect("it ends");
        assert!(found.grid.is_some() && found.held.is_some() && !found.messages.is_empty());
        assert!(found.packets.iter().all(|p| p.packets > 100) && found.runs[1].len() > 1);
    }
}

/// Ranks of one host, which go through memory; jobs over two planes at once; schemes that send notes; pauses.
#[test]
fn what_packets_can_have_is_the_same_in_any_number_of_processes() {
    let job = "[[job]]\ntraffic = \"imb:op=allreduce,bytes=64KiB,repeat=2\"\n";
    found(&format!("{DRAGONFLY}{job}nodes = 12\nper-node = 2\n")).expect("it ends");
    let planes = "fabric = \"hyperx:dims=3x3,t=2,planes=2\"\n[routes]\nengine = \"dfsssp\"\n";
    found(&format!("{planes}{job}nodes = 9\nplane = \"striped\"\n[[job]]\ntraffic = \"bis:iterations=2\"\nnodes = 6\nplane = 2\n"))
        .expect("it ends");
    for scheme in ["grants", "pairs", "reserve:notes=priced,clock=4ns"] {
        let packets = format!("[packets]\nswitches = \"rosetta\"\ncongestion = \"{scheme}\"\n");
        let incast = "[[job]]\ntraffic = \"bursts:burst=3\"\nnodes = 30\n";
        let found = found(&format!("{DRAGONFLY}{packets}{incast}")).expect("it ends");
        assert!(found.packets[0].packets > 100, "{scheme}");
    }
    let pauses = "[packets]\nrouting = \"minimal\"\npfc = { xoff = \"12KiB\", xon = \"6KiB\" }\nbit-errors = 1e-7\n";
    let gather = "[[job]]\ntraffic = \"imb:op=gather,algorithm=linear,bytes=64KiB\"\n";
    let found = found(&format!("{DRAGONFLY}{pauses}{gather}")).expect("it ends");
    assert!(found.pauses.is_some_and(|(_, channels)| channels.iter().any(|c| c.count > 0)));
}

/// What is left out as steady is decided alike.
#[test]
fn what_is_multiplied_is_the_same_in_any_number_of_processes() {
    let job = "[cost]\nprecision = 0.01\n[[job]]\ntraffic = \"imb:op=alltoall,bytes=16KiB,repeat=40\"\nnodes = 8\n";
    let found = found(&format!("{DRAGONFLY}{job}")).expect("it ends");
    assert!(matches!(found.effort, Effort::Packet { repeated, .. } if repeated > 0));
}

/// Runs without an end are refused with the same words.
#[test]
fn what_has_no_end_is_refused_by_all() {
    let ring = "fabric = \"torus:dims=6,t=2\"\n[routes]\nengine = \"sssp\"\n[packets]\nbuffer = \"4KiB\"\n";
    let locked = found(&format!("{ring}[[job]]\ntraffic = \"imb:op=alltoall,bytes=1MiB\"\n"));
    assert!(matches!(&locked, Err(SimError::Deadlock(cycle)) if cycle.len() >= 6), "{locked:?}");
}

#[test]
fn jobs_in_isolation_are_the_same_in_any_number_of_processes() {
    let case = case(&format!("{DRAGONFLY}{JOBS}"));
    let alone = isolated(&setup(&case, None, None)).expect("they end");
    for one in in_processes(3, |process| isolated(&setup(&case, Some(&process), None))) {
        assert_eq!(one.expect("they end"), alone);
    }
}

/// Keeps a run once, when it was asked this many times, in a file that all processes find.
struct Keeper<'a> {
    looks: AtomicUsize,
    every: usize,
    file: &'a Mutex<Vec<u8>>,
    rank: usize,
}

impl Observer for Keeper<'_> {
    fn pulse(&self, _: Pulse) {}

    fn is_due(&self) -> bool {
        // One process alone has a clock.
        self.looks.fetch_add(1, Ordering::Relaxed) + 1 == self.every && self.rank == 0
    }

    fn keep(&self, write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>, _: bool) {
        assert_eq!(self.rank, 0, "one process writes");
        let mut file = self.file.lock().expect("nobody panicked");
        if file.is_empty() {
            write(&mut *file).expect("memory takes it");
        }
    }

    fn kept(&self) -> Option<Box<dyn Read + '_>> {
        let file = self.file.lock().expect("nobody panicked").clone();
        (!file.is_empty()).then(|| Box::new(Cursor::new(file)) as Box<_>)
    }
}

/// What some processes have kept in the middle of a run, any other number of them resumes; and the file is that of one.
#[test]
fn runs_are_resumed_by_another_number_of_processes() {
    let planes = "fabric = \"hyperx:dims=4x4,t=2,planes=2\"\n[routes]\nengine = \"dfsssp\"\n\
                  [[job]]\ntraffic = \"imb:op=alltoall,bytes=4KiB,repeat=9\"\nplane = \"striped\"\n";
    for text in [format!("{DRAGONFLY}{JOBS}"), planes.to_owned()] {
        let case = case(&text);
        let alone = simulate(&setup(&case, None, None), &mut |_| ()).expect("it ends");
        for by in [1, 4] {
            let file = Mutex::new(Vec::new());
            let keep = |rank| Keeper { looks: AtomicUsize::new(0), every: 2, file: &file, rank };
            for one in shared(&case, (by, 1), keep) {
                assert!(one.expect("it ends") == alone, "kept by {by}");
            }
            let file = file.into_inner().expect("nobody panicked");
            assert!(file.len() > 10_000);
            for of in [1, 2, 4] {
                let file = Mutex::new(file.clone());
                let keep = |rank| Keeper {
                    looks: AtomicUsize::new(0),
                    every: usize::MAX,
                    file: &file,
                    rank,
                };
                for one in shared(&case, (of, 1), keep) {
                    match one {
                        Ok(one) => assert!(one == alone, "kept by {by}, for {of}"),
                        // One process of one thread has one part.
                        Err(e) => assert!(by < of && e.to_string().contains("in 1 part,"), "{e}"),
                    }
                }
            }
        }
    }
}
