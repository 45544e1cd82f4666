//! Traces and process groups as JSON.
//!
//! Traces come in two forms: the output of `chakra_jsonizer` for protocol buffers (one object after the other, 64-bit
//! integers as strings), and the input of the feeder of Chakra (one object with the list `workload_graph`). Process groups
//! are an object of lists, as in ASTRA-sim's `--comm-group-configuration`: `{"1": [0, 2]}`.

use serde_json::{Map, Value};

use super::node::Node;

/// Whether a file begins like a trace in one of the two forms: including that of an idle NPU.
pub(super) fn is_trace(begin: &str) -> bool {
    begin.trim_start().starts_with('{')
        && (begin.contains("\"workload_graph\"")
            || begin.contains("\"version\"")
            || begin.contains("_NODE\"") && begin.contains("\"type\""))
}

/// The lists in a file of process groups, by name; `None` if it is not such a file.
pub(super) fn groups(bytes: &[u8]) -> Option<Map<String, Value>> {
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let groups: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
    let are_lists = groups.values().all(Value::is_array);
    (are_lists && !groups.is_empty() && !groups.contains_key("workload_graph")).then_some(groups)
}

/// The members of a process group.
///
/// # Errors
/// If a member is not an NPU.
pub(super) fn members(list: &Value) -> Result<Vec<u32>, String> {
    let number = |value: &Value| {
        whole(value).and_then(|n| u32::try_from(n).ok()).ok_or_else(|| format!("{value}"))
    };
    list.as_array().into_iter().flatten().map(number).collect()
}

/// The nodes of a trace.
///
/// # Errors
/// Errors with their lines.
pub(super) fn nodes(bytes: &[u8]) -> Result<Vec<Node>, String> {
    let mut nodes = Vec::new();
    for value in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        let Value::Object(object) = value.map_err(|e| e.to_string())? else {
            return Err("an object of JSON was expected".to_owned());
        };
        if let Some(graph) = object.get("workload_graph") {
            let Value::Array(graph) = graph else {
                return Err("workload_graph is no list".to_owned());
            };
            for node in graph {
                nodes.push(fed(node).ok_or_else(|| about(node))?);
            }
        } else if object.contains_key("type") || object.contains_key("id") {
            nodes.push(jsonized(&object).ok_or_else(|| about(&Value::Object(object)))?);
        } else if let Some((key, _)) =
            object.iter().find(|(key, list)| list.is_array() && !key.starts_with("attr"))
        {
            // The first object says the version, and what is known of the whole trace.
            return Err(format!(
                "a list {key:?} is none of Chakra's: nodes are in \"workload_graph\", or an object each"
            ));
        }
    }
    Ok(nodes)
}

fn about(node: &Value) -> String {
    let mut text = node.to_string();
    text.truncate(text.char_indices().nth(60).map_or(text.len(), |(i, _)| i));
    format!("the node {text} has not the fields of one")
}

/// An integer, as such or as text.
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(n) => n.as_i64(),
        Value::String(text) => text.parse().ok(),
        Value::Bool(is) => Some(i64::from(*is)),
        _ => None,
    }
}

/// One that is not below zero.
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(n) => n.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Ids in a list under one of these names.
fn ids(object: &Map<String, Value>, names: [&str; 2], into: &mut Vec<u64>) -> Option<()> {
    for name in names {
        if let Some(list) = object.get(name) {
            into.extend(list.as_array()?.iter().map(whole).collect::<Option<Vec<_>>>()?);
        }
    }
    Some(())
}

/// A node as the feeder reads it.
fn fed(node: &Value) -> Option<Node> {
    let object = node.as_object()?;
    let mut made = Node {
        id: whole(object.get("Id")?)?,
        kind: whole(object.get("NodeType")?)?,
        micros: object.get("runtime").map_or(Some(0), whole)?,
        ..Node::default()
    };
    // Its `ctrlDeps` are not dependencies there: they name nodes that are not in the file.
    ids(object, ["data_deps", "dataDeps"], &mut made.before)?;
    for (name, value) in object {
        if name == "pg_name" {
            value.as_str().unwrap_or_default().clone_into(&mut made.group);
        } else if let Some(number) = integer(value) {
            made.numbers.insert(name.clone(), number);
        }
    }
    Some(made)
}

/// Types of nodes by name, from 0.
const TYPES: [&str; 8] = [
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
];

/// A node of protocol buffers as JSON, under its names in either spelling.
fn jsonized(object: &Map<String, Value>) -> Option<Node> {
    let kind = match object.get("type")? {
        Value::String(name) => TYPES.iter().position(|t| t == name)? as u64,
        number => whole(number)?,
    };
    let get = |a: &str, b: &str| object.get(a).or(object.get(b));
    // Values of 0 are omitted.
    let or_zero = |value: Option<&Value>| value.map_or(Some(0), whole);
    let mut made = Node {
        id: or_zero(object.get("id"))?,
        kind,
        micros: or_zero(get("durationMicros", "duration_micros"))?,
        ..Node::default()
    };
    ids(object, ["ctrlDeps", "ctrl_deps"], &mut made.control)?;
    ids(object, ["dataDeps", "data_deps"], &mut made.before)?;
    for attribute in object.get("attr").and_then(Value::as_array).into_iter().flatten() {
        let attribute = attribute.as_object()?;
        let name = attribute.get("name")?.as_str()?;
        let value = attribute.iter().find(|(key, _)| key.to_lowercase().ends_with("val"));
        match value {
            Some((_, value)) if name == "pg_name" => {
                value.as_str().unwrap_or_default().clone_into(&mut made.group);
            }
            Some((_, value)) => {
                if let Some(number) = integer(value) {
                    made.numbers.insert(name.to_owned(), number);
                }
            }
            None => {}
        }
    }
    Some(made)
}
