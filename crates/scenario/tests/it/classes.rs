//! Messages and packets by the classes that jobs name.

use darkfiber_scenario::{Depth, Memory, ScenarioFile, Simulated};

/// A job of the class `bulk` by its code point whose short messages are of `latency`, and one that names no class.
fn run(depth: Depth) -> Simulated {
    let goal = "num_ranks 2\nrank 0 {\n\
        s1: send 64b to 1 tag 1\ns2: send 100000b to 1 tag 2\ns3: send 1000b to 1 tag 3\n}\n\
        rank 1 {\n\
        r1: recv 64b from 0 tag 1\nr2: recv 100000b from 0 tag 2\nr3: recv 1000b from 0 tag 3\n}\n";
    let text = "fabric = \"kary:k=2,n=2\"\n[routes]\nengine = \"minhop\"\n\
        [packets]\nrouting = \"minimal\"\nsize = \"2048B\"\nlanes = 1\n\
        [[class]]\nname = \"usual\"\n[[class]]\nname = \"bulk\"\ndscp = 10\n[[class]]\nname = \"latency\"\ndscp = 46\n\
        [[job]]\nfiles = \"a.goal\"\nclass = \"10\"\nshort = [{ up-to = \"64B\", class = \"latency\" }, { up-to = \"1000B\", class = \"46\" }]\n\
        [[job]]\nfiles = \"a.goal\"\n";
    let mut file = ScenarioFile::parse(text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
    file.scenario.depth = depth;
    let memory = Memory::new([("a.goal", goal.as_bytes())]).expect("a place");
    let case = file.resolve(&memory, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    case.run(None, &mut |_| ()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn short_messages_are_counted_with_their_class() {
    for depth in [Depth::Count, Depth::LogGp, Depth::Flow, Depth::Packet] {
        let simulated = run(depth);
        let found: Vec<_> = (simulated.classes.iter())
            .map(|c| (c.name.as_str(), c.jobs, c.messages.total.messages, c.messages.total.bytes))
            .collect();
        let expected = [("bulk", 1, 1, 100_000), ("latency", 1, 2, 1064), ("usual", 1, 3, 101_064)];
        assert_eq!(found, expected, "{depth:?}");
        for class in &simulated.classes {
            let packets = class.packets.as_ref().map(|p| (p.packets, p.bytes));
            let should = match class.name.as_str() {
                _ if depth != Depth::Packet => None,
                "bulk" => Some((49, 100_000)),
                "latency" => Some((2, 1064)),
                _ => Some((51, 101_064)),
            };
            assert_eq!(packets, should, "{depth:?} {}", class.name);
        }
        // Jobs have all of their messages.
        assert!(simulated.pairs.iter().all(|p| p.total.messages == 3), "{depth:?}");
        assert!(simulated.packets.iter().all(|p| p.packets == 51), "{depth:?}");
    }
}
