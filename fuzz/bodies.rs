//! What fuzz targets do with their input: shared with the tests that replay their corpora, so that both do the same.

use std::io::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use darkfiber_fabric::{Fabric, parse_spec};
use darkfiber_formats::hostlist;
use darkfiber_formats::places::{self, Aliases, Places};
use darkfiber_formats::{
    checked, demands, ibnetdiscover, input, lft, lid_choice, node_names, path_bits, sl, sl2vl,
    slurm_nodes, tables,
};
use darkfiber_routing::{Layers, Lids, Request, Routes, find_engine};

/// The fabric that all files are taken to be of, with tables of two LIDs a port.
static CASE: LazyLock<(Fabric, Lids, Routes)> = LazyLock::new(|| {
    let text = include_str!("../tests/data/fabrics/ibtopotool_3.topo");
    let (topology, _) = ibnetdiscover::read(text, Path::new("fuzz")).expect("a dump");
    let fabric = topology.fabric;
    let lids = Lids::assign(&fabric, 1).expect("few");
    let minhop = find_engine("minhop").expect("registered");
    let routes =
        minhop.route(&fabric, &Request { lmc: 1, ..Request::default() }).expect("connected");
    // As a reader has them: an engine's tables can share rows.
    let dump = written(|out| lft::write(out, &fabric, &routes, &lids));
    let (read, _) = lft::read(&dump, path()).expect("what was written");
    let (routes, _) =
        tables::to_routes(&fabric, &read, Some(&lids), "minhop", path()).expect("its own");
    (fabric, lids, routes)
});

fn path() -> &'static Path {
    Path::new("fuzz")
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory takes it");
    String::from_utf8(out).expect("text")
}

/// Demands are read again as they are written.
pub(crate) fn demands(data: &[u8]) {
    let (fabric, ..) = &*CASE;
    let places = Places::new(fabric, Aliases::new());
    if let Ok((read, _)) = demands::read(&String::from_utf8_lossy(data), path(), &places) {
        let text = written(|out| demands::write(out, fabric, &read));
        let (again, found) = demands::read(&text, path(), &places).expect("what was written");
        // A weight of 0 asks for nothing and is not written.
        let some: Vec<_> = read.into_iter().filter(|demand| demand.weight > 0).collect();
        assert_eq!(some, again, "{found:?}");
    }
}

/// A choice among LIDs and LIDs by source: what is read is written, and read again.
pub(crate) fn lid_choice(data: &[u8]) {
    let (fabric, lids, routes) = &*CASE;
    let text = String::from_utf8_lossy(data);
    if let Ok((read, _)) = lid_choice::read(&text, path(), fabric, lids, routes.paths()) {
        let text = written(|out| lid_choice::write(out, &read, fabric, lids));
        let (again, _) = lid_choice::read(&text, path(), fabric, lids, routes.paths())
            .expect("what was written");
        assert_eq!(read, again);
    }
    let _ = path_bits::read(&text, path(), fabric, routes);
}

/// Service levels of every form: what is read is written in the form that holds all, and read again.
pub(crate) fn service_levels(data: &[u8]) {
    let (fabric, lids, routes) = &*CASE;
    let mut read = routes.clone();
    if sl::read(&String::from_utf8_lossy(data), path(), fabric, lids, &mut read).is_err() {
        return;
    }
    let text = written(|out| sl::write_rows(out, fabric, &read, lids));
    let mut again = routes.clone();
    sl::read(&text, path(), fabric, lids, &mut again).expect("what was written");
    for t in (0..fabric.terminal_count()).map(darkfiber_fabric::TerminalId::new) {
        for row in 0..read.row_count() {
            assert_eq!(read.layer_on(fabric, t, row), again.layer_on(fabric, t, row));
        }
    }
    let _ = written(|out| sl::write_paths(out, fabric, &read, lids));
}

/// Lanes by input and output port are read again as they are written.
pub(crate) fn sl2vl(data: &[u8]) {
    let (fabric, lids, _) = &*CASE;
    let text = String::from_utf8_lossy(data);
    let Ok((read, _, _)) = sl2vl::read(&text, path(), fabric, Layers::One) else { return };
    let Some(lanes) = read.by_hop() else { return };
    let text = written(|out| sl2vl::write(out, fabric, lanes, lids));
    let (again, _, found) =
        sl2vl::read(&text, path(), fabric, Layers::One).expect("what was written");
    assert!(found.is_empty(), "{found:?}");
    for s in (0..fabric.switch_count()).map(darkfiber_fabric::SwitchId::new) {
        for (i, o) in
            (0..=fabric.switch(s).ports).flat_map(|i| (1..=i).flat_map(move |o| [(i, o), (o, i)]))
        {
            let has =
                |port| port == 0 || fabric.at_port(s, port) != darkfiber_fabric::AtPort::Nothing;
            let lane = again.by_hop().map_or(0, |again| again.get(0, s, i, o));
            assert!(o == 0 || !has(i) || !has(o) || lane == lanes.get(0, s, i, o));
        }
    }
}

/// A spec makes a fabric that hangs together in its parts, or is refused.
pub(crate) fn specs(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // Fabrics of millions of switches are legal and take their time.
    let is_large = |word: &str| word.parse::<u64>().is_ok_and(|n| n > 24);
    if text.len() > 80 || text.split(|c: char| !c.is_ascii_digit()).any(is_large) {
        return;
    }
    if let Ok(topology) = parse_spec(&text) {
        let f = &topology.fabric;
        for c in (0..f.channel_count()).map(darkfiber_fabric::ChannelId::new) {
            assert_eq!(f.reverse(f.reverse(c)), c);
        }
    }
}

/// Names of nodes, aliases, node sets and lists of SLURM's nodes.
pub(crate) fn names(data: &[u8]) {
    let (fabric, ..) = &*CASE;
    let text = String::from_utf8_lossy(data);
    if let Ok((names, _)) = node_names::read(&text, path()) {
        let _ = names.apply(fabric.clone(), path());
    }
    if let Ok((aliases, _)) = places::read_aliases(&text, path(), fabric) {
        let groups = aliases.groups().clone();
        let _ = Places::new(fabric, aliases);
        let _ = hostlist::expand_with(&text, &groups);
    }
    if let Ok(names) = slurm_nodes::read(&text, path()) {
        let _ = slurm_nodes::find(fabric, &names);
    }
    if let Ok(names) = hostlist::expand(&text) {
        let again = hostlist::expand(&hostlist::compress(&names)).expect("what was written");
        assert_eq!(again.len(), names.len());
    }
}

/// Compressed input never grows beyond the limit.
pub(crate) fn packed(data: &[u8]) {
    if let Ok(bytes) = input::decompress(data) {
        assert!(bytes.len() as u64 <= input::limit());
    }
}

/// A file with a digest, as checkpoints are.
pub(crate) fn checkpoint(data: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(data).expect("written");
    if let Ok(mut inside) = checked::open(file.path()) {
        let mut bytes = Vec::new();
        let _ = std::io::Read::read_to_end(&mut inside, &mut bytes);
    }
}

/// What a target does with an input.
type Body = fn(&[u8]);

/// By name of the target.
pub(crate) const BODIES: &[(&str, Body)] = &[
    ("demands", demands),
    ("lid_choice", lid_choice),
    ("service_levels", service_levels),
    ("sl2vl", sl2vl),
    ("specs", specs),
    ("names", names),
    ("packed", packed),
    ("checkpoint", checkpoint),
];
