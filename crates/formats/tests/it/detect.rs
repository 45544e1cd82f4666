//! Formats are recognised by content, and files that are not fabrics give clear errors.

use std::path::Path;

use darkfiber_formats::detect::parse_fabric;
use darkfiber_formats::format::{Options, Reading, ToWrite};
use darkfiber_formats::{FORMATS, Format, detect, explained, ibnetdiscover, input};

use crate::support::{shared, shipped};

fn kind(text: &str) -> Option<&'static str> {
    detect(text, Path::new("any.name")).map(|format| format.name)
}

#[test]
fn small_texts() {
    for (text, expect) in [
        ("", Some("empty")),
        (" \n\n", Some("empty")),
        ("<!DOCTYPE html><html>", Some("html")),
        ("\n<?xml version=\"1.0\"?>", Some("html")),
        ("PK\x03\x04\0\0", Some("binary")),
        ("\u{fffd}\u{fffd}abc", Some("binary")),
        ("Switch 8 \"S-1\"\n", Some("ibnetdiscover")),
        ("$ ibnetdiscover\nvendid=0x1\nCa1\"H-2\"#\"x\"", Some("ibnetdiscover")),
        ("SW    24 1 0x946dae0300618c82 4x SDR     'spine '", Some("ibnetdiscover-p")),
        (
            "CA: a HCA-1:\n 0x1 2 1[ ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 3 4[ ] \"s\" ( )\n",
            Some("iblinkinfo"),
        ),
        ("0x1 \"a\" 2 1[ ] ==( Down/ Polling)==> [ ] \"\" ( )\n", Some("iblinkinfo")),
        ("# Running version\n\nSTART_DUMP_INFO\n", Some("db_csv")),
        ("[{\"source_guid\": \"1\", \"destination_guid\": \"2\"}]", Some("ufm-links")),
        ("Unicast lids [0-246] of switch Lid 2 guid 0x1 ('x'):\n0x0001 001 #", Some("lfts")),
        ("dump_ucast_routes: Switch 0x2\nLID    : Port", Some("fdbs")),
        ("0x0000200000000011 0x0001 0x0001\n", Some("guid2lid")),
        ("# x\n0x0002c90109fb0000\n", Some("guids")),
        ("# x\n0 1\n1 2\n", Some("edges")),
        ("a,b\nc,d,3\n", Some("edges")),
        ("{ SW Ports:08 SystemGUID:a2 NodeGUID:00 PortGUID:0 }", Some("subnet.lst")),
        ("{ \"format\" : \"darkfiber-fabric\", ", Some("json")),
        ("{\"path_info\":{", Some("netloc-paths")),
        ("{\"a\": 1}", Some("other JSON")),
        ("SwitchName=s0 Nodes=n[0-3]", Some("topology.conf")),
        ("graph g {\n a -- b;\n}", Some("dot")),
        ("MTS S1\n P1 -> HCA H-1 P1\n", Some("ibdm.topo")),
        (
            "# x\n\n\"Quantum-2\", Mellanox, 0xb0, LID 24\n  #     : IB# : Sta  : PhysSta : Neighbor Guid : N#\n",
            Some("net_dump"),
        ),
        ("just some words about nothing at all\n", None),
        ("[root@host ~]# ls\n", None),
    ] {
        assert_eq!(kind(text), expect, "{text:?}");
    }
}

#[test]
fn every_file_of_the_data() {
    for (name, expect) in [
        ("stage-sx6036.topo", "ibnetdiscover"),
        ("ibtopotool_1.topo", "ibnetdiscover"),
        ("ibtopotool_3.topo", "ibnetdiscover"),
    ] {
        let path = shipped(name);
        assert_eq!(kind(&input::read_text(&path).expect("shipped")), Some(expect));
    }
    for (name, expect) in [
        ("data/fabrics/azure-sharp-topology.txt", "topology.conf"),
        ("data/fabrics/ibutils-RhinoBased10K.topo.gz", "ibdm.topo"),
        ("data/fabrics/ibutils-RhinoBased512.lst.gz", "subnet.lst"),
        ("data/fabrics/ibutils-RhinoBased512.topo", "ibdm.topo"),
        ("data/fabrics/ibutils-ibnl.tar.gz", "binary"),
        ("data/fabrics/ibutils-osm.fdbs", "fdbs"),
        ("data/fabrics/ibutils-subnet.lst", "subnet.lst"),
        ("data/fabrics/plafrim-netloc-log-paths.json", "netloc-paths"),
        ("data/fabrics/plafrim-netloc-phy-paths.json", "netloc-paths"),
        ("data/fabrics/plafrim-netloc-nodes.json", "netloc"),
        ("data/fabrics/selene.storage.txt", "ibnetdiscover"),
        ("reference/opensm/ft2_216/lfts.updn.dump.gz", "lfts"),
        ("reference/opensm/ft2_216/guid2lid.gz", "guid2lid"),
        ("reference/opensm/ft2_216/opensm-subnet.lst.gz", "subnet.lst"),
        ("reference/opensm/ft2_216/topology.net.gz", "ibnetdiscover"),
        ("reference/opensm/ft2_216/roots.guids", "guids"),
    ] {
        let Some(path) = shared(name) else { return };
        assert_eq!(kind(&input::read_text(&path).expect("present")), Some(expect), "{name}");
    }
}

