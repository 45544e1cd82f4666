//! Cables as NetBox exports and imports them (dcim/forms/bulk_import.py, CableImportForm).
//!
//! ```text
//! side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,status
//! leaf1,dcim.interface,Ethernet0,panel1,dcim.frontport,1,smf,connected
//! panel1,dcim.rearport,1,panel2,dcim.rearport,1,smf,connected
//! panel2,dcim.frontport,1,spine1,dcim.interface,Ethernet4,smf,connected
//! ```
//!
//! Patch panels are followed: a front port continues at the rear port of the same name, and vice versa, as the mapping of front
//! ports to rear ports is not exported. Planned cables, and those of power and consoles, are left out.

use std::collections::BTreeMap;
use std::path::Path;

use darkfiber_fabric::Topology;

use super::build::{CableEnd, CableList};
use super::ports::is_of_management;
use super::sheet::{Row, Sheet, finish};
use crate::diagnostic::counted;
use crate::format::{Format, Options, Reading};
use crate::known_by::KnownBy;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "netbox",
    what: "a list of cables as NetBox exports it",
    summary: "CSV of NetBox's cables: side_a_device, side_a_type, side_a_name, side_b_...; patch panels are followed",
    known_by: &[KnownBy::Line(|line| SHEET.is_heading(line))],
    read: Reading::Fabric(|c| read(c.text, c.path, c.options)),
    ..Format::NONE
};

static SHEET: Sheet = Sheet {
    expected: "cables of NetBox (side_a_device,side_a_type,side_a_name,side_b_device,... on the first line)",
    ends: [["side_a_device", "side_a_name"], ["side_b_device", "side_b_name"]],
    megabits: None,
    needs: &["side_a_type", "side_b_type"],
};

/// The socket of an end of a cable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Socket {
    Interface,
    Front,
    Rear,
    Other,
}

fn socket(kind: &str) -> Socket {
    let kind = kind.to_ascii_lowercase();
    match kind.rsplit('.').next().unwrap_or_default() {
        "interface" => Socket::Interface,
        "frontport" | "front-port" => Socket::Front,
        "rearport" | "rear-port" => Socket::Rear,
        _ => Socket::Other,
    }
}

/// An end with its socket.
type CableEndpoint = (CableEnd, Socket);

/// Reads an export.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if no line describes a cable.
pub fn read(
    text: &str,
    path: &Path,
    options: &Options,
) -> Result<(Topology, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let (mut unused, mut management) = (0, 0);
    let mut cables: Vec<(usize, [CableEndpoint; 2])> = Vec::new();
    for row in SHEET.rows(text, path, &mut d)? {
        let kinds = [row.cell("side_a_type"), row.cell("side_b_type")].map(socket);
        let is_planned = !matches!(row.cell("status"), "" | "connected" | "Connected");
        if is_planned || kinds.contains(&Socket::Other) {
            unused += 1;
            continue;
        }
        let Row { line, ends, .. } = row;
        if ends.iter().any(|e| is_of_management(&e.port)) {
            management += 1;
            continue;
        }
        let [a, b] = ends;
        cables.push((line, [(a, kinds[0]), (b, kinds[1])]));
    }
    if unused > 0 {
        let cables = counted(
            unused,
            "cable is planned or none of the network",
            "cables are planned or none of the network",
        );
        d.note(0, format!("{cables}: left out"), "");
    }
    if management > 0 {
        let cables = counted(management, "cable of management", "cables of management");
        d.note(0, format!("{cables}: left out"), "");
    }
    let mut list = CableList::default();
    follow(&cables, &mut list, &mut d);
    finish(&list, path, options, d, SHEET.expected)
}

