//! Random fabrics there and back, and text that was tampered with.

use std::path::Path;

use darkfiber_fabric::{Fabric, FabricBuilder, LinkClass, Switch, SwitchId, TerminalId};
use darkfiber_formats::{
    far, fdbs, guid2lid, guids, ibnetdiscover, lft, netloc, path_bits, sl, subnet_lst, tables,
};
use darkfiber_routing::{DestId, Layers, Lids, Request, Routes, find_engine};
use proptest::prelude::*;

use crate::shared::written;

/// A connected fabric: a tree of switches, more cables, and hosts.
fn fabrics() -> impl Strategy<Value = Fabric> {
    (1usize..7)
        .prop_flat_map(|n| {
            (
                proptest::collection::vec(any::<prop::sample::Index>(), n),
                proptest::collection::vec((0..n, 0..n), 0..8),
                proptest::collection::vec((0..n, 0usize..4), 1..10),
                proptest::collection::vec("[ -~]{0,12}", n),
            )
        })
        .prop_map(|(parents, extra, hosts, names)| {
            let n = parents.len();
            let mut b = FabricBuilder::new("random");
            let classes: Vec<u8> = ["4xQDR", "4xHDR", "1xSDR", "4xFDR10"]
                .into_iter()
                .map(|l| b.class(LinkClass::infiniband(l).expect("known")))
                .collect();
            let ids: Vec<SwitchId> = names
                .into_iter()
                .map(|description| {
                    b.add_switch(Switch { ports: 36, description, ..Switch::default() })
                })
                .collect();
            let mut next = vec![0u8; n];
            let mut port = |s: usize| {
                next[s] += 1;
                next[s]
            };
            let tree = (1..n).map(|i| (i, parents[i].index(i)));
            for (i, (x, y)) in tree.chain(extra).enumerate() {
                let ends = ((ids[x], port(x)), (ids[y], port(y)));
                b.link_switches(ends.0, ends.1, classes[i % 4]).expect("free");
            }
            for (i, (s, class)) in hosts.into_iter().enumerate() {
                b.add_host_on(ids[s], port(s), &format!("n{i}"), classes[class]).expect("free");
            }
            b.finish().expect("sound")
        })
}

/// A fabric, its LIDs and min-hop routes.
fn routed() -> impl Strategy<Value = (Fabric, Lids, Routes)> {
    (fabrics(), 0u8..3).prop_map(|(fabric, lmc)| {
        let request = Request { lmc, ..Request::default() };
        let engine = find_engine("minhop").expect("built in");
        let made = engine.route(&fabric, &request).expect("connected");
        // A row for each LID, as tables that are read have.
        let mut routes = Routes::empty("minhop", &fabric, made.paths());
        for dest in (0..made.dest_count()).map(DestId::new) {
            for path in 0..dest.as_terminal(&fabric).map_or(1, |_| made.paths()) {
                let row = routes.row(dest, path);
                routes.ports_mut(row).copy_from_slice(made.ports(made.row(dest, path)));
            }
        }
        let lids = Lids::assign(&fabric, lmc).expect("few");
        (fabric, lids, routes)
    })
}

