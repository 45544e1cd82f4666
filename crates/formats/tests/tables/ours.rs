//! Our engines compared with the tables that OpenSM made for the reference fabrics: never more lanes, never longer
//! paths, and better balance.

use darkfiber_formats::{lft, sl, tables};
use darkfiber_routing::check::{Report, check};
use darkfiber_routing::{Request, find_engine};

use crate::reference::{FOLDERS, folder};
use crate::shared::{fabric, text};

/// Reports on OpenSM's engine of that name and on ours, with this number of lanes.
fn both(name: &str, theirs: &str, ours: &str, lanes: u8) -> Option<(Report, Report)> {
    let folder = folder(name)?;
    let fabric = fabric(&folder.join("opensm-subnet.lst.gz"));
    let path = folder.join(format!("lfts.{theirs}.dump.gz"));
    let (dumped, _) = lft::read(&text(&path), &path).expect("a dump");
    let (lids, _) = tables::lids_of(&fabric, &dumped);
    let (mut routes, _) =
        tables::to_routes(&fabric, &dumped, None, theirs, &path).expect("this fabric");
    let levels = folder.join(format!("sl.{theirs}.txt.gz"));
    if levels.exists() {
        sl::read(&text(&levels), &levels, &fabric, &lids, &mut routes).expect("levels");
    }
    let engine = find_engine(ours).expect("registered");
    let request = Request { lanes, ..Request::default() };
    let made = engine.route(&fabric, &request).expect("connected");
    let (theirs, ours) = (check(&fabric, &routes), check(&fabric, &made));
    assert!(ours.complete() && ours.deadlock_free(), "{name}");
    Some((theirs, ours))
}

fn most(report: &Report) -> u64 {
    report.load.iter().copied().max().unwrap_or(0)
}

#[test]
fn lash_takes_no_more_lanes_no_longer_paths_and_balances() {
    for name in FOLDERS {
        let Some((theirs, ours)) = both(name, "lash", "lash", 8) else { return };
        assert!(ours.layers.len() <= theirs.layers.len(), "{name}");
        assert!(ours.hops().mean <= theirs.hops().mean, "{name}");
        assert!(most(&ours) <= most(&theirs), "{name}");
    }
}

#[test]
fn nue_is_more_even_and_no_longer() {
    for (lanes, engine) in [(1, "nue-vl1"), (8, "nue")] {
        for name in FOLDERS {
            let Some((theirs, ours)) = both(name, engine, "nue", lanes) else { return };
            assert!(ours.layers.len() <= usize::from(lanes), "{name}");
            assert!(ours.hops().mean <= theirs.hops().mean, "{name}: {lanes} lanes");
            assert!(ours.hops().max <= theirs.hops().max, "{name}: {lanes} lanes");
            if name == "irr_200_faulty" {
                // A switch with ten hosts has only one cable left: 10 x 190 pairs cross it whatever the tables.
                assert_eq!((most(&ours), most(&theirs)), (1900, 1900));
            } else {
                assert!(most(&ours) < most(&theirs), "{name}: {lanes} lanes");
            }
        }
    }
}

#[test]
fn dfsssp_takes_no_more_lanes_and_no_longer_paths() {
    // The layers that OpenSM's log says it needs; its tables then spread over the lanes left.
    for (name, needed) in FOLDERS.into_iter().zip([1, 1, 2, 4]) {
        let Some((theirs, ours)) = both(name, "dfsssp", "dfsssp", 8) else { return };
        assert!(ours.layers.len() <= needed, "{name}");
        assert!(ours.hops().mean <= theirs.hops().mean, "{name}");
        assert!(most(&ours) <= most(&theirs), "{name}");
    }
}
