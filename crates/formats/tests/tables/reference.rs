//! Every table that OpenSM made for the reference fabrics, measured by the checker, must give the
//! numbers that an independent script measured, and come out of our writer as OpenSM wrote it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use darkfiber_formats::{fdbs, guid2lid, guids, lft, sl, tables};
use darkfiber_routing::check::{Report, check};
use darkfiber_routing::{Layers, Lids};

use crate::shared::{fabric, file, lines, text, written};

pub(crate) const FOLDERS: [&str; 4] = ["ft2_216", "kary4_3", "hx_12x8", "irr_200_faulty"];

/// The engine rows of the measured table: `| engine | pairs | unreachable | .. |`.
fn measured(folder: &Path) -> Vec<Vec<String>> {
    text(&folder.join("README.md"))
        .lines()
        .skip_while(|l| !l.starts_with("| engine | pairs"))
        .skip(2)
        .take_while(|l| l.starts_with('|'))
        .map(|l| l.trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect())
        .collect()
}

fn row(engine: &str, report: &Report) -> Vec<String> {
    let cyclic: Vec<String> =
        report.layers.iter().filter(|l| l.cycle.is_some()).map(|l| l.layer.to_string()).collect();
    vec![
        engine.to_owned(),
        report.hops.iter().sum::<u64>().to_string(),
        (report.unreachable + report.loops).to_string(),
        format!("{:.4}", report.hops().mean),
        report.hops().max.to_string(),
        report.load.iter().max().copied().unwrap_or(0).to_string(),
        report.layers.len().to_string(),
        if cyclic.is_empty() { "none".to_owned() } else { cyclic.join(",") },
    ]
}

/// The tables of a switch as a set of lines under its header.
fn blocks(dump: &str) -> BTreeSet<Vec<&str>> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    for line in dump.lines() {
        if line.starts_with("Unicast") {
            blocks.push(Vec::new());
        }
        if let Some(block) = blocks.last_mut() {
            block.push(line);
        }
    }
    blocks.into_iter().collect()
}

/// The folder of a reference fabric; one is shipped.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/opensm").join(name);
    if shipped.exists() {
        return Some(shipped);
    }
    file(&format!("reference/opensm/{name}"))
}

fn engine(name: &str) {
    let Some(folder) = folder(name) else { return };
    let fabric = fabric(&folder.join("opensm-subnet.lst.gz"));
    let rows = measured(&folder);
    assert!(rows.len() >= 8, "{name}: {} rows", rows.len());
    for expected in rows {
        let engine = expected[0].as_str();
        let path = folder.join(format!("lfts.{engine}.dump.gz"));
        let dump = text(&path);
        let (dumped, found) = lft::read(&dump, &path).expect("a dump");
        assert_eq!(lines(&found), "", "{name} {engine}");
        let (lids, found) = tables::lids_of(&fabric, &dumped);
        assert_eq!(lines(&found), "", "{name} {engine}");
        let (mut routes, found) =
            tables::to_routes(&fabric, &dumped, None, engine, &path).expect("this fabric");
        // Tree engines do not route between switches of one level; nothing else may be missing.
        let remarks = lines(&found);
        assert!(
            remarks.lines().all(|l| l.contains("LIDs of switches")),
            "{name} {engine}: {remarks}"
        );
        assert_eq!(
            !remarks.is_empty(),
            dumped.entry_count() < fabric.switch_count() * usize::from(lids.top()),
            "{name} {engine}"
        );
        assert_eq!(
            blocks(&written(|out| lft::write(out, &fabric, &routes, &lids))),
            blocks(&dump),
            "{name} {engine}"
        );

        let levels = folder.join(format!("sl.{engine}.txt.gz"));
        if levels.exists() {
            let found =
                sl::read(&text(&levels), &levels, &fabric, &lids, &mut routes).expect("rows");
            assert_eq!(lines(&found), "", "{name} {engine}");
        }
        assert_eq!(row(engine, &check(&fabric, &routes)), expected, "{name}");

        if routes.layer_count() > 1 {
            for list in [
                written(|out| sl::write_paths(out, &fabric, &routes, &lids)),
                written(|out| sl::write_rows(out, &fabric, &routes, &lids)),
            ] {
                let mut again = routes.clone();
                again.layers = Layers::One;
                let found = sl::read(&list, &path, &fabric, &lids, &mut again).expect("ours");
                assert_eq!(lines(&found), "", "{name} {engine}");
                assert_eq!(row(engine, &check(&fabric, &again)), expected, "{name}: read back");
            }
        }
    }
}

