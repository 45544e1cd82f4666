//! Repeats of a program give the same result whether they are multiplied or run each time.

use darkfiber_scenario::{Effort, Folder, ScenarioFile, Setup, Simulated, simulate};

fn run(text: &str, multiplies: bool) -> Simulated {
    let file = ScenarioFile::parse(text, "repeats.toml").expect("a scenario");
    let case = file.resolve(&Folder::default(), &mut ()).expect("it resolves");
    simulate(&Setup { multiplies, ..case.setup() }, &mut |_| ()).expect("it ends")
}

fn repeated(simulated: &Simulated) -> (u64, u64) {
    match simulated.effort {
        Effort::Flow { events, repeated, .. } | Effort::Formula { events, repeated } => {
            (repeated, events)
        }
        other => panic!("{other:?}"),
    }
}

/// Runs both with and without, and returns the share of events that was multiplied.
fn compare(text: &str) -> f64 {
    let (mut short, long) = (run(text, true), run(text, false));
    assert_eq!(repeated(&long).0, 0);
    let (skipped, events) = repeated(&short);
    match &mut short.effort {
        Effort::Flow { repeated, .. } | Effort::Formula { repeated, .. } => *repeated = 0,
        _ => {}
    }
    assert_eq!(short.runs, long.runs, "{text}");
    assert_eq!(short.carried, long.carried, "{text}");
    assert_eq!(short.pairs, long.pairs, "{text}");
    assert_eq!(short, long, "{text}");
    skipped as f64 / events as f64
}

fn scenario(fabric: &str, engine: &str, more: &str, job: &str) -> String {
    format!("fabric = \"{fabric}\"\n{more}\n[routes]\nengine = \"{engine}\"\n[[job]]\n{job}\n")
}

const TREE: &str = "kary:k=4,n=3";
const DRAGONFLY: &str = "dragonfly:p=2,a=4,h=2";

/// Repeated calls are multiplied, at both depths, for all path choices that draw no random numbers.
#[test]
fn calls_over_and_over() {
    for op in ["allreduce", "alltoall", "bcast", "reduce", "allgather"] {
        for more in ["", "depth = \"loggp\""] {
            let job = format!("traffic = \"imb:op={op},bytes=32KiB,repeat=200,root=0,together=1\"");
            let share = compare(&scenario(TREE, "dmodk", more, &job));
            assert!(share > 0.5, "{op} {more}: {share}");
        }
    }
    for (lids, least) in [("split", 0.5), ("turns", 0.0)] {
        let text = format!(
            "fabric = \"{TREE}\"\n[routes]\nengine = \"sssp\"\nlmc = 1\nlids = \"{lids}\"\n[[job]]\n\
             traffic = \"imb:op=allreduce,bytes=32KiB,repeat=300\"\n"
        );
        assert!(compare(&text) >= least, "{lids}");
    }
}

/// The order within the same picosecond matters where processors and adapters are busy.
#[test]
fn order_counts_where_somebody_waits() {
    for (fabric, more, job) in [
        (
            "torus:dims=3x3,t=2",
            "depth = \"loggp\"\n[cost]\nrendezvous = \"8KiB\"",
            "traffic = \"imb:op=allgather,repeat=60,bytes=100000B,algorithm=bruck\"\nnodes = 3\nper-node = 2",
        ),
        (
            DRAGONFLY,
            "depth = \"loggp\"\n[cost]\nrendezvous = \"1B\"",
            "traffic = \"imb:op=reduce-scatter,repeat=40,bytes=20KiB,algorithm=pairwise\"\nper-node = 2",
        ),
        (
            TREE,
            "hosts = \"qdr\"",
            "traffic = \"imb:op=alltoall,repeat=60,bytes=4KiB\"\nper-node = 2\nnodes = 12",
        ),
        (
            TREE,
            "[cost]\nprecision = 0.1",
            "traffic = \"nccl:op=allreduce,repeat=10,bytes=64MiB,algorithm=tree\"\nnodes = 2",
        ),
    ] {
        compare(&scenario(fabric, "dfsssp", more, job));
    }
    // Two ranks of a host take their turns at one LID after the other.
    compare(
        "fabric = \"torus:dims=3x3,t=2\"\ndepth = \"loggp\"\nseed = 5\n[cost]\nrendezvous = \"8KiB\"\n\
         [routes]\nengine = \"dfsssp\"\nlmc = 1\nlids = \"turns\"\n[[job]]\nnodes = 3\nper-node = 2\n\
         traffic = \"imb:op=allgather,repeat=60,bytes=100000B,algorithm=bruck\"\n",
    );
}

/// Sums and counters of very many messages.
#[test]
fn many_times_over() {
    let text = |repeat: u32| {
        let job = format!(
            "traffic = \"imb:op=alltoall,bytes=100MiB,repeat={repeat},algorithm=linear,together=1\"\nnodes = 27"
        );
        scenario(TREE, "minhop", "", &job)
    };
    let mean = |s: &Simulated| s.pairs[0].time as f64 / s.pairs[0].total.messages as f64;
    let (few, many) = (run(&text(100), true), run(&text(1_000_000), true));
    assert!((mean(&few) / mean(&many) - 1.0).abs() < 1e-6);
    let at = |s: &Simulated| s.pairs[0].times.value_at_quantile(0.5);
    assert_eq!(at(&few), at(&many));
    assert_eq!(many.pairs[0].times.len(), many.pairs[0].total.messages);
}

/// Iterations of applications are multiplied.
#[test]
fn iterations_of_applications() {
    for (traffic, least) in
        [("hpcg:iterations=60,group=1", 0.5), ("minife:iterations=60,group=1", 0.5)]
    {
        for fabric in [TREE, DRAGONFLY] {
            let job = format!("traffic = \"{traffic}\"");
            let share = compare(&scenario(fabric, "minhop", "", &job));
            assert!(share > least, "{traffic} {fabric}: {share}");
        }
    }
}

/// Steps around a ring whose blocks are equal, kept as a formula, and calls of it: one loop within the other.
#[test]
fn steps_round_a_ring() {
    let job = "traffic = \"imb:op=allreduce,bytes=800KiB,algorithm=ring,repeat=6\"\nper-node = 4";
    let share = compare(&scenario("hyperx:dims=1,t=200", "minhop", "", job));
    assert!(share > 0.3, "{share}");
}
