//! What one rank sends to another goes one message after the other, at both depths that move messages.

use std::collections::HashMap;

use darkfiber_scenario::{Folder, ScenarioFile, Setup, Simulated, simulate};

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
