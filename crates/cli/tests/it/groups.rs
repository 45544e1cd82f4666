//! Groups of ports (adaptive routing) and rails, from the command line.

use crate::{folder, run, run_in};

/// A fabric without rails is refused with a definition of rails; separate rails are no finding.
#[test]
fn rails_are_needed_and_may_be_apart() {
    let none = run("rails kary:k=4,n=2 -e rails -q");
    assert_eq!(none.code, 3, "{}", none.err);
    assert!(none.err.contains("there are no rails"), "{}", none.err);
    let apart = run("rails rails:hosts_per_unit=4,spines=0,nics=4 -e rails -q --format json");
    assert_eq!(apart.code, 0, "{}", apart.err);
    let pairs = &apart.json()["pairs"];
    assert_eq!((pairs["kept"].as_u64(), pairs["apart"].as_u64()), (Some(48), Some(144)));
    assert_eq!((pairs["crossing"].as_u64(), pairs["lost"].as_u64()), (Some(0), Some(0)));
}

/// Tables with groups are written, read from the directory and from the file alone, and proved.
#[test]
fn groups_are_written_and_read() {
    let dir = folder(&[]);
    let made = run_in(dir.path(), "route torus:dims=4x4,t=2 -e ar_updn -o made -q --format json");
    assert_eq!(made.code, 0, "{}", made.err);
    let json = made.json();
    let groups = json.get("groups").unwrap_or(&json["engines"][0]["groups"]).clone();
    assert_eq!(groups["deadlock_free"], true);
    for routes in ["made", "made/groups.far"] {
        let line = format!("check made/fabric.topo --routes {routes} -q --format json");
        let read = run_in(dir.path(), &line);
        assert_eq!(read.code, 0, "{}", read.err);
        let mut own = read.json()["groups"].clone();
        own["expected_max"] = groups["expected_max"].clone();
        own["expected_mean"] = groups["expected_mean"].clone();
        assert_eq!(own, groups, "{routes}");
    }
}

/// Hashes over the groups of an engine, at all depths alike; an engine without groups is refused.
#[test]
fn scenarios_hash_among_groups() {
    let scenario = "\
fabric = \"torus:dims=4x4,t=1\"
[routes]
engine = \"ar_updn\"
ecmp = \"crc32\"
[[job]]
traffic = \"mpigraph:bytes=64KiB\"
nodes = 16
";
    let dir = folder(&[("s.toml", scenario)]);
    let fullest = |depth: &str| {
        let found =
            run_in(dir.path(), &format!("simulate s.toml --depth {depth} -q --format json"));
        assert_eq!(found.code, 0, "{}", found.err);
        let json = found.json();
        assert_eq!(json["routes"], "ecmp crc32 over ar_updn");
        let rows = json["fullest"].as_array().expect("a list").clone();
        let row = |c: &serde_json::Value| {
            ["from", "from_port", "bytes"].map(|key| c[key].to_string()).join(" ")
        };
        let mut rows: Vec<String> = rows.iter().map(row).collect();
        rows.sort();
        rows
    };
    let count = fullest("count");
    assert!(!count.is_empty());
    assert_eq!(count, fullest("flow"));
    assert_eq!(count, fullest("packet"));
    let without = scenario.replace("ar_updn", "minhop");
    let dir = folder(&[("s.toml", &without)]);
    let found = run_in(dir.path(), "simulate s.toml -q");
    assert_eq!(found.code, 3, "{}", found.err);
    assert!(found.err.contains("has no groups of ports"), "{}", found.err);
}

/// Groups of a two-level tree in which the first spine may send LID 5 to another leaf, which sends it back.
fn with_a_loop(groups: &str) -> String {
    let at = groups.find("Switch 0x0000500000020001").expect("the first spine");
    let (before, spine) = groups.split_at(at);
    let more = spine
        .replacen("LFT Definition", "9      0          0     2,3,\nLFT Definition", 1)
        .replacen("0x0005  2            Static     0", "0x0005  2            Free       9", 1);
    format!("{before}{more}")
}

