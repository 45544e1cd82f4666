//! `darkfiber survive`.

use crate::{folder, run_in};

const FABRIC: &str = "dragonfly:p=2,a=4,h=2";

#[test]
fn every_fault_has_a_line_and_is_counted_once() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, &format!("route {FABRIC} -e dfsssp -o old -q")).code, 0);
    let made = run_in(d, &format!("survive {FABRIC} --routes old --format json"));
    let json = made.json();
    for (kind, faults) in [("cables", 90), ("switches", 36)] {
        let book = &json[kind];
        let rungs = ["any_order", "steps", "drop_drain", "reconnect", "anew", "splits"];
        let sum: u64 = rungs.iter().map(|rung| book[*rung].as_u64().expect("a number")).sum();
        assert_eq!((book["faults"].as_u64(), sum), (Some(faults), faults));
        let most = json["faults"].as_array().expect("a list").iter();
        let most = most.filter(|f| {
            f["kind"].as_str() == Some(&kind[..kind.len() - if kind == "cables" { 1 } else { 2 }])
        });
        assert_eq!(
            most.filter_map(|f| f["efi_max"].as_u64()).max(),
            book["efi_max_after"].as_u64()
        );
    }
    // Connections of some pairs must be re-established: something to act on.
    assert!(json["cables"]["reconnect"].as_u64() > Some(0));
    assert_eq!(made.code, 1);
    // The engine's tables are the same, on any number of threads.
    let other = run_in(d, &format!("survive {FABRIC} -e dfsssp --threads 1 --format csv"));
    assert_eq!(other.out.lines().count(), 1 + 126);
    assert_eq!(other.out, run_in(d, &format!("survive {FABRIC} --routes old --format csv")).out);
    let text = run_in(d, &format!("survive {FABRIC} --routes old --faults cables --top 3"));
    assert!(
        text.out.contains("and 87 more faults") && !text.out.contains("\nswitches "),
        "{}",
        text.out
    );
}

/// The entry of the book for a fault equals the repair of that fault.
#[test]
fn a_page_is_what_reroute_does() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, &format!("route {FABRIC} -e nue -o old -q")).code, 0);
    let book = run_in(d, &format!("survive {FABRIC} --routes old --format json")).json();
    let faults = book["faults"].as_array().expect("a list");
    for fault in faults.iter().step_by(17) {
        let id = fault["id"].as_str().expect("an id");
        let line = format!("reroute {FABRIC} --routes old --keep-sl --fail {id} --format json");
        let made = run_in(d, &line).json();
        assert_eq!(made["coexistence"]["verdict"], fault["rung"], "{id}");
        assert_eq!(made["entries_changed"], fault["entries"], "{id}");
        assert_eq!(made["switches_changed"], fault["switches"], "{id}");
        assert_eq!(made["after"]["efi"]["max"], fault["efi_max"], "{id}");
    }
}

#[test]
fn what_falls_apart_and_what_does_not_reach_is_told() {
    let dir = folder(&[("line", "a b\nb c\n")]);
    let d = dir.path();
    let made = run_in(d, "survive line -e minhop --format json");
    assert_eq!(made.code, 0, "{}", made.err);
    let json = made.json();
    assert_eq!(
        (json["cables"]["splits"].as_u64(), json["switches"]["splits"].as_u64()),
        (Some(2), Some(1))
    );
    assert!(json["cables"]["untouched_percent"].is_null(), "no fault leaves it whole");
    assert_eq!(run_in(d, "route line -e minhop -o old -q").code, 0);
    let refused = run_in(d, "survive kary:k=4,n=2 --routes old");
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("error: "), "{}", refused.err);
    for (line, code) in [
        ("survive line", 2),
        ("survive line -e nobody", 2),
        ("survive line -e updn --routes old", 2),
        ("survive line -e ftree", 4),
        ("survive line --routes missing", 3),
    ] {
        assert_eq!(run_in(d, line).code, code, "{line}");
    }
}

#[test]
fn a_chain_goes_on_to_tables_that_bear_more_cables() {
    let dir = folder(&[]);
    let d = dir.path();
    let borne = |engine: &str| {
        let book =
            run_in(d, &format!("survive {FABRIC} -e {engine} --faults cables --format json"));
        book.json()["cables"]["untouched_percent"].as_f64().expect("a number")
    };
    let (less, more) = (borne("dfsssp"), borne("nue"));
    assert!(less < 60.0 && more > 60.0, "{less} {more}");
    let made =
        run_in(d, &format!("route {FABRIC} -e dfsssp+nue --survive 60 -o new --format json"));
    assert_eq!(made.code, 0, "{}", made.err);
    let json = made.json();
    assert_eq!(json["engine"], "nue");
    assert_eq!(json["cables_untouched_percent"], more);
    let why = json["refusals"][0]["refused"].as_str().expect("a reason");
    assert!(why.contains("fewer than 60 %"), "{why}");
    let alone = run_in(d, &format!("route {FABRIC} -e dfsssp --survive 60"));
    assert_eq!(alone.code, 4, "{}", alone.out);
    let wrong = run_in(d, &format!("route {FABRIC} -e dfsssp --survive 101"));
    assert!(wrong.code == 2 && wrong.err.contains("0 to 100"), "{}", wrong.err);
}
