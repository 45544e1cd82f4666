//! A dump belongs to a fabric if at least half of its switches are there.

use std::path::Path;

use darkfiber_formats::{lft, tables};
use darkfiber_routing::{Lids, Request, find_engine};

use crate::shared::written;

/// Whether tables of a ring are accepted as its own after `renamed` of its switches got other GUIDs.
fn is_taken(switches: usize, renamed: usize) -> bool {
    let spec = format!("mesh:dims={switches},t=1");
    let fabric = darkfiber_fabric::open(&spec).expect("a mesh").fabric;
    let engine = find_engine("minhop").expect("registered");
    let routes = engine.route(&fabric, &Request::default()).expect("connected");
    let lids = Lids::assign(&fabric, 0).expect("few ports");
    let mut text = written(|out| lft::write(out, &fabric, &routes, &lids));
    for (i, switch) in fabric.switches().iter().take(renamed).enumerate() {
        text = text.replace(&switch.guid.to_string(), &format!("0x{:016x}", 0xabc0 + i));
    }
    let path = Path::new("lfts.dump");
    let (dumped, _) = lft::read(&text, path).expect("a dump");
    tables::to_routes(&fabric, &dumped, Some(&lids), "minhop", path).is_ok()
}

#[test]
fn half_of_the_switches_make_it_the_same_fabric() {
    assert!(is_taken(2, 0) && is_taken(2, 1) && is_taken(5, 2));
    assert!(!is_taken(2, 2) && !is_taken(3, 2) && !is_taken(5, 3));
}