fn path() -> &'static Path {
    Path::new("random")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn lft_there_and_back((fabric, lids, routes) in routed()) {
        let dump = written(|out| lft::write(out, &fabric, &routes, &lids));
        let (read, found) = lft::read(&dump, path()).expect("ours");
        prop_assert!(found.is_empty(), "{found:?}");
        for given in [Some(&lids), None] {
            let (again, found) =
                tables::to_routes(&fabric, &read, given, "minhop", path()).expect("ours");
            prop_assert!(found.is_empty(), "{found:?}");
            prop_assert_eq!(&again, &routes);
        }
        prop_assert_eq!(tables::lids_of(&fabric, &read).0, lids);
    }

    #[test]
    fn lft_survives_new_lids((fabric, lids, routes) in routed()) {
        let dump = written(|out| lft::write(out, &fabric, &routes, &lids));
        let (read, _) = lft::read(&dump, path()).expect("ours");
        let base = |t: usize| 1024 + 8 * t as u16;
        let terminals: Vec<u16> = (0..fabric.terminal_count()).map(base).collect();
        let switches: Vec<u16> = (0..fabric.switch_count()).map(|s| 5000 - s as u16).collect();
        let moved = Lids::from_bases(lids.lmc(), &terminals, &switches).expect("ours");
        let (again, _) =
            tables::to_routes(&fabric, &read, Some(&moved), "minhop", path()).expect("ours");
        prop_assert_eq!(again, routes);
    }

    #[test]
    fn fdbs_there_and_back((fabric, lids, routes) in routed()) {
        let dump = written(|out| fdbs::write(out, &fabric, &routes, &lids));
        let (read, found) = fdbs::read(&dump, path()).expect("ours");
        prop_assert!(found.is_empty(), "{found:?}");
        let (again, found) =
            tables::to_routes(&fabric, &read, Some(&lids), "minhop", path()).expect("ours");
        prop_assert!(found.is_empty(), "{found:?}");
        prop_assert_eq!(again, routes);
    }

    /// Neither file has an LMC: it shows in the LIDs that have an entry.
    #[test]
    fn the_lmc_of_an_fdbs_file_is_found((fabric, lids, routes) in routed()) {
        let list = written(|out| subnet_lst::write(out, &fabric, &lids));
        let (linked, _) = subnet_lst::read(&list, path()).expect("ours");
        prop_assume!(linked.fabric.switch_count() == fabric.switch_count());
        let dump = written(|out| fdbs::write(out, &fabric, &routes, &lids));
        let (read, _) = fdbs::read(&dump, path()).expect("ours");
        let (found_lids, found) = tables::lids_of(&linked.fabric, &read);
        prop_assert!(found.is_empty(), "{found:?}");
        prop_assert_eq!(found_lids.lmc(), lids.lmc());
        let (_, found) =
            tables::to_routes(&linked.fabric, &read, None, "minhop", path()).expect("ours");
        prop_assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn lids_there_and_back((fabric, lids, _) in routed()) {
        let file = written(|out| guid2lid::write(out, &fabric, &lids));
        let (ranges, found) = guid2lid::read(&file, path()).expect("ours");
        prop_assert!(found.is_empty());
        let (again, found) = guid2lid::to_lids(&fabric, &ranges, path()).expect("ours");
        prop_assert!(found.is_empty(), "{found:?}");
        prop_assert_eq!(again, lids);
    }

    #[test]
    fn links_there_and_back((fabric, lids, _) in routed()) {
        let list = written(|out| subnet_lst::write(out, &fabric, &lids));
        let (again, found) = subnet_lst::read(&list, path()).expect("ours");
        prop_assert!(found.is_empty(), "{found:?}");
        let again = again.fabric;
        // Switches without any cable are not in the list.
        prop_assert_eq!(again.terminal_count(), fabric.terminal_count());
        prop_assert_eq!(again.channel_count(), fabric.channel_count());
        prop_assert_eq!(again.loopbacks().len(), fabric.loopbacks().len());
        let same = Lids::assign(&again, lids.lmc()).expect("ours");
        let twice = written(|out| subnet_lst::write(out, &again, &same));
        let sorted = |t: &str| {
            let mut lines: Vec<_> = t.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        prop_assert_eq!(sorted(&twice), sorted(&list));
    }

    #[test]
    fn path_levels_there_and_back(
        (fabric, lids, mut routes) in routed(),
        levels in proptest::collection::vec(0u8..16, 16),
    ) {
        let (n, t) = (fabric.switch_count(), fabric.terminal_count());
        let rows = routes.row_count();
        let by_source = Layers::BySource((0..rows * t).map(|i| levels[i % 16]).collect());
        let by_switch = Layers::BySourceSwitch((0..rows * n).map(|i| levels[i % 16]).collect());
        for layers in [by_source, by_switch] {
            routes.layers = layers;
            let texts = [
                written(|out| sl::write_paths(out, &fabric, &routes, &lids)),
                written(|out| sl::write_rows(out, &fabric, &routes, &lids)),
            ];
            for text in texts.iter().filter(|_| t > 1) {
                let mut again = routes.clone();
                again.layers = Layers::One;
                let found = sl::read(text, path(), &fabric, &lids, &mut again).expect("ours");
                prop_assert!(found.is_empty(), "{found:?}");
                for source in (0..t).map(TerminalId::new) {
                    for (dest, path) in (0..t).flat_map(|d| (0..routes.paths()).map(move |p| (d, p))) {
                        let row = routes.row(DestId::new(dest), path);
                        let both = [&routes, &again].map(|r| r.layer_on(&fabric, source, row));
                        prop_assert!(source.index() == dest || both[0] == both[1], "{both:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn path_bits_there_and_back(
        (fabric, _, mut routes) in routed(),
        bits in proptest::collection::vec(any::<prop::sample::Index>(), 16),
    ) {
        let select: Vec<u16> = (0..fabric.terminal_count())
            .map(|t| bits[t % 16].index(routes.paths()) as u16)
            .collect();
        routes.set_select(select.clone());
        let list = written(|out| path_bits::write(out, &fabric, &routes));
        let (again, found) = path_bits::read(&list, path(), &fabric, &routes).expect("ours");
        prop_assert!(found.is_empty(), "{found:?}");
        prop_assert_eq!(again, select);
    }

    #[test]
    fn tampered_text_never_panics(
        (fabric, lids, routes) in routed(),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), any::<char>(), 0u8..4), 1..12),
        noise in ".{0,200}",
    ) {
        let nodes = r#"{"node_info":{"0000:0000:0000:0001":{"node_type":1,"log_id":"1","desc":"'s'"},
            "0000:0000:0000:000a":{"node_type":2,"log_id":"2"}},"edge_info":{"1":{"euid":1,
            "src_node_id":"0000:0000:0000:000a","src_port_id":"1","dest_node_id":
            "0000:0000:0000:0001","dest_port_id":"1","speed":"QDR","width":"4x"}}}"#;
        let matrix = "lids 1 2-3\n1 012\n2 345\n3 678\n0x1 111\n";
        let records = "PathRecord dump:\n\tdlid....2\n\tslid....1\n\tsl....0x3\n";
        let texts = [
            written(|out| lft::write(out, &fabric, &routes, &lids)),
            written(|out| fdbs::write(out, &fabric, &routes, &lids)),
            written(|out| guid2lid::write(out, &fabric, &lids)),
            written(|out| subnet_lst::write(out, &fabric, &lids)),
            written(|out| sl::write_paths(out, &fabric, &routes, &lids)),
            written(|out| path_bits::write(out, &fabric, &routes)),
            nodes.to_owned(),
            matrix.to_owned(),
            records.to_owned(),
            include_str!("../../../../fuzz/corpus/tables/far").to_owned(),
            noise,
        ];
        for text in texts {
            let text = tampered(&text, &cuts);
            everything(&text, &fabric, &lids);
        }
    }
}

/// The corpus of the fuzz target goes through the readers.
#[test]
fn replay() {
    let text = include_str!("../../../../tests/data/fabrics/ibtopotool_3.topo");
    let (topology, _) = ibnetdiscover::read(text, path()).expect("a dump");
    let lids = Lids::assign(&topology.fabric, 0).expect("few");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/tables");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("a corpus") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a file");
        everything(&String::from_utf8_lossy(&bytes), &topology.fabric, &lids);
        files += 1;
    }
    assert!(files >= 8, "{files}");
}

