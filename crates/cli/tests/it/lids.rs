//! Tables with several LIDs a port: every command reads the written tables.

use std::fs;

use crate::simulate::{near, number};
use crate::{folder, run_in};

/// Engines that use each LID differently, by source, by message, or not at all, with their LMC.
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

#[test]
fn one_service_level_a_host() {
    let dir = folder(&[]);
    let d = dir.path();
    let torus = "torus:dims=6x6,t=2";
    let made = run_in(d, &format!("route {torus} -e torus --layer-by source -o set -q"));
    assert_eq!(made.code, 0, "{}", made.err);
    let hosts = std::fs::read_to_string(d.join("set/host-sl")).expect("a file");
    assert_eq!(hosts.lines().filter(|line| line.starts_with("0x")).count(), 72);
    assert_eq!(run_in(d, &format!("check {torus} --routes set -q")).code, 0);
    // The levels of hosts alone say as much.
    let line = format!("check {torus} --routes set/lfts.dump --guid2lid set/guid2lid");
    assert_eq!(run_in(d, &format!("{line} -q")).code, 1);
    assert_eq!(run_in(d, &format!("{line} --sl set/host-sl -q")).code, 0);
    // Missing, duplicate, or unassigned entries.
    for (from, to, expected) in [
        ("0x", "0y", "not the GUID of a port"),
        (" 0 ", " 16 ", "not the GUID of a port and a service level"),
        ("0x00002", "0x00007", "no port of the fabric"),
    ] {
        std::fs::write(d.join("odd"), hosts.replacen(from, to, 3)).expect("a file");
        let odd = run_in(d, &format!("{line} --sl odd"));
        assert!(odd.err.contains("odd: line") && odd.err.contains(expected), "{}", odd.err);
    }
    std::fs::write(d.join("odd"), "hosts\n0x1 2\n").expect("a file");
    let foreign = run_in(d, &format!("{line} --sl odd"));
    assert_eq!(foreign.code, 3, "{}", foreign.err);
    // Too few lanes are a refusal with their number.
    let few = run_in(d, &format!("route {torus} -e dfsssp --layer-by source --lanes 2"));
    assert!(
        few.code == 4 && few.out.contains("lanes with one service level a host"),
        "{}",
        few.out
    );
}

/// A dump of tables and one of the fabric that were taken at different times do not belong together.
#[test]
fn tables_with_other_lids_than_the_fabric_are_found() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, "route kary:k=4,n=2 -e ftree -o old -q").code, 0);
    let fabric = fs::read_to_string(d.join("old/fabric.topo")).expect("written");
    let swapped =
        fabric.replace("lid 1 ", "lid @ ").replace("lid 2 ", "lid 1 ").replace("lid @ ", "lid 2 ");
    fs::write(d.join("swapped.topo"), swapped).expect("written");
    assert_eq!(run_in(d, "check old/fabric.topo --routes old/lfts.dump -q").code, 0);
    let found = run_in(d, "check swapped.topo --routes old/lfts.dump");
    assert_eq!(found.code, 1, "{}", found.out);
    assert!(found.out.contains("2 ports have other LIDs"), "{}", found.out);
    assert!(found.err.contains("2 ports have other LIDs"), "{}", found.err);
    // A set brings its LIDs along: they are what the fabric is to get.
    let planned = run_in(d, "check swapped.topo --routes old");
    assert_eq!(planned.code, 0, "{}", planned.out);
    let examined = run_in(d, "doctor swapped.topo --routes old");
    assert!(
        examined.code == 1 && examined.out.contains("2 other than in the tables"),
        "{}",
        examined.out
    );
}

/// `survive` counts as `reroute` does, of pairs that are left.
#[test]
fn loads_after_a_dead_switch_are_those_of_who_is_left() {
    let dir = folder(&[]);
    let fabric = "fattree2:n=6,m=3,r=6";
    for lmc in [0, 1] {
        let run = |arguments: String| run_in(dir.path(), &arguments);
        assert_eq!(run(format!("route {fabric} -e ftree --lmc {lmc} -o v{lmc} -q")).code, 0);
        let set = format!("v{lmc}/fabric.topo --routes v{lmc}");
        let book = run(format!("survive {set} --faults switches --format json -q")).json();
        let pages = book["faults"].as_array().expect("a list").clone();
        assert!(pages.len() > 6, "{book}");
        let mut compared = 0;
        for page in pages.iter().take(4) {
            let Some(load) = page["efi_max"].as_u64() else { continue };
            let guid = page["id"].as_str().expect("a switch");
            let after = run(format!("reroute {set} --fail {guid} --format json -q")).json();
            assert_eq!(after["after"]["efi"]["max"].as_u64(), Some(load), "LMC {lmc}: {page}");
            compared += 1;
        }
        assert!(compared > 0, "{book}");
    }
}
