//! `show lldp table` of SONiC, one table after the other, each after the prompt of its command.
//!
//! ```text
//! admin@leaf1:~$ show lldp table
//! Capability codes: (R) Router, (B) Bridge, (O) Other
//! LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
//! -----------  --------------  -----------------  ------------  -----------------
//! Ethernet0    spine1          fortyGigE0/4       BR            Ethernet4
//! eth0         oob1            0c:69:cf:50:00:00  BR            eth0
//! --------------------------------------------------
//! Total entries displayed:  2
//! ```
//!
//! A table without a prompt before it belongs to the device named by the file.

use std::path::Path;

use darkfiber_fabric::Topology;

use super::lldp::{LldpNeighbor, fabric};
use crate::diagnostic::excerpt;
use crate::format::{Format, Options, Reading};
use crate::input::name_of;
use crate::known_by::KnownBy;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "lldp-table",
    what: "neighbours as SONiC's `show lldp table` prints them",
    summary: "SONiC's `show lldp table` of all switches, each behind its prompt",
    known_by: &[KnownBy::Line(is_heading)],
    read: Reading::Fabric(|c| read(c.text, c.path, c.options)),
    ..Format::NONE
};

/// Expected content, for errors.
const EXPECTED: &str =
    "tables of SONiC's `show lldp table` (LocalPort RemoteDevice RemotePortID ...)";

fn is_heading(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("LocalPort") && words.next() == Some("RemoteDevice")
}

/// The device of a prompt: `admin@leaf1:~$ show lldp table`.
fn prompt(line: &str) -> Option<&str> {
    let (before, command) = line.split_once(['$', '#'])?;
    let device = before.rsplit_once('@').map_or(before, |(_, device)| device);
    let device = device.split(':').next()?.trim();
    let is_asked = command.trim_start().starts_with("show lldp");
    (is_asked && !device.is_empty() && !device.contains(' ')).then_some(device)
}

/// Reads tables. Lines that cannot be read are left out and reported.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if there is no neighbour.
pub fn read(
    text: &str,
    path: &Path,
    options: &Options,
) -> Result<(Topology, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut device = name_of(path);
    let mut lldp_neighbors = Vec::new();
    // Start positions of the columns, within a table.
    let mut columns: Option<Vec<usize>> = None;
    let mut is_known = false;
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(asked) = prompt(line) {
            (device, columns) = (asked.to_owned(), None);
            continue;
        }
        if is_heading(line) {
            columns = None;
            is_known = true;
            continue;
        }
        let is_rule = line.trim_start().starts_with("---");
        if is_rule && is_known && columns.is_none() {
            columns = Some(starts(line));
            is_known = false;
            continue;
        }
        if is_rule || line.trim().is_empty() {
            columns = None;
            continue;
        }
        let Some(columns) = &columns else { continue };
        let cell = |i: usize| -> &str {
            let Some(&from) = columns.get(i) else { return "" };
            let to = columns.get(i + 1).copied().unwrap_or(line.len()).min(line.len());
            line.get(from.min(to)..to).unwrap_or_default().trim()
        };
        let [port, neighbour, port_id, capability, description] = [0, 1, 2, 3, 4].map(cell);
        if port.is_empty() || neighbour.is_empty() || port_id.is_empty() {
            d.error(number, format!("no neighbour in {}", excerpt(line)), "the line is left out");
            continue;
        }
        lldp_neighbors.push(LldpNeighbor {
            line: number,
            device: device.clone(),
            port: port.to_owned(),
            neighbour: neighbour.to_owned(),
            port_id: port_id.to_owned(),
            port_description: description.to_owned(),
            bridges: (!capability.is_empty()).then(|| capability.contains('B')),
        });
    }
    if lldp_neighbors.is_empty() {
        return Err(ReadError::wrong_format(path, EXPECTED, ""));
    }
    fabric(lldp_neighbors, path, options, d, EXPECTED)
}