/// Groups with an extra port can loop: hashes over them are refused, at every depth; groups of another fabric are never proved;
/// commands that use static ports only report it.
#[test]
fn groups_that_loop_or_do_not_fit_are_refused() {
    let dir = folder(&[(
        "s.toml",
        "\
fabric = \"made/fabric.topo\"
[routes]
tables = \"broken.far\"
ecmp = \"jenkins:seed=switch\"
[[job]]
traffic = \"mpigraph:bytes=64KiB\"
nodes = 12
",
    )]);
    let made = run_in(dir.path(), "route fattree2:n=4,m=2,r=3 -e ar_ftree -o made -q");
    assert_eq!(made.code, 0, "{}", made.err);
    let whole = std::fs::read_to_string(dir.path().join("made/groups.far")).expect("groups");
    let write = |name: &str, text: &str| {
        std::fs::write(dir.path().join(name), text).expect("written");
    };
    write("broken.far", &with_a_loop(&whole));
    for depth in ["count", "flow", "packet"] {
        let found = run_in(dir.path(), &format!("simulate s.toml --depth {depth} -q"));
        assert_eq!(found.code, 3, "{depth}: {}", found.err);
        assert!(found.err.contains("lead into loops to 1 destinations"), "{}", found.err);
    }
    write("other.far", &whole.replace("Switch 0x0000", "Switch 0x7777"));
    let found = run_in(dir.path(), "check made/fabric.topo --routes made --groups other.far -q");
    assert_eq!(found.code, 3, "{} {}", found.out, found.err);
    assert!(found.err.contains("0 of the 5 switches with groups"), "{}", found.err);
    // A transition between tables of which some have groups holds whichever ports switches pick meanwhile, or is refused.
    let torus = "torus:dims=3x3,t=1";
    for (engine, roots, out) in [
        ("dor --lanes 1", "", "plain"),
        ("ar_updn", "--roots 0x0000500000100007", "groups"),
        ("updn", "--roots 0x0000500000100007", "static"),
    ] {
        let made = run_in(dir.path(), &format!("route {torus} -e {engine} {roots} -o {out} -q"));
        assert_eq!(made.code, 0, "{out}: {}", made.err);
    }
    let way = |from: &str, to: &str| {
        run_in(dir.path(), &format!("check {torus} --from {from} --routes {to} --format json"))
    };
    for (from, to) in [("plain", "groups"), ("groups", "plain")] {
        let found = way(from, to);
        assert_eq!(found.code, 1, "{from} to {to}: {} {}", found.out, found.err);
        assert!(
            found
                .err
                .contains("groups of ports of the old and the new tables together can deadlock"),
            "{}",
            found.err
        );
    }
    for (from, to) in [("static", "groups"), ("groups", "static"), ("groups", "groups")] {
        let found = way(from, to);
        assert_eq!(found.code, 0, "{from} to {to}: {} {}", found.out, found.err);
        assert!(found.err.contains("whichever port of old and new groups"), "{}", found.err);
        let expected = if from == to { "nothing-changes" } else { "any-order" };
        assert_eq!(found.json()["verdict"], expected, "{from} to {to}");
    }
    // An entry that only one of both has may be where the other one leads.
    for (engine, out) in [("ftree", "whole"), ("ar_ftree", "spread")] {
        let made = run_in(dir.path(), &format!("route made/fabric.topo -e {engine} -o {out} -q"));
        assert_eq!(made.code, 0, "{}", made.err);
    }
    let way = |from: &str| {
        let line = format!("check made/fabric.topo --from {from} --routes spread --format json");
        run_in(dir.path(), &line)
    };
    assert_eq!(way("whole").code, 0, "{}", way("whole").err);
    std::fs::remove_file(dir.path().join("whole/route.json")).expect("it is there");
    let lfts = dir.path().join("whole/lfts.dump");
    let text = std::fs::read_to_string(&lfts).expect("tables");
    let spine = text.find("switch Lid 17 ").expect("the second spine");
    let (before, of_spine) = text.split_at(spine);
    let entry =
        of_spine.lines().find(|line| line.starts_with("0x0005 ")).expect("LID 5").to_owned();
    std::fs::write(&lfts, before.to_owned() + &of_spine.replacen(&format!("{entry}\n"), "", 1))
        .expect("written");
    let found = way("whole");
    assert_eq!(found.code, 1, "{} {}", found.out, found.err);
    assert!(found.err.contains("together can lead nowhere"), "{}", found.err);
    let found = run_in(dir.path(), "reroute made/fabric.topo --routes made --fail-links 1");
    assert!(found.err.contains("groups of ports are left aside here"), "{}", found.err);
}

/// A group that leads a packet to another host, or away from the switch of its own, is no group to prove anything of; and a way to
/// tables whose groups loop is refused.
#[test]
fn groups_that_lead_astray_are_errors() {
    let dir = folder(&[]);
    let made = run_in(dir.path(), "route kary:k=3,n=2 -e ar_ftree -o made -q");
    assert_eq!(made.code, 0, "{}", made.err);
    let whole = std::fs::read_to_string(dir.path().join("made/groups.far")).expect("groups");
    for (from, to, why) in [
        (
            "0x0001  1            Static     0",
            "0x0001  1            Free       1",
            "leads away from its own switch",
        ),
        ("4,5,6,", "4,5,6,2,", "leads to another host"),
    ] {
        assert!(whole.contains(from), "{from}");
        std::fs::write(dir.path().join("broken.far"), whole.replacen(from, to, 1))
            .expect("written");
        let found =
            run_in(dir.path(), "check made/fabric.topo --routes made --groups broken.far -q");
        assert_eq!(found.code, 3, "{} {}", found.out, found.err);
        assert!(found.err.contains(why) && found.err.contains("line "), "{}", found.err);
    }
    assert_eq!(run_in(dir.path(), "check made/fabric.topo --from made --routes made -q").code, 0);
    let made = run_in(dir.path(), "route fattree2:n=4,m=2,r=3 -e ar_ftree -o two -q");
    assert_eq!(made.code, 0, "{}", made.err);
    let whole = std::fs::read_to_string(dir.path().join("two/groups.far")).expect("groups");
    std::fs::write(dir.path().join("loops.far"), with_a_loop(&whole)).expect("written");
    let line = "check two/fabric.topo --from two --routes two --groups loops.far -q";
    let found = run_in(dir.path(), line);
    assert_eq!(found.code, 1, "{} {}", found.out, found.err);
    assert!(found.err.contains("groups of ports of the new tables can loop"), "{}", found.err);
}
