//! `darkfiber reroute`.

use serde_json::Value;

use crate::{folder, run_in};

const SELENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/selene-compute.topo.gz");

fn number(json: &Value, key: &str) -> u64 {
    json[key].as_u64().unwrap_or_else(|| panic!("{key}: {json}"))
}

#[test]
fn a_fault_becomes_tables() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, "route kary:k=4,n=3 -e updn -o old -q").code, 0);
    let line = "reroute kary:k=4,n=3 --routes old --fail-links 1 --seed 3 --compare -o new";
    let made = run_in(d, &format!("{line} --format json"));
    assert_eq!(made.code, 0, "{}", made.err);
    let json = made.json();
    assert_eq!(
        (json["method"].as_str(), json["after"]["engine"].as_str()),
        (Some("mended"), Some("updn"))
    );
    assert_eq!(number(&json["failed"], "links"), 1);
    assert_eq!(number(&json["after"], "unreachable"), 0);
    assert_eq!(json["after"]["deadlock_free"], true);
    assert!(number(&json, "entries_changed") < number(&json["scratch"], "entries_changed"));
    let listed = json["switches"].as_array().expect("a list");
    assert_eq!(listed.len() as u64, number(&json, "switches_changed"));
    for key in ["entries", "blocks"] {
        let sum: u64 = listed.iter().map(|s| number(s, key)).sum();
        assert_eq!(sum, number(&json, &format!("{key}_changed")));
    }
    assert!(json["seconds_prepare"].is_number() && json["seconds_compute"].is_number());
    assert!(json["coexistence"]["verdict"].is_string());

    // The written tables are the measured ones, keep the LIDs, and can be repaired again.
    let checked = run_in(d, "check new/fabric.topo --routes new --format json");
    assert_eq!(checked.code, 0, "{}", checked.err);
    for key in ["pairs", "unreachable", "loops", "hops", "layers", "efi", "dark_fiber_percent"] {
        assert_eq!(checked.json()[key], json["after"][key], "{key}");
    }
    let lids = |name: &str| std::fs::read_to_string(d.join(name).join("guid2lid")).expect(name);
    assert_eq!(lids("old"), lids("new"));
    let again = run_in(d, "reroute new/fabric.topo --routes new --fail-links 1 --format json");
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(again.json()["after"]["engine"], "updn");

    let table = run_in(d, line);
    assert_eq!(table.code, 0);
    for word in ["coexistence", "from scratch", "EFI max", "entries", "mended"] {
        assert!(table.out.contains(word), "{word}: {}", table.out);
    }
}

#[test]
fn what_failed_is_named_in_several_ways() {
    let dir = folder(&[]);
    let d = dir.path();
    let fabric = "kary:k=3,n=2";
    assert_eq!(run_in(d, &format!("route {fabric} -e ftree -o old -q")).code, 0);
    let listed = std::fs::read_to_string(d.join("old/fabric.topo")).expect("a fabric");
    // The first switch, and its first cable to another switch.
    let head = listed.lines().find(|l| l.starts_with("Switch")).expect("a switch");
    let guid =
        format!("0x{}", head.split('"').nth(1).and_then(|s| s.strip_prefix("S-")).expect("S-"));
    let name = head.split('"').nth(3).expect("a name");
    let after = &listed[listed.find(head).expect("it was found") + head.len()..];
    let cable = after.lines().find(|l| l.starts_with('[') && l.contains("\"S-")).expect("a cable");
    let port = cable.split(['[', ']']).nth(1).expect("a port");
    std::fs::write(d.join("dead"), format!("{guid} {port} # cable\n")).expect("a file");
    let mut seen = Vec::new();
    let short = format!("0x{}:{port}", guid.trim_start_matches("0x").trim_start_matches('0'));
    let words = [format!("{guid}:{port}"), short, format!("{name}[{port}]"), "dead".to_owned()];
    for word in words {
        let made = run_in(d, &format!("reroute {fabric} --routes old --format json --fail {word}"));
        assert_eq!(made.code, 0, "{word}: {}", made.err);
        let json = made.json();
        seen.push((json["switches"].clone(), json["fabric"]["switch_links"].clone()));
    }
    assert!(seen.windows(2).all(|w| w[0] == w[1]));
    assert_eq!(seen[0].1, 8);

    // A name that looks like a port is taken for the switch that is called so.
    let odd = listed.replace(&format!("\"{name}\""), "\"odd[2]\"");
    std::fs::write(d.join("odd"), odd).expect("a file");
    for (word, left) in [("odd[2]", 5), (&*format!("odd[2][{port}]"), 6)] {
        let made = run_in(d, &format!("fabric odd --fail {word} --format json"));
        // 1: hosts of a switch that failed are cut off.
        assert!(made.code <= 1, "{word}: {}", made.err);
        assert_eq!(made.json()["switches"], left, "{word}");
    }
}

