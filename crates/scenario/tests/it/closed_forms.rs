//! Scenarios whose times are known in closed form, and depths that agree.

use darkfiber_scenario::{Case, Depth, Files, Folder, Memory, ScenarioFile, Simulated};

/// Two switches with two hosts each and one cable of 10 GB/s between them, hosts without costs.
const TWO: &str = "fabric = \"hyperx:dims=2,t=2,gbps=80\"\n[routes]\nengine = \"minhop\"\n";

fn run_beside(text: &str, depth: Depth, files: &dyn Files) -> (Case, Simulated) {
    let mut file = ScenarioFile::parse(text, "s.toml").unwrap_or_else(|e| panic!("{text}: {e}"));
    file.scenario.depth = depth;
    let case = file.resolve(files, &mut ()).unwrap_or_else(|e| panic!("{text}: {e}"));
    let simulated = case.run(None, &mut |_| ()).unwrap_or_else(|e| panic!("{text}: {e}"));
    (case, simulated)
}

fn run(text: &str, depth: Depth) -> Simulated {
    run_beside(text, depth, &Folder::default()).1
}

/// When the last job ends, in seconds.
fn seconds(text: &str) -> f64 {
    run(text, Depth::Flow).end as f64 * 1e-12
}

/// The mean time of a run of the first job, in seconds.
fn run_mean(text: &str, depth: Depth) -> f64 {
    let runs = &run(text, depth).runs[0];
    runs.iter().map(|r| (r.end - r.begin) as f64 * 1e-12).sum::<f64>() / runs.len() as f64
}

fn near(is: f64, should: f64) {
    assert!((is - should).abs() <= 1e-6 * should, "{is}, not {should}");
}

/// A job of two ranks that send 10 MB to each other.
fn pair(hosts: &str, more: &str) -> String {
    format!("[[job]]\ntraffic = \"mpigraph:bytes=10MB\"\nhosts = \"{hosts}\"\n{more}\n")
}

/// A message takes the latencies of its cables and the time of its bytes: between two switches and to hosts, at all depths with time. One packet waits for no credits.
#[test]
fn latencies_of_cables_are_those_of_the_scenario() {
    let text = |cables: &str| {
        format!(
            "{TWO}[cost]\n{cables}\n[packets]\nswitches = \"qdr\"\nrouting = \"minimal\"\n[[job]]\n\
             traffic = \"pattern:of=shift:by=2,bytes=1KiB\"\nnodes = 4\n"
        )
    };
    for depth in [Depth::Flow, Depth::LogGp, Depth::Packet] {
        let end = |cables: &str| run(&text(cables), depth).end as f64 * 1e-12;
        // At the depth of packets no cable is quicker than a tick.
        let none = end("cable = \"1us\"\nhost-cable = \"1us\"");
        let between = end("cable = \"4us\"\nhost-cable = \"1us\"");
        let hosts = end("cable = \"1us\"\nhost-cable = \"4us\"");
        let [one, two] = [between - none, hosts - none].map(|s| s * 1e6);
        assert!((one - 3.0).abs() < 0.01 && (two - 6.0).abs() < 0.01, "{depth}: {one} {two}");
    }
}

/// Long messages take as long packet by packet as they do as flows. Beside that, each of an Alltoall's messages, one after the other,
/// waits for the end of a packet between an adapter of 2.26 GiB/s and a cable of 4 GB/s.
#[test]
fn packets_agree_with_flows() {
    let wait = 4096.0 / (2.26 * f64::from(1 << 30)) - 4096.0 / 4e9;
    let traffics = [
        ("bis:iterations=1,steps=1,bytes=1MiB,compute=0s", 0.0),
        ("alltoall:bytes=64KiB", 15.0 * wait),
        ("mpigraph:bytes=1MB", 0.0),
    ];
    for fabric in ["hyperx:dims=3x3,t=3", "kary:k=4,n=2"] {
        for (traffic, waits) in traffics {
            let scenario = format!(
                "fabric = \"{fabric}\"\nhosts = \"qdr\"\n[routes]\nengine = \"dfsssp\"\n\
                 [[job]]\ntraffic = \"{traffic}\"\nnodes = 16\n"
            );
            let [flows, packets] = [Depth::Flow, Depth::Packet].map(|d| run_mean(&scenario, d));
            let part = (packets - waits) / flows;
            assert!((part - 1.0).abs() < 0.03, "{fabric} {traffic}: {packets}, {flows}");
        }
    }
}

/// Sends that block are over late, when their message arrives, but never before now.
#[test]
fn packets_of_blocking_sends() {
    let scenario = "fabric = \"@t2hx-hyperx\"\nhosts = \"qdr\"\n[routes]\nengine = \"dfsssp\"\n\
                    [[job]]\ntraffic = \"mpigraph:bytes=64KiB\"\nnodes = 28\n";
    let [flows, packets] = [Depth::Flow, Depth::Packet].map(|d| run_mean(scenario, d));
    assert!((packets / flows - 1.0).abs() < 0.1, "{packets}, {flows}");
}

