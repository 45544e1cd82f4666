//! Tables, LIDs and service levels: no panic, and what is bound to a fabric can be checked and written.
#![no_main]

use std::path::Path;
use std::sync::{Arc, LazyLock};

use darkfiber_fabric::Fabric;
use darkfiber_formats::{
    far, fdbs, guid2lid, guids, ibnetdiscover, lft, netloc, path_bits, sl, subnet_lst, tables,
};
use darkfiber_routing::{Lids, Routes, check::{check, check_groups}};
use libfuzzer_sys::fuzz_target;

/// The fabric that all tables are taken to be of.
static FABRIC: LazyLock<(Fabric, Lids)> = LazyLock::new(|| {
    let text = include_str!("../../tests/data/fabrics/ibtopotool_3.topo");
    let (topology, _) = ibnetdiscover::read(text, Path::new("fuzz")).expect("a dump");
    let lids = Lids::assign(&topology.fabric, 0).expect("few");
    (topology.fabric, lids)
});

fuzz_target!(|data: &[u8]| {
    let (fabric, own) = &*FABRIC;
    let text = String::from_utf8_lossy(data);
    let path = Path::new("fuzz");
    for (read, _) in [lft::read(&text, path), fdbs::read(&text, path)].into_iter().flatten() {
        for lids in [own, &tables::lids_of(fabric, &read).0] {
            let Ok((routes, _)) = tables::to_routes(fabric, &read, Some(lids), "x", path) else {
                continue;
            };
            let _ = check(fabric, &routes);
            let mut out = Vec::new();
            lft::write(&mut out, fabric, &routes, lids).expect("memory");
            fdbs::write(&mut out, fabric, &routes, lids).expect("memory");
        }
    }
    if let Ok((read, _)) = far::read(&text, path)
        && let Ok((mut routes, _)) = tables::to_routes(fabric, &read.tables, Some(own), "x", path)
    {
        if let Ok((hops, _)) = far::to_groups(fabric, &read, own, &routes, path) {
            routes.groups = Some(Arc::new(hops));
        }
        let _ = check_groups(fabric, &routes);
    }
    if let Ok((ranges, _)) = guid2lid::read(&text, path) {
        let _ = guid2lid::to_lids(fabric, &ranges, path);
    }
    if let Ok((list, _)) = guids::read(&text, path) {
        let _ = (guids::switches(fabric, &list), guids::terminals(fabric, &list));
    }
    let _ = sl::read(&text, path, fabric, own, &mut Routes::empty("x", fabric, own.width()));
    let _ = path_bits::read(&text, path, fabric, &Routes::empty("x", fabric, 4));
    let _ = subnet_lst::read(&text, path);
    if let Ok((nodes, _)) = netloc::read_map(&text, path) {
        let _ = netloc::read_paths(&text, path, &nodes, "x");
    }
});
