//! The checker's loads against a packet-by-packet count, and findings in words.

mod count;
mod difference;
mod estimate;
mod heat;
mod jobs;

use darkfiber_analysis::{Efi, FindingKind, Severity, dark_fiber_percent, finding, hottest};
use darkfiber_fabric::{AtPort, Fabric, Faults, SwitchId, TerminalId, open};
use darkfiber_routing::check::check;
use darkfiber_routing::{DestId, NO_ROUTE, Request, Routes, find_engine};

/// Follows every pair separately, port after port as on the wire.
fn count(fabric: &Fabric, routes: &Routes) -> Vec<u64> {
    let mut load = vec![0; fabric.channel_count()];
    let terminals = || (0..fabric.terminal_count()).map(TerminalId::new);
    for source in terminals() {
        for dest in terminals().filter(|&d| d != source) {
            let mut at = fabric.terminal(source).switch;
            for hop in 0.. {
                assert!(hop < 64, "a loop");
                let port = routes
                    .lft_entry(fabric, at, DestId::terminal(dest), routes.path_of(source))
                    .expect("engines reach all");
                match fabric.at_port(at, port) {
                    AtPort::Switch(channel, next) => {
                        load[channel.index()] += 1;
                        at = next;
                    }
                    AtPort::Terminal(t) => {
                        assert_eq!(t, dest);
                        break;
                    }
                    other => panic!("port {port} leads to {other:?}"),
                }
            }
        }
    }
    load
}

#[test]
fn loads_are_those_of_single_packets() {
    for spec in ["hyperx:dims=4x3,t=2", "torus:dims=3x3,t=2", "kary:k=3,n=3", "@sar-testbed"] {
        let topology = open(spec).expect("a valid spec");
        for engine in ["minhop", "updn", "sssp", "dfsssp"] {
            let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
            let routes = find_engine(engine)
                .expect("known")
                .route(&topology.fabric, &request)
                .expect("routes any fabric");
            let load = count(&topology.fabric, &routes);
            assert_eq!(check(&topology.fabric, &routes).load, load, "{engine} on {spec}");

            // The statistics by their definitions.
            let efi = Efi::of(&load);
            let n = load.len() as f64;
            let mean = load.iter().map(|&x| x as f64).sum::<f64>() / n;
            let mean_square = load.iter().map(|&x| (x * x) as f64).sum::<f64>() / n;
            assert!((efi.mean - mean).abs() < 1e-9);
            assert!((efi.stddev - (mean_square - mean * mean).max(0.0).sqrt()).abs() < 1e-6);
            let dark = load.iter().filter(|&&x| x == 0).count() as f64 / n * 100.0;
            assert!((dark_fiber_percent(&load) - dark).abs() < 1e-9);
            assert_eq!(hottest(&load, 1)[0].1, efi.max);
        }
    }
}

#[test]
fn holes_in_tables_are_named() {
    let fabric = open("hyperx:dims=2x2,t=1").expect("valid").fabric;
    let mut routes =
        find_engine("updn").expect("known").route(&fabric, &Request::default()).expect("routes");
    let row = routes.row(DestId(3), 0);
    routes.ports_mut(row)[0] = NO_ROUTE;
    let found = finding::of_routes(&fabric, &check(&fabric, &routes));
    assert_eq!((found[0].kind, found[0].severity), (FindingKind::Unreachable, Severity::Error));
    assert!(found[0].message.contains("have no route, for example"), "{}", found[0].message);
    let json = serde_json::to_value(&found[0]).expect("serializes");
    assert_eq!(json["kind"], "unreachable");
    assert!(json["examples"][0]["source"].is_string(), "{json}");
}

#[test]
fn cycles_are_named() {
    // Shortest paths around a ring of five form a dependency cycle.
    let fabric = open("torus:dims=5,t=1").expect("valid").fabric;
    let routes =
        find_engine("minhop").expect("known").route(&fabric, &Request::default()).expect("routes");
    let found = finding::of_routes(&fabric, &check(&fabric, &routes));
    let cycle =
        found.iter().find(|f| f.kind == FindingKind::CreditLoop).expect("a ring has a cycle");
    let json = serde_json::to_value(cycle).expect("serializes");
    let edges = json["cycle"].as_array().expect("a list");
    for (edge, next) in edges.iter().zip(edges.iter().cycle().skip(1)) {
        assert_eq!(edge["channel"]["to"], next["channel"]["from"]);
        assert!(edge["route"]["source"].is_string());
    }
}

#[test]
fn a_fabric_in_pieces_is_named() {
    let fabric = open("torus:dims=4x4,t=1").expect("valid").fabric;
    let links = fabric.channels_from(SwitchId(5)).map(darkfiber_fabric::ChannelId::new).collect();
    let (broken, _) = fabric.with_faults(&Faults { links, ..Faults::default() });
    let found = finding::of_fabric(&broken);
    assert_eq!(found.len(), 1);
    let lone = &broken.switch(SwitchId(5)).description;
    assert!(found[0].message.contains("2 pieces (of 15, 1 switches)"), "{}", found[0].message);
    assert!(found[0].message.ends_with(lone), "{}", found[0].message);
    assert!(finding::of_fabric(&fabric).is_empty());
}
