//! Lists of links.

use std::collections::BTreeSet;
use std::path::Path;

use darkfiber_fabric::{Fabric, SwitchId, parse_spec};
use darkfiber_formats::subnet_lst::{read, write};
use darkfiber_routing::Lids;

use crate::shared::{fabric, file, lines, text, written};

fn counts(fabric: &Fabric) -> (usize, usize, usize, usize) {
    (
        fabric.switch_count(),
        fabric.terminal_count(),
        fabric.switch_link_count(),
        fabric.components().len(),
    )
}

#[test]
fn reference_fabrics_have_their_counts_and_are_written_as_opensm_wrote_them() {
    for (name, expected) in [
        ("ft2_216", (30, 216, 216, 1)),
        ("kary4_3", (48, 64, 128, 1)),
        ("hx_12x8", (96, 672, 864, 1)),
        ("irr_200_faulty", (40, 200, 104, 1)),
    ] {
        let Some(path) = file(&format!("reference/opensm/{name}/opensm-subnet.lst.gz")) else {
            return;
        };
        let fabric = fabric(&path);
        assert_eq!(fabric.name(), "opensm-subnet");
        assert_eq!(counts(&fabric), expected, "{name}");
        assert_eq!(fabric.hosts().len(), expected.1, "{name}");
        let class: Vec<_> = fabric.classes().iter().map(|c| c.label.as_str()).collect();
        assert_eq!(class, ["4xQDR"], "{name}");
        let switch = fabric.switch(SwitchId(0));
        assert_eq!((switch.vendor, switch.device), (0x2c9, 0xcb20), "{name}");

        // But for the mark of the subnet manager, revisions, and OpenSM's shifted device ids.
        let plain = |list: &str| {
            list.lines()
                .map(|l| {
                    l.replace("-SM ", " ")
                        .replace("Rev:000000A1", "Rev:00000000")
                        .replace("VenID:000002C9", "VenID:0002C9")
                        .replace("DevID:CB200000", "DevID:CB20")
                        .replace("DevID:10170000", "DevID:1017")
                })
                .collect::<BTreeSet<_>>()
        };
        let lids = Lids::assign(&fabric, 0).expect("few");
        let ours = written(|out| write(out, &fabric, &lids));
        assert_eq!(plain(&ours), plain(&text(&path)), "{name}");
    }
}

#[test]
fn an_old_laboratory_fabric_is_read() {
    let Some(path) = file("data/fabrics/ibutils-subnet.lst") else {
        return;
    };
    let fabric = fabric(&path);
    assert_eq!(counts(&fabric), (62, 3, 169, 1));
    let ports = |p| fabric.switches().iter().filter(|s| s.ports == p).count();
    assert_eq!((ports(8), ports(24)), (61, 1));
    let names: Vec<_> = fabric.adapters().iter().map(|a| a.description.as_str()).collect();
    assert_eq!(
        names,
        [
            "MT23108 InfiniHost Mellanox Technologies",
            "swlab225 HCA-1 (Topspin HCA)",
            "swlab229 HCA-1 (Topspin HCA)"
        ]
    );
    assert_eq!(fabric.classes()[0].label, "4xSDR");
    assert!(fabric.terminals().iter().any(|t| t.lid == Some(0x3b)));
}

#[test]
fn switches_that_are_called_ca_are_found() {
    let Some(path) = file("data/fabrics/ibutils-RhinoBased512.lst.gz") else {
        return;
    };
    let (topology, found) = read(&text(&path), &path).expect("a list");
    insta::assert_snapshot!(lines(&found), @"note: 216 nodes of type CA have the ports of a switch (read as a switch)");
    assert_eq!(topology.fabric.name(), "ibutils-RhinoBased512");
    assert_eq!(counts(&topology.fabric), (216, 512, 2240, 1));
    let labels: Vec<_> = topology.fabric.classes().iter().map(|c| &c.label).collect();
    assert_eq!(labels, ["8xDDR", "4xSDR", "12xSDR"]);
}

/// A node block of the file.
fn node(kind: &str, ports: &str, guid: u64, name: &str, lid: &str, port: &str) -> String {
    format!(
        "{{ {kind} Ports:{ports} SystemGUID:{guid:016x} NodeGUID:{guid:016x} PortGUID:{guid:016x} \
         VenID:0002C9 DevID:1017 Rev:000000A1 {{{name}}} LID:{lid} PN:{port} }}"
    )
}

