//! Cables between ports of named devices: those of a dump, or those of a plan.

use std::collections::HashMap;

use crate::{AdapterId, ChannelId, Fabric, Guid, LinkClass, SwitchId, TerminalId};

/// Devices and the cables between them. Unlike a [`Fabric`] data for routing may be missing: a plan has no GUIDs, and
/// directors in it are boards without the cables inside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cabling {
    /// Switches, adapters, or boards of a director.
    pub devices: Vec<Device>,
    /// Cables in the order of their source.
    pub cables: Vec<Cable>,
}

/// One end of cables: a switch, an adapter, or a board of a director.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Name of the device.
    pub name: String,
    /// Other names that it goes by.
    pub aliases: Vec<String>,
    /// Node GUID, where known.
    pub guid: Option<Guid>,
    /// GUIDs of its ports, as far as they are known and have cables: some lists have them in place of the node's.
    pub port_guids: Vec<Guid>,
    /// Whether it is in a host.
    pub in_host: bool,
}

impl Device {
    /// All GUIDs that it goes by, that of the node first.
    pub fn guids(&self) -> impl Iterator<Item = Guid> {
        self.guid.into_iter().chain(self.port_guids.iter().copied())
    }
}

/// A cable between two devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cable {
    /// The ends of the cable.
    pub ends: [CableEnd; 2],
    /// Its width and speed, where known.
    pub class: Option<LinkClass>,
}

/// A device, as an index into [`Cabling::devices`], and a port of it where known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CableEnd {
    /// Index of the device.
    pub device: usize,
    /// Its port, from 1.
    pub port: Option<u8>,
}

impl Cabling {
    /// All cables of a fabric: switches first in its devices, then adapters.
    pub fn of(fabric: &Fabric) -> Self {
        let switches = fabric.switches().iter().map(|s| Device {
            name: if s.description.is_empty() { s.guid.to_string() } else { s.description.clone() },
            aliases: system_names(&s.description),
            guid: Some(s.guid),
            port_guids: Vec::new(),
            in_host: false,
        });
        let mut port_guids = vec![Vec::new(); fabric.adapters().len()];
        for terminal in fabric.terminals() {
            port_guids[terminal.adapter.index()].push(terminal.guid);
        }
        let adapters = fabric.adapters().iter().zip(port_guids).map(|(a, port_guids)| Device {
            name: adapter_name(fabric, a.guid, &a.description, a.host.index()),
            aliases: vec![fabric.host(a.host).name.clone()],
            guid: Some(a.guid),
            port_guids,
            in_host: true,
        });
        let devices: Vec<Device> = switches.chain(adapters).collect();
        let adapter = |a: AdapterId| fabric.switch_count() + a.index();
        let end = |device: usize, port: u8| CableEnd { device, port: Some(port) };

        let mut cables = Vec::with_capacity(fabric.link_count());
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            for t in fabric.terminals_on(s).map(TerminalId::new) {
                let terminal = fabric.terminal(t);
                cables.push(Cable {
                    ends: [
                        end(s.index(), terminal.switch_port),
                        end(adapter(terminal.adapter), terminal.port),
                    ],
                    class: Some(fabric.terminal_class(t).clone()),
                });
            }
            for c in fabric.channels_from(s).map(ChannelId::new) {
                let back = fabric.reverse(c);
                // Each cable once, by the first of its channels.
                if c.index() < back.index() {
                    cables.push(Cable {
                        ends: [
                            end(s.index(), fabric.tail_port(c)),
                            end(fabric.head(c).index(), fabric.head_port(c)),
                        ],
                        class: Some(fabric.class_of(c).clone()),
                    });
                }
            }
        }
        for l in fabric.loopbacks() {
            let s = l.switch.index();
            cables.push(Cable {
                ends: [end(s, l.ports.0), end(s, l.ports.1)],
                class: fabric.classes().get(usize::from(l.class)).cloned(),
            });
        }
        Self { devices, cables }
    }

    /// By name (of several devices with one name, the first) the index of a device.
    pub fn by_name(&self) -> HashMap<&str, usize> {
        let mut found = HashMap::with_capacity(self.devices.len());
        for (i, device) in self.devices.iter().enumerate() {
            found.entry(device.name.as_str()).or_insert(i);
        }
        found
    }
}

/// Descriptions of adapters begin with the name of the host, but for those of the factory.
fn adapter_name(fabric: &Fabric, guid: Guid, description: &str, host: usize) -> String {
    let name = fabric.hosts()[host].name.as_str();
    match (name, description) {
        ("", "") => guid.to_string(),
        (name, "") => name.to_owned(),
        (name, description) if name.is_empty() || description.starts_with(name) => {
            description.to_owned()
        }
        (name, _) => name.to_owned(),
    }
}

/// Managed switches of Mellanox are described as `MF0;NAME:MODEL/U1`, boards of directors as `MF0;NAME:MODEL/L16/U1`:
/// their common names are `NAME`, and `NAME/L16` or, with the chip, `NAME/L16/U1`.
fn system_names(description: &str) -> Vec<String> {
    let Some((_, named)) = description.split_once(';') else { return Vec::new() };
    let Some((name, model)) = named.split_once(':') else { return Vec::new() };
    let parts: Vec<&str> = model.split('/').skip(1).collect();
    match parts.as_slice() {
        [] | ["U1"] => vec![name.to_owned()],
        [board] => vec![format!("{name}/{board}")],
        [board, "U1"] => vec![format!("{name}/{board}"), format!("{name}/{board}/U1")],
        _ => vec![format!("{name}/{}", parts.join("/"))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open;

    #[test]
    fn a_fabric_has_each_cable_once() -> Result<(), crate::SpecError> {
        for spec in ["kary:k=4,n=2", "hyperx:dims=4x4,t=2", "dragonfly:p=2,a=4,h=2", "@t2hx"] {
            let fabric = open(spec)?.fabric;
            let cabling = Cabling::of(&fabric);
            assert_eq!(cabling.cables.len(), fabric.link_count(), "{spec}");
            let mut ends: Vec<CableEnd> = cabling.cables.iter().flat_map(|c| c.ends).collect();
            ends.sort_unstable();
            let all = ends.len();
            ends.dedup();
            assert_eq!(ends.len(), all, "{spec}: each port once");
        }
        Ok(())
    }

    #[test]
    fn names_of_managed_switches_and_boards() {
        assert_eq!(system_names("MF0;leaf1:SX6036/U1"), ["leaf1"]);
        assert_eq!(system_names("MF0;core:CS7500/L16/U1"), ["core/L16", "core/L16/U1"]);
        assert_eq!(system_names("MF0;core:CS7500/L16/U2"), ["core/L16/U2"]);
        assert!(system_names("leaf1").is_empty());
    }
}
