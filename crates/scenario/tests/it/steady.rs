//! At the depth of packets, iterations that take the same time are multiplied: ends are those of whole runs within the precision.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use darkfiber_packetsim::{Observer, Pulse};
use darkfiber_scenario::{Effort, Folder, Medium, ScenarioFile, Setup, Simulated, simulate};

fn run(text: &str, precision: Option<f64>) -> Simulated {
    let file = ScenarioFile::parse(text, "steady.toml").expect("a scenario");
    let case = file.resolve(&Folder::default(), &mut ()).expect("it resolves");
    let mut setup: Setup<'_> = case.setup();
    let Medium::Packet(options) = &mut setup.medium else { panic!("packets") };
    options.precision = precision;
    simulate(&setup, &mut |_| ()).expect("it ends")
}

/// Events that were multiplied, all of them, and by what the end may be wrong.
fn effort(simulated: &Simulated) -> (u64, u64, f64) {
    match simulated.effort {
        Effort::Packet { repeated, events, error, .. } => (repeated, events, error),
        other => panic!("{other:?}"),
    }
}

const PRECISION: f64 = 0.01;

/// Runs a job with and without; returns by how many times fewer events were run, after comparing times and counts.
fn compare(text: &str) -> f64 {
    let (short, long) = (run(text, Some(PRECISION)), run(text, None));
    assert_eq!(effort(&long).0, 0);
    let (repeated, events, error) = effort(&short);
    assert!(error <= PRECISION, "{text}: {error}");
    let off = (short.end as f64 / long.end as f64 - 1.0).abs();
    assert!(off <= PRECISION, "{text}: {off}, said {error}");
    // All that is sent is counted, to the byte.
    let (a, b) = (&short.pairs[0].total, &long.pairs[0].total);
    assert_eq!((a.messages, a.bytes), (b.messages, b.bytes), "{text}");
    let near = |a: f64, b: f64, what: &str| {
        assert!((a / b - 1.0).abs() < 0.03, "{text}: {what} {a} instead of {b}");
    };
    near(events as f64, effort(&long).1 as f64, "events");
    let sent = |s: &Simulated| s.carried.iter().map(|&b| b as f64).sum::<f64>();
    near(sent(&short), sent(&long), "bytes of channels");
    near(short.packets[0].packets as f64, long.packets[0].packets as f64, "packets");
    // Each host has one rank: what arrives are the bytes of all messages.
    assert_eq!(long.packets[0].bytes, b.bytes, "{text}");
    let missing = 1.0 - short.packets[0].bytes as f64 / b.bytes as f64;
    assert!(missing.abs() < 1e-4, "{text}: {missing} of the bytes did not arrive");
    let most = |s: &Simulated| *s.carried.iter().max().expect("channels") as f64;
    near(most(&short), most(&long), "bytes of the fullest channel");
    if repeated == 0 {
        assert_eq!(short, long, "{text}");
    }
    effort(&long).1 as f64 / (events - repeated) as f64
}

fn scenario(fabric: &str, more: &str, job: &str) -> String {
    format!(
        "fabric = \"{fabric}\"\ndepth = \"packet\"\n{more}\n[routes]\nengine = \"minhop\"\n[[job]]\n{job}\n"
    )
}

const TREE: &str = "kary:k=4,n=3";
const DRAGONFLY: &str = "dragonfly:p=2,a=4,h=2";
const HYPERX: &str = "hyperx:dims=4x4,t=2";

/// Steps of a ring among all hosts of a tree, which take the same time everywhere: the two phases of an Allreduce.
#[test]
fn steps_of_a_long_ring() {
    let job = "traffic = \"imb:op=allreduce,bytes=4MiB,algorithm=ring\"";
    let text = scenario("kary:k=16,n=2", "hosts = \"slingshot\"", job).replace("minhop", "dmodk");
    let fewer = compare(&text);
    assert!(fewer > 5.0, "{fewer}");
}

/// Steps of a ring are alike under all routings, in order or placed at random.
#[test]
fn steps_of_a_ring() {
    for fabric in [TREE, DRAGONFLY, HYPERX] {
        for place in ["linear", "random"] {
            for routing in ["tables", "minimal"] {
                let job = format!(
                    "traffic = \"imb:op=allreduce,bytes=1MiB,algorithm=ring,repeat=1\"\nplacement = \"{place}\""
                );
                let more = format!("[packets]\nrouting = \"{routing}\"");
                let fewer = compare(&scenario(fabric, &more, &job));
                assert!(fewer >= 1.0, "{fabric} {place} {routing}: {fewer}");
            }
        }
    }
}

/// Calls over and over, with loops in loops.
#[test]
fn calls_over_and_over() {
    for (op, repeat, least) in
        [("allreduce,algorithm=ring", 150, 8.0), ("alltoall", 150, 3.0), ("allgather", 400, 1.5)]
    {
        let job =
            format!("traffic = \"imb:op={op},bytes=16KiB,repeat={repeat},root=0\"\nnodes = 24");
        let fewer = compare(&scenario(DRAGONFLY, "", &job));
        assert!(fewer > least, "{op}: {fewer}");
    }
}