#[test]
fn errors_say_what_it_is_and_what_to_do() {
    let refuse = |text: &str| {
        parse_fabric(text, Path::new("f"), &Options::default()).expect_err(text).to_string()
    };
    let errors: Vec<String> = [
        "",
        "\n\n<html><body>404",
        "# c\nUnicast lids [0-2] of switch Lid 2 guid 0x1 ('x'):",
        "{\"path_info\":{}}",
        "MTS S1\n P1 -> HCA H-1 P1\n",
        "some text\nwithout = sense\n",
        "# only\n",
        "a\0b",
    ]
    .iter()
    .map(|text| refuse(text))
    .collect();
    insta::assert_snapshot!(errors.join("\n"), @r"
    f: this is an empty file; expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges) (ibnetdiscover writes nothing if it has no rights on /dev/infiniband or no link)
    f: line 3 looks like HTML or XML; expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges) (was a login or error page downloaded instead of the file?)
    f: line 2 looks like a routing table (LFT dump); expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges) (give it with --routes, and its fabric as an ibnetdiscover file)
    f: line 1 looks like a netloc paths file, which holds routes; expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges) (give it with --routes, and its fabric as an ibnetdiscover file)
    f: line 2 looks like an ibdm topology file (.topo); expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges) (it names systems, not switches: `darkfiber diff PLAN FABRIC` compares a fabric with it; to route, dump the fabric with ibnetdiscover)
    f: line 1: unrecognised format: some text; expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges) (give the output of ibnetdiscover, or an edge list: a line for each cable, `a b`)
    f: there are only comments; expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges) (give the output of ibnetdiscover, or an edge list: a line for each cable, `a b`)
    f: line 1 looks like binary or compressed data; expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges) (gzip and zstandard are undone once; unpack archives first)
    ");
    let text = "0 1\n1 2\n";
    let wrong = ibnetdiscover::read(text, Path::new("f")).expect_err("an edge list");
    insta::assert_snapshot!(wrong.to_string(), @r#"f: no line describes a node; expected an ibnetdiscover file (lines such as `Switch 36 "S-..."` and `Ca 1 "H-..."`)"#);
    let wrong = explained(wrong, text);
    insta::assert_snapshot!(wrong.to_string(), @r#"f: line 1 looks like an edge list; expected an ibnetdiscover file (lines such as `Switch 36 "S-..."` and `Ca 1 "H-..."`)"#);
}

#[test]
fn every_entry_is_named_once_and_says_what_it_is() {
    let complete = |f: &&Format| !f.name.is_empty() && !f.what.is_empty() | f.known_by.is_empty();
    assert_eq!(FORMATS.iter().filter(complete).count(), FORMATS.len());
    for format in &FORMATS {
        assert_eq!(FORMATS.get(format.name).ok(), Some(format));
        assert_eq!(FORMATS.names().filter(|name| *name == format.name).count(), 1);
        // Formats that are not listed are recognised only to be refused.
        assert!(format.is_used() || !format.known_by.is_empty(), "{}", format.name);
        assert!(format.is_used() || format.writer().is_none(), "{}", format.name);
    }
}

/// A fabric that is written is recognised, and read by the same entry where it has a reader.
#[test]
fn what_is_written_is_known_again() {
    let topology = darkfiber_fabric::open("xgft:m=4x4,w=1x2").expect("a tree");
    for format in &FORMATS {
        let Some(writer) = format.writer() else { continue };
        let mut out = Vec::new();
        (writer.write)(&mut out, &ToWrite { topology: &topology, nodes: None }).expect("memory");
        let known = detect(&out, Path::new("x"));
        assert_eq!(known.filter(|_| !format.known_by.is_empty()), known.and(Some(format)));
        if matches!(format.read, Reading::Fabric(_)) {
            let (again, _) = parse_fabric(&out, Path::new("x"), &Options::default()).expect("ours");
            assert_eq!(again.fabric.link_count(), topology.fabric.link_count(), "{}", format.name);
        }
    }
}

#[test]
fn what_holds_no_cables_is_refused_with_the_reason() {
    let refused = |text: &str, name: &str| {
        parse_fabric(text, Path::new(name), &Options::default())
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    let ethernet = r#"{"network_info":{"network_type":1},"node_info":{"00:00:00:00:00:07":{"node_type":2}},"edge_info":{}}"#;
    let why = refused(ethernet, "ETH-unknown-nodes.ndat").expect_err("of Ethernet");
    assert!(why.contains("it is of an Ethernet network (network_type 1)"), "{why}");
    let why = refused("# a\nBlockName=b1 Nodes=n[1-4]\nBlockSizes=4\n", "topology.conf");
    let why = why.expect_err("of blocks");
    assert!(why.contains("of topology/block, which does not say how"), "{why}");
}
