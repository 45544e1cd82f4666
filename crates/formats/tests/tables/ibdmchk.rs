//! A second opinion: `ibdmchk` of ibutils on the files that we write, where it is installed.

use std::fs;
use std::path::Path;
use std::process::Command;

use darkfiber_fabric::Fabric;
use darkfiber_formats::{fdbs, lft, sl, subnet_lst, tables};
use darkfiber_routing::check::check;
use darkfiber_routing::{Lids, Routes};

use crate::shared::{fabric, file, text, written};

/// Output of `ibdmchk`, or `None` where it is not installed.
fn ibdmchk(fabric: &Fabric, routes: &Routes, lids: &Lids) -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let put = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        path
    };
    let links = put("opensm-subnet.lst", written(|out| subnet_lst::write(out, fabric, lids)));
    let tables = put("opensm.fdbs", written(|out| fdbs::write(out, fabric, routes, lids)));
    let levels = put("path-sl", written(|out| sl::write_paths(out, fabric, routes, lids)));
    // It does not start without one.
    let groups = put("opensm.mcfdbs", String::new());
    let output = Command::new("ibdmchk")
        .arg("-s")
        .arg(links)
        .arg("-f")
        .arg(tables)
        .arg("-m")
        .arg(groups)
        .arg("-c")
        .arg(levels)
        .current_dir(folder.path())
        .output();
    match output {
        // It dies of a segmentation fault after the verdict, so the exit status is meaningless.
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(e) => {
            darkfiber_testkit::skipped(&format!("ibdmchk: {e}"));
            None
        }
    }
}

fn reference(folder: &Path, fabric: &Fabric, engine: &str) -> (Routes, Lids) {
    let path = folder.join(format!("lfts.{engine}.dump.gz"));
    let (dumped, _) = lft::read(&text(&path), &path).expect("a dump");
    let (lids, _) = tables::lids_of(fabric, &dumped);
    let (mut routes, _) =
        tables::to_routes(fabric, &dumped, Some(&lids), engine, &path).expect("this fabric");
    let levels = folder.join(format!("sl.{engine}.txt.gz"));
    if levels.exists() {
        sl::read(&text(&levels), &levels, fabric, &lids, &mut routes).expect("levels");
    }
    (routes, lids)
}

#[test]
fn ibdmchk_agrees_about_deadlock() {
    for (name, engines) in [
        ("kary4_3", ["lash", "nue", "ftree"].as_slice()),
        ("irr_200_faulty", &["dfsssp", "lash", "minhop", "updn-roots"]),
    ] {
        let Some(folder) = file(&format!("reference/opensm/{name}")) else {
            return;
        };
        let fabric = fabric(&folder.join("opensm-subnet.lst.gz"));
        for engine in engines {
            let (routes, lids) = reference(&folder, &fabric, engine);
            let report = check(&fabric, &routes);
            let Some(output) = ibdmchk(&fabric, &routes, &lids) else {
                return;
            };
            let has = |what: &str| output.contains(what);
            let pairs = format!("Scanned:{} CA to CA paths", report.pairs);
            assert!(has(&pairs), "{name} {engine}: {pairs}\n{output}");
            assert_eq!(
                has("no credit loops found"),
                report.deadlock_free(),
                "{name} {engine}\n{output}"
            );
            assert_eq!(
                has("credit loop") && !has("no credit loops found"),
                !report.deadlock_free(),
                "{name} {engine}\n{output}"
            );
        }
    }
}
