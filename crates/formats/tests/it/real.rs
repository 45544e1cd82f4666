//! Files of real fabrics have the counts that were taken from them by hand.

use darkfiber_testkit::lines;
use std::time::Instant;

use darkfiber_fabric::{Fabric, LinkClass, Role};
use darkfiber_formats::edges::Options;
use darkfiber_formats::{Diagnostics, Severity, ibnetdiscover, input, read_fabric};

use crate::support::{shared, shipped};

fn open(path: &std::path::Path) -> (Fabric, Diagnostics) {
    match read_fabric(path, &Options::default()) {
        Ok((t, d)) => (t.fabric, d),
        Err(e) => panic!("{e}"),
    }
}

fn counts(f: &Fabric) -> [usize; 4] {
    [f.switch_count(), f.adapters().len(), f.link_count(), f.switch_link_count()]
}

#[test]
fn stage() {
    let (f, d) = open(&shipped("stage-sx6036.topo"));
    assert_eq!(counts(&f), [8, 144, 192, 47]);
    assert_eq!(lines(&d.0), "");
    assert_eq!((f.name(), f.terminal_count()), ("stage-sx6036", 145));
    let labels: Vec<&str> = f.classes().iter().map(|c| c.label.as_str()).collect();
    assert_eq!(labels, ["4xQDR", "4xFDR10"]);
    assert_eq!(f.hosts()[0].name, "stage97");
    assert_eq!(f.switches()[0].lid, Some(128));
    assert!(f.switches()[0].enhanced_port0);
}

#[test]
fn ufm_small() {
    let (f, d) = open(&shipped("ufm_small_topo_file.txt"));
    assert_eq!(counts(&f), [2, 13, 16, 1]);
    assert_eq!(f.loopbacks().len(), 2);
    let aggregation = f.terminals().iter().filter(|t| t.role == Role::Aggregation);
    assert_eq!(aggregation.count(), 1);
    // Four cards of r-dcs96 and two of each other host, and the pseudo-adapter.
    assert_eq!(f.hosts().len(), 6);
    assert_eq!(lines(&d.0), "");
}

#[test]
fn man_page_examples() {
    let (f, d) = open(&shipped("ibtopotool_1.topo"));
    assert_eq!(counts(&f), [2, 4, 7, 2]);
    assert_eq!(f.terminals()[0].lmc, 1);
    // All adapters have the factory text and no system image GUID.
    assert_eq!(f.hosts().len(), 4);
    insta::assert_snapshot!(lines(&d.0), @r#"
    line 15: warning: cable from port 10 of "ISR9024 Voltaire" to port 1 of "SW-6IB4 Voltaire" runs at 1xSDR (most likely a bad cable or connector)
    line 15: warning: cable runs at 1xSDR, another between the same switches at 4xSDR (look at the cable)
    line 18: warning: cable from port 12 of "ISR9024 Voltaire" to port 1 of "MT23108 InfiniHost Mellanox Technologies" runs at 1xSDR (most likely a bad cable or connector)
    line 26: warning: the ends of a cable differ: port 10 of "ISR9024 Voltaire" says 4xSDR, port 1 of "SW-6IB4 Voltaire" says 1xSDR (1xSDR is taken; look at the cable)
    line 52: warning: the ends of a cable differ: port 12 of "ISR9024 Voltaire" says 4xSDR, port 1 of "MT23108 InfiniHost Mellanox Technologies" says 1xSDR (1xSDR is taken; look at the cable)
    "#);

    let (f, d) = open(&shipped("ibtopotool_2.topo"));
    assert_eq!((counts(&f), lines(&d.0).as_str()), ([1, 2, 2, 0], ""));

    let (f, d) = open(&shipped("ibtopotool_3.topo"));
    assert_eq!(counts(&f), [2, 6, 10, 1]);
    assert_eq!(f.loopbacks().len(), 3);
    insta::assert_snapshot!(lines(&d.0), @"line 1: warning: message of the tool itself: src/query_smp.c:195; umad (DR path slid 0; dlid 0; 0,1,1,31 ... (ibnetdiscover may not have seen the whole fabric)");

    let (f, d) = open(&shipped("ibtopotool_4.topo"));
    assert_eq!((counts(&f), lines(&d.0).as_str()), ([1, 1, 1, 0], ""));
}

#[test]
fn selene_compute() {
    let Some(path) = shared("data/fabrics/selene.compute.txt") else {
        return;
    };
    let (f, d) = open(&path);
    assert_eq!(counts(&f), [666, 4341, 12852, 8511]);
    assert_eq!(lines(&d.0), "");
    let aggregation = f.terminals().iter().filter(|t| t.role == Role::Aggregation);
    assert_eq!(aggregation.count(), 666);
    let mut adapters = vec![0; f.hosts().len()];
    for a in f.adapters() {
        adapters[a.host.index()] += 1;
    }
    let luna: Vec<usize> = (f.hosts().iter().zip(&adapters))
        .filter(|(h, _)| h.name.starts_with("luna-"))
        .map(|(_, n)| *n)
        .collect();
    assert_eq!(luna, [8; 458]);
    assert_eq!(f.classes(), [LinkClass::infiniband("4xHDR").expect("known")]);
    assert_eq!(f.components(), [666]);
    let mut pairs: Vec<_> = (0..f.channel_count())
        .map(|c| (f.tails()[c], f.heads()[c]))
        .filter(|(a, b)| a < b)
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs.len(), 6482);
}

