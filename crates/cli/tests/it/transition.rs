//! `darkfiber check --from`: the proofs about the transition from old tables to new ones.

use std::path::Path;

use crate::{folder, run_in};

/// A folder with tables of some engines, `name: fabric -e engine ...`.
fn tables(dir: &Path, sets: &[(&str, &str)]) {
    for (name, line) in sets {
        let run = run_in(dir, &format!("route {line} -o {name} -q"));
        assert_eq!(run.code, 0, "{name}: {}", run.err);
    }
}

/// Tables `a` and `b` of a torus, which differ in their root; the torus.
fn two_roots(d: &Path) -> &'static str {
    let torus = "torus:dims=4x4,t=1";
    tables(
        d,
        &[
            ("a", &format!("{torus} -e updn")),
            ("b", &format!("{torus} -e updn --roots 0x50000010000b")),
        ],
    );
    torus
}

#[test]
fn another_root_of_a_torus_is_refused_with_the_cycle_that_closes() {
    let dir = folder(&[]);
    let d = dir.path();
    let torus = two_roots(d);
    let run = run_in(d, &format!("check {torus} --from a --routes b --format json"));
    assert_eq!(run.code, 1, "{}", run.err);
    let result = run.json();
    assert_eq!(result["verdict"], "refuse");
    let holds: Vec<bool> = (result["obligations"].as_array().expect("a list").iter())
        .map(|o| o["holds"].as_bool().expect("a flag"))
        .collect();
    assert_eq!(holds, [true, true, false, false, false]);
    // Each link of the witness leads to where the next one begins.
    let links = result["obligations"][2]["witness"].as_array().expect("a list").clone();
    assert!(links.len() > 2);
    for (i, link) in links.iter().enumerate() {
        let next = &links[(i + 1) % links.len()];
        assert_eq!(link["channel"]["to"], next["channel"]["from"]);
    }
    let both = links.iter().map(|l| l["held_by"].as_str().expect("a word"));
    let both: std::collections::BTreeSet<&str> = both.collect();
    assert_eq!(both.into_iter().collect::<Vec<_>>(), ["new", "old"]);
}

#[test]
fn trees_take_any_order_and_the_same_tables_change_nothing() {
    let dir = folder(&[]);
    let d = dir.path();
    let tree = "kary:k=4,n=2";
    tables(d, &[("a", &format!("{tree} -e updn")), ("b", &format!("{tree} -e nue"))]);
    for (from, to, verdict) in
        [("a", "b", "any-order"), ("b", "a", "any-order"), ("a", "a", "nothing-changes")]
    {
        let run = run_in(d, &format!("check {tree} --from {from} --routes {to} --format json"));
        assert_eq!(run.code, 0, "{}", run.err);
        assert_eq!(run.json()["verdict"], verdict, "{from} to {to}");
    }
    // All states since connections may have started.
    let run = run_in(d, &format!("check {tree} --from a --from b --routes b --format csv"));
    assert_eq!((run.code, run.out.lines().count()), (0, 2), "{}", run.out);
}

/// Packets go by the old tables of all switches: where some are not known, nothing is proved.
#[test]
fn nothing_is_proved_of_tables_that_are_not_known() {
    let dir = folder(&[]);
    let d = dir.path();
    let torus = two_roots(d);
    let whole = std::fs::read_to_string(d.join("a/lfts.dump")).expect("tables");
    let second = whole.match_indices("Unicast lids").nth(1).expect("a table").0;
    let last = whole.rfind("0x").expect("an entry");
    for (cut, says) in [
        (&whole[second..], "has no table in the dump"),
        (&whole[..last], "is cut off"),
        (&whole.replacen("\n0x", "\n0x:", 1), "broken entry"),
    ] {
        std::fs::write(d.join("cut"), cut).expect("a file");
        let line = format!("check {torus} --from cut --routes b");
        let run = run_in(d, &line);
        assert_eq!(run.code, 3, "{}{}", run.out, run.err);
        assert!(run.err.contains(says) && run.err.contains("nothing is proved"), "{}", run.err);
        assert_eq!(run.out, "");
    }
}