/// Ranks of an Allgather stay as they are for thirty iterations or so, and then come to a slower pace for good.
#[test]
fn what_lasts_for_a_while_is_not_taken_for_what_stays() {
    for (seed, repeat) in [(1, 50), (3, 50), (1, 200), (3, 200), (5, 200)] {
        let job = format!(
            "traffic = \"imb:op=allgather,bytes=5000,repeat={repeat}\"\nnodes = 16\nplacement = \"random\""
        );
        let more = format!("hosts = \"slingshot\"\nseed = {seed}");
        compare(&scenario("kary:k=4,n=2", &more, &job).replace("minhop", "dfsssp"));
    }
}

/// Where tables fix the paths and iterations are alike, every channel has carried what it does in whole runs, also of short iterations
/// with messages without bytes.
#[test]
fn channels_carry_what_iterations_send() {
    for (fabric, job) in [
        (TREE, "traffic = \"incast:bytes=1000,iterations=130\"\nnodes = 4"),
        (HYPERX, "traffic = \"incast:bytes=1,iterations=130\"\nnodes = 5"),
        (HYPERX, "traffic = \"imb:op=allreduce,bytes=777,repeat=61\"\nnodes = 7"),
        (DRAGONFLY, "traffic = \"imb:op=bcast,bytes=8,repeat=61,root=1\"\nnodes = 9"),
    ] {
        let text = scenario(fabric, "hosts = \"qdr\"", job);
        let (short, long) = (run(&text, Some(PRECISION)), run(&text, None));
        assert!(effort(&short).0 > 0, "{text}");
        assert_eq!(short.packets[0].packets, long.packets[0].packets, "{text}");
        assert_eq!(short.carried, long.carried, "{text}");
    }
}

/// Adaptive routing never comes to the same state again: means of windows decide.
#[test]
fn adaptive_routing_is_a_sample() {
    let job =
        "traffic = \"imb:op=alltoall,bytes=8KiB,repeat=500\"\nplacement = \"random\"\nnodes = 24";
    for routing in ["ugal", "adaptive"] {
        let text = scenario(DRAGONFLY, &format!("[packets]\nrouting = \"{routing}\""), job);
        let (short, long) = (run(&text, Some(0.02)), run(&text, None));
        let off = (short.end as f64 / long.end as f64 - 1.0).abs();
        let (repeated, events, error) = effort(&short);
        assert!(off <= 0.02 && error <= 0.02, "{routing}: {off}, said {error}");
        assert!(repeated * 2 > events, "{routing}: {repeated} of {events}");
    }
}

/// What is not alike is run: each step of a pairwise exchange has other partners, a single call repeats nothing, and several jobs
/// are not examined.
#[test]
fn what_changes_is_run() {
    for job in [
        "traffic = \"imb:op=alltoall,algorithm=pairwise,bytes=8KiB,repeat=1\"",
        "traffic = \"incast:bytes=256KiB,iterations=1\"",
        "traffic = \"imb:op=bcast,bytes=1MiB,root=0,repeat=3\"",
        "traffic = \"imb:op=allreduce,bytes=64KiB,algorithm=ring,repeat=2\"\nnodes = 24\n[[job]]\nname = \"other\"\n\
         traffic = \"imb:op=alltoall,bytes=4KiB,repeat=4\"\nnodes = 24",
    ] {
        let text = scenario(DRAGONFLY, "", job);
        let (short, long) = (run(&text, Some(0.1)), run(&text, None));
        assert_eq!(effort(&short), (0, effort(&long).1, 0.0), "{job}");
        assert_eq!(short, long, "{job}");
    }
}

/// The state of such a run is not complete: that is said, and no observer keeps it.
#[test]
fn an_estimate_is_not_kept() {
    struct Kept(AtomicBool);
    impl Observer for Kept {
        fn pulse(&self, _: Pulse) {}
        fn is_due(&self) -> bool {
            true
        }
        fn keep(&self, _: &dyn Fn(&mut dyn Write) -> std::io::Result<()>, _: bool) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    for (precision, is_kept) in [("", true), ("[cost]\nprecision = 0.01", false)] {
        let job = "traffic = \"imb:op=barrier,repeat=50\"";
        let text = scenario(DRAGONFLY, precision, job);
        let file = ScenarioFile::parse(&text, "steady.toml").expect("a scenario");
        let case = file.resolve(&Folder::default(), &mut ()).expect("it resolves");
        assert_eq!(case.setup().cannot_be_kept().is_none(), is_kept);
        let kept = Kept(AtomicBool::new(false));
        case.run(Some(&kept), &mut |_| ()).expect("it ends");
        assert_eq!(kept.0.load(Ordering::Relaxed), is_kept, "{precision}");
    }
}

/// One slow cable: ranks behind it slow down one after the other, and nothing is multiplied before all of them have.
#[test]
fn a_slow_cable_is_waited_for() {
    let job = "traffic = \"imb:op=allreduce,bytes=2MiB,algorithm=ring\"";
    for seed in 1..=2 {
        let more = format!("seed = {seed}\n[packets]\ndegraded = \"0.02:0.25\"");
        compare(&scenario("hyperx:dims=6x6,t=4", &more, job));
        compare(&scenario("kary:k=12,n=2", &more, job));
    }
}