/// Start of the dashes of each column.
fn starts(rule: &str) -> Vec<usize> {
    let bytes = rule.as_bytes();
    (0..bytes.len()).filter(|&i| bytes[i] == b'-' && (i == 0 || bytes[i - 1] == b' ')).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    /// Two switches as a public guide to SONiC in GNS3 shows them, whose ports have other names towards others, with a host.
    const FILE: &str = "\
admin@sonic1:~$ show lldp table

Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet0    sonic3          fortyGigE0/4       BR            Ethernet4
Ethernet4    sonic2          fortyGigE0/8       BR            Ethernet8
Ethernet8    cn1             0c:42:a1:88:0a:1c  R             ens1f0
eth0         sonic4          0c:69:cf:50:00:00  BR            eth0
--------------------------------------------------
Total entries displayed:  4
admin@sonic2:~$ show lldp table
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet8    sonic1          fortyGigE0/4       BR            Ethernet4
";

    #[test]
    fn aliases_and_management() {
        let (topology, d) = read(FILE, Path::new("lldp.txt"), &Options::default()).expect("tables");
        let fabric = &topology.fabric;
        let names: Vec<&str> = fabric.switches().iter().map(|s| s.description.as_str()).collect();
        assert_eq!(
            (names.len(), fabric.switch_link_count(), fabric.terminal_count()),
            (3, 2, 1),
            "{names:?} {d:?}"
        );
        assert_eq!(fabric.adapters()[0].description, "cn1 ens1f0");
        let said: Vec<String> = d.0.iter().map(ToString::to_string).collect();
        assert!(said.iter().any(|s| s.contains("1 neighbour at ports for management")), "{said:?}");
    }

    /// The cables of tables `device: port neighbour port-id, ...`, by the natural numbers of ports.
    fn cables(tables: &[(&str, &[[&str; 3]])]) -> Vec<String> {
        let mut text = String::new();
        for (device, rows) in tables {
            writeln!(text, "admin@{device}:~$ show lldp table").expect("memory takes it");
            text +=
                "LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr\n";
            text +=
                "-----------  --------------  -----------------  ------------  -----------------\n";
            for [port, to, id] in *rows {
                writeln!(text, "{port:<11}  {to:<14}  {id:<17}  BR").expect("memory takes it");
            }
        }
        let (topology, _) = read(&text, Path::new("f"), &Options::default()).expect("tables");
        let f = &topology.fabric;
        let name = |s: darkfiber_fabric::SwitchId| f.switch(s).description.clone();
        let mut all: Vec<String> = (0..f.channel_count())
            .map(darkfiber_fabric::ChannelId::new)
            .map(|c| {
                let (a, b) = (f.tail_port(c), f.tail_port(f.reverse(c)));
                format!("{}:{a} {}:{b}", name(f.tail(c)), name(f.head(c)))
            })
            .filter(|cable| cable.split(' ').is_sorted())
            .collect();
        all.sort();
        all
    }

    /// One end names ports, the other one addresses: the cables are what the first says.
    #[test]
    fn one_end_is_enough_for_crossed_cables() {
        let leaf: &[[&str; 3]] =
            &[["Ethernet1", "spine1", "Ethernet2"], ["Ethernet2", "spine1", "Ethernet1"]];
        let spine: &[[&str; 3]] = &[
            ["Ethernet1", "leaf1", "0c:42:a1:88:0a:1c"],
            ["Ethernet2", "leaf1", "0c:42:a1:88:0a:1d"],
        ];
        for tables in [[("leaf1", leaf), ("spine1", spine)], [("spine1", spine), ("leaf1", leaf)]] {
            assert_eq!(cables(&tables), ["leaf1:2 spine1:3", "leaf1:3 spine1:2"]);
        }
    }

    /// A domain may be missing at either end; what precedes a dot alone is no name.
    #[test]
    fn names_that_begin_alike_are_of_other_devices() {
        let rack = cables(&[("rack1.leaf1", &[["Ethernet1", "rack1.leaf2", "Ethernet1"]])]);
        assert_eq!(rack, ["rack1.leaf1:2 rack1.leaf2:2"]);
        let to: &[[&str; 3]] =
            &[["Ethernet1", "10.1.0.2", "Ethernet1"], ["Ethernet2", "10.1.0.3", "Ethernet1"]];
        assert_eq!(cables(&[("10.1.0.1", to)]), ["10.1.0.1:2 10.1.0.2:2", "10.1.0.1:3 10.1.0.3:2"]);
        for (a, b) in [("leaf1.site.org", "leaf2"), ("leaf1", "leaf2.site.org")] {
            for domain in ["", ".site.org"] {
                let rename = |name: &str| name.split('.').take(1).collect::<String>() + domain;
                let both = cables(&[
                    (a, &[["Ethernet1", &rename(b), "Ethernet1"]]),
                    (b, &[["Ethernet1", &rename(a), "Ethernet1"]]),
                ]);
                assert_eq!(both, [format!("{a}:2 {b}:2")]);
            }
        }
        // Two devices that are called so: the neighbour is none of them for sure.
        let two = cables(&[
            ("leaf1.a", &[["Ethernet1", "spine1", "Ethernet1"]]),
            ("leaf1.b", &[["Ethernet1", "spine1", "Ethernet2"]]),
            ("spine1", &[["Ethernet3", "leaf1", "Ethernet1"]]),
        ]);
        assert_eq!(two, ["leaf1.a:2 spine1:2", "leaf1.b:2 spine1:3", "leaf1:2 spine1:4"]);
    }
}