#[test]
fn weights_limits_starts_and_repetitions() {
    // By job, begin and end of its first run.
    let two = |first: &str, second: &str| {
        let jobs = pair("cn0001,cn0003", first) + &pair("cn0002,cn0004", second);
        let runs = run(&format!("{TWO}{jobs}"), Depth::Flow).runs;
        [0, 1].map(|j| (runs[j][0].begin as f64 * 1e-12, runs[j][0].end as f64 * 1e-12))
    };
    // 7.5 and 2.5 GB/s until the first is done; then the second has sent a third and continues alone.
    let weighed = two("weight = 3.0", "");
    near(weighed[0].1, 4e-3 / 3.0);
    near(weighed[1].1, 2e-3);
    let limited = two("limit = \"2GB/s\"", "");
    near(limited[0].1, 5e-3);
    near(limited[1].1, 1.25e-3);
    // The second comes when the first has sent half.
    let late = two("", "start = \"500us\"");
    near(late[0].1, 1.5e-3);
    near(late[1].0, 0.5e-3);
    near(late[1].1, 2e-3);
    let again = format!("{TWO}{}", pair("cn0001,cn0003", "repeat-until = \"2.5ms\""));
    assert_eq!(run(&again, Depth::Flow).runs[0].len(), 3);
    near(seconds(&again), 3e-3);
    // An action that takes no time is not repeated for ever.
    let idle = format!("{TWO}[[job]]\ntraffic = \"imb:op=barrier\"\nrepeat-until = \"1h\"\n");
    assert_eq!(run(&idle, Depth::Flow).runs[0].len(), 1);
}

#[test]
fn hosts_and_cables_cost_what_the_scenario_says() {
    let job = pair("cn0001,cn0003", "");
    let cost = |text: &str| seconds(&format!("{TWO}[cost]\n{text}\n{job}"));
    near(cost("link-rate = \"1GB/s\""), 10e-3);
    near(cost("adapter-rate = \"2GB/s\""), 5e-3);
    near(cost("efficiency = 0.5"), 2e-3);
    near(cost("send = \"1ms\"\nreceive = \"2ms\""), 4e-3);
    near(cost("switch = \"1ms\"\nadapters = \"500us\""), 3.5e-3);
    // A request and a reply precede it.
    near(cost("switch = \"1ms\"\nrendezvous = \"1MB\""), 7e-3);
    // Small messages do not share, so that two on one cable take as long as one.
    let other = pair("cn0002,cn0004", "");
    near(seconds(&format!("{TWO}[cost]\nsmall = \"10MB\"\n{job}{other}")), 1e-3);
    let inside = format!(
        "{TWO}[cost]\nmemory-rate = \"1GB/s\"\nmemory-latency = \"1ms\"\n[[job]]\n\
         traffic = \"mpigraph:bytes=10MB\"\nnodes = 1\nper-node = 2\n"
    );
    near(seconds(&inside), 11e-3);
}

#[test]
fn parts_of_messages_take_all_paths() {
    // Four flows from switch to switch over two cables: at best two on each.
    let lids = |how: &str| {
        seconds(&format!(
            "fabric = \"hyperx:dims=2,t=4,trunk=2,gbps=80\"\n[routes]\nengine = \"minhop\"\nlmc = 1\n\
             lids = \"{how}\"\n[[job]]\ntraffic = \"pattern:of=shift:by=4,bytes=10MB\"\n"
        ))
    };
    near(lids("split"), 2e-3);
    near(lids("adaptive"), 2e-3);
    for how in ["engine", "random", "turns"] {
        let time = lids(how);
        assert!((2e-3..=4e-3).contains(&time), "{how}: {time}");
    }
}

/// Two ranks that send each other 10 MB, one after the other.
const GOAL: &str = "num_ranks 2\n\nrank 0 {\nl1: send 10000000b to 1 tag 5\n\
    l2: recv 10000000b from 1 tag 5\nl2 requires l1\n}\n\nrank 1 {\n\
    l1: recv 10000000b from 0 tag 5\nl2: send 10000000b to 0 tag 5\nl2 requires l1\n}\n";

#[test]
fn files_are_played() {
    let files = Memory::new([("a", GOAL.as_bytes())]).expect("a directory");
    let text = format!("{TWO}[[job]]\nfiles = [\"a\"]\nhosts = \"cn0001,cn0003\"\n");
    let (case, simulated) = run_beside(&text, Depth::Flow, &files);
    near(simulated.end as f64 * 1e-12, 2e-3);
    assert_eq!((case.jobs[0].name.as_str(), simulated.pairs[0].total.messages), ("a", 2));
    // As many hosts as there are ranks, unless more are requested.
    let text = format!("{TWO}[[job]]\nfiles = [\"a\"]\n");
    assert_eq!(run_beside(&text, Depth::Flow, &files).0.jobs[0].hosts.len(), 2);
}

/// Roots, roles and cables, which options give to other commands, mean the same in a scenario.
#[test]
fn scenarios_say_what_options_do() {
    let job = "[[job]]\ntraffic = \"alltoall:bytes=64KiB\"\n";
    let time = |packets: &str| {
        let text = format!(
            "fabric = \"dragonfly:p=2,a=4,h=2\"\n[routes]\nengine = \"dfsssp\"\n[packets]\n{packets}\n{job}"
        );
        run(&text, Depth::Packet).end
    };
    let usual = time("");
    assert!(time("cable = \"10us\"") > usual && time("global-cable = \"10us\"") > usual);
    assert!(time("degraded = \"0.5:0.25\"") > usual);
    // A corner of a mesh as the root instead of its middle.
    let mesh = |roots: &str| {
        let text =
            format!("fabric = \"mesh:dims=4x4,t=1\"\n[routes]\nengine = \"updn\"\n{roots}\n{job}");
        run_beside(&text, Depth::Count, &Folder::default())
    };
    let guid = mesh("").0.fabric().switch(darkfiber_fabric::SwitchId(0)).guid;
    let (case, rooted) = mesh(&format!("roots = \"{guid}\""));
    assert_eq!(case.roots, [darkfiber_fabric::SwitchId(0)]);
    assert_ne!(rooted.carried, mesh("").1.carried);
}
