//! Kinds of files are known by content, and what is no fabric is told clearly.

use std::path::Path;

use darkfiber_formats::detect::parse_fabric;
use darkfiber_formats::edges::Options;
use darkfiber_formats::{FileKind, detect, ibnetdiscover, input};

use crate::support::{shared, shipped};

fn kind(text: &str) -> Option<FileKind> {
    detect(text, Path::new("any.name"))
}

#[test]
fn small_texts() {
    use FileKind::*;
    for (text, expect) in [
        ("", Some(Empty)),
        (" \n\n", Some(Empty)),
        ("<!DOCTYPE html><html>", Some(Html)),
        ("\n<?xml version=\"1.0\"?>", Some(Html)),
        ("PK\x03\x04\0\0", Some(Binary)),
        ("\u{fffd}\u{fffd}abc", Some(Binary)),
        ("Switch 8 \"S-1\"\n", Some(IbnetDiscover)),
        ("$ ibnetdiscover\nvendid=0x1\nCa1\"H-2\"#\"x\"", Some(IbnetDiscover)),
        ("SW    24 1 0x946dae0300618c82 4x SDR     'spine '", Some(PortList)),
        ("Unicast lids [0-246] of switch Lid 2 guid 0x1 ('x'):\n0x0001 001 #", Some(Lft)),
        ("dump_ucast_routes: Switch 0x2\nLID    : Port", Some(Fdbs)),
        ("0x0000200000000011 0x0001 0x0001\n", Some(Guid2Lid)),
        ("# x\n0x0002c90109fb0000\n", Some(GuidList)),
        ("# x\n0 1\n1 2\n", Some(EdgeList)),
        ("a,b\nc,d,3\n", Some(EdgeList)),
        ("{ SW Ports:08 SystemGUID:a2 NodeGUID:00 PortGUID:0 }", Some(SubnetLst)),
        ("{ \"format\" : \"darkfiber-fabric\", ", Some(Json)),
        ("{\"path_info\":{", Some(NetlocPaths)),
        ("{\"a\": 1}", Some(OtherJson)),
        ("SwitchName=s0 Nodes=n[0-3]", Some(SlurmTopology)),
        ("graph g {\n a -- b;\n}", Some(Dot)),
        ("MTS S1\n P1 -> HCA H-1 P1\n", Some(IbdmTopo)),
        ("just some words about nothing at all\n", None),
        ("[root@host ~]# ls\n", None),
    ] {
        assert_eq!(kind(text), expect, "{text:?}");
    }
}

#[test]
fn every_file_of_the_data() {
    for (name, expect) in [
        ("stage-sx6036.topo", FileKind::IbnetDiscover),
        ("ibtopotool_1.topo", FileKind::IbnetDiscover),
        ("ibtopotool_3.topo", FileKind::IbnetDiscover),
    ] {
        let path = shipped(name);
        assert_eq!(kind(&input::read_text(&path).expect("shipped")), Some(expect));
    }
    for (name, expect) in [
        ("data/fabrics/azure-sharp-topology.txt", FileKind::SlurmTopology),
        ("data/fabrics/ibutils-RhinoBased10K.topo.gz", FileKind::IbdmTopo),
        ("data/fabrics/ibutils-RhinoBased512.lst.gz", FileKind::SubnetLst),
        ("data/fabrics/ibutils-RhinoBased512.topo", FileKind::IbdmTopo),
        ("data/fabrics/ibutils-ibnl.tar.gz", FileKind::Binary),
        ("data/fabrics/ibutils-osm.fdbs", FileKind::Fdbs),
        ("data/fabrics/ibutils-subnet.lst", FileKind::SubnetLst),
        ("data/fabrics/plafrim-netloc-log-paths.json", FileKind::NetlocPaths),
        ("data/fabrics/plafrim-netloc-phy-paths.json", FileKind::NetlocPaths),
        ("data/fabrics/plafrim-netloc-nodes.json", FileKind::NetlocNodes),
        ("data/fabrics/selene.storage.txt", FileKind::IbnetDiscover),
        ("reference/opensm/ft2_216/lfts.updn.dump.gz", FileKind::Lft),
        ("reference/opensm/ft2_216/guid2lid.gz", FileKind::Guid2Lid),
        ("reference/opensm/ft2_216/opensm-subnet.lst.gz", FileKind::SubnetLst),
        ("reference/opensm/ft2_216/topology.net.gz", FileKind::IbnetDiscover),
        ("reference/opensm/ft2_216/roots.guids", FileKind::GuidList),
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
    let told: Vec<String> = [
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
    insta::assert_snapshot!(told.join("\n"), @r"
    f: the file is empty; expected a fabric (ibnetdiscover, `ibnetdiscover -p`, subnet.lst, netloc nodes, darkfiber JSON, edge list; links of Cray, CODES or netbench) (ibnetdiscover writes nothing if it has no rights on /dev/infiniband or no link)
    f: line 3 looks like HTML or XML; expected a fabric (ibnetdiscover, `ibnetdiscover -p`, subnet.lst, netloc nodes, darkfiber JSON, edge list; links of Cray, CODES or netbench) (was a login or error page downloaded instead of the file?)
    f: line 2 looks like a routing table (LFT dump); expected a fabric (ibnetdiscover, `ibnetdiscover -p`, subnet.lst, netloc nodes, darkfiber JSON, edge list; links of Cray, CODES or netbench) (give it with --routes, and its fabric as an ibnetdiscover file)
    f: line 1 looks like a netloc paths file, which holds routes; expected a fabric (ibnetdiscover, `ibnetdiscover -p`, subnet.lst, netloc nodes, darkfiber JSON, edge list; links of Cray, CODES or netbench) (give it with --routes, and its fabric as an ibnetdiscover file)
    f: line 2 looks like an ibdm topology file (.topo); expected a fabric (ibnetdiscover, `ibnetdiscover -p`, subnet.lst, netloc nodes, darkfiber JSON, edge list; links of Cray, CODES or netbench) (it names systems, not switches: simulate it with ibdm's ibmgtsim or dump the real fabric with ibnetdiscover)
    f: line 1 is like nothing known: some text; expected a fabric (ibnetdiscover, `ibnetdiscover -p`, subnet.lst, netloc nodes, darkfiber JSON, edge list; links of Cray, CODES or netbench) (give the output of ibnetdiscover)
    f: there are only comments; expected a fabric (ibnetdiscover, `ibnetdiscover -p`, subnet.lst, netloc nodes, darkfiber JSON, edge list; links of Cray, CODES or netbench) (give the output of ibnetdiscover)
    f: line 1 looks like binary or compressed data; expected a fabric (ibnetdiscover, `ibnetdiscover -p`, subnet.lst, netloc nodes, darkfiber JSON, edge list; links of Cray, CODES or netbench) (gzip and zstandard are undone once; unpack archives first)
    ");
    let wrong = ibnetdiscover::read("0 1\n1 2\n", Path::new("f")).expect_err("an edge list");
    insta::assert_snapshot!(wrong.to_string(), @r#"f: line 1 looks like an edge list; expected an ibnetdiscover file (lines such as `Switch 36 "S-..."` and `Ca 1 "H-..."`)"#);
}
