//! What one rank sends to another goes one message after the other, at both depths that move messages.

use std::collections::HashMap;

use darkfiber_scenario::{Folder, Memory, ScenarioFile, Setup, Simulated, simulate};

/// Runs a job; asserts that its messages arrive in the order in which they departed, pair by pair, and returns by how much those of a
/// pair overlapped, too.
fn run(text: &str) -> (Simulated, u64) {
    let file = ScenarioFile::parse(text, "in_order.toml").expect("a scenario");
    let case = file.resolve(&Folder::default(), &mut ()).expect("it resolves");
    let setup: Setup<'_> = case.setup();
    let mut last: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
    let mut waited = 0;
    let simulated = simulate(&setup, &mut |record| {
        let of_pair = last.entry((record.from, record.to)).or_default();
        assert!(
            record.departed >= of_pair.0 && record.arrived >= of_pair.1,
            "{text}: {record:?} after {of_pair:?}"
        );
        waited += u64::from(record.departed < of_pair.1);
        *of_pair = (record.departed, record.arrived);
    });
    (simulated.expect("it ends"), waited)
}

const FABRICS: [(&str, &str); 4] = [
    ("kary:k=4,n=2", "updn"),
    ("hyperx:dims=4x4,t=2", "dfsssp"),
    ("dragonfly:p=2,a=4,h=2", "minhop"),
    ("slimfly:q=5", "nue"),
];

/// A ring keeps the pace of its fullest channel: a step takes what the blocks that it sends over that channel take, which is what counting
/// says. No order of ranks, and nothing that starts a little late, makes it slower. Where messages of a pair shared the way, ranks that
/// fell behind made it 1.4 times (packets) to 6 times (flows with a precision) as long.
#[test]
fn a_ring_keeps_the_pace_of_its_fullest_channel() {
    let mut behind = 0;
    for (fabric, engine) in FABRICS {
        for seed in 1..4 {
            let at = |depth: &str, more: &str| {
                let text = format!(
                    "fabric = \"{fabric}\"\ndepth = \"{depth}\"\nseed = {seed}\n[routes]\nengine = \"{engine}\"\n{more}\n\
                     [[job]]\ntraffic = \"imb:op=allreduce,bytes=1MiB,algorithm=ring,repeat=3\"\nplacement = \"random\"\n"
                );
                run(&text)
            };
            let bound = at("count", "").0.end as f64;
            for (depth, more, most) in [
                ("flow", "", 1.000_001),
                ("flow", "[cost]\nprecision = 0.01", 1.02),
                ("packet", "", 1.02),
            ] {
                let (simulated, waited) = at(depth, more);
                let ratio = simulated.end as f64 / bound;
                assert!((0.999..most).contains(&ratio), "{fabric} {seed} {depth}: {ratio}");
                behind += waited;
            }
        }
    }
    assert!(behind > 1000, "no message waited for another: nothing was tried");
}

/// So it is with several LIDs a port, in parts, with several ranks of a host, by flits, and with gaps between messages.
#[test]
fn messages_of_a_pair_arrive_in_order() {
    let mut behind = 0;
    for (depth, hosts, more, job) in [
        ("flow", "ideal", "lids = \"split\"", ""),
        ("flow", "qdr", "", "per-node = 3\nnodes = 12"),
        ("packet", "qdr", "", "per-node = 3\nnodes = 12"),
        ("packet", "ideal", "[packets]\ninterleave = \"flits\"\nqueues = \"lanes\"", ""),
    ] {
        let text = format!(
            "fabric = \"kary:k=4,n=2\"\ndepth = \"{depth}\"\nhosts = \"{hosts}\"\n[routes]\nengine = \"updn\"\nlmc = 1\n{more}\n\
             [[job]]\ntraffic = \"imb:op=allgather,bytes=8KiB,repeat=40\"\nplacement = \"random\"\n{job}\n"
        );
        let (_, waited) = run(&text);
        behind += waited;
    }
    assert!(behind > 100, "no message waited for another: nothing was tried");
}

/// When each message of a program arrives, in microseconds, in the order of arrival.
fn arrivals(goal: &str, scenario: &str) -> Vec<f64> {
    let memory = Memory::new([("m.goal", goal.as_bytes())]).expect("a place");
    let text = format!("{scenario}\n[[job]]\nfiles = \"m.goal\"\n");
    let file = ScenarioFile::parse(&text, "m.toml").expect("a scenario");
    let case = file.resolve(&memory, &mut ()).expect("it resolves");
    let mut arrived = Vec::new();
    simulate(&case.setup(), &mut |record| arrived.push(record.arrived as f64 * 1e-6))
        .expect("it ends");
    arrived
}

const TWO: &str = "num_ranks 4\nrank 0 {\na: send 1000000b to 2 tag 1\nb: send 1000000b to 2 tag 2\n}\nrank 2 {\n\
                   c: recv 1000000b from 0 tag 1\nd: recv 1000000b from 0 tag 2\n}\n";

/// Two messages of 80 us on two ways: one after the other by one LID, side by side by two, or where each takes the way that has room.
#[test]
fn messages_by_several_lids_go_side_by_side() {
    for (lids, expected) in [
        ("engine", [80.0, 160.0]),
        ("turns", [80.0, 80.0]),
        ("split", [40.0, 80.0]),
        ("adaptive", [80.0, 80.0]),
    ] {
        let scenario = format!(
            "fabric = \"kary:k=2,n=2\"\n[routes]\nengine = \"dfsssp\"\nlmc = 1\nlids = \"{lids}\"\n[cost]\nlink-rate = \"100Gbit/s\""
        );
        let found = arrivals(TWO, &scenario);
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(found.len() == 2 && near, "{lids}: {found:?}");
    }
}

/// Gaps of an adapter are between messages as they begin: what waits for its connection takes none.
#[test]
fn a_message_that_waits_takes_no_gap() {
    let goal = "num_ranks 4\nrank 0 {\na: send 100000b to 2 tag 1\nb: send 100000b to 2 tag 2\nc: calc 1000\n\
                d: send 100000b to 3 tag 3\nd requires c\n}\nrank 2 {\ne: recv 100000b from 0 tag 1\n\
                f: recv 100000b from 0 tag 2\n}\nrank 3 {\ng: recv 100000b from 0 tag 3\n}\n";
    let scenario =
        "fabric = \"torus:dims=2,t=2\"\n[routes]\nengine = \"minhop\"\n[cost]\ngap = \"2us\"";
    // 4 us each alone: the third begins at 2 us and shares with the first until 6, with the second until 10.
    let found = arrivals(goal, scenario);
    let near = found.iter().zip([6.0, 10.0, 12.0]).all(|(a, b)| (a - b).abs() < 1e-3);
    assert!(found.len() == 3 && near, "{found:?}");
}
