//! ibdmchk of ibutils, which is independent of darkfiber, judges its claims about deadlock.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::process::finish;
use crate::tools::program;
use crate::{route, text};

/// The verdict of ibdmchk about tables, service levels and links.
fn verdict(words: &[&str]) -> Option<String> {
    let ibdmchk = program("ibdmchk")?;
    let dir = tempfile::tempdir().expect("a directory");
    let written = dir.path().join("routes");
    route(words, &written);
    let out = File::create(dir.path().join("out")).expect("a file");
    File::create(dir.path().join("no-multicast")).expect("a file");
    let mut command = Command::new(ibdmchk);
    command
        .current_dir(&written)
        .args(["-s", "subnet.lst", "-f", "fdbs", "-m", "../no-multicast"])
        .args(written.join("path-sl").exists().then_some(["-c", "path-sl"]).into_iter().flatten())
        .args(written.join("sl2vl").exists().then_some(["-d", "sl2vl"]).into_iter().flatten())
        .stdin(Stdio::null())
        .stderr(out.try_clone().expect("a handle"))
        .stdout(out);
    // It crashes after any verdict: only the text counts.
    finish(&mut command, Duration::from_secs(20));
    Some(text(dir.path(), "out"))
}

/// ibdmchk read all paths, found none broken, and reports this about credit loops.
fn expect(words: &[&str], pairs: usize, lanes: usize, free: bool) {
    expect_with(words, pairs, (lanes, lanes), free);
}

/// The same, with service levels and lanes apart.
fn expect_with(words: &[&str], pairs: usize, (levels, lanes): (usize, usize), free: bool) {
    let Some(said) = verdict(words) else { return };
    assert!(said.contains(&format!("Scanned:{pairs} CA to CA paths")), "{said}");
    assert!(!said.contains("-E- Found"), "broken paths: {said}");
    assert!(said.contains(&format!("{levels} SLs, {lanes} VLs used")), "{said}");
    assert_eq!(said.contains("no credit loops found"), free, "{said}");
    assert_eq!(said.contains("Found credit loop"), !free, "{said}");
}

#[test]
fn dfsssp_on_a_hyperx_has_no_credit_loop() {
    expect(&["hyperx:dims=4x3,t=2", "-e", "dfsssp"], 24 * 23, 1, true);
}

#[test]
fn lash_on_a_torus_has_no_credit_loop() {
    expect(&["torus:dims=5x5,t=1", "-e", "lash"], 25 * 24, 3, true);
}

#[test]
fn nue_on_one_lane_has_no_credit_loop() {
    expect(&["torus:dims=5x5,t=1", "-e", "nue", "--lanes", "1"], 25 * 24, 1, true);
}

#[test]
fn nue_on_three_lanes_has_no_credit_loop() {
    expect(&["dragonfly:p=2,a=4,h=2", "-e", "nue"], 72 * 71, 3, true);
}

#[test]
fn sssp_on_a_hyperx_has_a_credit_loop() {
    expect(&["hyperx:dims=4x3,t=2", "-e", "sssp", "--allow-deadlock"], 24 * 23, 1, false);
}

#[test]
fn dfsssp_on_a_ring_has_no_credit_loop() {
    expect(&["torus:dims=6,t=1", "-e", "dfsssp"], 30, 2, true);
}

#[test]
fn sssp_on_a_ring_has_a_credit_loop() {
    expect(&["torus:dims=6,t=1", "-e", "sssp", "--allow-deadlock"], 30, 1, false);
}

#[test]
fn updn_on_a_dragonfly_has_no_credit_loop() {
    expect(&["dragonfly:p=2,a=4,h=2", "-e", "updn"], 72 * 71, 1, true);
}

#[test]
fn lanes_by_hop_on_a_dragonfly_have_no_credit_loop() {
    for engine in ["dragonfly-min", "sssp", "lash"] {
        let words = ["dragonfly:p=2,a=4,h=2", "-e", engine, "--layer-by", "hop"];
        expect_with(&words, 72 * 71, (1, 2), true);
    }
}

#[test]
fn ftree_on_a_faulty_tree_has_no_credit_loop() {
    let words = ["pgft:m=4x4x4,w=1x4x4,p=1x1x1", "--fail-links", "3", "-e", "ftree"];
    expect(&words, 64 * 63, 1, true);
}
