//! LLDP neighbours of devices in JSON: `lldpctl -f json` (Linux, Cumulus, SONiC) and `show lldp neighbors [detail] | json` (Arista).
//!
//! Neither names the reporting device, so a file has the output of several devices in one of these forms:
//!
//! ```text
//! {"leaf1": {...}, "leaf2": {...}}                     by device, as jq -n '[inputs | {(input_filename): .}] | add' *.json makes it
//! [{"hostname": "leaf1", "data": {...}}, ...]          as suzieq keeps it; data may be a text that is JSON; arrays may follow arrays
//! {"lldp": ...}                                        one device, called as the file
//! ```

use std::path::Path;

use darkfiber_fabric::Topology;
use serde_json::Value;

use super::lldp::{LldpNeighbor, fabric};
use crate::format::{Format, Options, Reading};
use crate::input::name_of;
use crate::known_by::KnownBy;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "lldp-json",
    what: "neighbours by LLDP in JSON",
    summary: "`lldpctl -f json`, Arista's `show lldp neighbors | json`, by device",
    known_by: &[KnownBy::Begin(|b| {
        let json = b.json();
        ["\"lldp\":", "\"lldpNeighbors\":", "\\\"lldpNeighbors\\\":", "\\\"lldp\\\":"]
            .iter()
            .any(|key| json.contains(key))
    })],
    read: Reading::Fabric(|c| read(c.text, c.path, c.options)),
    ..Format::NONE
};

/// Expected content, for errors.
const EXPECTED: &str = "JSON of lldpctl or of Arista's `show lldp neighbors`, by device";

/// Reads the neighbours of devices.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if it is not JSON, or has no neighbour.
pub fn read(
    text: &str,
    path: &Path,
    options: &Options,
) -> Result<(Topology, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut lldp_neighbors = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let value =
            value.map_err(|error| ReadError::not_such(path, error.to_string(), EXPECTED, ""))?;
        documents(&value, &name_of(path), &mut lldp_neighbors, &mut d);
    }
    // A device that was queried twice reports twice.
    let mut once: Vec<LldpNeighbor> = Vec::with_capacity(lldp_neighbors.len());
    let mut known = std::collections::BTreeSet::new();
    for h in lldp_neighbors {
        if known.insert((h.device.clone(), h.port.clone(), h.neighbour.clone(), h.port_id.clone()))
        {
            once.push(h);
        }
    }
    if once.is_empty() {
        let what = "no device has a neighbour".to_owned();
        return Err(ReadError::not_such(
            path,
            what,
            EXPECTED,
            "was LLDP switched on, and JSON asked for?",
        ));
    }
    fabric(once, path, options, d, EXPECTED)
}

/// Finds neighbours in any of the forms; `device` is the reporting device unless another is named.
fn documents(
    value: &Value,
    device: &str,
    lldp_neighbors: &mut Vec<LldpNeighbor>,
    d: &mut Diagnostics,
) {
    match value {
        Value::Array(items) => {
            for item in items {
                documents(item, device, lldp_neighbors, d);
            }
        }
        Value::Object(map) => {
            if let Some(lldp) = map.get("lldp") {
                of_lldpctl(lldp, device, lldp_neighbors);
            } else if let Some(neighbours) = map.get("lldpNeighbors") {
                of_arista(neighbours, device, lldp_neighbors);
            } else if let (Some(Value::String(device)), Some(data)) =
                (map.get("hostname"), map.get("data"))
            {
                match data {
                    Value::String(text) => match serde_json::from_str(text) {
                        Ok(inner) => documents(&inner, device, lldp_neighbors, d),
                        Err(error) => {
                            let what = format!("data of {device} is no JSON: {error}");
                            d.error(0, what, "it is left out");
                        }
                    },
                    inner => documents(inner, device, lldp_neighbors, d),
                }
            } else if let Some(result) = map.get("result") {
                // A response of eAPI.
                documents(result, device, lldp_neighbors, d);
            } else {
                for (name, inner) in
                    map.iter().filter(|(_, inner)| inner.is_object() || inner.is_array())
                {
                    let name = name.rsplit('/').next().unwrap_or(name);
                    documents(inner, name.strip_suffix(".json").unwrap_or(name), lldp_neighbors, d);
                }
            }
        }
        _ => {}
    }
}

