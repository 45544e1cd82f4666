//! The port list of `ibnetdiscover -p`: one line a port.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use darkfiber_fabric::{Guid, Topology};

use super::line::Cursor;
use crate::diagnostic::excerpt;
use crate::input::name_of;
use crate::records::{Key, Listing, Node, NodeKind, Records, unicast};
use crate::{Diagnostics, ReadError};

/// Reads the output of `ibnetdiscover -p`.
///
/// ```text
/// CA   134  1 0x7cfe9003003b4bde 4x EDR - SW  1719 10 0x7cfe9003009ce5b0 ( 'o1 HCA-1' - 'ib-l1s01' )
/// SW  2052 37 0x506b4b03005c2740 4x ???                                    'ib-i4l1s01'
/// ```
///
/// The list has no node GUIDs of adapters, so every adapter port becomes an adapter with that GUID;
/// and it has neither port counts nor LMC: a switch has the highest port that is listed. Diagnostics
/// are those of [`read`](super::read()).
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if there is not one port in the text.
pub fn read_ports(text: &str, path: &Path) -> Result<(Topology, Diagnostics), ReadError> {
    let mut records = Records::default();
    let mut guids: HashMap<Guid, NodeKind> = HashMap::new();
    let mut d = Diagnostics::default();
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        let Some(port) = PortLine::parse(line) else {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                d.note(
                    number,
                    format!("not a line of ibnetdiscover -p: {}", excerpt(line)),
                    "ignored",
                );
            }
            continue;
        };
        let near = &port.near;
        if *guids.entry(near.guid).or_insert(near.kind) != near.kind {
            d.error(
                number,
                format!("GUID {} belongs to nodes of two types", near.guid),
                "the line is left out",
            );
            continue;
        }
        let lid = unicast(Some(near.lid), number, &mut d);
        let key = Key::Guid(near.kind, near.guid);
        let index = match records.index.entry(key) {
            Entry::Occupied(e) => *e.get(),
            Entry::Vacant(e) => {
                records.nodes.push(Node {
                    line: number,
                    kind: near.kind,
                    id: port.near_id,
                    guid: Some(near.guid),
                    system: Guid(0),
                    vendor: 0,
                    device: 0,
                    ports: 0,
                    description: port.description,
                    lid: lid.filter(|_| near.kind == NodeKind::Switch),
                    enhanced_port0: false,
                });
                *e.insert(records.nodes.len() as u32 - 1)
            }
        };
        let node = &mut records.nodes[index as usize];
        node.ports = node.ports.max(near.port.min(254) as u8);
        let Some((far, far_id, far_description)) = port.far else {
            continue;
        };
        records.ports.push(Listing {
            line: number,
            node: index,
            port: near.port,
            guid: Some(near.guid),
            far: Key::Guid(far.kind, far.guid),
            far_id,
            far_port: far.port,
            far_guid: Some(far.guid),
            far_description: Some(far_description),
            lid,
            lmc: 0,
            far_lid: unicast(Some(far.lid), number, &mut d),
            label: port.label,
        });
    }
    if records.nodes.is_empty() {
        return Err(ReadError::wrong_format(
            path,
            "no line is of a port",
            "a port list of `ibnetdiscover -p` (lines such as `SW 12 1 0x... 4x EDR - CA ...`)",
        ));
    }
    // The far end may be on a port above all that its own lines name.
    for i in 0..records.ports.len() {
        let p = records.ports[i];
        if let Some(&far) = records.index.get(&p.far) {
            let node = &mut records.nodes[far as usize];
            node.ports = node.ports.max(p.far_port.min(254) as u8);
        }
    }
    if let Some(what) = records.cut_short() {
        let hint = "hosts may be missing that no other line names; make a new one";
        d.error(text.lines().count(), what, hint);
    }
    if records.nodes.iter().any(|node| node.kind == NodeKind::Adapter) {
        d.note(
            0,
            "the list has no node GUIDs of adapters: port GUIDs stand for them",
            "files that name adapters by node GUID (path-sl, names) need ibnetdiscover without -p",
        );
    }
    let topology = records.assemble(&name_of(path), path, &mut d)?;
    Ok((topology, d))
}

