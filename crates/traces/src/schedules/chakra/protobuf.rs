//! Traces as messages of protocol buffers, each after its length.

use super::node::Node;
use crate::schedules::wire::{self, Value};

/// The next message of a file.
pub(super) fn message<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = wire::number(bytes)?;
    wire::split(bytes, len)
}

/// Whether a file begins like a trace.
pub(super) fn is_first(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let Some(first) = message(&mut rest).and_then(wire::fields) else { return false };
    let metadata = first.iter().all(|(n, v)| matches!((n, v), (1 | 2, Value::Bytes(_))));
    if rest.is_empty() {
        // The trace of an idle NPU has a version.
        let version = |(n, v): &(u64, Value<'_>)| {
            *n == 1
                && matches!(v, Value::Bytes(text) if text.first().is_some_and(u8::is_ascii_digit))
        };
        return metadata && first.iter().any(version);
    }
    let Some(second) = message(&mut rest).and_then(node) else { return false };
    metadata && (1..=10).contains(&second.kind)
}

/// The nodes of a file, or the byte at which a message is not whole.
pub(super) fn nodes(bytes: &[u8]) -> Result<Vec<Node>, usize> {
    let mut rest = bytes;
    let mut nodes = Vec::new();
    let mut first = true;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let body = message(&mut rest).ok_or(at)?;
        // The first one is about the file.
        if !std::mem::take(&mut first) {
            nodes.push(node(body).ok_or(at)?);
        }
    }
    Ok(nodes)
}

fn text(value: Value<'_>) -> Option<String> {
    match value {
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

fn node(message: &[u8]) -> Option<Node> {
    let mut node = Node::default();
    for (field, value) in wire::fields(message)? {
        match (field, value) {
            (1, Value::Number(id)) => node.id = id,
            (3, Value::Number(kind)) => node.kind = kind,
            (4, value) => wire::numbers(value, &mut node.control)?,
            (5, value) => wire::numbers(value, &mut node.before)?,
            (7, Value::Number(micros)) => node.micros = micros,
            (10, Value::Bytes(attribute)) => {
                let mut name = String::new();
                for (field, value) in wire::fields(attribute)? {
                    match (field, value) {
                        (1, value) => name = text(value)?,
                        (29, value) if name == "pg_name" => node.group = text(value)?,
                        (3..=32, value) => {
                            if let Some(number) = integer(field, value) {
                                node.numbers.insert(name.clone(), number);
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Some(node)
}

/// The integer in an attribute of one of the types that hold one.
#[expect(clippy::cast_possible_wrap, reason = "numbers below zero are written so")]
fn integer(field: u64, value: Value<'_>) -> Option<i64> {
    match (field, value) {
        (7 | 9 | 11 | 13 | 27, Value::Number(n)) => Some(n as i64),
        (15 | 17, Value::Number(n)) => Some((n >> 1) as i64 ^ -((n & 1) as i64)),
        (19, Value::Four(b)) => Some(i64::from(u32::from_le_bytes(b))),
        (23, Value::Four(b)) => Some(i64::from(i32::from_le_bytes(b))),
        (21 | 25, Value::Eight(b)) => Some(i64::from_le_bytes(b)),
        _ => None,
    }
}
