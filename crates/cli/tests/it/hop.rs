//! Lanes that switches choose by input and output port.

use std::fs;
use std::path::Path;

use crate::{folder, run, run_in};

const DRAGONFLY: &str = "dragonfly:p=2,a=4,h=2";

#[test]
fn lanes_by_hop_are_written_proved_and_read_back() {
    let dir = folder(&[]);
    let d = dir.path();
    let made = run_in(
        d,
        &format!("route {DRAGONFLY} -e dragonfly-min --layer-by hop -o set -q --format json"),
    );
    assert_eq!(made.code, 0, "{}", made.err);
    let made = made.json();
    assert_eq!((&made["layers"], &made["deadlock_free"]), (&2.into(), &true.into()));
    let lanes = fs::read_to_string(d.join("set/sl2vl")).expect("a file");
    assert_eq!(lanes.lines().filter(|line| line.starts_with("Switch 0x")).count(), 36);
    assert!(!d.join("set/path-sl").exists() && !d.join("set/host-sl").exists());
    let manifest = fs::read_to_string(d.join("set/route.json")).expect("a file");
    assert!(manifest.contains("\"sl2vl\": {"), "its digest is listed");

    let read = run_in(d, &format!("check {DRAGONFLY} --routes set -q --format json")).json();
    assert_eq!(read["deadlock_free"], true);
    assert_eq!(read["layers"], 2);
    // Without them all is in lane 0, and can deadlock; with them named, as with the set.
    let line = format!("check {DRAGONFLY} --routes set/lfts.dump --guid2lid set/guid2lid");
    assert_eq!(run_in(d, &format!("{line} -q")).code, 1);
    assert_eq!(run_in(d, &format!("{line} --sl2vl set/sl2vl -q")).code, 0);
    // Others read the set, too.
    for command in ["measure", "load"] {
        let other = run_in(d, &format!("{command} {DRAGONFLY} --routes set -q"));
        assert_eq!(other.code, 0, "{command}: {}", other.err);
    }
    // A set that was altered is refused.
    fs::write(d.join("set/sl2vl"), lanes.replacen(" 1 ", " 0 ", 1)).expect("written");
    let altered = run_in(d, &format!("check {DRAGONFLY} --routes set -q"));
    assert!(altered.code == 3 && altered.err.contains("sl2vl"), "{}", altered.err);
}

#[test]
fn odd_lanes_are_said_with_file_and_line() {
    let dir = folder(&[]);
    let d = dir.path();
    run_in(d, &format!("route {DRAGONFLY} -e dragonfly-min --layer-by hop -o set -q"));
    let lanes = fs::read_to_string(d.join("set/sl2vl")).expect("a file");
    let line = format!("check {DRAGONFLY} --routes set/lfts.dump --guid2lid set/guid2lid");
    for (from, to, expected) in [
        ("0   1   : ", "0   1   : x", "is no entry of an SL2VL table"),
        ("Switch 0x0000", "Switch 0x0077", "is not in the fabric"),
        ("1   2   :", "1   88  :", "port 88 of switch"),
    ] {
        fs::write(d.join("odd"), lanes.replacen(from, to, 1)).expect("written");
        let odd = run_in(d, &format!("{line} --sl2vl odd"));
        assert!(odd.err.contains("odd: line") && odd.err.contains(expected), "{}", odd.err);
    }
    fs::write(d.join("odd"), "Switch 0x77, base LID 1, \"x\"\n").expect("written");
    let foreign = run_in(d, &format!("{line} --sl2vl odd"));
    assert!(foreign.code == 3 && foreign.err.contains("this fabric"), "{}", foreign.err);
    let both = run_in(d, &format!("{line} --sl2vl set/sl2vl --sl set/sl2vl"));
    assert!(both.code == 3 && both.err.contains("service levels"), "{}", both.err);
}

/// OpenSM's torus-2QoS on a torus that lacks a switch: lanes depend on service level and ports. ibdmchk found no credit loop in it
/// (its files are of tests/data/opensm); with lane = service level there would be one.
#[test]
fn lanes_by_service_level_and_ports_are_judged() {
    let data =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/opensm/torus5x4x3_2qos");
    let dir = folder(&[]);
    let d = dir.path();
    for (from, to) in [
        ("ibnetdiscover.gz", "fabric.topo.gz"),
        ("lfts.dump.gz", "opensm-lfts.dump"),
        ("sl.txt.gz", "sl.txt.gz"),
        ("opensm-sl2vl.dump.gz", "lanes"),
    ] {
        fs::copy(data.join(from), d.join(to)).expect("shipped");
    }
    let line = "check fabric.topo.gz --routes opensm-lfts.dump --sl sl.txt.gz";
    let both = run_in(d, &format!("{line} --sl2vl lanes --format json -q"));
    assert_eq!((both.code, both.err.as_str()), (0, ""));
    let json = both.json();
    assert_eq!((json["layers"].as_u64(), json["deadlock_free"].as_bool()), (Some(4), Some(true)));
    // Without lanes no verdict is given.
    let alone = run_in(d, line);
    assert!(alone.code == 3 && alone.err.contains("torus-2QoS"), "{}", alone.err);
    assert!(alone.err.contains("--sl2vl"), "{}", alone.err);
    // Levels whose engine nobody names are taken as lanes, and deadlock; beside a dump that says otherwise with a warning.
    let levels = levels_without_engine(&d.join("sl.txt.gz"));
    fs::write(d.join("levels"), levels).expect("written");
    let line = "check fabric.topo.gz --routes opensm-lfts.dump --sl levels -q";
    let assumed = run_in(d, line);
    assert_eq!((assumed.code, assumed.err.contains("switches have other lanes")), (1, false));
    fs::rename(d.join("lanes"), d.join("opensm-sl2vl.dump")).expect("renamed");
    let beside = run_in(d, &line.replace(" -q", ""));
    assert!(beside.code == 1 && beside.err.contains("switches have other lanes"), "{}", beside.err);
    // Tables in place can be mended only where lanes do not depend on ports.
    let mended = run_in(
        d,
        "reroute fabric.topo.gz --routes opensm-lfts.dump --sl sl.txt.gz --sl2vl opensm-sl2vl.dump --fail 0x000050000010000b:3",
    );
    assert!(mended.code == 4 && mended.out.is_empty(), "{}", mended.err);
}