/// Adds cables from interface to interface, through panels.
fn follow(cables: &[(usize, [CableEndpoint; 2])], list: &mut CableList, d: &mut Diagnostics) {
    // By device, port and side of a panel, the cable that is plugged in there and which of its ends.
    let mut at: BTreeMap<(&str, &str, bool), (usize, usize)> = BTreeMap::new();
    for (i, (_, ends)) in cables.iter().enumerate() {
        for (e, (end, socket)) in
            ends.iter().enumerate().filter(|(_, end)| end.1 != Socket::Interface)
        {
            let place = (end.device.as_str(), end.port.as_str(), *socket == Socket::Front);
            if let Some((other, _)) = at.get(&place) {
                d.error(
                    cables[i].0,
                    format!(
                        "{} {} has a cable already, by line {}",
                        end.device, end.port, cables[*other].0
                    ),
                    "the cable is left out",
                );
                continue;
            }
            at.insert(place, (i, e));
        }
    }
    for (i, (line, ends)) in cables.iter().enumerate() {
        for (e, (near, _)) in ends.iter().enumerate().filter(|(_, end)| end.1 == Socket::Interface)
        {
            let (mut cable, mut end) = (i, 1 - e);
            let mut steps = 0;
            let far = loop {
                let (found, socket) = &cables[cable].1[end];
                if *socket == Socket::Interface {
                    break Some((found, cable));
                }
                steps += 1;
                let through = at.get(&(&found.device, &found.port, *socket == Socket::Rear));
                match through {
                    Some(&(next, side)) if steps <= cables.len() => (cable, end) = (next, 1 - side),
                    _ => break None,
                }
            };
            match far {
                // Each is found from both of its ends.
                Some((far, last)) if (i, e) < (last, end) => {
                    list.cable(*line, [near.clone(), far.clone()], None, d);
                }
                Some(_) => {}
                None => d.warn(
                    *line,
                    format!("the cable of {} {} ends at a patch panel", near.device, near.port),
                    "it is left out",
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,status
leaf1,dcim.interface,Ethernet0,panel1,dcim.frontport,1,smf,connected
panel1,dcim.rearport,1,panel2,dcim.rearport,1,smf,connected
panel2,dcim.frontport,1,spine1,dcim.interface,Ethernet4,smf,connected
leaf1,dcim.interface,Ethernet4,panel1,dcim.frontport,2,smf,connected
leaf1,dcim.interface,Ethernet8,spine1,dcim.interface,Ethernet8,dac,connected
leaf1,dcim.interface,Ethernet12,spine1,dcim.interface,Ethernet12,dac,planned
leaf1,dcim.interface,Ethernet16,cn1,dcim.interface,ens1f0,dac,connected
leaf1,dcim.interface,mgmt0,oob1,dcim.interface,swp1,cat6,connected
leaf1,dcim.powerport,PSU1,pdu1,dcim.poweroutlet,3,power,connected
";

    #[test]
    fn panels_are_followed() {
        let (topology, d) =
            read(FILE, Path::new("cables.csv"), &Options::default()).expect("cables");
        let fabric = &topology.fabric;
        assert_eq!(
            (fabric.switch_count(), fabric.switch_link_count(), fabric.terminal_count()),
            (2, 2, 1)
        );
        assert_eq!(fabric.adapters()[0].description, "cn1 ens1f0");
        let said: Vec<String> = d.0.iter().map(ToString::to_string).collect();
        assert!(
            said.iter().any(|s| s.contains("leaf1 Ethernet4 ends at a patch panel")),
            "{said:?}"
        );
        assert!(said.iter().any(|s| s.contains("2 cables are planned or none")), "{said:?}");
        // A port of a panel holds one cable.
        let twice = FILE.replace("panel1,dcim.frontport,2", "panel1,dcim.frontport,1");
        let (_, d) = read(&twice, Path::new("cables.csv"), &Options::default()).expect("cables");
        let said: Vec<String> = d.0.iter().map(ToString::to_string).collect();
        assert!(
            said.iter().any(|s| s.contains("panel1 1 has a cable already, by line 2")),
            "{said:?}"
        );
    }
}