#[test]
fn what_is_not_there_cannot_fail() {
    let dir = folder(&[("dead", "0x5 1\n")]);
    let d = dir.path();
    assert_eq!(run_in(d, "route kary:k=3,n=2 -e ftree -o old -q").code, 0);
    for word in ["0x5:1", "nobody[3]", "nobody", "nobody[x]", "dead"] {
        let line = format!("reroute kary:k=3,n=2 --routes old --fail {word} -o new");
        let refused = run_in(d, &line);
        assert_eq!(refused.code, 3, "{word}: {}", refused.err);
        assert!(refused.err.starts_with("error: --fail "), "{}", refused.err);
        assert!(!d.join("new").exists());
    }
}

#[test]
fn tables_of_another_fabric_are_refused() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, "route hyperx:dims=4x4,t=2 -e updn -o old -q").code, 0);
    for fabric in ["kary:k=3,n=3", "torus:dims=4x4,t=2"] {
        let refused = run_in(d, &format!("reroute {fabric} --routes old --fail-links 1 -o new"));
        assert_eq!(refused.code, 3, "{}", refused.err);
        assert!(!d.join("new").exists());
    }
}

#[test]
fn routes_that_could_deadlock_are_not_written_unasked() {
    let dir = folder(&[]);
    let d = dir.path();
    let route = "route torus:dims=4x4,t=1 -e minhop -o old -q --allow-deadlock";
    assert_eq!(run_in(d, route).code, 0);
    let line = "reroute torus:dims=4x4,t=1 --routes old --fail-links 1 -o new";
    let refused = run_in(d, line);
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("--allow-deadlock"), "{}", refused.err);
    assert!(!d.join("new").exists());
    assert_eq!(run_in(d, &format!("{line} --allow-deadlock")).code, 0);
    assert!(d.join("new/lfts.dump").is_file());
}

#[test]
fn a_split_is_infeasible() {
    let dir = folder(&[("pair.topo", crate::PAIR)]);
    let d = dir.path();
    assert_eq!(run_in(d, "route pair.topo -e minhop -o out -q").code, 0);
    let refused = run_in(d, "reroute pair.topo --routes out --fail 0x2c90000000101:8 -o new");
    assert_eq!(refused.code, 4, "{}", refused.err);
    assert!(refused.err.contains("split"), "{}", refused.err);
    // Without the host behind it nothing is split.
    let made = run_in(d, "reroute pair.topo --routes out --fail right -o new --format json");
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!(number(&made.json(), "entries_changed"), 0);
    // With both nothing is left.
    let none = run_in(d, "reroute pair.topo --routes out --fail left --fail right -o none");
    assert_eq!(none.code, 4, "{}", none.err);
    assert!(none.err.contains("no terminal is left"), "{}", none.err);
    assert!(!d.join("none").exists());
}

#[test]
fn a_fabric_from_after_the_fault_needs_no_list() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, "route kary:k=3,n=3 -e updn -o old -q").code, 0);
    let degraded = "fabric old/fabric.topo --fail-links 2 --seed 5 -o after.topo -q";
    assert_eq!(run_in(d, degraded).code, 0);
    let made = run_in(d, "reroute after.topo --routes old -o new --format json");
    assert_eq!(made.code, 0, "{}", made.err);
    let json = made.json();
    assert!(number(&json["before"], "unreachable") > 0);
    assert_eq!(number(&json["after"], "unreachable"), 0);
    let checked = run_in(d, "check new/fabric.topo --routes new");
    assert_eq!(checked.code, 0, "{}", checked.err);
}

