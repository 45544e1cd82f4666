//! OpenSM's `file` engine takes the tables, and the switches have them entry for entry.

use std::collections::BTreeMap;
use std::path::Path;

use darkfiber_fabric::Guid;
use darkfiber_formats::{guid2lid, lft};

use crate::simulation::Simulation;
use crate::tools::Tools;
use crate::{route, text};

/// Egress ports by switch and LID.
pub(crate) type Entries = BTreeMap<(Guid, u16), u8>;

pub(crate) fn entries(dump: &str, name: &str) -> Entries {
    let (tables, remarks) = lft::read(dump, Path::new(name)).expect("a forwarding table dump");
    assert!(remarks.0.is_empty(), "{name}: {:?}", remarks.0);
    tables
        .switches
        .iter()
        .flat_map(|table| {
            let guid = table.guid.expect("a GUID");
            table.entries.iter().map(move |e| ((guid, e.lid), e.port))
        })
        .collect()
}

/// First and last LID by port GUID.
fn lids(cache: &str, name: &str) -> BTreeMap<Guid, (u16, u16)> {
    let (ranges, remarks) = guid2lid::read(cache, Path::new(name)).expect("a guid2lid file");
    assert!(remarks.0.is_empty(), "{name}: {:?}", remarks.0);
    ranges.iter().map(|r| (r.guid, (r.first, r.last))).collect()
}

/// Routes, loads, reads back, compares. `switches` and `lids_in_use` guard against comparing nothing.
fn loads(name: &str, words: &[&str], lmc: u8, switches: usize, lids_in_use: usize) {
    let Some(tools) = Tools::find() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let written = dir.path().join("routes");
    let lmc_word = lmc.to_string();
    route(&[words, &["--lmc", lmc_word.as_str()]].concat(), &written);
    compare(&tools, name, lmc, (switches, lids_in_use), &written, dir.path());
}

/// Loads a set of tables, reads it back from the switches, compares.
fn compare(
    tools: &Tools,
    name: &str,
    lmc: u8,
    (switches, lids_in_use): (usize, usize),
    written: &Path,
    dir: &Path,
) {
    let fabric = Simulation::start(tools, written, dir.join("sim"), name);
    let cache = fabric.load(written, lmc);
    let wanted = lids(&text(written, "guid2lid"), "written guid2lid");
    assert_eq!(lids(&cache, "OpenSM's guid2lid"), wanted, "OpenSM gave other LIDs");

    let wanted = entries(&text(written, "lfts.dump"), "written tables");
    let found = entries(&fabric.read_back(), "tables of the switches");
    assert_eq!(wanted.len(), switches * lids_in_use, "entries written");
    let different: Vec<_> = wanted
        .keys()
        .chain(found.keys())
        .filter(|key| wanted.get(key) != found.get(key))
        .map(|key| (key, wanted.get(key), found.get(key)))
        .collect();
    assert!(
        different.is_empty(),
        "{} entries differ (switch and LID, written, in the switch), for example {:?}",
        different.len(),
        &different[..different.len().min(5)]
    );
}

#[test]
fn two_level_tree_without_two_spine_cables() {
    let words = ["fattree2:n=6,m=6,r=12", "--fail-links", "2", "-e", "updn"];
    loads("tree2", &words, 0, 18, 72 + 18);
}

#[test]
fn three_level_tree_with_faults() {
    let words = ["pgft:m=4x4x4,w=1x4x4,p=1x1x1", "--fail-links", "3", "-e", "ftree"];
    loads("tree3", &words, 0, 48, 64 + 48);
}

#[test]
fn hyperx() {
    loads("hyperx", &["hyperx:dims=6x4,t=4", "-e", "dfsssp"], 0, 24, 96 + 24);
}

#[test]
fn four_lids_for_every_port() {
    loads("lmc", &["hyperx:dims=4x3,t=2", "-e", "dfsssp"], 2, 12, 4 * 24 + 12);
}

#[test]
fn two_lids_for_every_port_of_a_faulty_tree() {
    let words = ["fattree2:n=4,m=4,r=8", "--fail-links", "2", "-e", "updn"];
    loads("tree-lmc", &words, 1, 12, 2 * 32 + 12);
}

/// Tables without the ports of LIDs, as sets of large fabrics have them.
#[test]
fn brief_tables() {
    let Some(tools) = Tools::find() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let written = dir.path().join("routes");
    route(&["hyperx:dims=4x3,t=2", "-e", "dfsssp", "--lmc", "1"], &written);
    let whole = text(&written, "lfts.dump");
    let brief: String = whole
        .lines()
        .map(|line| line.split_once(" # ").map_or(line, |(entry, _)| entry).to_owned() + "\n")
        .collect();
    assert!(brief.len() * 3 < whole.len(), "{} of {}", brief.len(), whole.len());
    std::fs::write(written.join("lfts.dump"), brief).expect("written");
    compare(&tools, "brief", 1, (12, 2 * 24 + 12), &written, dir.path());
}

/// Three classes of sources on four LIDs a port.
#[test]
fn routes_by_source() {
    loads("opt", &["fattree2:n=9,m=12,r=10", "-e", "opt-rect"], 2, 22, 4 * 90 + 22);
}

/// LIDs that the input has are kept and taken by OpenSM: those of a run with more LIDs per port leave
/// gaps that no fresh numbering would.
#[test]
fn lids_of_the_input() {
    let dir = tempfile::tempdir().expect("a directory");
    let first = dir.path().join("first");
    route(&["hyperx:dims=3x3,t=2", "-e", "dfsssp", "--lmc", "1"], &first);
    let topology = first.join("fabric.topo");
    let words = [topology.to_str().expect("text"), "-e", "dfsssp"];
    loads("kept", &words, 0, 9, 18 + 9);
    let second = dir.path().join("second");
    route(&words, &second);
    let lid = |dir: &Path| {
        let all = lids(&text(dir, "guid2lid"), "guid2lid");
        all.values().map(|range| range.0).collect::<Vec<_>>()
    };
    assert_eq!(lid(&first), lid(&second), "base LIDs");
}
