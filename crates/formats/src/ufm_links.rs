//! Links as UFM's REST interface gives them: `GET /ufmRest/resources/links`.
//!
//! ```text
//! [{"source_guid": "0c42a103001b7ab6", "source_port": "1", "source_port_dname": "HCA-2/1",
//!   "source_port_node_description": "luna-0395 mlx5_10", "destination_guid": "0c42a103009d7af6", "destination_port": "19",
//!   "destination_port_dname": "19", "destination_port_node_description": "SLG03-10:19", "width": "4x", ...}, ...]
//! ```
//!
//! There are no LIDs and no speeds, and no type of a node: a port whose name has `HCA` is an adapter's, as is one whose node is
//! described as a host and its device. Descriptions of switches end in the port, and in modular ones they have its module.

use std::path::Path;

use darkfiber_fabric::{Guid, Topology};
use serde::Deserialize;

use crate::format::{Format, Reading};
use crate::guids::parse_guid;
use crate::hosts::named_host;
use crate::input::name_of;
use crate::known_by::KnownBy;
use crate::records::{Key, Listing, Node, NodeKind, Records};
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "ufm-links",
    what: "links of UFM in JSON",
    summary: "UFM's links in JSON: GET /ufmRest/resources/links",
    known_by: &[KnownBy::Begin(|b| {
        b.json().contains("\"source_guid\":") && b.json().contains("\"destination_guid\":")
    })],
    read: Reading::Fabric(|c| read(c.text, c.path)),
    ..Format::NONE
};

/// Expected content, for errors.
const EXPECTED: &str =
    "links of UFM: a JSON array with source_guid, source_port, destination_guid, destination_port";

#[derive(Deserialize)]
struct Link {
    source_guid: String,
    source_port: Word,
    #[serde(default)]
    source_port_dname: String,
    #[serde(default)]
    source_port_node_description: String,
    destination_guid: String,
    destination_port: Word,
    #[serde(default)]
    destination_port_dname: String,
    #[serde(default)]
    destination_port_node_description: String,
}

/// A number, in quotation marks or not.
#[derive(Deserialize)]
#[serde(untagged)]
enum Word {
    Number(u32),
    Text(String),
}

impl Word {
    fn number(&self) -> Option<u32> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
        }
    }
}

/// Reads links of UFM.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if it is no such JSON, or has no link.
pub fn read(text: &str, path: &Path) -> Result<(Topology, Diagnostics), ReadError> {
    let links: Vec<Link> = serde_json::from_str(text)
        .map_err(|e| ReadError::not_such(path, e.to_string(), EXPECTED, "save the whole answer"))?;
    let mut d = Diagnostics::default();
    let mut records = Records::default();
    for (i, link) in links.iter().enumerate() {
        let source = End::new(
            &link.source_guid,
            &link.source_port,
            &link.source_port_dname,
            &link.source_port_node_description,
        );
        let destination = End::new(
            &link.destination_guid,
            &link.destination_port,
            &link.destination_port_dname,
            &link.destination_port_node_description,
        );
        let (Some(source), Some(destination)) = (source, destination) else {
            let what = format!("link {} of the array has a damaged GUID or port", i + 1);
            d.warn(0, what, "expected 16 hexadecimal digits and 1 to 254; left out");
            continue;
        };
        add(&mut records, i + 1, &source, &destination);
        add(&mut records, i + 1, &destination, &source);
    }
    if records.ports.is_empty() {
        return Err(ReadError::not_such(path, "there is no link", EXPECTED, ""));
    }
    let topology = records.assemble(&name_of(path), path, &mut d)?;
    // What the assembly numbers are links of the array, and no lines.
    for found in &mut d.0 {
        if found.line > 0 {
            found.what = format!("link {}: {}", found.line, found.what);
            found.line = 0;
        }
    }
    Ok((topology, d))
}

/// One end of a link.
struct End<'a> {
    kind: NodeKind,
    guid: Guid,
    port: u32,
    name: &'a str,
}

impl<'a> End<'a> {
    fn new(guid: &'a str, port: &Word, port_name: &str, description: &'a str) -> Option<Self> {
        let guid = parse_guid(guid.trim()).filter(|guid| guid.0 != 0)?;
        let port = port.number().filter(|port| (1..255).contains(port))?;
        let is_adapter = port_name.contains("HCA") || named_host(description).is_some();
        let kind = if is_adapter { NodeKind::Adapter } else { NodeKind::Switch };
        let name = if is_adapter { description.trim() } else { without_port(description) };
        Some(Self { kind, guid, port, name })
    }
}

/// `SLG03-10:19` without its port, `director:L01/U1/3` too.
fn without_port(description: &str) -> &str {
    let description = description.trim();
    let Some(colon) = description.rfind(':') else { return description };
    let place = &description[colon + 1..];
    let port = place.rfind('/').map_or(place, |slash| &place[slash + 1..]);
    if port.is_empty() || !port.bytes().all(|b| b.is_ascii_digit()) {
        return description;
    }
    let end = place.rfind('/').map_or(colon, |slash| colon + 1 + slash);
    &description[..end]
}

/// Adds the line of an end, and its node with the first one.
fn add<'a>(records: &mut Records<'a>, number: usize, near: &End<'a>, far: &End<'a>) {
    let key = Key::Guid(near.kind, near.guid);
    let next = records.nodes.len() as u32;
    let node = *records.index.entry(key).or_insert(next);
    if node == next {
        records.nodes.push(Node {
            line: number,
            kind: near.kind,
            id: near.name,
            guid: Some(near.guid),
            system: Guid(0),
            vendor: 0,
            device: 0,
            ports: 0,
            description: near.name,
            lid: None,
            enhanced_port0: false,
        });
    }
    let of_node = &mut records.nodes[node as usize];
    of_node.ports = of_node.ports.max(near.port as u8);
    records.ports.push(Listing {
        line: number,
        node,
        port: near.port,
        guid: None,
        far: Key::Guid(far.kind, far.guid),
        far_id: far.name,
        far_port: far.port,
        far_guid: None,
        far_description: Some(far.name),
        lid: None,
        lmc: 0,
        far_lid: None,
        label: None,
    });
}