#[test]
fn selene_storage() {
    let Some(path) = shared("data/fabrics/selene.storage.txt") else {
        return;
    };
    let (f, d) = open(&path);
    assert_eq!(counts(&f), [160, 1247, 3286, 2039]);
    assert_eq!(lines(&d.0), "");
    assert!(f.terminals().iter().all(|t| t.role == Role::Compute));
}

#[test]
#[ignore = "slow: a measurement, run it with --release"]
fn selene_is_read_fast() {
    let Some(path) = shared("data/fabrics/selene.compute.txt") else {
        return;
    };
    let text = input::read_text(&path).expect("readable");
    let best = (0..20)
        .map(|_| {
            let start = Instant::now();
            let read = ibnetdiscover::read(&text, &path).expect("a dump");
            let time = start.elapsed();
            assert_eq!(read.0.fabric.link_count(), 12852);
            time
        })
        .min();
    eprintln!("selene.compute: {best:?}");
}

#[test]
fn opensm_reference() {
    for (name, switches, hosts, links) in [
        ("ft2_216", 30, 216, 216),
        ("hx_12x8", 96, 672, 864),
        ("irr_200_faulty", 40, 200, 104),
        ("kary4_3", 48, 64, 128),
    ] {
        let mut fabrics = Vec::new();
        for file in ["ibnetdiscover.gz", "topology.net.gz"] {
            let Some(path) = shared(&format!("reference/opensm/{name}/{file}")) else {
                return;
            };
            let (f, d) = open(&path);
            assert_eq!(lines(&d.0), "", "{name}/{file}");
            assert_eq!((f.switch_count(), f.hosts().len()), (switches, hosts));
            assert_eq!(f.switch_link_count(), links, "{name}");
            fabrics.push(f);
        }
        assert_eq!(fabrics[0].link_count(), fabrics[1].link_count());
        assert!(fabrics[0].terminals().iter().all(|t| t.lid.is_some()));
        assert!(fabrics[1].terminals().iter().all(|t| t.lid.is_none()));
    }
}

/// Files of a tar archive, all of which are small.
fn untar(bytes: &[u8]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + 512).filter(|h| h[0] != 0) {
        let field = |r: std::ops::Range<usize>| {
            let text = String::from_utf8_lossy(&header[r]);
            text.trim_matches(['\0', ' ']).to_owned()
        };
        let size = usize::from_str_radix(&field(124..136), 8).expect("a size");
        let data = &bytes[at + 512..at + 512 + size];
        if header[156] == b'0' || header[156] == 0 {
            files.push((field(0..100), String::from_utf8_lossy(data).into_owned()));
        }
        at += 512 + size.div_ceil(512) * 512;
    }
    files
}

#[test]
fn ibsim_examples() {
    let Some(path) = shared("data/fabrics/ibsim-net-examples.tar.gz") else {
        return;
    };
    let mut read = 0;
    for (name, text) in untar(&input::read(&path).expect("readable")) {
        if !name.contains("net") || name.ends_with("README") {
            continue;
        }
        read += 1;
        let (t, d) = ibnetdiscover::read(&text, name.as_ref()).expect("a net");
        let f = t.fabric;
        assert_eq!(d.worst(), Some(Severity::Note), "{name}: {}", lines(&d.0));
        assert_eq!(f.switches()[0].description, "Switch1");
        let hosts = if name.ends_with("4hca") { 4 } else { 2 };
        assert_eq!(f.hosts().len(), hosts, "{name}");
    }
    assert_eq!(read, 5);
}

#[test]
fn port_lists() {
    let Some(path) = shared("data/fabrics/infiniband_exporter-fixtures.tar.gz") else {
        return;
    };
    let mut got = Vec::new();
    for (name, text) in untar(&input::read(&path).expect("readable")) {
        if let Some((_, file)) = name.split_once("ibnetdiscover/") {
            let (t, d) = ibnetdiscover::read_ports(&text, file.as_ref()).expect("a port list");
            // In one of them an aggregation adapter is on two switches at once; all are excerpts.
            let is_cut = d.0.iter().filter(|d| d.what.contains("the list was cut short")).count();
            let errors = d.0.iter().filter(|d| d.severity == Severity::Error).count() - is_cut;
            assert_eq!(errors, usize::from(file == "test2.out"), "{}", lines(&d.0));
            assert_eq!(is_cut, usize::from(file != "test3.out"), "{}", lines(&d.0));
            got.push((file.to_owned(), counts(&t.fabric)));
        }
    }
    got.sort();
    let expected =
        [("test.out", [4, 3, 4, 1]), ("test2.out", [5, 2, 2, 0]), ("test3.out", [1, 0, 0, 0])];
    assert_eq!(got.len(), 3);
    for ((file, counts), (name, expect)) in got.iter().zip(expected) {
        assert_eq!((file.as_str(), *counts), (name, expect));
    }
}
