//! `darkfiber fabric`.

use insta::assert_snapshot;

use crate::{PAIR, folder, run, run_in};

#[test]
fn json_keys() {
    let result = run("fabric hyperx:dims=4x3,t=2 --format json");
    assert_eq!((result.code, result.err.as_str()), (0, ""));
    let json = result.json();
    let number = |key: &str| json[key].as_u64().unwrap_or_else(|| panic!("{key}: {json}"));
    assert_eq!(number("switches"), 12);
    assert_eq!(number("terminals"), 24);
    assert_eq!(number("compute_terminals"), 24);
    assert_eq!(number("hosts"), 24);
    assert_eq!(number("switch_links"), 3 * 6 + 4 * 3);
    assert_eq!(number("links"), 30 + 24);
    assert_eq!(number("components"), 1);
    assert_eq!(number("diameter"), 2);
    for key in ["version", "command", "fabric_digest"] {
        assert!(json["provenance"][key].is_string(), "{key}");
    }
    assert_eq!(json["provenance"]["seed"], 1);
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(0));
}

#[test]
fn the_table_for_people() {
    let dir = folder(&[("pair.topo", PAIR)]);
    assert_snapshot!(run_in(dir.path(), "fabric pair.topo").out, @"
    pair
      switches           2
      terminals          2   (2 compute)
      hosts              2
      links              3   (1 between switches, 2 to terminals)
      components         1
      diameter           1   (switch-to-switch hops)
      structure          full mesh of 2 switches
      shape              2 HyperX
      digest             0x6e65e9c7d58aada3

    link speed  Gbit/s  switch links  terminal links
    ----------- ------- ------------- ---------------
    4xQDR         32.0             1               2
    ");
}

#[test]
fn every_form_that_is_written_can_be_read_back() {
    let dir = folder(&[]);
    let original = run("fabric torus:dims=3x3,t=2 --format json").json();
    for file in ["net.topo", "net.json", "net.edges", "net.topo.gz", "net.json.zst"] {
        let made = run_in(dir.path(), &format!("fabric torus:dims=3x3,t=2 -o {file} -q"));
        assert_eq!((made.code, made.err.as_str()), (0, ""), "{file}");
        let read = run_in(dir.path(), &format!("fabric {file} --format json -q"));
        assert_eq!(read.code, 0, "{file}: {}", read.err);
        for key in ["switches", "terminals", "switch_links", "links", "components", "diameter"] {
            assert_eq!(read.json()[key], original[key], "{file}: {key}");
        }
    }
    let dot = run("fabric torus:dims=3x3,t=2 --to dot");
    assert!(dot.out.starts_with("graph"), "{}", dot.out);
}

#[test]
fn links_fail_by_seed() {
    let digest = |line: &str| {
        let json = run(&format!("fabric @t2hx-hyperx-full {line} --format json")).json();
        assert_eq!(json["components"], 1);
        (json["switch_links"].as_u64(), json["provenance"]["fabric_digest"].to_string())
    };
    assert_eq!(digest("--fail-links 15"), digest("--fail-links 15 --seed 1"));
    assert_ne!(digest("--fail-links 15"), digest("--fail-links 15 --seed 2"));
    assert_eq!(digest("--fail-links 15").0, Some(864 - 15));
    let too_many = run("fabric torus:dims=3x3,t=1 --fail-links 11");
    assert_eq!(too_many.code, 4);
    assert_snapshot!(too_many.err, @"
    error: 11 cables cannot fail: the fabric falls apart after 10
    hint: take away fewer cables
    ");
}

#[test]
fn named_faults_and_roles() {
    let dir = folder(&[
        ("pair.topo", PAIR),
        ("dead", "0x0002c90000000101 8  # the cable between the switches\n"),
        ("storage", "0x2c90000000212\n"),
    ]);
    let dead = run_in(dir.path(), "fabric pair.topo --fail dead --format json");
    assert_eq!((dead.code, &dead.json()["components"]), (1, &2.into()));
    let counted =
        "   GUID 0x2c90000000102 port 8: [SymbolErrorCounter == 10001] [LinkDownedCounter == 1]\n";
    std::fs::write(dir.path().join("errors"), counted).expect("a file");
    let bad = run_in(dir.path(), "fabric pair.topo --fail errors --format json");
    assert_eq!((bad.code, &bad.json()["components"]), (1, &2.into()));
    assert!(bad.err.contains("line 1: note: 1 cable with more than 10000"), "{}", bad.err);
    let fine = run_in(dir.path(), "fabric pair.topo --fail errors --symbol-errors 10001");
    assert_eq!(fine.code, 0, "{}", fine.err);
    let alone = run_in(dir.path(), "fabric pair.topo --symbol-errors 10001");
    assert_eq!(alone.code, 2, "{}", alone.err);
    std::fs::write(dir.path().join("errors"), counted.replace("102", "103")).expect("a file");
    let strange = run_in(dir.path(), "fabric pair.topo --fail errors");
    assert_eq!(strange.code, 3);
    assert!(strange.err.contains("1 of 1 ports are not in the fabric"), "{}", strange.err);
    let roles = run_in(dir.path(), "fabric pair.topo --storage storage --format json");
    assert_eq!((roles.code, &roles.json()["compute_terminals"]), (0, &1.into()));
    let none = run_in(dir.path(), "fabric pair.topo --compute 0x77");
    assert_eq!(none.code, 3);
    assert!(none.err.contains("none of its 1 GUIDs is in the fabric"), "{}", none.err);
}

#[test]
fn anonymous_copies_hold_no_name_and_keep_every_metric() {
    let dir = folder(&[("pair.topo", PAIR), ("jobs.txt", "17 alice cn1,cn2 RUNNING\n")]);
    let d = dir.path();
    assert_eq!(run_in(d, "route pair.topo -e minhop -o tables -q").code, 0);
    let line =
        "fabric pair.topo --anonymise --seed 5 -o out/f.topo --tables tables --jobs jobs.txt -q";
    let made = run_in(d, line);
    assert_eq!(made.code, 0, "{}", made.err);
    for file in ["f.topo", "tables/lfts.dump", "tables/fdbs", "tables/guid2lid", "jobs.txt"] {
        let text = std::fs::read_to_string(d.join("out").join(file)).expect(file);
        for secret in
            ["left", "right", "cn1 ", "cn2 ", "2c9000000010", "2c9000000020", "2c9000000021"]
        {
            assert!(!text.contains(secret), "{file} has {secret}: {text}");
        }
    }
    let metrics = |fabric: &str, routes: &str| {
        let mut json = run_in(d, &format!("check {fabric} --routes {routes} --format json")).json();
        for key in ["fabric", "provenance"] {
            json.as_object_mut().expect("an object").remove(key);
        }
        json
    };
    assert_eq!(metrics("pair.topo", "tables"), metrics("out/f.topo", "out/tables"));

    let lists = folder(&[
        ("pair.topo", PAIR),
        ("good.txt", "17 cn1 RUNNING\n"),
        ("jobs.txt", "17 cn[1-2] RUNNING\n"),
    ]);
    let line = "fabric pair.topo --anonymise -o out/f.topo --jobs good.txt jobs.txt";
    let refused = run_in(lists.path(), line);
    assert_eq!(refused.code, 3);
    assert!(!lists.path().join("out/good.txt").exists(), "a part was written");
    assert!(refused.err.contains("scontrol show hostnames"), "{}", refused.err);
    let over = run_in(lists.path(), "fabric pair.topo --anonymise -o f.topo --jobs jobs.txt");
    assert_eq!(over.code, 2, "{}", over.err);
}

#[test]
fn networks_in_two_binary_files() {
    let numbers = |n: [u8; 4]| n.map(|n| format!("{}\0\0\0", char::from(n))).concat();
    // Two groups of a leaf and a spine.
    let (inter, intra) = (numbers([1, 3, 3, 1]), numbers([0, 1, 1, 0]));
    let dir = folder(&[("x_inter.bin", &inter), ("x_intra.bin", &intra)]);
    let run = run_in(dir.path(), "fabric x_intra.bin --hosts-per-switch 2 --format json");
    assert_eq!(run.code, 0, "{}", run.err);
    let json = run.json();
    assert_eq!((&json["switches"], &json["terminals"]), (&4.into(), &4.into()));
    assert_eq!(json["shape"], "dragonfly+, 2 groups, 4 switches");
    std::fs::remove_file(dir.path().join("x_intra.bin")).expect("it is there");
    let half = run_in(dir.path(), "fabric x_inter.bin");
    assert_eq!(half.code, 3);
    assert!(half.err.contains("cannot read x_intra.bin"), "{}", half.err);
}

/// `a b` and `b a` are one cable listed twice only where they are of one rate.
#[test]
fn cables_of_two_rates_are_two() {
    for (second, cables) in [("4xEDR", 1), ("4xNDR", 2)] {
        let text = format!("s0 s1 4xEDR\ns1 s0 {second}\nhost a s0 4xHDR\nhost b s1 4xHDR\n");
        let dir = folder(&[("o.edges", &text)]);
        let found = run_in(dir.path(), "fabric o.edges -q --format json");
        assert_eq!(found.code, 0, "{}", found.err);
        let json = found.json();
        let links =
            json["switch_links"].as_u64().or_else(|| json["fabric"]["switch_links"].as_u64());
        assert_eq!(links, Some(cables), "{json}");
    }
}
