//! Hosts with several adapters: what stays within a host goes through its memory, whichever adapters its ranks use.

use darkfiber_scenario::{Depth, Effort, Memory, ScenarioFile, Simulated};

/// Eight hosts on four leaves, each by this number of cables.
fn fabric(cables: usize) -> String {
    let hosts = (0..8).map(|host| format!("host h{host} l{} 4xQDR\n", host / 2).repeat(cables));
    let leaves = (0..4).map(|leaf| format!("l{leaf} t0 4xHDR\nl{leaf} t1 4xHDR\n"));
    hosts.chain(leaves).collect()
}

fn run(cables: usize, text: &str, depth: Depth) -> Simulated {
    let text = format!("fabric = \"f.edges\"\n{text}");
    let mut file = ScenarioFile::parse(&text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
    file.scenario.depth = depth;
    let edges = fabric(cables);
    let memory = Memory::new([("f.edges", edges.as_bytes())]).expect("a place");
    let case = file.resolve(&memory, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    case.run(None, &mut |_| ()).unwrap_or_else(|e| panic!("{e}"))
}

/// Large messages over the network wait for their receivers; those through memory do not.
#[test]
fn memory_has_no_rendezvous() {
    let text = "hosts = \"qdr\"\n[routes]\nengine = \"minhop\"\n[cost]\nmemory-latency = \"5us\"\nmemory-rate = \"10GB/s\"\n\
                send = \"1us\"\nreceive = \"1us\"\n[[job]]\ntraffic = \"pattern:of=shift:by=1,bytes=1MB\"\nnodes = 1\nper-node = 2\n";
    for depth in [Depth::Flow, Depth::LogGp, Depth::Packet] {
        for cables in [1, 2] {
            // A microsecond at either end, five of latency, 1 MB at 10 GB/s.
            assert_eq!(run(cables, text, depth).end, 107_000_000, "{depth:?} {cables}");
        }
    }
}

/// What is multiplied comes to the counts of a whole run.
#[test]
fn estimates_count_what_goes_over_the_network() {
    for cables in [1, 2] {
        let with = |precision: &str| {
            let text = format!(
                "hosts = \"slingshot\"\n[routes]\nengine = \"minhop\"\n{precision}[[job]]\n\
                 traffic = \"alltoall:bytes=16KiB,iterations=60\"\nper-node = 2\nnodes = 4\n"
            );
            run(cables, &text, Depth::Packet)
        };
        let (whole, short) = (with(""), with("[cost]\nprecision = 0.02\n"));
        let Effort::Packet { repeated, .. } = short.effort else { panic!("packets") };
        assert!(repeated > 0, "{cables}");
        let [a, b] = [&whole, &short].map(|run| run.packets[0].bytes as f64);
        assert!((b / a - 1.0).abs() < 0.005, "{cables}: {b} instead of {a}");
        let [a, b] = [&whole, &short].map(|run| run.carried.iter().sum::<u64>() as f64);
        assert!((b / a - 1.0).abs() < 0.005, "{cables}: {b} instead of {a}");
    }
}