#[test]
fn tables_of_a_two_level_tree_measure_as_published() {
    engine("ft2_216");
}

#[test]
fn tables_of_a_three_level_tree_measure_as_published() {
    engine("kary4_3");
}

#[test]
fn tables_of_a_hyperx_measure_as_published() {
    engine("hx_12x8");
}

#[test]
fn tables_of_an_irregular_fabric_measure_as_published() {
    engine("irr_200_faulty");
}

#[test]
fn guid2lid_and_the_link_list_agree() {
    for name in FOLDERS {
        let Some(folder) = folder(name) else { continue };
        let fabric = fabric(&folder.join("opensm-subnet.lst.gz"));
        let path = folder.join("guid2lid.gz");
        let (ranges, found) = guid2lid::read(&text(&path), &path).expect("guid2lid");
        assert_eq!(lines(&found), "", "{name}");
        let (lids, found) = guid2lid::to_lids(&fabric, &ranges, &path).expect("of this fabric");
        assert_eq!(lines(&found), "", "{name}");
        assert_eq!(Ok(&lids), Lids::assign(&fabric, 0).as_ref(), "{name}");

        let file = written(|out| guid2lid::write(out, &fabric, &lids));
        let (again, _) = guid2lid::read(&file, &path).expect("ours");
        assert_eq!(guid2lid::to_lids(&fabric, &again, &path).expect("ours").0, lids, "{name}");
    }
}

#[test]
fn root_lists_name_switches() {
    for (name, count) in FOLDERS.into_iter().zip([12, 16, 1, 1]) {
        let Some(folder) = folder(name) else { continue };
        let fabric = fabric(&folder.join("opensm-subnet.lst.gz"));
        let path = folder.join("roots.guids");
        let (list, found) = guids::read(&text(&path), &path).expect("GUIDs");
        assert_eq!(lines(&found), "", "{name}");
        let (roots, found) = guids::switches(&fabric, &list);
        assert_eq!(lines(&found), "", "{name}");
        assert_eq!(roots.len(), count, "{name}");
        let again = roots.iter().map(|&s| fabric.switch(s).guid);
        assert_eq!(written(|out| guids::write(out, again)), text(&path), "{name}");
    }
}

#[test]
fn a_dump_of_another_fabric_is_refused() {
    let (Some(tree), Some(hyperx)) = (folder("ft2_216"), folder("hx_12x8")) else {
        return;
    };
    let fabric = fabric(&tree.join("opensm-subnet.lst.gz"));
    let path = hyperx.join("lfts.minhop.dump.gz");
    let (dumped, _) = lft::read(&text(&path), &path).expect("a dump");
    let error = tables::to_routes(&fabric, &dumped, None, "minhop", Path::new("lfts.dump"))
        .expect_err("another fabric");
    insta::assert_snapshot!(error, @"lfts.dump: 0 of the 96 switches of this dump are in fabric 'opensm-subnet' with its 30 switches; expected tables of this fabric (read the fabric from the same sweep as the tables, or check that the two files belong together)");
}

#[test]
fn an_old_fdbs_file_binds_by_lid() {
    let (Some(list), Some(path)) =
        (file("data/fabrics/ibutils-subnet.lst"), file("data/fabrics/ibutils-osm.fdbs"))
    else {
        return;
    };
    let fabric = fabric(&list);
    let dump = text(&path);
    let (dumped, found) = fdbs::read(&dump, &path).expect("an fdbs file");
    assert_eq!(lines(&found), "");
    assert_eq!((dumped.switches.len(), dumped.entry_count()), (62, 4030));
    assert!(dumped.switches.iter().flat_map(|s| &s.entries).all(|e| e.hops.is_some()));
    let (routes, found) =
        tables::to_routes(&fabric, &dumped, None, "osm", &path).expect("this fabric");
    assert_eq!(lines(&found), "");
    let report = check(&fabric, &routes);
    assert_eq!((report.pairs, report.complete()), (6, true));

    // Hops and optimality are recomputed, and must equal OpenSM's results of 20 years ago.
    let lids = Lids::assign(&fabric, 0).expect("few");
    let ours = written(|out| fdbs::write(out, &fabric, &routes, &lids));
    let entries = |text: &str| {
        let mut switch = String::new();
        text.lines()
            .filter_map(|l| {
                if let Some((_, guid)) = l.split_once("Switch ") {
                    guid.clone_into(&mut switch);
                }
                l.starts_with("0x").then(|| format!("{switch} {l}"))
            })
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(entries(&ours), entries(&dump));
}
