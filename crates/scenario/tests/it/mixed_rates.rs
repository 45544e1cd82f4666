//! Channels of unequal rates, one after the other, packet by packet.

use darkfiber_scenario::{Case, Depth, Memory, ScenarioFile};

/// A message of so many bytes over two switches, on cables of these rates in bytes a second: picoseconds.
fn time(rates: [u64; 3], more: &str, bytes: u64, depth: Depth) -> u64 {
    let [a, between, b] = rates.map(|rate| format!("x@{rate}B/s"));
    let fabric = format!("host a s0 {a}\nhost b s1 {b}\ns0 s1 {between}\n");
    let goal = format!(
        "num_ranks 2\nrank 0 {{\nl1: send {bytes}b to 1 tag 1\n}}\nrank 1 {{\nl1: recv {bytes}b from 0 tag 1\n}}\n"
    );
    let text = format!(
        "fabric = \"f.edges\"\n[routes]\nengine = \"minhop\"\n[packets]\n{more}[[job]]\nfiles = \"g.goal\"\nhosts = \"a,b\"\n"
    );
    let files = [("f.edges", fabric.as_bytes()), ("g.goal", goal.as_bytes())];
    let memory = Memory::new(files).expect("a temporary directory");
    let mut file = ScenarioFile::parse(&text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
    file.scenario.depth = depth;
    let case: Case = file.resolve(&memory, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    let run = case.run(None, &mut |_| ()).unwrap_or_else(|e| panic!("{e}")).runs[0][0];
    run.end - run.begin
}

/// No packet leaves a switch before it has come: a faster channel behind a slower one does not shorten what that takes, nor
/// lengthens it by more than a frame.
#[test]
fn no_byte_overtakes_the_one_before() {
    const RATES: [u64; 3] = [1_000_000_000, 3_000_000_000, 8_000_000_000];
    for switches in ["qdr", "rosetta", "caminos-basic", "booksim-iq"] {
        let more = format!("switches = \"{switches}\"\n");
        for a in RATES {
            for between in RATES {
                for b in RATES {
                    let rates = [a, between, b];
                    let slowest = *rates.iter().min().expect("three");
                    for bytes in [500, 2048, 20_480] {
                        let least = u64::try_from(
                            u128::from(bytes) * 1_000_000_000_000 / u128::from(slowest),
                        );
                        let least = least.expect("less than days");
                        let took = time(rates, &more, bytes, Depth::Packet);
                        assert!(took >= least, "{switches} {rates:?} {bytes}: {took} < {least}");
                        let even = time([slowest; 3], &more, bytes, Depth::Packet);
                        // A frame has no gaps: a faster channel waits for at most all of it.
                        let frame = least * bytes.min(4096) / bytes;
                        let most = even + even / 10 + frame;
                        assert!(took <= most, "{switches} {rates:?} {bytes}: {took} > {most}");
                    }
                }
            }
        }
    }
}

/// On equal cables nothing waits for the last byte: the time of a message falls with its packets.
#[test]
fn packets_cut_through_where_rates_are_equal() {
    let of = |size: &str| {
        let more = format!("switches = \"qdr\"\nsize = \"{size}\"\n");
        (
            time([1_000_000_000; 3], &more, 4096, Depth::Packet),
            time([1_000_000_000; 3], &more, 4096, Depth::Flow),
        )
    };
    let (whole, flow) = of("4KiB");
    let (small, _) = of("256B");
    assert!(whole < flow * 11 / 10, "stored and forwarded: {whole}, {flow}");
    assert!(small.abs_diff(whole) < flow / 10, "{small}, {whole}");
}
