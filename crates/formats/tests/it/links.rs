//! Topology files of other simulators and of a Cray: real ones have the counts of their data sheet, and broken ones
//! are reported.

use darkfiber_testkit::lines;
use std::path::{Path, PathBuf};

use darkfiber_fabric::{DragonflyShape, Fabric, GroupKind, Shape, SwitchId, Topology};
use darkfiber_formats::detect::parse_fabric;
use darkfiber_formats::edges::Options;
use darkfiber_formats::{Diagnostics, Severity, codes, detect, input, read_fabric};

use crate::support::shared;

fn file(name: &str) -> Option<PathBuf> {
    shared(&format!("data/topologies/{name}"))
}

fn open(path: &Path, hosts_per_switch: u8) -> (Topology, Diagnostics) {
    let options = Options { hosts_per_switch, ..Options::default() };
    read_fabric(path, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// Switches, terminals, cables between switches.
fn counts(f: &Fabric) -> [usize; 3] {
    [f.switch_count(), f.terminal_count(), f.switch_link_count()]
}

fn cables_of_class(f: &Fabric, label: &str) -> usize {
    (0..f.channel_count())
        .filter(|&c| f.class_of(darkfiber_fabric::ChannelId::new(c)).label == label)
        .count()
        / 2
}

fn dragonfly(t: &Topology) -> &DragonflyShape {
    match &t.shape {
        Some(Shape::Dragonfly(d)) => d,
        other => panic!("{other:?}"),
    }
}

/// Switches by number of cables to other switches: (cables, switches), rising.
fn degrees(f: &Fabric) -> Vec<(usize, usize)> {
    let mut counts = std::collections::BTreeMap::new();
    for s in (0..f.switch_count()).map(SwitchId::new) {
        *counts.entry(f.channels_from(s).len()).or_default() += 1;
    }
    counts.into_iter().collect()
}

fn refused(content: &[u8], name: &str) -> String {
    match parse_fabric(content, Path::new(name), &Options::default()) {
        Ok((t, _)) => panic!("{name} was read: {:?}", counts(&t.fabric)),
        Err(e) => e.to_string(),
    }
}

#[test]
fn theta_as_cray_lists_it() {
    let Some(path) = file("theta.interconnect.gz") else { return };
    let (t, d) = open(&path, 1);
    assert_eq!(lines(&d.0), "");
    let f = &t.fabric;
    // 12960 green, 12960 black and 3456 blue ends; 6912 processor tiles, two a node.
    assert_eq!(counts(f), [864, 3456, 12960 + 3456 / 2]);
    assert_eq!(cables_of_class(f, "aries-local"), 12960);
    assert_eq!(cables_of_class(f, "aries-global"), 1728);
    assert_eq!(degrees(f), [(34, 864)]);
    assert_eq!(f.components(), [864]);
    assert_eq!(f.switches()[0].description, "c0-0c0s0a0");
    assert_eq!(f.hosts()[3].name, "c0-0c0s0n3");
    let shape = dragonfly(&t);
    assert_eq!(shape.inside, GroupKind::Grid { rows: 6, columns: 16 });
    assert_eq!(shape.group.iter().max(), Some(&8));
    assert!(t.shape.as_ref().is_some_and(|s| s.fits(f)));
    // The first line: tile 00 of the first router leads to tile 10 of the router in slot 6.
    let c = f.channels_from(SwitchId(0)).start;
    let c = darkfiber_fabric::ChannelId::new(c);
    assert_eq!((f.tail_port(c), f.head_port(c), f.head(c)), (1, 9, SwitchId(6)));
}

#[test]
fn theta_as_codes_lists_it_is_the_same_network() {
    let (Some(cray), Some(inter), Some(intra)) =
        (file("theta.interconnect.gz"), file("inter-theta.bin"), file("intra-theta.bin"))
    else {
        return;
    };
    let (cray, _) = open(&cray, 1);
    let (one, d) = open(&inter, 4);
    assert_eq!(lines(&d.0), "");
    assert_eq!(one.fabric.name(), "theta");
    assert_eq!(counts(&one.fabric), counts(&cray.fabric));
    assert_eq!(one, open(&intra, 4).0, "either file stands for both");
    assert_eq!(one.shape, cray.shape);
    let pairs = |f: &Fabric| {
        let mut pairs: Vec<_> =
            (0..f.channel_count()).map(|c| (f.tails()[c], f.heads()[c])).collect();
        pairs.sort_unstable();
        pairs
    };
    assert_eq!(pairs(&one.fabric), pairs(&cray.fabric));
}

#[test]
fn codes_dragonfly() {
    let Some(path) = file("dfdally_8k_inter.bin") else { return };
    let (t, d) = open(&path, 8);
    assert_eq!(lines(&d.0), "");
    // 65 groups of 16, 8320 rows of global links and 240 of each group, all from both ends.
    assert_eq!(counts(&t.fabric), [1040, 8320, 8320 / 2 + 65 * 240 / 2]);
    assert_eq!(degrees(&t.fabric), [(15 + 8, 1040)]);
    assert_eq!((t.fabric.name(), dragonfly(&t).inside), ("dfdally_8k", GroupKind::Full));
    assert_eq!(t.fabric.switches()[16].description, "g01r00");
    assert_eq!(dragonfly(&t).group[1039], 64);
}

#[test]
fn codes_dragonfly_plus() {
    let Some(path) = file("dfp_8k_intra.bin") else { return };
    let (t, d) = open(&path, 16);
    assert_eq!(lines(&d.0), "");
    // 33 groups of 16 leaves and 16 spines; hosts only on leaves.
    assert_eq!(counts(&t.fabric), [1056, 33 * 16 * 16, 8448 / 2 + 33 * 512 / 2]);
    assert_eq!(degrees(&t.fabric), [(16, 528), (32, 528)]);
    assert_eq!(dragonfly(&t).inside, GroupKind::LeafSpine { leaves: 16 });
    let member = &dragonfly(&t).member;
    assert!(t.fabric.terminals().iter().all(|x| member[x.switch.index()] < 16));
}

#[test]
fn graph_golf() {
    for (name, order, degree, edges, repeated) in [
        ("n256d8g64", 256, 8, 1024, 0),
        ("n256d8.random", 256, 8, 1024, 0),
        ("n322d14.random", 322, 14, 2254, 0),
        ("n512d6g128", 512, 6, 1536, 0),
        ("n1000d32.random", 1000, 32, 16000, 0),
        ("n1728d30g108.random", 1728, 30, 25812, 108),
    ] {
        let Some(path) = file(&format!("graphgolf-{name}.edges")) else { return };
        let (t, d) = open(&path, 1);
        assert_eq!(counts(&t.fabric), [order, order, edges], "{name}");
        assert_eq!(degrees(&t.fabric).last().map(|x| x.0), Some(degree), "{name}");
        assert_eq!(d.0.len(), repeated, "{name}");
        assert_eq!(d.worst(), (repeated > 0).then_some(Severity::Note));
    }
}

#[test]
fn graph_golf_only_where_the_name_says_so() {
    let read = |name: &str, text: &str| {
        let (t, d) = parse_fabric(text, Path::new(name), &Options::default()).expect("a list");
        (t.fabric.switch_link_count(), lines(&d.0))
    };
    let list = "0 1\n1 2\n2 0\n1 0\n";
    assert_eq!(read("some.edges", list), (4, String::new()));
    insta::assert_snapshot!(read("n4d2.edges", list).1, @"
    line 4: note: the edge of line 1 again (Graph Golf's graphs are simple: it counts once)
    warning: the file name says 4 vertices, the list has 3 (is it complete?)
    ");
    assert_eq!(read("n3d2.edges", list).0, 3);
    assert_eq!(read("n3d2.edges", "a b\nb c\nc a\nb a\n").0, 4, "vertices are numbers");
    assert!(read("n3d1.edges", "0 1\n1 2\n").1.contains("more than the 1 edges"));
}

#[test]
fn netbench() {
    for (name, nodes, tors, links) in [
        ("fat_tree_k16", 320, 128, 4096),
        ("fat_tree_k16_oversub_50", 288, 128, 3072),
        ("xpander_n231_d10", 231, 231, 2310),
        ("xpander_n322_d13", 322, 322, 4186),
    ] {
        let Some(path) = file(&format!("netbench-{name}.topology")) else { return };
        let (t, d) = open(&path, 3);
        assert_eq!(lines(&d.0), "", "{name}");
        assert_eq!(counts(&t.fabric), [nodes, 3 * tors, links / 2], "{name}");
        assert!(t.fabric.terminals().iter().all(|x| x.switch.index() < tors));
        assert_eq!(t.fabric.components(), [nodes]);
    }
}

/// A third number is no number of cables where the heading calls it something else, nor in a matrix.
#[test]
fn third_columns_that_count_nothing() {
    let read = |name: &str, text: &str| {
        let (t, d) =
            parse_fabric(text, Path::new(name), &Options::default()).expect("an edge list");
        (t.fabric.switch_link_count(), lines(&d.0))
    };
    let (cables, notes) = read("w.csv", "source,target,weight\nA,B,1\nB,C,5\nC,D,3\nD,A,0.5\n");
    assert_eq!(cables, 4);
    insta::assert_snapshot!(notes, @r#"
    line 1: note: heading of a table (ignored)
    line 2: note: numbers of column "weight" are not taken (a line is one cable)
    "#);
    // Speeds are, whatever they are called, and counts by any name.
    let text = "source,target,bandwidth\nA,B,4xHDR\nB,C,4xEDR\nC,A,4xHDR\n";
    let (t, d) = parse_fabric(text, Path::new("bw.csv"), &Options::default()).expect("read");
    let speeds: Vec<&str> = t.fabric.classes().iter().map(|c| &c.label[..]).collect();
    assert!(speeds.contains(&"4xHDR") && speeds.contains(&"4xEDR"), "{speeds:?}");
    assert_eq!(lines(&d.0).lines().count(), 1);
    for heading in ["number_of_cables", "#cables", "num", "speed,links"] {
        let speed = if heading.contains(',') { "4xHDR," } else { "" };
        let text = format!("source,target,{heading}\nA,B,{speed}1\nB,C,{speed}2\nC,A,{speed}3\n");
        assert_eq!(read("n.csv", &text).0, 6, "{heading}");
    }
    assert_eq!(read("w.csv", "source,target,count\nA,B,1\nB,C,5\nC,A,3\n").0, 9);
    let matrix = "%%MatrixMarket matrix coordinate integer symmetric\n% c\n4 4 4\n1 2 7\n2 3 1\n3 4 2\n4 1 1\n";
    let sizes = "line 3: note: the numbers of switches and cables (ignored)";
    assert_eq!(read("m.mtx", matrix), (4, format!("{sizes}\n")));
    let (cables, notes) = read("a.adjlist", "0 1 5\n1 2\n2 3\n3 4\n4 5\n5\n");
    assert_eq!(cables, 9);
    insta::assert_snapshot!(notes, @"warning: it looks like a list of vertices, each with its neighbours (a third number of a line is taken as a number of cables: write a line for each cable)");
    // A ring of two cables each, with switches of these names.
    assert_eq!(read("r", "0 1 2\n1 2 2\n2 3 2\n3 0 2\n"), (8, String::new()));
}

/// Graphs of other programs are named, not taken for edge lists.
#[test]
fn graphs_of_other_programs() {
    let refused = |text: &str| {
        let error = parse_fabric(text, Path::new("f"), &Options::default()).expect_err("no fabric");
        let text = error.to_string();
        text.split("; expected").next().unwrap_or_default().to_owned()
    };
    let metis = "% Petersen\n10 15\n2 5 6\n1 3 7\n2 4 8\n3 5 9\n1 4 10\n1 8 9\n2 9 10\n3 6 10\n4 6 7\n5 7 8\n";
    insta::assert_snapshot!(refused(metis), @"f: line 2 looks like a graph of METIS, whose lines are the neighbours of a vertex each");
    let htsim = "Nodes 32\nTiers 2\nPodsize 32\n\nTier 0\nDownlink_speed_Gbps 100\n";
    insta::assert_snapshot!(refused(htsim), @"f: line 1 looks like parameters of a fat-tree of htsim (.topo), without links");
    let graphml = "<?xml version='1.0'?>\n<graphml xmlns=\"x\">\n<graph/>\n</graphml>\n";
    insta::assert_snapshot!(refused(graphml), @"f: line 1 looks like a graph in XML (GraphML or GEXF)");
    // A ring behind its numbers of switches and cables is an edge list.
    let ring = "5 5\n1 2\n2 3\n3 4\n4 5\n5 1\n";
    let (t, _) = parse_fabric(ring, Path::new("f"), &Options::default()).expect("an edge list");
    assert_eq!(t.fabric.switch_link_count(), 5);
}

/// The example that BookSim2 ships (src/examples/anynet/anynet_file): three routers in a triangle, whose third cable stands on the
/// third line, which names router 1 and router 0.
#[test]
fn anynet_of_booksim() {
    let text = "router 0 node 0 node 1 node 2 router 1\nrouter 1 node 3 node 4 node 5\n\
                router 2 node 6 node 7 node 8 router 1 router 0\n";
    let (t, d) = parse_fabric(text, Path::new("anynet_file"), &Options::default()).expect("read");
    assert_eq!((counts(&t.fabric), lines(&d.0).as_str()), ([3, 9, 3], ""));
    assert_eq!(t.fabric.terminals()[3].switch, SwitchId(1));
    // Both directions of a channel are one cable, with a latency each; a router may be named as a neighbour alone.
    let text = "router 0 router 1 15 router 7\nrouter 1 router 0 5\nnode 0 router 7\n";
    let (t, d) = parse_fabric(text, Path::new("f"), &Options::default()).expect("read");
    assert_eq!(counts(&t.fabric), [3, 1, 2]);
    insta::assert_snapshot!(lines(&d.0), @"line 1: note: 2 latencies in cycles are not taken (cables are alike)");
    let text = "router 0 node 0 router 0\nrouter 1 node 0\nnode 1 node 2\nrouter 2 routes 0\n\
                router 2 router 0 x\n";
    let (t, d) = parse_fabric(text, Path::new("f"), &Options::default()).expect("read");
    assert_eq!(counts(&t.fabric), [3, 1, 1]);
    insta::assert_snapshot!(lines(&d.0), @r#"
    line 1: error: a cable from router 0 to itself (this and what follows on the line is left out)
    line 2: error: node 0 is on router 1, and on 0 in line 1 (this and what follows on the line is left out)
    line 3: error: a cable between nodes 1 and 2 (this and what follows on the line is left out)
    line 4: error: "routes", expected router or node (this and what follows on the line is left out)
    line 5: error: "x", expected router or node (this and what follows on the line is left out)
    "#);
    insta::assert_snapshot!(refused(b"node 0 node 1\n", "f"), @"f: no line names a router; expected a network file of BookSim2's anynet (`router 0 node 0 router 1 15`)");
}

#[test]
fn netbench_with_servers_of_its_own() {
    let text = "|V|=5\n|E|=8\nToRs=set(0,1)\nServers=incl_range(2,3)\nSwitches=set(4)\n\
                0 4\n4 0\n1 4\n4 1\n2 0\n0 2\n1 3\n3 1\n";
    let (t, d) = parse_fabric(text, Path::new("x"), &Options::default()).expect("a topology");
    assert_eq!((counts(&t.fabric), lines(&d.0).as_str()), ([3, 2, 2], ""));
    let hosts: Vec<&str> = t.fabric.hosts().iter().map(|h| h.name.as_str()).collect();
    assert_eq!(hosts, ["server2", "server3"]);
    assert_eq!(t.fabric.terminals()[1].switch, SwitchId(1));
}

#[test]
fn netbench_that_contradicts_itself() {
    let text = "|V|=3\n|E|=7\nToRs=incl_range(0,7)\nServers=all\nSwitches=set()\ncolour=red\n\
                0 1\n1 0\n1 2\n7 1\n2 2\n0 1 2\n";
    let (t, d) = parse_fabric(text, Path::new("x"), &Options::default()).expect("a topology");
    assert_eq!(counts(&t.fabric), [3, 0, 2]);
    insta::assert_snapshot!(lines(&d.0), @r#"
    line 2: error: 7 links are promised, 4 are listed (those of the list are taken; each counts in both directions)
    line 3: error: node 7 does not exist, |V| is 3 (the line is left out)
    line 4: error: "all", expected incl_range(a,b) or set(a,b,..) (the line is left out)
    line 6: error: unknown property colour (the line is left out)
    line 9: error: `1 2` is listed 1x, `2 1` 0x (a link has both directions: the larger number is taken)
    line 10: error: node 7 does not exist, |V| is 3 (the line is left out)
    line 11: error: a link from node 2 to itself (the line is left out)
    line 12: error: neither `key=value` nor `a b`: 0 1 2 (the line is left out)
    error: 3 nodes are in none of ToRs, Servers and Switches, first 0 (they count as switches)
    "#);
    insta::assert_snapshot!(refused(b"|V|=many\n0 1\n", "f.topology"), @"f.topology: line 1: |V| is \"many\", expected a number; expected a netbench topology (lines such as `|V|=320` and `0 128`)");
    insta::assert_snapshot!(refused(b"|E|=2\n0 1\n1 0\n", "f.topology"), @"f.topology: line 2: |V|= must stand before this line; expected a netbench topology (lines such as `|V|=320` and `0 128`)");
}

#[test]
fn cray_that_contradicts_itself() {
    let text = "\
c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l00(0:0:1)
c0-0c0s1a0l00(0:0:1) black -> c0-0c0s0a0l00(0:0:0)
c0-0c0s0a0l01(0:0:0) green -> c0-0c0s1a0l01(0:0:1)
c0-0c0s0a0l02(0:0:0) blue -> unused
c0-0c0s0a0l02(0:0:0) ptile -> processor
c0-0c0s0a0l50(0:0:0) ptile -> processor
c0-0c0s0a0l51(0:0:0) ptile -> processor
c0-0c0s1a0l50(0:0:2) ptile -> processor
c0-0c0s1a0l99(0:0:1) green -> c0-0c0s0a0l03(0:0:0)
";
    let (t, d) = parse_fabric(text, Path::new("x"), &Options::default()).expect("a list");
    assert_eq!(counts(&t.fabric), [2, 2, 2]);
    assert_eq!(t.shape, None);
    insta::assert_snapshot!(lines(&d.0), @r#"
    line 2: error: the ends of a cable differ in colour (one is taken)
    line 2: warning: a cable of this colour cannot join routers at these coordinates (the fabric is read without a shape)
    line 3: error: port 2 of "c0-0c0s0a0" leads to port 2 of "c0-0c0s1a0", but not back (the cable is taken if both ports are free)
    line 5: error: a second line for port 3 of "c0-0c0s0a0" (it is left out)
    line 8: error: router "c0-0c0s1a0" is at 0:0:2, but at 0:0:1 before (the first is taken)
    line 9: warning: not a tile: c0-0c0s1a0l99(0:0:1) green -> c0-0c0s0a0l03(0:0:0) (expected `router(g:c:s) colour -> router(g:c:s)`; the line is left out)
    warning: router "c0-0c0s1a0" has an odd number of processor tiles: 1 (a node has two; the last one counts as a node, too)
    "#);
}

/// Records of 32-bit integers.
fn binary(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

#[test]
fn a_small_codes_network() {
    // Two groups of two routers, one link inside, two parallel ones between.
    let intra = binary(&[0, 1, 0, 1, 0, 0]);
    let inter = binary(&[0, 2, 2, 0, 0, 2, 2, 0]);
    let paths = [Path::new("inter"), Path::new("intra")];
    let read = |inter: &[u8], intra: &[u8]| {
        codes::assemble((inter, paths[0]), (intra, paths[1]), &Options::default())
    };
    let (t, d) = read(&inter, &intra).expect("a network");
    assert_eq!((counts(&t.fabric), lines(&d.0).as_str()), ([4, 4, 4], ""));
    assert_eq!(detect(&inter, paths[0]), Some(&codes::FORMAT));
    assert_eq!(detect(&inter, Path::new("a.bin")).map(|f| f.name), Some("binary"));

    let error = |inter: &[u8], intra: &[u8]| read(inter, intra).expect_err("broken").to_string();
    let messages: Vec<String> = [
        error(&inter[..30], &intra),
        error(&inter, &intra[..22]),
        error(&[], &intra),
        error(&binary(&[0, -1, -1, 0]), &intra),
        error(&binary(&[0, 900, 900, 0]), &intra),
        error(&binary(&[0, 1, 1, 0]), &intra),
        error(&inter, &binary(&[0, 1, 2, 3, 4, 5])),
        error(&inter, &binary(&[7, 900, 900, 7])),
    ]
    .to_vec();
    insta::assert_snapshot!(messages.join("\n"), @"
    inter: 30 bytes are no whole number of records of 8 bytes; expected links of a CODES network (int32 pairs or triples, from both ends) (the file is cut off, or something else)
    intra: 22 bytes are no whole number of records of 12 or 8 bytes; expected links of a CODES network (int32 pairs or triples, from both ends) (the file is cut off, or something else)
    inter: 0 bytes are no whole number of records of 8 bytes; expected links of a CODES network (int32 pairs or triples, from both ends) (the file is cut off, or something else)
    inter: at byte 0: there is no router -1; expected links of a CODES network (int32 pairs or triples, from both ends)
    inter: 451 groups of 2 routers, 2 of them with links; expected links of a CODES network (int32 pairs or triples, from both ends) (do the two files belong together?)
    inter: at byte 0: a global link joins routers 0 and 1 of one group of 2; expected links of a CODES network (int32 pairs or triples, from both ends) (do the two files belong together?)
    intra: at byte 0: 0 to 1 is listed 1x, 1 to 0 0x; expected links of a CODES network (int32 pairs or triples, from both ends)
    intra: a group of 901 routers, 2 of them with links; expected links of a CODES network (int32 pairs or triples, from both ends) (the intra file holds the links of one group, with routers from 0)
    ");

    // One record is missing: the rest is taken.
    let (t, d) = read(&binary(&[0, 2, 2, 0, 1, 3, 3, 1, 0, 3]), &intra).expect("a network");
    assert_eq!(t.fabric.switch_link_count(), 2 + 3);
    insta::assert_snapshot!(lines(&d.0), @"error: inter: at byte 32: 0 to 3 is listed 1x, 3 to 0 0x (1 of 5 records are no half of a link; the others are taken)");
}

#[test]
fn the_other_half_is_looked_for_beside() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("inter-x.bin");
    std::fs::write(&path, binary(&[0, 2, 2, 0])).expect("a file");
    let error = read_fabric(&path, &Options::default()).expect_err("half a network").to_string();
    let error = error.replace(&dir.path().display().to_string(), "DIR");
    insta::assert_snapshot!(error, @"DIR/inter-x.bin: the other half of the network cannot be used: cannot read DIR/intra-x.bin: No such file or directory (os error 2); expected links of a CODES network (int32 pairs or triples, from both ends) (both files must be in one directory)");
    std::fs::write(dir.path().join("intra-x.bin"), binary(&[0, 1, 0, 1, 0, 0])).expect("a file");
    let (t, _) = open(&path, 2);
    assert_eq!(counts(&t.fabric), [4, 8, 3]);
}

#[test]
fn parameters_are_no_network() {
    let dfly =
        "LPGROUPS\n{\n}\nPARAMS\n{\n inter-group-connections=\"../conf/dfdally_8k_inter\";\n}\n";
    insta::assert_snapshot!(refused(dfly.as_bytes(), "dfly.conf"), @"dfly.conf: CODES parameters of a simulation, without links; expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges) (its links are in the file dfdally_8k_inter and the one beside it: give that)");
    assert!(refused(b"LPGROUPS\n{\n}\n", "x.conf").contains("darkfiber list families"));
    let Some(path) = file("codes-sfly_3k.conf") else { return };
    let text = input::read(&path).expect("readable");
    insta::assert_snapshot!(refused(&text, "sfly_3k.conf"), @"sfly_3k.conf: CODES parameters of a Slim Fly of 338 routers, without links; expected a fabric (ibnetdiscover, ibnetdiscover-p, iblinkinfo, subnet.lst, db_csv, ufm-links, json, lldp-json, lldp-table, sonic-links, netbox, netbench, anynet, cray, codes, netloc, edges) (give the generator spec slimfly:q=13, with 9 hosts on every switch)");
}