/// A matrix of service levels without the line that names the engine.
fn levels_without_engine(path: &Path) -> String {
    let bytes = fs::read(path).expect("a file");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text)
        .expect("text");
    text.split_once('\n').expect("lines").1.to_owned()
}

#[test]
fn a_cycle_through_several_lanes_is_shown_with_them() {
    let dir = folder(&[]);
    let d = dir.path();
    run_in(d, &format!("route {DRAGONFLY} -e dragonfly-min --layer-by hop -o set -q"));
    // Lanes of one switch are changed about.
    let lanes = fs::read_to_string(d.join("set/sl2vl")).expect("a file");
    let other: String = lanes
        .lines()
        .enumerate()
        .map(|(i, line)| match line.split_once(" : ") {
            Some((ports, _)) if i % 3 > 0 && !line.starts_with('#') => {
                format!("{ports} : {}\n", [(i % 2).to_string().as_str(); 16].join(" "))
            }
            _ => format!("{line}\n"),
        })
        .collect();
    fs::write(d.join("odd"), other).expect("written");
    let line = format!("check {DRAGONFLY} --routes set/lfts.dump --guid2lid set/guid2lid");
    let found = run_in(d, &format!("{line} --sl2vl odd"));
    assert_eq!(found.code, 1, "{}", found.err);
    assert!(found.out.contains("have together a cycle"), "{}", found.out);
    assert!(found.out.contains(", lane 0") && found.out.contains(", lane 1"), "{}", found.out);
}

#[test]
fn what_does_not_know_lanes_by_hop_says_so() {
    let dir = folder(&[]);
    let d = dir.path();
    let made = run_in(d, &format!("route {DRAGONFLY} -e dragonfly-min --layer-by hop -o set -q"));
    assert_eq!(made.code, 0, "{}", made.err);
    let made = run_in(d, &format!("route {DRAGONFLY} -e updn -o one -q"));
    assert_eq!(made.code, 0, "{}", made.err);
    for (command, code) in [
        ("check FABRIC --from one --routes set", 3),
        ("check FABRIC --from set --routes one", 3),
        ("reroute FABRIC --routes set --fail-links 1", 4),
        ("survive FABRIC --routes set", 4),
    ] {
        let refused = run_in(d, &format!("{} -q", command.replace("FABRIC", DRAGONFLY)));
        assert_eq!(refused.code, code, "{command}: {}", refused.err);
        assert!(refused.err.contains("sl2vl"), "{command}: {}", refused.err);
    }
    let refused = run(&format!("route {DRAGONFLY} -e dfsssp --layer-by hop --survive 90"));
    assert_eq!(refused.code, 2, "{}", refused.err);
    let refused = run(&format!("route {DRAGONFLY} -e dfsssp --layer-by hop --protect"));
    assert_eq!(refused.code, 2, "{}", refused.err);
    // A long ring has no lanes by hop, and the next engine of a chain is taken.
    let ring = run("route torus:dims=8x8,t=1 -e torus --layer-by hop");
    assert!(ring.code == 4 && ring.out.contains("turns form a cycle"), "{}", ring.out);
    let chain = run("route torus:dims=8x8,t=1 -e torus+updn --layer-by hop -q --format json");
    assert_eq!(chain.code, 0, "{}", chain.err);
    assert_eq!(chain.json()["layers"], 1);
}

#[test]
fn packets_take_the_lanes_of_switches() {
    let dir = folder(&[]);
    let d = dir.path();
    run_in(d, &format!("route {DRAGONFLY} -e dragonfly-min --layer-by hop -o set -q"));
    let scenario = format!(
        "fabric = \"{DRAGONFLY}\"\ndepth = \"packet\"\nhosts = \"qdr\"\n[routes]\ntables = \"set\"\n\
         [[job]]\ntraffic = \"alltoall:bytes=16KiB\"\nnodes = 24\n"
    );
    fs::write(d.join("s.toml"), scenario).expect("written");
    let run = run_in(d, "simulate s.toml -q --format json");
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.json()["layers"], 2);
}
