//! Fabrics from the lists of other tools: what they say of nodes and cables is what ibnetdiscover says.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use darkfiber_fabric::{ChannelId, Fabric, LinkClass, Role, Topology};
use darkfiber_formats::detect::parse_fabric;
use darkfiber_formats::{Diagnostics, Severity, edges::Options, input};
use proptest::prelude::*;

use crate::roundtrip::{fabric, plans};

fn parse(text: &str) -> (Topology, Diagnostics) {
    parse_fabric(text, Path::new("list"), &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(text: &str) -> String {
    match parse_fabric(text, Path::new("list"), &Options::default()) {
        Ok((t, _)) => panic!("read {} switches", t.fabric.switch_count()),
        Err(e) => e.to_string(),
    }
}

fn stage(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/iblinkinfo");
    input::read_text(&folder.join(name)).expect("shipped")
}

fn has_errors(d: &Diagnostics) -> bool {
    d.0.iter().any(|d| d.severity == Severity::Error)
}

/// Cables by the names, ports and LIDs of their ends, with their class.
fn cables(f: &Fabric, with_classes: bool) -> BTreeSet<String> {
    let class = |label: &str| if with_classes { label.to_owned() } else { String::new() };
    let between = (0..f.channel_count()).map(ChannelId::new).map(|c| {
        let (a, b) = (f.switch(f.tail(c)), f.switch(f.head(c)));
        let ports = (f.tail_port(c), f.head_port(c));
        format!("{} {} {ports:?} {}", a.guid, b.guid, class(&f.class_of(c).label))
    });
    let hosts = f.terminals().iter().enumerate().map(|(t, terminal)| {
        let s = f.switch(terminal.switch);
        let host = &f.adapter(terminal.adapter).description;
        let label = &f.terminal_class(darkfiber_fabric::TerminalId::new(t)).label;
        let ports = (terminal.switch_port, terminal.port);
        format!("{} {ports:?} {host} {}", s.guid, class(label))
    });
    between.chain(hosts).collect()
}

fn lids(f: &Fabric) -> BTreeSet<(String, u16)> {
    let switches = f.switches().iter().filter_map(|s| Some((s.description.clone(), s.lid?)));
    let hosts = f.terminals().iter().filter_map(|t| {
        let name = &f.adapter(t.adapter).description;
        Some((format!("{name} {}", t.port), t.lid?))
    });
    switches.chain(hosts).collect()
}

#[test]
fn iblinkinfo_says_what_ibnetdiscover_says() {
    let (whole, _) = parse(&stage("stage.topo.gz"));
    let whole = whole.fabric;
    assert!(whole.switch_count() > 5 && whole.terminal_count() > 100);
    for name in ["stage.txt.gz", "stage-l.txt.gz", "stage-switches-only.txt.gz"] {
        let (listed, d) = parse(&stage(name));
        let listed = listed.fabric;
        assert!(!has_errors(&d), "{name}: {:?}", d.0);
        assert_eq!(cables(&listed, true), cables(&whole, true), "{name}");
        assert_eq!(lids(&listed), lids(&whole), "{name}");
        // Ports that are down are listed, too.
        let ports = |f: &Fabric| -> BTreeSet<(String, u8)> {
            f.switches().iter().map(|s| (s.guid.to_string(), s.ports)).collect()
        };
        assert_eq!(ports(&listed), ports(&whole), "{name}");
        let guids = |f: &Fabric| f.terminals().iter().map(|t| t.guid).collect::<BTreeSet<_>>();
        if name != "stage-switches-only.txt.gz" {
            assert_eq!(guids(&listed), guids(&whole), "{name}");
        }
        let compute = |f: &Fabric| f.terminals().iter().filter(|t| t.role == Role::Compute).count();
        assert_eq!((listed.host_count(), compute(&listed)), (whole.host_count(), compute(&whole)));
    }
}

/// A list that ends early has fewer cables, and says so.
#[test]
fn lists_of_iblinkinfo_that_were_cut_short_say_so() {
    for name in ["stage.txt.gz", "stage-l.txt.gz"] {
        let text = stage(name);
        let whole = cables(&parse(&text).0.fabric, true);
        for end in (0..text.len()).step_by(1009) {
            let text = String::from_utf8_lossy(&text.as_bytes()[..end]);
            let Ok((t, d)) = parse_fabric(&*text, Path::new("list"), &Options::default()) else {
                continue;
            };
            let is_said = d.0.iter().any(|d| d.severity != Severity::Note);
            assert!(is_said || cables(&t.fabric, true) == whole, "{name}, {end} bytes");
        }
    }
}

#[test]
fn odd_lists_of_iblinkinfo() {
    let up = "==( 4X 25.78125 Gbps Active/  LinkUp)==>";
    // Two ports of one adapter, one of them down; two switches of one LID; a switch that has no LID.
    let text = format!(
        "CA: n1 HCA-1:\n 0x11 3 1[ ] {up} 1 1[ ] \"a\" ( )\n 0x12 4 2[ ] ==( Down/ Polling)==> [ ] \"\" ( )\n\
         Switch: 0x100 a:\n 1 1[ ] {up} 3 1[ ] \"n1 HCA-1\" ( )\n 1 2[ ] {up} 0 2[ ] \"b\" ( )\n\
         Switch: 0x200 b:\n 0 2[ ] {up} 1 2[ ] \"a\" ( )\nSwitch: 0x300 c:\n 1 9[ ] ==( Down/ Polling)==> [ ] \"\" ( )\n"
    );
    let (t, d) = parse(&text);
    let f = &t.fabric;
    assert_eq!((f.switch_count(), f.terminal_count(), f.switch_link_count()), (3, 1, 1));
    assert_eq!(f.adapters()[0].ports, 2);
    let said: Vec<String> = d.0.iter().map(|d| format!("{}: {}", d.line, d.what)).collect();
    assert!(said.contains(&"10: LID 1 of \"c\" is that of \"a\", too".to_owned()), "{said:?}");
    assert!(said.contains(&"0: 1 cable leads to ports without a LID".to_owned()), "{said:?}");

    let down = "Switch: 0x100 a:\n 1 1[ ] ==( Down/ Polling)==> [ ] \"\" ( )\n";
    assert!(refused(down).contains("no port has a cable that is up"));
    let (_, d) = parse(&format!(" 1 1[ ] {up} 3 1[ ] \"n1\" ( )\n{text}"));
    assert!(d.0.iter().any(|d| d.line == 1 && d.what == "port line that belongs to no node"));
    // A switch of which only its neighbours have lines.
    let lost = format!(
        "Switch: 0x100 a:\n 1 1[ ] {up} 7 1[ ] \"b\" ( )\n 1 2[ ] {up} 7 2[ ] \"b\" ( )\n 1 3[ ] {up} 3 1[ ] \"n1 HCA-1\" ( )\n"
    );
    let (t, d) = parse(&lost);
    assert_eq!((t.fabric.switch_count(), t.fabric.switch_link_count()), (2, 2));
    assert!(has_errors(&d));
}

/// The tables of ibdiagnet for a fabric.
fn db_csv(f: &Fabric) -> String {
    let mut nodes = "START_NODES\nNodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID,DeviceID,PartitionCap,revision,VendorID,LocalPortNum\n".to_owned();
    let mut ports = "START_PORTS\nNodeGuid,PortGuid,PortNum,MSMLID,LID,LinkWidthActv,LinkWidthSup,LinkSpeedActv,LMC\n".to_owned();
    let mut links = "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n".to_owned();
    let line = |to: &mut String, line: String| writeln!(to, "{line}").expect("a text");
    let codes = |label: &str| {
        let (width, speed) = label.split_once('x').unwrap_or(("0", ""));
        let width = match width {
            "1" => 1,
            "4" => 2,
            "8" => 4,
            "12" => 8,
            _ => 16,
        };
        let speed = ["SDR", "DDR", "QDR", "", "", "", "", "", "FDR", "EDR", "HDR", "NDR", "XDR"]
            .iter()
            .position(|s| *s == speed)
            .unwrap_or(16);
        // Ports that are faster than QDR say QDR as well.
        (width, 1u64 << speed | if speed > 2 { 4 } else { 0 })
    };
    let node = |desc: &str, ports, kind, system, guid| {
        format!(
            "\"{}\",{ports},{kind},1,1,{system},{guid},{guid},53000,8,0xa0,0x2c9,0",
            desc.replace('"', "\"\"")
        )
    };
    for s in f.switches() {
        line(&mut nodes, node(&s.description, s.ports, 2, s.system_guid, s.guid));
        line(&mut ports, format!("{0},{0},0,1,{1},2,2,4,0", s.guid, s.lid.unwrap_or(0)));
    }
    for a in f.adapters() {
        line(&mut nodes, node(&a.description, a.ports, 1, a.system_guid, a.guid));
    }
    let port = |to: &mut String, (node, guid, number): (_, _, u8), lid, label: &str, lmc: u8| {
        let (width, speed) = codes(label);
        line(to, format!("{node},{guid},{number},1,{lid},{width},2,{speed},{lmc}"));
    };
    for c in (0..f.channel_count()).map(ChannelId::new) {
        let (a, b) = (f.switch(f.tail(c)), f.switch(f.head(c)));
        port(
            &mut ports,
            (a.guid, a.guid, f.tail_port(c)),
            a.lid.unwrap_or(0),
            &f.class_of(c).label,
            0,
        );
        if c < f.reverse(c) {
            line(
                &mut links,
                format!("{},{},{},{}", a.guid, f.tail_port(c), b.guid, f.head_port(c)),
            );
        }
    }
    for (t, terminal) in f.terminals().iter().enumerate() {
        let (s, a) = (f.switch(terminal.switch), f.adapter(terminal.adapter));
        let label = &f.terminal_class(darkfiber_fabric::TerminalId::new(t)).label;
        port(&mut ports, (s.guid, s.guid, terminal.switch_port), s.lid.unwrap_or(0), label, 0);
        port(
            &mut ports,
            (a.guid, terminal.guid, terminal.port),
            terminal.lid.unwrap_or(0),
            label,
            terminal.lmc,
        );
        line(
            &mut links,
            format!("{},{},{},{}", a.guid, terminal.port, s.guid, terminal.switch_port),
        );
    }
    format!(
        "# Running version: IBDIAGNET\n\n{nodes}END_NODES\n\n\n{ports}END_PORTS\n\n\n{links}END_LINKS\n"
    )
}

/// UFM's answer for a fabric; without names of modules.
fn ufm(f: &Fabric) -> String {
    let mut links = Vec::new();
    let end = |side: &str, guid: String, port: u8, name: String, description: String| {
        let guid = guid.trim_start_matches("0x").to_owned();
        [
            (format!("{side}_guid"), guid),
            (format!("{side}_port"), port.to_string()),
            (format!("{side}_port_dname"), name),
            (format!("{side}_port_node_description"), description),
        ]
    };
    let switch = |side: &str, s: &darkfiber_fabric::Switch, port: u8| {
        end(side, s.guid.to_string(), port, port.to_string(), format!("{}:{port}", s.description))
    };
    for c in (0..f.channel_count()).map(ChannelId::new).filter(|&c| c < f.reverse(c)) {
        let [a, b] = [
            switch("source", f.switch(f.tail(c)), f.tail_port(c)),
            switch("destination", f.switch(f.head(c)), f.head_port(c)),
        ];
        links.push([a, b].concat());
    }
    for t in f.terminals() {
        let a = f.adapter(t.adapter);
        let host = end(
            "source",
            a.guid.to_string(),
            t.port,
            format!("HCA-1/{}", t.port),
            a.description.clone(),
        );
        links.push([host, switch("destination", f.switch(t.switch), t.switch_port)].concat());
    }
    let objects: Vec<serde_json::Map<_, _>> =
        links.into_iter().map(|l| l.into_iter().map(|(k, v)| (k, v.into())).collect()).collect();
    serde_json::to_string(&objects).expect("JSON")
}

proptest! {
    #[test]
    fn ibdiagnet_keeps_a_fabric(plan in plans()) {
        let f = fabric(&plan);
        // Classes that are none of InfiniBand have no code.
        let is_infiniband = f.classes().iter().all(|c| LinkClass::infiniband(&c.label).is_some());
        let (read, d) = parse(&db_csv(&f));
        prop_assert!(!has_errors(&d), "{:?}", d.0);
        prop_assert_eq!(cables(&read.fabric, is_infiniband), cables(&f, is_infiniband));
        prop_assert_eq!(lids(&read.fabric), lids(&f));
        prop_assert_eq!(read.fabric.adapters().len(), f.adapters().len());
        let guids = |f: &Fabric| f.terminals().iter().map(|t| (t.guid, t.lmc)).collect::<BTreeSet<_>>();
        prop_assert_eq!(guids(&read.fabric), guids(&f));
    }
}

#[test]
fn ibdiagnet_labels_ports_in_its_ibnetdiscover_file() {
    let text = stage("stage.topo.gz");
    let f = parse(&text).0.fabric;
    let mut of_adapter = false;
    let labelled = text.lines().map(|line| {
        of_adapter = if line.contains('=') { line.starts_with("caguid") } else { of_adapter };
        match line.split_once(']') {
            Some((port, rest)) if line.starts_with('[') => {
                let label = if of_adapter { "(B9D0F0/0/0/1)" } else { "(1/4/2)" };
                format!("{port}]{label}{rest}")
            }
            // The system's GUID, and the node's behind it.
            _ => match line.split_once("switchguid=") {
                Some((_, guids)) => {
                    let node = guids.split_once('(').map_or("", |(_, node)| node);
                    format!("switchguid=0x7fe900000001({node}")
                }
                None => line.to_owned(),
            },
        }
    });
    let text: String = labelled.map(|line| line + "\n").collect();
    let (labelled, d) = parse(&text);
    assert!(!has_errors(&d), "{:?}", d.0);
    assert!(
        !d.0.iter().any(|d| d.what.contains("damaged") || d.what.contains("headed by")),
        "{:?}",
        d.0
    );
    assert_eq!(cables(&labelled.fabric, true), cables(&f, true));
    assert_eq!(lids(&labelled.fabric), lids(&f));
}

#[test]
fn ibdiagnet_and_ufm_of_a_real_fabric() {
    let f = parse(&stage("stage.topo.gz")).0.fabric;
    let first = f.switches()[0].guid;
    let switches =
        format!("START_SWITCHES\nNodeGUID,LinearFDBCap,ENP0\n{first},49152,1\nEND_SWITCHES\n");
    let (of_ibdiagnet, d) = parse(&(db_csv(&f) + &switches));
    let enhanced = of_ibdiagnet.fabric.switches().iter().filter(|s| s.enhanced_port0);
    assert_eq!(enhanced.map(|s| s.guid).collect::<Vec<_>>(), [first]);
    assert!(!has_errors(&d), "{:?}", d.0);
    assert_eq!(cables(&of_ibdiagnet.fabric, true), cables(&f, true));
    assert_eq!(lids(&of_ibdiagnet.fabric), lids(&f));
    let (of_ufm, d) = parse(&ufm(&f));
    assert!(!has_errors(&d), "{:?}", d.0);
    assert_eq!(cables(&of_ufm.fabric, false), cables(&f, false));
    assert_eq!(of_ufm.fabric.host_count(), f.host_count());
}

#[test]
fn tables_of_ibdiagnet_that_are_damaged() {
    let text = db_csv(&parse(&stage("stage.topo.gz")).0.fabric);
    let without = |table: &str| text.replace(&format!("START_{table}"), "START_OTHER");
    for table in ["NODES", "PORTS", "LINKS"] {
        assert!(refused(&without(table)).contains(&format!("there is no table {table}")));
    }
    assert!(
        refused(&text.replace("NodeGuid2", "Guid2"))
            .contains("the table LINKS has no column NodeGuid2")
    );
    let cut = &text[..text.len() * 9 / 10];
    let (_, d) = parse(cut);
    assert!(d.0.iter().any(|d| d.what == "the table LINKS has no end: the file was cut short"));
    let first = text.lines().position(|l| l == "START_NODES").expect("the table") + 2;
    let others = text.lines().enumerate().filter(|(i, _)| *i != first).map(|(_, line)| line);
    let lost = others.collect::<Vec<_>>().join("\n") + "\n";
    let (_, d) = parse(&lost);
    assert!(has_errors(&d), "links to a node that is not there");
    let twice = text.replacen(
        "END_NODES",
        &format!("{}\nEND_NODES", text.lines().nth(first).expect("a line")),
        1,
    );
    assert!(has_errors(&parse(&twice).1));
}

#[test]
fn links_of_ufm() {
    let one = r#"[{"source_guid": "0c42a103001b7ab6", "source_port": "1", "source_port_dname": "HCA-2/1",
        "source_port_node_description": "luna-0395 mlx5_10", "destination_guid": "0c42a103009d7af6", "destination_port": 19,
        "destination_port_dname": "19", "destination_port_node_description": "SLG03-10:19", "width": "4x", "severity": "Info"},
        {"source_guid": "0c42a103009d7af6", "source_port": "20", "destination_guid": "0c42a103009d7b00", "destination_port": "3",
        "source_port_node_description": "SLG03-10:20", "destination_port_node_description": "core:L01/U1/3"}]"#;
    let (t, d) = parse(one);
    assert!(!has_errors(&d), "{:?}", d.0);
    let f = t.fabric;
    assert_eq!((f.switch_count(), f.terminal_count(), f.switch_link_count()), (2, 1, 1));
    let names: BTreeSet<&str> = f.switches().iter().map(|s| &*s.description).collect();
    assert_eq!(names, ["SLG03-10", "core:L01/U1"].into());
    assert_eq!(f.adapters()[0].description, "luna-0395 mlx5_10");
    for bad in ["\"19\"", "\"\"", "\"x\"", "0", "255"] {
        let (t, d) = parse(&one.replace("19,\n", &format!("{bad},\n")));
        assert_eq!(d.0.iter().any(|d| d.what.contains("damaged")), bad != "\"19\"", "{bad}");
        assert_eq!(t.fabric.terminal_count(), usize::from(bad == "\"19\""));
    }
    assert!(refused(&one[..one.len() - 30]).contains("EOF"));
    assert!(
        refused("[{\"source_guid\": \"1\", \"destination_guid\": \"2\"}]").contains("source_port")
    );
}
