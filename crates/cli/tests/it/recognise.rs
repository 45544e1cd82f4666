//! Fabrics read from files are recognised.

use crate::{folder, run, run_in};

#[test]
fn dmodk_routes_an_anonymous_fat_tree_as_well_as_the_generated_one() {
    let dir = folder(&[]);
    let made = run_in(dir.path(), "fabric @cab --anonymise -o a.topo -q");
    assert_eq!(made.code, 0, "{}", made.err);
    let original = run("route @cab -e dmodk --format json").json();
    let anonymous = run_in(dir.path(), "route a.topo -e dmodk --format json").json();
    for key in ["pairs", "unreachable", "hops", "efi", "layers", "deadlock_free"] {
        assert_eq!(anonymous[key], original[key], "{key}");
    }
    assert_eq!(
        anonymous["fabric"]["recognised"]["text"],
        "three-level fat-tree, 4 pods, 18 leaves each"
    );
    assert_eq!(original["fabric"].get("recognised"), None, "a generator states what it made");
}

#[test]
fn missing_cables_are_noted_and_cost_no_exit_code() {
    let dir = folder(&[]);
    let tree = "fattree2:n=8,m=8,r=16";
    run_in(dir.path(), &format!("fabric {tree} --fail-links 3 --seed 2 -o d.topo -q"));
    let result = run_in(dir.path(), "fabric d.topo --format json");
    assert_eq!(result.code, 0, "{}", result.err);
    let json = result.json();
    let found = &json["recognised"];
    assert_eq!(found["text"], "two-level fat-tree, 16 leaves, 8 spines");
    assert_eq!(found["missing"].as_array().map(Vec::len), Some(3));
    assert_eq!(found["extra"].as_array().map(Vec::len), Some(0));
    let note = &json["findings"][0];
    assert_eq!(
        (note["kind"].as_str(), note["severity"].as_str()),
        (Some("structure"), Some("note"))
    );
    assert_eq!(note["count"], 3);
    let table = run_in(dir.path(), "fabric d.topo").out;
    assert!(
        table.contains("structure          two-level fat-tree, 16 leaves, 8 spines\n"),
        "{table}"
    );
    assert!(table.contains("note: missing for a complete two-level fat-tree"), "{table}");
    // Cables that the user takes away are not looked for.
    let more = run_in(dir.path(), "fabric d.topo --fail-links 5 --format json").json();
    assert_eq!(more["recognised"], json["recognised"]);
}

#[test]
fn what_is_nothing_known_says_why_when_asked() {
    let edges: Vec<String> =
        (0..30).map(|i| format!("s{i} s{}\ns{i} s{}\n", (i + 1) % 30, (i + 2) % 30)).collect();
    let edges = edges.concat();
    let dir = folder(&[("odd.edges", &edges)]);
    let line = "fabric odd.edges --hosts-per-switch 1";
    let table = run_in(dir.path(), line);
    assert!(table.out.contains("structure          unknown (-v says why)\n"), "{}", table.out);
    let long = run_in(dir.path(), &format!("{line} -v")).out;
    assert!(long.contains("\nnot recognised:\n    fat-tree: "), "{long}");
    let json = run_in(dir.path(), &format!("{line} --format json")).json();
    assert!(json["unrecognised"].as_array().is_some_and(|all| all.len() > 5), "{json}");
    assert_eq!(json.get("recognised"), None);
}

#[test]
fn an_anonymous_copy_does_not_name_switches() {
    let dir = folder(&[]);
    run_in(dir.path(), "fabric fattree2:n=8,m=8,r=16 --fail-links 3 -o d.topo -q");
    let shared = run_in(dir.path(), "fabric d.topo --anonymise -o a.topo --format json");
    assert!(shared.json()["recognised"]["missing"][0].is_string(), "{}", shared.out);
    assert!(!shared.out.contains("leaf00"), "{}", shared.out);
}

#[test]
fn selene_keeps_its_routes() {
    let selene = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/selene-compute.topo.gz");
    let json = run(&format!("route {selene} -e updn -e ftree --format json")).json();
    assert_eq!(json["fabric"]["recognised"]["text"], "irregular three-level tree");
    for row in json["engines"].as_array().expect("two engines") {
        assert_eq!((&row["unreachable"], &row["layers"]), (&0.into(), &5.into()), "{row}");
        assert_eq!(row["efi"]["max"], 13_008, "{row}");
    }
}

#[test]
fn a_real_cluster_lacks_one_cable() {
    let Some(path) = darkfiber_testkit::shared("data/fabrics/stage-sx6036.topo") else { return };
    let json = run(&format!("fabric {} --format json", path.display())).json();
    let found = &json["recognised"];
    assert_eq!(found["text"], "two-level fat-tree, 6 leaves, 2 spines");
    let missing = serde_json::json!(["\"MF0;ib8:SX6036/U1\" - \"MF0;ib1:SX6036/U1\""]);
    assert_eq!(found["missing"], missing);
}
