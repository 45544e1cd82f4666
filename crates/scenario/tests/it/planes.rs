//! Jobs on a fabric of several planes.

use darkfiber_scenario::{Memory, ScenarioFile, Simulated};

/// Access to no other files than the scenario.
fn none() -> Memory {
    Memory::new([]).expect("a directory")
}

/// Runs a job on 28 hosts of a fabric, with the lines of a scenario that it needs there.
fn run(
    fabric: &str,
    engine: &str,
    depth: &str,
    traffic: &str,
    plane: &str,
) -> Result<Simulated, String> {
    let text = format!(
        "fabric = \"{fabric}\"\ndepth = \"{depth}\"\nhosts = \"qdr\"\n[routes]\nengine = \"{engine}\"\n\
         [[job]]\ntraffic = \"{traffic}\"\nnodes = 28\n{plane}\n"
    );
    let file = ScenarioFile::parse(&text, "s.toml").map_err(|e| e.to_string())?;
    let case = file.resolve(&none(), &mut ()).map_err(|e| e.to_string())?;
    case.run(None, &mut |_| ()).map_err(|e| e.describe(&case.jobs, &case.loaded.topology))
}

#[test]
fn a_job_on_one_plane_runs_as_on_that_plane_alone() {
    for (depth, traffic) in [
        ("count", "mpigraph:bytes=64KiB"),
        ("loggp", "mpigraph:bytes=64KiB"),
        ("flow", "mpigraph:bytes=64KiB"),
        ("packet", "imb:op=alltoall,bytes=1KiB"),
    ] {
        for (plane, alone, engine) in [(1, "@t2hx-fattree", "ftree"), (2, "@t2hx-hyperx", "dfsssp")]
        {
            let one = run(alone, engine, depth, traffic, "").expect("it runs");
            let both = run("@t2hx", "ftree/dfsssp", depth, traffic, &format!("plane = {plane}"));
            let both = both.expect("it runs");
            assert_eq!(both.runs, one.runs, "{depth} on plane {plane}");
            assert_eq!(both.pairs, one.pairs, "{depth} on plane {plane}");
        }
    }
}

/// Whether messages are small, and of a class of small ones, is of messages, not of their parts.
#[test]
fn parts_are_as_large_as_their_message() {
    let of = |small: &str| {
        let text = format!(
            "fabric = \"hyperx:dims=2,t=4,planes=2\"\n[routes]\nengine = \"minhop\"\n[cost]\nsmall = \"{small}\"\n\
             [[job]]\ntraffic = \"imb:op=alltoall,bytes=1MiB\"\nplane = \"striped\"\n"
        );
        let file = ScenarioFile::parse(&text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
        let case = file.resolve(&none(), &mut ()).unwrap_or_else(|e| panic!("{e}"));
        case.run(None, &mut |_| ()).unwrap_or_else(|e| panic!("{e}")).end
    };
    assert_eq!(of("0B"), of("512KiB"));
    assert!(of("1MiB") < of("512KiB"));
}

#[test]
fn a_striped_message_takes_as_long_as_the_longer_half() {
    // Two equal planes in isolation: half of the bytes on each.
    let two = |plane: &str, bytes: &str| {
        let traffic = format!("mpigraph:bytes={bytes}");
        let text = format!(
            "fabric = \"hyperx:dims=2,t=1,planes=2\"\n[routes]\nengine = \"minhop\"\n[[job]]\ntraffic = \"{traffic}\"\n{plane}\n"
        );
        let file = ScenarioFile::parse(&text, "s.toml").expect("a scenario");
        let case = file.resolve(&none(), &mut ()).expect("complete");
        case.run(None, &mut |_| ()).expect("it runs")
    };
    let (whole, half) = (two("plane = \"striped\"", "2MiB"), two("plane = 2", "1MiB"));
    assert_eq!(whole.end, half.end);
    // Each byte is counted once on its channels.
    let once = two("plane = 1", "2MiB");
    assert_eq!(whole.carried.iter().sum::<u64>(), once.carried.iter().sum::<u64>());
    assert_eq!(whole.pairs[0].total.bytes, once.pairs[0].total.bytes);
}

#[test]
fn planes_that_are_not_there_are_refused() {
    let on = |plane: &str| {
        run("@t2hx", "minhop", "flow", "mpigraph:bytes=1KiB", plane).expect_err(plane)
    };
    assert!(on("").contains("the fabric has 2 planes, and this job names none"), "{}", on(""));
    assert!(
        on("plane = 3").contains("there is no plane 3: there are planes 1 to 2"),
        "{}",
        on("plane = 3")
    );
    assert!(on("plane = 0").contains("numbered from 1"), "{}", on("plane = 0"));
    let both = on("plane = \"both\"");
    assert!(both.contains("\"striped\" or \"rails\""), "{both}");
    let one = run("@t2hx-hyperx", "minhop", "flow", "mpigraph:bytes=1KiB", "plane = \"striped\"");
    assert!(one.expect_err("one plane").contains("nothing can be striped over it"));
    let one = run("@t2hx-hyperx", "minhop", "flow", "mpigraph:bytes=1KiB", "plane = \"rails\"");
    assert!(one.expect_err("one plane").contains("its rails are joined"));
}

/// GPUs whose rails no cable joins do what they do under the leaves of a unit, which joins them only above. What needs a cable between
/// rails says so.
#[test]
fn ranks_use_the_plane_of_their_rail() {
    let traffic = |fabric: &str, depth: &str, traffic: &str, plane: &str| {
        let text = format!(
            "fabric = \"{fabric}\"\ndepth = \"{depth}\"\nhosts = \"slingshot\"\n[routes]\nengine = \"minhop\"\n\
             [[job]]\ntraffic = \"{traffic}\"\nper-node = 8\n{plane}\n"
        );
        let file = ScenarioFile::parse(&text, "s.toml").expect("a scenario");
        let case = file.resolve(&none(), &mut ()).map_err(|e| e.to_string())?;
        case.run(None, &mut |_| ()).map_err(|e| e.describe(&case.jobs, &case.loaded.topology))
    };
    let joined = |hosts: u32| format!("rails:hosts_per_unit={hosts},nics=8,spines=1");
    let apart = |hosts: u32| format!("rails:hosts_per_unit={hosts},nics=8,spines=0");
    for call in ["allreduce,crossnic=0", "allgather", "alltoall", "allreduce,algorithm=nvlstree"] {
        let call = format!("nccl:op={call},bytes=1MiB");
        for depth in ["count", "flow", "packet"] {
            let one = traffic(&joined(4), depth, &call, "").expect("it runs");
            let other = traffic(&apart(4), depth, &call, "plane = \"rails\"").expect("it runs");
            assert_eq!(other.runs, one.runs, "{call} {depth}");
            assert_eq!(other.pairs, one.pairs, "{call} {depth}");
        }
    }
    // A ring of an odd number of hosts that alternates between two NICs crosses once; trees, at every host.
    let odd = "nccl:op=allreduce,bytes=1MiB,algorithm=ring";
    traffic(&joined(5), "flow", odd, "").expect("spines join rails");
    let lost = traffic(&apart(5), "flow", odd, "plane = \"rails\"").expect_err("no cable");
    assert!(
        lost.contains("rank 32 on plane 1 sends to rank 1 of another host on plane 2"),
        "{lost}"
    );
    let kept = format!("{odd},crossnic=0");
    traffic(&apart(5), "flow", &kept, "plane = \"rails\"").expect("each channel keeps to its rail");
}