#[test]
fn service_levels_that_nobody_gave_are_assumed_to_be_the_worst() {
    let dir = folder(&[]);
    let d = dir.path();
    let fabric = "dragonfly:p=2,a=4,h=2";
    tables(
        d,
        &[("a", &format!("{fabric} -e dfsssp")), ("b", &format!("{fabric} -e dfsssp --seed 2"))],
    );
    std::fs::create_dir(d.join("bare")).expect("a directory");
    std::fs::copy(d.join("a/lfts.dump"), d.join("bare/lfts.dump")).expect("a copy");
    std::fs::copy(d.join("a/guid2lid"), d.join("bare/guid2lid")).expect("a copy");
    let run = run_in(d, &format!("check {fabric} --from bare --routes b --format json"));
    assert_eq!(run.json()["has_levels"], false);
    assert_eq!((run.code, &run.json()["verdict"]), (1, &"refuse".into()), "{}", run.err);
}

#[test]
fn tables_of_another_fabric_or_with_other_lids_are_refused() {
    let dir = folder(&[]);
    let d = dir.path();
    tables(
        d,
        &[
            ("a", "torus:dims=4x4,t=1 -e updn"),
            ("other", "kary:k=4,n=2 -e updn"),
            ("lmc", "torus:dims=4x4,t=1 -e updn --lmc 1"),
        ],
    );
    for from in ["other", "lmc"] {
        let run = run_in(d, &format!("check torus:dims=4x4,t=1 --from {from} --routes a"));
        assert_eq!(run.code, 3, "{from}: {}", run.err);
        assert!(run.err.contains("hint: "), "{}", run.err);
    }
}

#[test]
fn new_tables_approach_those_in_place() {
    let dir = folder(&[]);
    let d = dir.path();
    let torus = "torus:dims=4x4,t=1";
    assert_eq!(run_in(d, &format!("route {torus} -e updn -o a -q")).code, 0);
    let made = run_in(
        d,
        &format!("route {torus} -e updn --roots 0x50000010000b --from a -o b --format json"),
    );
    assert_eq!(made.code, 0, "{}", made.err);
    let towards = &made.json()["towards"];
    assert_eq!(towards["verdict"], "refuse");
    assert!(towards["entries_taken"].as_u64() < towards["entries"].as_u64());
    let judged = run_in(d, &format!("check {torus} --from a --routes b --format json"));
    assert_eq!((judged.code, judged.json()["verdict"].as_str()), (0, Some("any-order")));
    // Tables in place need no transition.
    let same = run_in(d, &format!("route {torus} -e updn --from a --format json")).json();
    assert_eq!(same["towards"]["entries"], 0);
    assert_eq!(same["towards"]["how"], "as they are");
    // Levels stay as they are in use; tables that can deadlock are no valid start.
    let both = run_in(d, &format!("route {torus} -e dfsssp --from a --protect"));
    assert!(both.code == 2 && both.err.contains("--from"), "{}", both.err);
    assert_eq!(run_in(d, &format!("route {torus} -e minhop --allow-deadlock -o m -q")).code, 0);
    let unsound = run_in(d, &format!("route {torus} -e updn --from m"));
    assert!(unsound.code == 4 && unsound.err.contains("can deadlock"), "{}", unsound.err);
    let other = run_in(d, "route torus:dims=5x4,t=1 -e updn --from a");
    assert!(other.code == 3, "{}", other.err);
}

#[test]
fn service_levels_of_the_tables_in_place_are_given_apart() {
    let dir = folder(&[]);
    let d = dir.path();
    let torus = "torus:dims=5x5,t=1";
    tables(d, &[("old", &format!("{torus} -e dfsssp")), ("new", &format!("{torus} -e lash"))]);
    let line = format!("check {torus} --from old/lfts.dump --routes new --format json");
    let unknown = run_in(d, &line).json();
    let known = run_in(d, &format!("{line} --from-sl old/path-sl")).json();
    let whole = run_in(d, &line.replace("old/lfts.dump", "old")).json();
    assert_eq!((&unknown["has_levels"], &known["has_levels"]), (&false.into(), &true.into()));
    for key in ["verdict", "obligations", "rungs", "changes"] {
        assert_eq!(known[key], whole[key], "{key}");
    }
    // Those of another fabric are refused, as tables of another are.
    tables(d, &[("other", "torus:dims=9x9,t=1 -e dfsssp")]);
    let other = run_in(d, &format!("{line} --from-sl other/path-sl"));
    assert_eq!((other.code, other.out.as_str()), (3, ""), "{}", other.err);
    assert!(other.err.contains("paths are not of this fabric"), "{}", other.err);
    // `route --from` needs them, too: without, the tables in place can deadlock.
    let route = format!("route {torus} -e dfsssp --from old/lfts.dump -q -o next");
    assert_eq!(run_in(d, &route).code, 4);
    assert_eq!(run_in(d, &format!("{route} --from-sl old/path-sl")).code, 0);
}