/// Keeps a report if it names the neighbour and its port.
fn keep(
    lldp_neighbors: &mut Vec<LldpNeighbor>,
    device: &str,
    port: &str,
    neighbour: &str,
    ids: [&str; 2],
    bridges: Option<bool>,
) {
    let port_id = if ids[0].is_empty() { ids[1] } else { ids[0] };
    if port.is_empty() || neighbour.is_empty() || port_id.is_empty() {
        return;
    }
    lldp_neighbors.push(LldpNeighbor {
        line: 0,
        device: device.to_owned(),
        port: port.to_owned(),
        neighbour: neighbour.to_owned(),
        port_id: port_id.to_owned(),
        port_description: ids[1].to_owned(),
        bridges,
    });
}

/// A text, or that of `value` within (json0 has everything in arrays of such objects).
fn text(value: Option<&Value>) -> &str {
    match value {
        Some(Value::String(text)) => text,
        Some(Value::Array(items)) => text(items.first()),
        Some(Value::Object(map)) => text(map.get("value")),
        _ => "",
    }
}

/// The first of an array, or the value itself.
fn one(value: Option<&Value>) -> Option<&Value> {
    match value {
        Some(Value::Array(items)) => items.first(),
        other => other,
    }
}

/// Interfaces of lldpctl: by name, or an array of one-key objects, or (json0) of objects with a name.
fn of_lldpctl(lldp: &Value, device: &str, lldp_neighbors: &mut Vec<LldpNeighbor>) {
    let Some(lldp) = one(Some(lldp)) else { return };
    let mut interface = |name: &str, about: &Value| {
        let chassis = one(about.get("chassis"));
        let Some(Value::Object(chassis)) = chassis else { return };
        // By the neighbour's name, or without one.
        let by_name = chassis.iter().find(|(key, inner)| inner.is_object() && *key != "id");
        let (neighbour, facts) = match by_name {
            Some((key, inner)) if !chassis.contains_key("name") => {
                (key.as_str(), inner.get("capability"))
            }
            _ => {
                let name = text(chassis.get("name"));
                let id = text(chassis.get("id"));
                (if name.is_empty() { id } else { name }, chassis.get("capability"))
            }
        };
        let port = one(about.get("port"));
        let id = text(port.and_then(|p| p.get("id")));
        let description = text(port.and_then(|p| p.get("descr")));
        keep(lldp_neighbors, device, name, neighbour, [id, description], bridges(facts));
    };
    match lldp.get("interface") {
        Some(Value::Object(map)) => map.iter().for_each(|(name, about)| interface(name, about)),
        Some(Value::Array(items)) => {
            for item in items.iter().filter_map(Value::as_object) {
                match item.get("name") {
                    Some(Value::String(name)) => interface(name, &Value::Object(item.clone())),
                    _ => item.iter().for_each(|(name, about)| interface(name, about)),
                }
            }
        }
        _ => {}
    }
}

