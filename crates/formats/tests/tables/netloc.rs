//! Tests with the PlaFRIM map.

use std::path::Path;

use darkfiber_formats::netloc::{Nodes, read_map, read_nodes, read_paths};
use darkfiber_routing::check::check;

use crate::shared::{file, lines, text};

fn nodes() -> Option<Nodes> {
    let path = file("data/fabrics/plafrim-netloc-nodes.json")?;
    let (nodes, found) = read_map(&text(&path), &path).expect("nodes");
    assert_eq!(lines(&found), "");
    Some(nodes)
}

#[test]
fn plafrim_has_the_published_counts() {
    let Some(nodes) = nodes() else { return };
    let fabric = &nodes.topology.fabric;
    let path = file("data/fabrics/plafrim-netloc-nodes.json").expect("it was just read");
    let (alone, _) = read_nodes(&text(&path), &path).expect("nodes");
    assert_eq!(alone, nodes.topology);
    assert_eq!(fabric.name(), "plafrim-netloc");
    assert_eq!((fabric.switch_count(), fabric.terminal_count()), (9, 125));
    assert_eq!((nodes.edge_count(), fabric.switch_link_count()), (402, 76));
    assert_eq!(fabric.components(), [9]);
    let labels: Vec<_> = fabric.classes().iter().map(|c| c.label.as_str()).collect();
    assert_eq!(labels.len(), 3, "QDR, DDR and SDR, in the order of the file: {labels:?}");
    let first = fabric.switch(darkfiber_fabric::SwitchId(0));
    assert_eq!(first.guid.to_string(), "0x0002c9020040b0e0");
    assert_eq!(first.description, "Infiniscale-IV Mellanox Technologies");
    assert_eq!((first.lid, first.ports), (Some(4), 36));
    assert!(fabric.hosts().iter().any(|h| h.name == "fourmi005"));
}

/// (file, used (switch, destination) entries, most loaded channel).
const PATHS: [(&str, usize, u64); 2] = [("log", 1061, 2646), ("phy", 1000, 3486)];

#[test]
fn plafrim_paths_reach_every_host() {
    let Some(nodes) = nodes() else { return };
    let fabric = &nodes.topology.fabric;
    for (kind, entries, load) in PATHS {
        let name = format!("data/fabrics/plafrim-netloc-{kind}-paths.json");
        let Some(path) = file(&name) else { return };
        let (routes, found) = read_paths(&text(&path), &path, &nodes, kind).expect("paths");
        assert_eq!(lines(&found), "", "{kind}");
        let used = (0..routes.row_count())
            .flat_map(|row| routes.ports(row))
            .filter(|&&p| p != darkfiber_routing::NO_ROUTE)
            .count();
        assert_eq!(used, entries, "{kind}");
        let report = check(fabric, &routes);
        assert!(report.complete(), "{kind}");
        assert_eq!(report.pairs, 15500, "{kind}");
        // Both maxima are on cables between switches: a cable to a host carries 124 paths.
        assert_eq!(report.load.iter().max(), Some(&load), "{kind}");
        // Edges are cables: one to each host, and the switches crossed less one in between.
        assert_eq!(report.hops().max, 6, "{kind}");
        assert!(report.deadlock_free(), "{kind}");
    }
}

#[test]
fn other_json_is_refused() {
    let path = Path::new("x.json");
    let error = read_nodes("{\"a\": 1}", path).expect_err("no nodes");
    insta::assert_snapshot!(error, @"x.json: missing field `node_info` at line 1 column 8; expected a netloc nodes file (its name ends in -nodes)");
    assert!(read_nodes("[", path).is_err());
}

const TINY: &str = r#"{
 "network_info": {"subnet_id": "fe80:0000:0000:0000"},
 "node_info": {
  "0000:0000:0000:0001": {"node_type": 1, "log_id": "1", "desc": "'s'"},
  "0000:0000:0000:000a": {"node_type": 2, "log_id": "2", "desc": "'a HCA-1'"},
  "0000:0000:0000:000b": {"node_type": 2, "log_id": "3", "desc": "'b HCA-1'"},
  "b": {"node_type": 2}
 },
 "edge_info": {
  "1": {"euid": 1, "src_node_id": "0000:0000:0000:000a", "src_port_id": "1",
        "dest_node_id": "0000:0000:0000:0001", "dest_port_id": "1", "speed": "QDR", "width": "4x"},
  "2": {"euid": 2, "src_node_id": "0000:0000:0000:0001", "src_port_id": "2",
        "dest_node_id": "0000:0000:0000:000b", "dest_port_id": "1", "speed": "warp", "width": "4x"},
  "3": {"euid": 3, "src_node_id": "0000:0000:0000:0001", "src_port_id": "2",
        "dest_node_id": "0000:0000:0000:000a", "dest_port_id": "2", "speed": "QDR", "width": "4x"},
  "4": {"euid": 4, "src_node_id": "0000:0000:0000:0001", "src_port_id": "x",
        "dest_node_id": "0000:0000:0000:000a", "dest_port_id": "2", "speed": "QDR", "width": "4x"},
  "5": {"euid": 5, "src_node_id": "0000:0000:0000:0001", "src_port_id": "4",
        "dest_node_id": "0000:0000:0000:000c", "dest_port_id": "2", "speed": "QDR", "width": "4x"},
  "6": {"euid": 6, "src_node_id": "0000:0000:0000:000b", "src_port_id": "2",
        "dest_node_id": "0000:0000:0000:000a", "dest_port_id": "3", "speed": "QDR", "width": "4x"}
 }}"#;

#[test]
fn broken_maps_are_reported() {
    let path = Path::new("m-nodes.json");
    let (nodes, found) = read_map(TINY, path).expect("nodes");
    insta::assert_snapshot!(lines(&found), @"
    warning: edge 4 has no proper nodes and ports (left out)
    warning: node id 'b' is not four groups of a GUID (left out)
    warning: edge 2: unknown link speed '4xwarp' (it counts as 4xQDR)
    warning: edge 3: a port with two cables (left out)
    warning: edge 5: a node that the file does not have (left out)
    warning: edge 6: a cable between two adapters (left out)
    ");
    assert_eq!(nodes.topology.fabric.terminal_count(), 2);
    let paths = r#"{"path_info": {
      "0000:0000:0000:000a": {
        "0000:0000:0000:000b": [1, 2],
        "0000:0000:0000:0001": [1],
        "0000:0000:0000:000c": [1, 2],
        "0000:0000:0000:000a": [9]
      },
      "0000:0000:0000:000b": {"0000:0000:0000:000a": [2]}
    }}"#;
    let (routes, found) = read_paths(paths, path, &nodes, "log").expect("paths");
    insta::assert_snapshot!(lines(&found), @"
    warning: 1 path with a switch at its end, the first 0000:0000:0000:000a to 0000:0000:0000:0001 (left out)
    warning: 1 path with an unknown edge, the first 0000:0000:0000:000a to 0000:0000:0000:000a (left out)
    warning: 1 path with another end than its destination, the first 0000:0000:0000:000a to 0000:0000:0000:000c (left out)
    warning: 1 path with edges that do not join, the first 0000:0000:0000:000b to 0000:0000:0000:000a (left out)
    ");
    assert_eq!(routes.row_count(), 3);
    let error = read_paths("{\"path_info\": {}}", path, &nodes, "log").expect_err("empty");
    insta::assert_snapshot!(error, @"m-nodes.json: none of its paths is in the map; expected a netloc paths file of the same map (its name ends in -log-paths or -phy-paths)");
}
