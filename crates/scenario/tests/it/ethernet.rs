//! Flowlets, reorder windows, pauses and pause storms, packet by packet.

use darkfiber_packetsim::OutOfOrder;
use darkfiber_scenario::{
    Case, Depth, Error, Folder, Medium, ScenarioFile, Setup, Simulated, simulate,
};

/// Two leaves of eight hosts below four spines, ECMP-like switches, and a job of all hosts, each of which sends to the opposite one.
const TREE: &str = "fabric = \"fattree2:n=8,m=4,r=2,gbps=100\"\ndepth = \"packet\"\n[routes]\nengine = \"minhop\"\n";
const SHIFT: &str = "[[job]]\ntraffic = \"pattern:of=shift:by=8,bytes=256KiB,iterations=4\"\n";

fn resolve(text: &str) -> Result<Case, Error> {
    ScenarioFile::parse(text, "s.toml")?.resolve(&Folder::default(), &mut ())
}

fn case(packets: &str, jobs: &str) -> Case {
    let text = format!("{TREE}[packets]\nrouting = \"minimal\"\n{packets}\n{jobs}");
    resolve(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn run(packets: &str, jobs: &str) -> Simulated {
    let case = case(packets, jobs);
    assert_eq!(case.medium.depth(), Depth::Packet);
    case.run(None, &mut |_| ()).unwrap_or_else(|e| panic!("{e}: {packets}"))
}

fn out_of_order(simulated: &Simulated) -> OutOfOrder {
    simulated.packets[0].out_of_order.expect("it is counted")
}

/// Sprayed packets overtake each other; with flowlets that never end none does, and the longer the gap, the fewer do.
#[test]
fn flowlets_keep_packets_in_order_as_long_as_they_last() {
    let of = |flowlet: &str| out_of_order(&run(&format!("{flowlet}\nreorder-window = 128"), SHIFT));
    let (sprayed, short, endless) = (of(""), of("flowlet = \"300ns\""), of("flowlet = \"1s\""));
    assert!(sprayed.packets > 1000 && sprayed.furthest > 1, "{sprayed:?}");
    assert!(short.packets < sprayed.packets, "{short:?} {sprayed:?}");
    assert_eq!(endless, OutOfOrder::default());
}

/// No packet is ahead of the oldest missing one by the window or more; the wider it is, the sooner all is over.
#[test]
fn windows_bound_how_far_packets_are_ahead() {
    let free = run("", SHIFT);
    assert_eq!(free.packets[0].out_of_order, None);
    let mut last = u64::MAX;
    for window in [1u8, 2, 8, 128] {
        let found = run(&format!("reorder-window = {window}"), SHIFT);
        assert!(out_of_order(&found).furthest < window, "{window}: {:?}", out_of_order(&found));
        assert_eq!(found.packets[0].packets, free.packets[0].packets);
        assert!(found.end <= last, "{window}: {} after {last}", found.end);
        last = found.end;
    }
    // A window that is never exhausted changes nothing.
    assert_eq!(last, free.end);
    // One packet at a time: each takes its path and the acknowledgement the reverse path.
    let one = run("reorder-window = 1", SHIFT);
    assert!(one.end > 2 * free.end, "{} {}", one.end, free.end);
}

/// Pauses keep a channel that everybody waits for as busy as credits do: all ends at the same time to a thousandth, and pauses are
/// counted.
#[test]
fn pauses_lose_nothing() {
    let incast = "[[job]]\ntraffic = \"gather:bytes=64KiB\"\n";
    let incast = incast.replace("gather:", "imb:op=gather,algorithm=linear,");
    let credits = run("", &incast);
    assert_eq!(credits.pauses, None);
    for (xoff, xon) in [("12KiB", "8KiB"), ("10KiB", "2KiB"), ("14KiB", "13KiB")] {
        let found = run(&format!("pfc = {{ xoff = \"{xoff}\", xon = \"{xon}\" }}"), &incast);
        let (adapters, channels) = found.pauses.clone().expect("they are counted");
        assert!(adapters.count > 0 && channels.iter().any(|c| c.count > 0), "{xoff} {xon}");
        let part = found.end as f64 / credits.end as f64;
        assert!((part - 1.0).abs() < 1e-3, "{xoff} {xon}: {part}");
        let all: u64 = channels.iter().map(|c| c.long).sum();
        assert!(all <= found.end * channels.len() as u64);
    }
    // Packets in flight do not count: long cables alone cause no pauses.
    let long = "buffer = \"1MiB\"\ncable = \"10us\"\n";
    let (without, with) = (
        run(long, SHIFT),
        run(&format!("{long}pfc = {{ xoff = \"160KiB\", xon = \"96KiB\" }}"), SHIFT),
    );
    assert_eq!(with.end, without.end);
    let (adapters, channels) = with.pauses.expect("they are counted");
    assert_eq!((adapters.count, channels.iter().map(|c| c.count).sum::<u64>()), (0, 0));
    // A sender that sends no more than the next one takes is not paused.
    let quiet = "[[job]]\ntraffic = \"pattern:of=shift:by=1,bytes=64KiB\"\nnodes = 8\n";
    let (adapters, channels) =
        run("pfc = { xoff = \"12KiB\", xon = \"8KiB\" }", quiet).pauses.expect("they are counted");
    assert_eq!((adapters.count, channels.iter().map(|c| c.count).sum::<u64>()), (0, 0));
}

/// An adapter that pauses delays the traffic to it, and traffic behind that, until it is over; one without traffic delays none.
#[test]
fn storms_spread_to_others() {
    let two = "[[job]]\nname = \"a\"\ntraffic = \"pattern:of=shift:by=8,bytes=128KiB,iterations=2\"\nnodes = 16\n";
    let storm = |host: &str| {
        format!("[[packets.pause-storm]]\nhost = \"{host}\"\nat = \"2us\"\nfor = \"3ms\"")
    };
    let names: Vec<String> = {
        let case = case("", two);
        case.loaded.topology.fabric.hosts().iter().map(|h| h.name.clone()).collect()
    };
    let (calm, held) = (run("", two), run(&storm(&names[3]), two));
    assert!(calm.end < 1_000_000_000, "{}", calm.end);
    assert!(held.end > 3_002_000_000, "{}", held.end);
    assert_eq!(held.packets[0].packets, calm.packets[0].packets);
    let some = two.replace("nodes = 16", "nodes = 9").replace("by=8", "by=1");
    assert_eq!(run(&storm(&names[15]), &some), run("", &some));
    // A storm of one adapter holds up packets for others, too, which wait behind those for it in leaves and spines.
    assert!(held.packets[0].longest > 2_900_000_000);
    let late = held.packets[0].latencies.count_between(1_000_000, u64::MAX);
    assert!(late > 16, "{late} packets took over a millisecond");
}

/// No result depends on parts, which are simulated in parallel.
#[test]
fn parts_do_not_matter() {
    let packets = "flowlet = \"2us\"\nreorder-window = 32\npfc = { xoff = \"12KiB\", xon = \"6KiB\" }\n\
                   [[packets.pause-storm]]\nhost = \"GUID\"\nat = \"5us\"\nfor = \"40us\"";
    let names = case("", SHIFT);
    let name = &names.loaded.topology.fabric.hosts()[2].name;
    let mut case = case(&packets.replace("GUID", name), SHIFT);
    let mut of = |parts: usize| {
        if let Medium::Packet(options) = &mut case.medium {
            options.parts = Some(parts);
        }
        simulate(&Setup { ..case.setup() }, &mut |_| ()).expect("it runs")
    };
    let one = of(1);
    assert!(one.packets[0].out_of_order.is_some_and(|e| e.packets > 0) && one.pauses.is_some());
    assert_eq!(of(2), one);
    assert_eq!(of(3), one);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |packets: &str| {
        let routing = if packets.contains("routing") { "" } else { "routing = \"minimal\"" };
        let text = format!("{TREE}[packets]\n{routing}\n{packets}\n{SHIFT}");
        match resolve(&text) {
            Err(e) => e.to_string(),
            Ok(case) => {
                case.run(None, &mut |_| ()).err().unwrap_or_else(|| panic!("{packets}")).to_string()
            }
        }
    };
    for (packets, expected) in [
        ("ordered = true\nflowlet = \"1us\"", "one of both"),
        ("routing = \"tables\"\nflowlet = \"1us\"", "flowlets need one that chooses"),
        ("ordered = true\nreorder-window = 8", "one of both"),
        ("reorder-window = 129", "reorder-window 129"),
        ("reorder-window = 0", "reorder-window 0"),
        ("pfc = { xoff = \"4KiB\", xon = \"8KiB\" }", "xon must be below xoff"),
        ("pfc = { xoff = \"1MiB\", xon = \"8KiB\" }", "buffer of 16384 B"),
        ("pfc = { xoff = \"8KiB\" }", "missing field `xon`"),
        ("shared-buffer = \"8KiB\"\npfc = { xoff = \"8KiB\", xon = \"4KiB\" }", "shared buffer"),
        ("congestion = \"reserve\"\nreorder-window = 8", "all arrive"),
        (
            "switches = \"booksim-iq\"\n[[packets.pause-storm]]\nhost = \"n1\"\nat = \"1us\"\nfor = \"1us\"",
            "pause-storm 1: host",
        ),
    ] {
        let why = refused(packets);
        assert!(why.contains(expected), "{packets}: {why}");
    }
}