#[test]
fn odd_lines_are_reported() {
    let s1 = |port| node("SW", "08", 1, "s } 1 {x}", "0001", port);
    let s2 = |port| node("SW", "08", 2, "s2", "0002", port);
    let a = node("CA", "02", 16, "a HCA-1", "0003", "01");
    let b = node("CA", "02", 32, "b HCA-1", "0004", "01");
    let text = [
        format!("{} {} PHY=4x LOG=ACT SPD=14", s1("01"), s2("01")),
        format!("{} {} PHY=4x LOG=ACT SPD=10", s2("01"), s1("01")),
        format!("{} {} PHY=4x LOG=ACT SPD=FDR10", s1("02"), a),
        format!("{} {} PHY=4x LOG=INI", s1("01"), b),
        "{ SW Ports:08 cut".to_owned(),
        format!("{} {} PHY=4x LOG=ACT SPD=99", s1("0a"), s2("0A")),
        format!("{} {} PHY=4x LOG=ACT SPD=10", s1("04"), s1("05")),
        format!("{} {} PHY=4x LOG=ACT SPD=10", s1("05"), s1("04")),
        format!("{} {} PHY=1x LOG=ACT SPD=2.5", b, node("CA", "01", 48, "c", "0", "01")),
    ]
    .join("\r\n");
    let (topology, found) = read(&text, Path::new("t.lst")).expect("a list");
    insta::assert_snapshot!(lines(&found), @"
    line 2: warning: 4xQDR here, but 4xFDR at the other end (the first is taken)
    line 3: error: 3 links have one line instead of two, here the first (the list was cut or edited: hosts may be missing; make a new one)
    line 4: warning: link in state INI (it is taken as active)
    line 4: error: port 1 of 0x0000000000000001 and port 1 of 0x0000000000000020: one has another cable (left out; the list mixes two states of the fabric)
    line 5: warning: '{ SW Ports:08 cut' has no two node blocks (expected '{ TYPE Ports:.. {name} LID:.. PN:.. } { .. } PHY=.. LOG=.. SPD=..')
    line 6: warning: unknown link speed '4x99' (it counts as 4xQDR)
    line 9: warning: a cable between two adapters (left out: it is not part of a switched fabric)
    ");
    let cut = &text[..text.find("LID:0004").expect("there")];
    let (_, found) = read(cut, Path::new("t.lst")).expect("a list");
    assert!(lines(&found).contains("line 4: error: the list was cut short in this line"));
    let fabric = topology.fabric;
    assert_eq!(fabric.switch(SwitchId(0)).description, "s } 1 {x}");
    assert_eq!(fabric.switch(SwitchId(0)).ports, 10);
    assert_eq!((fabric.switch_link_count(), fabric.loopbacks().len()), (2, 1));
    assert_eq!(fabric.class_of(darkfiber_fabric::ChannelId(0)).label, "4xFDR");
    let error = read("nothing\n", Path::new("t.lst")).expect_err("no links");
    insta::assert_snapshot!(error, @"t.lst: no line has two node blocks '{ SW|CA Ports:.. } { .. }'; expected an opensm-subnet.lst file");
}

/// Routers join subnets: they carry no jobs, and their LIDs are not given to others.
#[test]
fn routers_are_left_out_and_keep_their_lids() {
    let on = darkfiber_testkit::families::topology("kary:k=4,n=2").fabric;
    let lids = Lids::assign(&on, 0).expect("LIDs");
    let text = written(|out| write(out, &on, &lids));
    let terminal = &on.terminals()[5];
    let guid = on.adapter(terminal.adapter).guid.to_string();
    let guid = guid.trim_start_matches("0x").to_uppercase();
    let router: String = (text.lines())
        .map(|line| {
            let mut line = line.to_owned();
            for of in ["{ CA", "{CA"] {
                let mut from = 0;
                while let Some(at) = line[from..].find(of).map(|at| at + from) {
                    let end = line[at..].find("LID:").map_or(line.len(), |end| at + end);
                    if line[at..end].to_uppercase().contains(&format!("NODEGUID:{guid}")) {
                        line.replace_range(at..at + of.len(), &of.replace("CA", "Rt"));
                    }
                    from = at + of.len();
                }
            }
            line + "\n"
        })
        .collect();
    assert_ne!(router, text, "{guid}");
    let (topology, found) = read(&router, Path::new("routers.lst")).expect("a fabric");
    let fabric = topology.fabric;
    assert_eq!(fabric.terminal_count(), on.terminal_count() - 1);
    assert!(lines(&found).contains("router") && lines(&found).contains("left out"), "{found:?}");
    assert_eq!(fabric.reserved_lids(), [lids.terminal(darkfiber_fabric::TerminalId(5))]);
}

#[test]
fn ibdiagnet_writes_each_link_once() {
    let topology = parse_spec("hyperx:dims=3x3,t=2").expect("a spec");
    let lids = Lids::assign(&topology.fabric, 0).expect("few LIDs");
    let whole = written(|out| write(out, &topology.fabric, &lids));
    let mut seen = BTreeSet::new();
    let once: String = (whole.lines())
        .filter(|line| {
            let ends = line.match_indices("NodeGUID:").zip(line.match_indices("PN:"));
            let mut ends: Vec<String> = ends
                .map(|((node, _), (port, _))| {
                    format!("{} {}", &line[node..node + 25], &line[port..port + 5])
                })
                .collect();
            ends.sort();
            seen.insert(ends)
        })
        .flat_map(|line| [line, "\n"])
        .collect();
    assert_eq!(once.lines().count() * 2, whole.lines().count());
    let (read_once, found) = read(&once, Path::new("once.lst")).expect("a list");
    assert_eq!(lines(&found), "");
    assert_eq!(counts(&read_once.fabric), counts(&topology.fabric));
    // ibdiagnet says where its files begin and end.
    let head = "# File created at   : 2025-03-31 23:43:18 UTC +0000\n\n";
    let all: Vec<&str> = once.lines().collect();
    let part = format!("{head}{}\n", all[..all.len() - 2].join("\n"));
    let (_, found) = read(&part, Path::new("part.lst")).expect("a list");
    assert!(lines(&found).contains("error: the list was cut short"), "{}", lines(&found));
    let whole_file = format!("{head}{once}\n# File closed at : 2025-03-31 23:43:18 UTC +0000\n");
    let (_, found) = read(&whole_file, Path::new("whole.lst")).expect("a list");
    assert_eq!(lines(&found), "");
    // A list with two lines a link that ends within its first switches is none of these.
    for ended in [3, 9, 15] {
        let cut: String = whole.lines().take(ended).flat_map(|line| [line, "\n"]).collect();
        let (_, found) = read(&cut, Path::new("cut.lst")).expect("a list");
        assert!(lines(&found).contains("one line instead of two"), "{ended}: {}", lines(&found));
    }
}
