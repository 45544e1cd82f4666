//! Which of several LIDs each message takes: by the same rule at every depth that sends messages one by one.

use std::fmt::Write;

use darkfiber_scenario::{Depth, Memory, ScenarioFile, Simulated};

/// This number of messages of 4,000 bytes from rank 0 to the last one, each when the answer to the one before is there.
fn chain(ranks: u32, messages: u32) -> String {
    let last = ranks - 1;
    let mut goal = format!("num_ranks {ranks}\nrank 0 {{\n");
    for i in 0..messages {
        writeln!(goal, "s{i}: send 4000b to {last} tag {i}").expect("text");
        writeln!(goal, "a{i}: recv 0b from {last} tag {i}\na{i} requires s{i}").expect("text");
        if i > 0 {
            writeln!(goal, "s{i} requires a{}", i - 1).expect("text");
        }
    }
    writeln!(goal, "}}\nrank {last} {{").expect("text");
    for i in 0..messages {
        writeln!(goal, "r{i}: recv 4000b from 0 tag {i}").expect("text");
        writeln!(goal, "b{i}: send 0b to 0 tag {i}\nb{i} requires r{i}").expect("text");
    }
    goal + "}\n"
}

fn run(fabric: &str, routes: &str, messages: u32, depth: Depth) -> Simulated {
    let text =
        format!("fabric = \"{fabric}\"\n[routes]\n{routes}\n[[job]]\nfiles = \"chain.goal\"\n");
    let mut file = ScenarioFile::parse(&text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
    file.scenario.depth = depth;
    let ranks = 4;
    let memory = Memory::new([("chain.goal", chain(ranks, messages).as_bytes())]).expect("a place");
    let case = file.resolve(&memory, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    case.run(None, &mut |_| ()).unwrap_or_else(|e| panic!("{e}"))
}

const DEPTHS: [Depth; 3] = [Depth::Flow, Depth::LogGp, Depth::Packet];
/// Two leaves of two hosts, and four spines.
const TREE: &str = "fattree2:n=2,m=4,r=2";

/// Bytes on the channels out of the first leaf, in messages.
fn out_of_the_leaf(simulated: &Simulated) -> Vec<u64> {
    simulated.carried[..4].iter().map(|bytes| bytes / 4000).collect()
}

/// A source that sends one message after the other uses all LIDs in turn, whatever the routes state for it.
#[test]
fn turns_are_of_messages() {
    for engine in ["minhop", "smodk"] {
        for depth in DEPTHS {
            let routes = format!("engine = \"{engine}\"\nlmc = 2\nlids = \"turns\"");
            let simulated = run(TREE, &routes, 64, depth);
            assert_eq!(out_of_the_leaf(&simulated), [16; 4], "{engine} {depth:?}");
        }
    }
}

/// Without a choice, a source takes the LID that the routes state for it.
#[test]
fn routes_state_one() {
    for engine in ["minhop", "smodk"] {
        let routes = format!("engine = \"{engine}\"\nlmc = 2");
        let of = |depth| out_of_the_leaf(&run(TREE, &routes, 8, depth));
        assert_eq!(of(Depth::Flow).iter().sum::<u64>(), 8);
        assert!(of(Depth::Flow).contains(&8), "{engine}");
        for depth in DEPTHS {
            assert_eq!(of(depth), of(Depth::Flow), "{engine} {depth:?}");
        }
    }
}

/// Each message draws: of 256 about 64 for each of four LIDs, the deviation of one of which is 6.9.
#[test]
fn random_choices_are_of_messages() {
    for depth in DEPTHS {
        let simulated = run(TREE, "engine = \"minhop\"\nlmc = 2\nlids = \"random\"", 256, depth);
        let found = out_of_the_leaf(&simulated);
        assert!(found.iter().all(|&count| count.abs_diff(64) < 35), "{depth:?} {found:?}");
    }
}

/// Messages take the queue pairs of ECMP in turn: as many on each path at each depth.
#[test]
fn queue_pairs_are_taken_in_turn() {
    for depth in DEPTHS {
        let found = out_of_the_leaf(&run(TREE, "ecmp = \"crc32:qps=16\"", 64, depth));
        assert_eq!(found, out_of_the_leaf(&run(TREE, "ecmp = \"crc32:qps=16\"", 64, Depth::Flow)));
        assert!(found.iter().filter(|&&count| count > 0).count() > 1, "{depth:?} {found:?}");
    }
}

/// Where the table of `parx` allows two LIDs, which have paths of their own here, messages are spread over both: no channel carries
/// nearly all of them.
#[test]
fn tables_draw_for_each_message() {
    for depth in DEPTHS {
        let routes = "engine = \"parx\"";
        let simulated = run("hyperx:dims=2x2,t=1", routes, 256, depth);
        let channels = simulated.carried.iter().take(8);
        let most = *channels.max().expect("channels");
        assert!(most < 256 * 4000 * 3 / 4, "{depth:?}: {most}");
    }
}

/// What a depth, or an update, cannot do is refused.
#[test]
fn choices_that_cannot_be_are_refused() {
    let refused = |depth: Depth, more: &str| {
        let text = format!(
            "fabric = \"{TREE}\"\n[routes]\nengine = \"minhop\"\nlmc = 2\n{more}\n[[job]]\ntraffic = \"alltoall:bytes=1KiB\"\n"
        );
        let mut file = ScenarioFile::parse(&text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
        file.scenario.depth = depth;
        let memory = Memory::new([]).expect("a place");
        let case = file.resolve(&memory, &mut ()).unwrap_or_else(|e| panic!("{e}"));
        case.run(None, &mut |_| ()).expect_err(more).to_string()
    };
    let update = "[update]\nto = \"ftree\"\nhow = \"naive\"\nat = \"1us\"\ntotal = \"1us\"";
    for lids in ["turns", "random", "split"] {
        let said = refused(Depth::Packet, &format!("lids = \"{lids}\"\n{update}"));
        assert!(said.contains("remove `lids`"), "{said}");
    }
    let said = refused(Depth::LogGp, "lids = \"adaptive\"");
    assert!(said.contains("take flow"), "{said}");
}