#[test]
fn a_cable_of_selene() {
    let dir = folder(&[]);
    let d = dir.path();
    let routed = run_in(d, &format!("route {SELENE} -e ftree -o old -q"));
    assert_eq!(routed.code, 0, "{}", routed.err);
    for seed in [1, 2] {
        let line = format!(
            "reroute {SELENE} --routes old --fail-links 1 --seed {seed} --compare --format json -q"
        );
        let made = run_in(d, &line);
        assert_eq!(made.code, 0, "{}", made.err);
        let json = made.json();
        assert_eq!(json["method"], "mended");
        assert_eq!(number(&json["after"], "unreachable"), 0);
        assert_eq!(json["after"]["deadlock_free"], true);
        let entries = |json: &Value| number(json, "entries_changed");
        assert!(entries(&json) < entries(&json["scratch"]), "{json}");
        let efi = |json: &Value| json["efi"]["max"].as_f64().expect("a load");
        assert!(efi(&json["after"]) <= 1.05 * efi(&json["scratch"]), "{json}");
    }
}

#[test]
fn what_cannot_be_mended_is_routed_anew() {
    let dir = folder(&[]);
    let d = dir.path();
    let fabric = "torus:dims=5x5,t=1";
    assert_eq!(run_in(d, &format!("route {fabric} -e nue --lanes 1 -o old -q")).code, 0);
    // Two dead cables whose detours do not fit into the one lane.
    let fault = (1..=12).map(|seed| format!("--fail-links 2 --seed {seed} --lanes 1"));
    let (fault, json) = fault
        .map(|fault| {
            let line = format!("reroute {fabric} --routes old {fault} -o new --format json");
            let made = run_in(d, &line);
            assert_eq!(made.code, 0, "{}", made.err);
            (fault, made.json())
        })
        .find(|(_, json)| json["method"] == "anew")
        .expect("a fault that mending does not bear");
    assert!(json["not_mended"].as_str().is_some_and(|why| why.contains("1 virtual layers")));
    assert_eq!(json["coexistence"]["verdict"], "drain");
    assert_eq!((number(&json["after"], "unreachable"), number(&json["after"], "layers")), (0, 1));
    let checked = run_in(d, "check new/fabric.topo --routes new --format json");
    assert_eq!(checked.code, 0, "{}", checked.err);
    assert_eq!(checked.json()["deadlock_free"], true);
    // An engine that needs more lanes, and no engine at all.
    for (tables, engine, word) in
        [("old", "-e dfsssp", "dfsssp needs"), ("old/lfts.dump", "", "--engine")]
    {
        let line = format!("reroute {fabric} --routes {tables} {engine} {fault} -o none");
        let refused = run_in(d, &line);
        assert_eq!(refused.code, 4, "{}", refused.err);
        assert!(refused.err.contains(word), "{}", refused.err);
        assert!(!d.join("none").exists());
    }
}

#[test]
fn the_comparison_uses_the_roots_of_the_old_tables() {
    let dir = folder(&[]);
    let d = dir.path();
    let fabric = "mesh:dims=4x4,t=2";
    assert_eq!(run_in(d, &format!("fabric {fabric} -o whole.topo -q")).code, 0);
    let listed = std::fs::read_to_string(d.join("whole.topo")).expect("a fabric");
    let corner = listed.lines().rfind(|l| l.starts_with("Switch")).expect("a switch");
    let corner = corner.split('"').nth(1).and_then(|s| s.strip_prefix("S-")).expect("S-");
    let roots = format!("--roots 0x{corner}");
    assert_eq!(run_in(d, &format!("route {fabric} -e updn {roots} -o old -q")).code, 0);
    let damage = "--fail-links 1 --seed 3";
    let anew = |roots: &str| {
        let made = run_in(d, &format!("route {fabric} -e updn {roots} {damage} --format json"));
        assert_eq!(made.code, 0, "{}", made.err);
        made.json()["efi"].clone()
    };
    let expected = anew(&roots);
    assert_ne!(expected, anew(""));
    // As recorded next to the tables, and as given where there is no record.
    for tables in ["old".to_owned(), format!("old/lfts.dump -e updn {roots}")] {
        let line = format!("reroute {fabric} --routes {tables} {damage} --compare --format json");
        let made = run_in(d, &line);
        assert_eq!(made.code, 0, "{}", made.err);
        assert_eq!(made.json()["scratch"]["efi"], expected, "{tables}");
    }
}