/// `SW  1719 10 0x7cfe9003009ce5b0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PortLineEnd {
    kind: NodeKind,
    lid: u32,
    port: u32,
    guid: Guid,
}

#[derive(Debug, PartialEq, Eq)]
struct PortLine<'a> {
    near: PortLineEnd,
    near_id: &'a str,
    description: &'a str,
    label: Option<&'a str>,
    far: Option<(PortLineEnd, &'a str, &'a str)>,
}

/// Whether this is such a line.
pub(super) fn is_port_line(line: &str) -> bool {
    PortLine::parse(line).is_some()
}

fn word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start();
    let n = text.find(char::is_whitespace).unwrap_or(text.len());
    let (head, tail) = text.split_at(n);
    *rest = tail;
    (!head.is_empty()).then_some(head)
}

fn end<'a>(rest: &mut &'a str) -> Option<(PortLineEnd, &'a str)> {
    let kind = match word(rest)? {
        "SW" => NodeKind::Switch,
        "CA" => NodeKind::Adapter,
        "RT" => NodeKind::Router,
        _ => return None,
    };
    let lid = word(rest)?.parse().ok()?;
    let port = word(rest)?.parse().ok()?;
    let id = word(rest)?;
    id.strip_prefix("0x")?;
    let mut digits = Cursor(id);
    let guid = Guid(digits.hex().filter(|&g| g != 0)?);
    digits.0.is_empty().then_some((PortLineEnd { kind, lid, port, guid }, id))
}

impl<'a> PortLine<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut rest = line.trim();
        let (near, near_id) = end(&mut rest)?;
        // Width and speed are two words here; as a label they are one slice, `4x EDR`.
        let label = rest.trim_start();
        let (_width, speed) = (word(&mut rest)?, word(&mut rest)?);
        let label = (!speed.contains('?')).then_some(&label[..label.len() - rest.len()]);
        let tail = rest.trim();
        let Some(mut tail) = tail.strip_prefix("- ") else {
            return Some(Self {
                near,
                near_id,
                description: unquoted(tail),
                label: None,
                far: None,
            });
        };
        let (far, far_id) = end(&mut tail)?;
        let names = tail.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
        let (description, far_description) = names.split_once("' - '").map_or_else(
            || names.split_once(" - ").unwrap_or((names, "")),
            |(a, b)| (a.strip_prefix('\'').unwrap_or(a), b.strip_suffix('\'').unwrap_or(b)),
        );
        Some(Self { near, near_id, description, label, far: Some((far, far_id, far_description)) })
    }
}

fn unquoted(name: &str) -> &str {
    name.strip_prefix('\'').and_then(|n| n.strip_suffix('\'')).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
SW     1  1 0x0000000000000100 4x HDR - CA     2  1 0x0000000000000011 ( 'swA' - 'n1 HCA-1' )
SW     1  3 0x0000000000000100 4x HDR - SW     4  3 0x0000000000000200 ( 'swA' - 'swB' )
SW     4  1 0x0000000000000200 4x HDR - CA     3  1 0x0000000000000021 ( 'swB' - 'n2 HCA-1' )
SW     4  3 0x0000000000000200 4x HDR - SW     1  3 0x0000000000000100 ( 'swB' - 'swA' )
";

    /// Hosts of a switch whose lines are missing are named nowhere.
    #[test]
    fn a_list_that_was_cut_short_is_an_error() {
        let errors = |lines: usize| {
            let kept: Vec<&str> = LIST.lines().take(lines).collect();
            let (_, d) = read_ports(&kept.join("\n"), Path::new("x")).expect("a list");
            let is_cut = |d: &&crate::Diagnostic| d.severity == crate::Severity::Error;
            d.0.iter().filter(is_cut).map(|d| d.what.clone()).collect::<Vec<_>>()
        };
        assert_eq!(errors(4), Vec::<String>::new());
        assert_eq!(errors(3), ["the list was cut short: port 3 of switch \"swB\" has no line"]);
        assert_eq!(errors(2), ["the list was cut short: switch \"swB\" has no line"]);
    }
}