/// Whether capabilities of lldpctl say that a device bridges; `None` if there are none.
fn bridges(capability: Option<&Value>) -> Option<bool> {
    let all = match capability? {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let is_on = |c: &Value| match c.get("enabled") {
        Some(Value::Bool(on)) => *on,
        Some(Value::String(on)) => on == "on",
        _ => false,
    };
    Some(all.iter().any(|c| text(c.get("type")) == "Bridge" && is_on(c)))
}

/// Neighbours of Arista: a list, or in detail by interface.
fn of_arista(neighbours: &Value, device: &str, lldp_neighbors: &mut Vec<LldpNeighbor>) {
    match neighbours {
        Value::Array(items) => {
            for n in items {
                let of = |key: &str| text(n.get(key));
                keep(
                    lldp_neighbors,
                    device,
                    of("port"),
                    of("neighborDevice"),
                    [of("neighborPort"), ""],
                    None,
                );
            }
        }
        Value::Object(map) => {
            for (port, about) in map {
                let all = about.get("lldpNeighborInfo").and_then(Value::as_array);
                for n in all.into_iter().flatten() {
                    let info = n.get("neighborInterfaceInfo");
                    let of = |key: &str| text(info.and_then(|i| i.get(key))).trim_matches('"');
                    let id = if of("interfaceId_v2").is_empty() {
                        of("interfaceId")
                    } else {
                        of("interfaceId_v2")
                    };
                    let name = text(n.get("systemName"));
                    let name = if name.is_empty() { text(n.get("chassisId")) } else { name };
                    let capabilities = n.get("systemCapabilities").and_then(Value::as_object);
                    let bridges = capabilities
                        .filter(|c| !c.is_empty())
                        .map(|c| c.get("bridge") == Some(&Value::Bool(true)));
                    keep(
                        lldp_neighbors,
                        device,
                        port,
                        name,
                        [id, of("interfaceDescription")],
                        bridges,
                    );
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Topology, Vec<String>) {
        let (topology, d) =
            read(text, Path::new("x/leaf9.json"), &Options::default()).expect("neighbours");
        (topology, d.0.iter().map(ToString::to_string).collect())
    }

    /// Three switches of Arista's as suzieq's repository has them (netenglabs/suzieq, sqpoller-output/lldp.output, Apache-2.0, at
    /// 1e2986cb), without what is not read, and shortened to one neighbour a port.
    const LEAF1: &str = r#"{"lldpNeighbors": {
      "Management0": {"lldpNeighborInfo": [{"chassisId": "001c.735c.3e75", "systemCapabilities": {"bridge": true, "router": false},
        "systemName": "spine", "neighborInterfaceInfo": {"interfaceId_v2": "Management0", "interfaceId": "\"Management0\""}}]},
      "Ethernet2": {"lldpNeighborInfo": []},
      "Ethernet1": {"lldpNeighborInfo": [{"chassisId": "001c.735c.3e75", "systemCapabilities": {"bridge": true, "router": false},
        "systemName": "spine", "neighborInterfaceInfo": {"interfaceId_v2": "Ethernet1", "interfaceId": "\"Ethernet1\""}}]}}}"#;
    const OTHERS: &str = r#"
      [{"hostname": "leaf2", "data": {"lldpNeighbors": {"Ethernet1": {"lldpNeighborInfo": [{"systemName": "spine",
        "systemCapabilities": {"bridge": true, "router": false}, "neighborInterfaceInfo": {"interfaceId": "\"Ethernet2\""}}]}}}}]
      [{"hostname": "spine", "data": {"lldpNeighbors": {
        "Ethernet1": {"lldpNeighborInfo": [{"systemName": "leaf1", "systemCapabilities": {"bridge": true, "router": true},
          "neighborInterfaceInfo": {"interfaceId_v2": "Ethernet1"}}]},
        "Ethernet2": {"lldpNeighborInfo": [{"systemName": "leaf2", "systemCapabilities": {"bridge": true, "router": true},
          "neighborInterfaceInfo": {"interfaceId_v2": "Ethernet1"}}]}}}}]"#;

    #[test]
    fn arista_as_suzieq_keeps_it() {
        let inner = serde_json::to_string(LEAF1).expect("a text");
        let first = format!(r#"[{{"devtype": "eos", "hostname": "leaf1", "data": {inner}}}]"#);
        let (topology, said) = read_text(&(first + OTHERS));
        let fabric = &topology.fabric;
        let mut names: Vec<&str> =
            fabric.switches().iter().map(|s| s.description.as_str()).collect();
        names.sort_unstable();
        assert_eq!(
            (names, fabric.switch_link_count()),
            (vec!["leaf1", "leaf2", "spine"], 2),
            "{said:?}"
        );
        assert!(said.iter().any(|s| s.contains("1 neighbour at ports for management")), "{said:?}");
        // The file has no hosts: each switch gets one, as in lists of edges.
        assert_eq!(fabric.terminal_count(), 3);
    }

    /// The short form, by device, and the response of eAPI.
    #[test]
    fn arista_in_short() {
        let (topology, said) = read_text(
            r#"{"a": {"lldpNeighbors": [{"ttl": 120, "neighborDevice": "b", "neighborPort": "Ethernet3/1", "port": "Ethernet49/1"}]},
                "b.json": {"result": [{"lldpNeighbors": [{"neighborDevice": "a", "neighborPort": "Ethernet49/1", "port": "Ethernet3/1"},
                  {"neighborDevice": "gpu-server-01", "neighborPort": "eth0", "port": "Ethernet1"}]}]}}"#,
        );
        let fabric = &topology.fabric;
        assert_eq!(
            (fabric.switch_count(), fabric.switch_link_count(), fabric.terminal_count()),
            (2, 1, 1),
            "{said:?}"
        );
    }

    /// The three forms in which lldpctl prints interfaces: an object, an array, and json0; a switch, a host without a name, a host.
    #[test]
    fn lldpctl_in_all_forms() {
        let chassis = |name: &str, what: &str| {
            format!(
                r#""chassis": {{"{name}": {{"id": {{"type": "mac", "value": "00:00:00:00:00:01"}}, "descr": "secret", "capability":
                [{{"type": "Bridge", "enabled": {what}}}, {{"type": "Router", "enabled": true}}]}}}}"#
            )
        };
        let one = format!(
            r#"{{"lldp": {{"interface": {{"swp1": {{"via": "LLDP", {}, "port": {{"id": {{"type": "ifname", "value": "swp2"}}, "descr": "up"}}}}}}}}}}"#,
            chassis("spine1", "true")
        );
        let (topology, said) = read_text(&one);
        assert_eq!(topology.fabric.switch_link_count(), 1, "{said:?}");
        assert!(
            topology.fabric.switches().iter().any(|s| s.description == "leaf9"),
            "called as the file"
        );
        let several = format!(
            r#"{{"leaf1": {{"lldp": {{"interface": [{{"swp1": {{{}, "port": {{"id": {{"value": "swp2"}}}}}}}},
              {{"swp2": {{{}, "port": {{"id": {{"type": "mac", "value": "0c:42:a1:88:0a:1c"}}, "descr": "ens1f0"}}}}}},
              {{"swp3": {{"chassis": {{"id": {{"type": "mac", "value": "0c:42:a1:88:0a:1e"}}}}, "port": {{"id": {{"value": "0c:42:a1:88:0a:1e"}}}}}}}}]}}}}}}"#,
            chassis("spine1", "true"),
            chassis("cn1", "false")
        );
        let (topology, said) = read_text(&several);
        assert_eq!(
            (topology.fabric.switch_count(), topology.fabric.terminal_count()),
            (3, 1),
            "{said:?}"
        );
        assert_eq!(topology.fabric.adapters()[0].description, "cn1 ens1f0");
        let json0 = r#"{"leaf1": {"lldp": [{"interface": [{"name": "swp1", "chassis": [{"id": [{"type": "mac", "value": "x"}], "name":
          [{"value": "spine1"}], "capability": [{"type": "Bridge", "enabled": true}]}], "port": [{"id": [{"type": "ifname", "value": "swp2"}],
          "descr": [{"value": "swp2"}]}]}]}]}}"#;
        assert_eq!(read_text(json0).0.fabric.switch_link_count(), 1);
    }

    #[test]
    fn nobody_and_no_json() {
        let error = |text: &str| {
            read(text, Path::new("f.json"), &Options::default()).expect_err(text).to_string()
        };
        assert!(error(r#"{"lldp": {"interface": {}}}"#).contains("no device has a neighbour"));
        assert!(error(r#"{"lldp": {"interface": {"#).contains("EOF"));
    }
}