#[test]
fn service_levels_are_kept_or_nothing_is_written() {
    let dir = folder(&[]);
    let d = dir.path();
    let fabric = "dragonfly:p=2,a=4,h=2";
    assert_eq!(run_in(d, &format!("route {fabric} -e dfsssp -o old -q")).code, 0);
    let levels = |set: &str| std::fs::read(d.join(set).join("path-sl")).expect(set);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 1..=6 {
        let line = format!("reroute {fabric} --routes old --fail-links 1 --seed {seed}");
        let freely = run_in(d, &format!("{line} --move-sl --format json")).json();
        // Without either, levels stay where that can be, and tables are made all the same.
        let plain = run_in(d, &format!("{line} --format json"));
        assert_eq!(plain.code, 0, "{}", plain.err);
        let plain = plain.json();
        let made = run_in(d, &format!("{line} --keep-sl -o new{seed} --format json"));
        let json = made.json();
        let verdict = json["coexistence"]["verdict"].as_str().expect("a verdict").to_owned();
        if verdict == "reconnect" {
            assert_eq!(made.code, 1, "{}", made.err);
            assert!(made.err.contains("service levels"), "{}", made.err);
            assert!(!d.join(format!("new{seed}")).exists());
            assert!(number(&json, "paths_moved") > 0);
        } else {
            assert_eq!(made.code, 0, "{}", made.err);
            assert!(levels("old") == levels(&format!("new{seed}")));
            assert_eq!(number(&json, "paths_moved"), 0);
            let all = json["switches"].as_array().expect("a list");
            let steps = json["coexistence"]["steps"].as_u64();
            assert_eq!(all.iter().map(|s| s["step"].as_u64()).max().flatten(), steps);
        }
        assert_eq!(plain["coexistence"]["verdict"], verdict);
        assert_eq!(plain["entries_changed"], json["entries_changed"]);
        seen.insert((freely["coexistence"]["verdict"].as_str().map(str::to_owned), verdict));
    }
    // Without keeping them a repair moves paths, and reports the consequence for connections.
    let moved = Some("reconnect".to_owned());
    assert!(seen.contains(&(moved.clone(), "any-order".to_owned())), "{seen:?}");
    assert!(seen.contains(&(moved, "reconnect".to_owned())), "{seen:?}");
}

/// Where ports have several LIDs, pairs of a source and a LID are counted among such pairs: tables from before a fault are known.
#[test]
fn several_lids_are_counted_as_such() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, "route kary:k=4,n=2 -e ftree --lmc 2 -o old -q").code, 0);
    assert_eq!(run_in(d, "fabric old/fabric.topo --fail spine001 -o after.topo -q").code, 0);
    let mended = run_in(d, "reroute after.topo --routes old/lfts.dump -q --format json");
    assert_eq!(mended.code, 0, "{}", mended.err);
    let json = mended.json();
    assert_eq!((number(&json["before"], "pairs"), number(&json["before"], "paths")), (240, 960));
    assert_eq!(number(&json["before"], "unreachable"), 192);
    let found = run_in(d, "survive after.topo --routes old/lfts.dump -q");
    assert_eq!(found.code, 1, "{}", found.out);
    assert!(found.err.contains("192 of 960 pairs of a source and a LID"), "{}", found.err);

    // The largest load afterwards is that of pairs of terminals, as reroute says.
    assert_eq!(run_in(d, "route jellyfish:n=12,d=3,p=1 -e lash --lmc 1 -o l -q").code, 0);
    let book = run_in(d, "survive l/fabric.topo --routes l -q --format json").json();
    for fault in
        book["faults"].as_array().expect("a list").iter().filter(|f| f["kind"] == "cable").take(6)
    {
        let id = fault["id"].as_str().expect("a name");
        let line = format!("reroute l/fabric.topo --routes l --fail {id} -q --format json");
        let after = run_in(d, &line).json()["after"].clone();
        assert_eq!(fault["efi_max"], after["efi"]["max"], "{id}");
    }
}
