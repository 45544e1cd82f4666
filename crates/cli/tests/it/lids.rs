//! Tables with several LIDs a port: what is written is what every command then reads.

use std::fs;

use crate::simulate::{near, number};
use crate::{folder, run_in};

/// Engines that give each LID its own use, by source, by message, or none, with their LMC.
const CASES: &[(&str, &str, u8)] = &[
    ("hyperx:dims=4x4,t=2", "parx", 2),
    ("hyperx:dims=4x3,t=2", "parx-opposite", 3),
    ("hyperx:dims=4x4,t=2", "dfsssp", 1),
    ("fattree2:n=4,m=4,r=8", "smodk", 0),
    ("fattree2:n=4,m=4,r=8", "opt", 2),
    ("fattree2:n=4,m=4,r=8", "updn", 2),
];

#[test]
fn tables_in_a_folder_are_those_that_were_never_written() {
    for &(fabric, engine, lmc) in CASES {
        let what = format!("{engine} on {fabric}");
        let dir = folder(&[]);
        let lmc = if engine.starts_with("parx") { String::new() } else { format!("--lmc {lmc}") };
        let json = |arguments: &str| {
            let run = run_in(dir.path(), &format!("{arguments} -q --format json"));
            assert!(run.code <= 1, "{what}: {arguments}: {}", run.err);
            run.json()
        };
        let made = json(&format!("route {fabric} -e {engine} {lmc} -o d"));
        let read = json(&format!("check {fabric} --routes d"));
        for key in ["/pairs", "/hops/mean", "/efi/max", "/efi/stddev", "/layers"] {
            near(number(&read, key), number(&made, key));
        }
        assert_eq!(read["deadlock_free"], true, "{what}");

        let mended = json(&format!("reroute {fabric} --routes d --fail-links 1 -o e"));
        assert_eq!(mended["after"]["deadlock_free"], true, "{what}");
        assert_eq!(mended["after"]["unreachable"], 0, "{what}");
        for name in ["lid-choice", "path-bits"] {
            let file = |set: &str| fs::read_to_string(dir.path().join(set).join(name)).ok();
            assert_eq!(file("d"), file("e"), "{what}");
        }

        for (depth, lids) in [("flow", ""), ("flow", "lids = \"turns\"\n"), ("packet", "")] {
            let time = |routes: &str| {
                let scenario = format!(
                    "fabric = \"{fabric}\"\ndepth = \"{depth}\"\nhosts = \"qdr\"\n[routes]\n{lids}{routes}\n\
                     [[job]]\ntraffic = \"alltoall:bytes=64KiB\"\nnodes = 8\n"
                );
                fs::write(dir.path().join("s.toml"), scenario).expect("written");
                number(&json("simulate s.toml"), "/jobs/0/run_mean")
            };
            let lmc = lmc.replace("--lmc ", "lmc = ");
            let made = time(&format!("engine = \"{engine}\"\n{lmc}"));
            near(time("tables = \"d\""), made);
        }
    }
}