/// Characters replaced, inserted, deleted, lines doubled.
fn tampered(text: &str, cuts: &[(prop::sample::Index, char, u8)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (at, c, what) in cuts {
        if chars.is_empty() {
            break;
        }
        let at = at.index(chars.len());
        match what {
            0 => chars[at] = *c,
            1 => chars.insert(at, *c),
            2 => {
                let end = chars[at..].iter().position(|c| *c == '\n');
                chars.drain(at..end.map_or(chars.len(), |e| at + e));
            }
            _ => chars[at] = char::from(b"0fx:{}9\n"[at % 8]),
        }
    }
    chars.into_iter().collect()
}

/// Runs all readers on one text; their results must be usable without a panic.
fn everything(text: &str, fabric: &Fabric, lids: &Lids) {
    let dumps = [lft::read(text, path()), fdbs::read(text, path())];
    for (read, _) in dumps.into_iter().flatten() {
        for given in [Some(lids), None] {
            if let Ok((routes, _)) = tables::to_routes(fabric, &read, given, "x", path()) {
                darkfiber_routing::check::check(fabric, &routes);
                let lids = given.cloned().unwrap_or_else(|| tables::lids_of(fabric, &read).0);
                written(|out| lft::write(out, fabric, &routes, &lids));
                written(|out| fdbs::write(out, fabric, &routes, &lids));
            }
        }
    }
    if let Ok((read, _)) = far::read(text, path())
        && let Ok((mut routes, _)) =
            tables::to_routes(fabric, &read.tables, Some(lids), "x", path())
        && let Ok((hops, _)) = far::to_groups(fabric, &read, lids, &routes, path())
    {
        written(|out| far::write(out, fabric, &routes, &hops, lids));
        routes.groups = Some(std::sync::Arc::new(hops));
        darkfiber_routing::check::check_groups(fabric, &routes);
    }
    if let Ok((ranges, _)) = guid2lid::read(text, path()) {
        let _any = guid2lid::to_lids(fabric, &ranges, path());
    }
    if let Ok((list, _)) = guids::read(text, path()) {
        guids::switches(fabric, &list);
        guids::terminals(fabric, &list);
    }
    let _levels =
        sl::read(text, path(), fabric, lids, &mut Routes::empty("x", fabric, lids.width()));
    let _bits = path_bits::read(text, path(), fabric, &Routes::empty("x", fabric, 4));
    let _links = subnet_lst::read(text, path());
    if let Ok((nodes, _)) = netloc::read_map(text, path()) {
        let paths = r#"{"path_info":{"0000:0000:0000:000a":{"0000:0000:0000:0001":[1]}}}"#;
        let _paths = netloc::read_paths(paths, path(), &nodes, "x");
        let _paths = netloc::read_paths(text, path(), &nodes, "x");
    }
}
