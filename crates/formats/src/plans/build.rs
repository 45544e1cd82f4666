//! A plan as it is read: devices by name, ports that have one cable each.

use std::collections::HashMap;

use darkfiber_fabric::{Cable, CableEnd, Cabling, Device, LinkClass};

use crate::Diagnostics;

/// One end of a cable of a plan.
pub(super) struct PlanEnd {
    /// The device, or board of a director.
    pub(super) device: String,
    /// Another name that it goes by.
    pub(super) alias: Option<String>,
    /// Its port, where the plan numbers it.
    pub(super) port: Option<u8>,
    /// Whether it is an adapter of a host.
    pub(super) in_host: bool,
}

/// A plan in the making.
#[derive(Default)]
pub(super) struct Plan {
    cabling: Cabling,
    devices: HashMap<String, usize>,
    /// By port the line that cables it, and the other end.
    taken: HashMap<CableEnd, (usize, CableEnd)>,
}

impl Plan {
    fn end(&mut self, end: PlanEnd) -> CableEnd {
        let PlanEnd { device, alias, port, in_host } = end;
        let next = self.cabling.devices.len();
        let index = *self.devices.entry(device.clone()).or_insert(next);
        if index == next {
            let aliases = alias.into_iter().collect();
            self.cabling.devices.push(Device { name: device, aliases, guid: None, in_host });
        } else {
            self.cabling.devices[index].in_host &= in_host;
        }
        CableEnd { device: index, port }
    }

    /// Adds a cable; one that is listed from its other end, too, is one.
    pub(super) fn cable(
        &mut self,
        line: usize,
        ends: [PlanEnd; 2],
        class: Option<LinkClass>,
        d: &mut Diagnostics,
    ) {
        let [a, b] = ends;
        let (a, b) = (self.end(a), self.end(b));
        if a == b && a.port.is_some() {
            d.error(line, "both ends are the same port", "the line is left out");
            return;
        }
        for (at, other) in [(a, b), (b, a)] {
            if at.port.is_none() {
                continue;
            }
            if let Some(&(first, before)) = self.taken.get(&at) {
                if before != other {
                    let name = &self.cabling.devices[at.device].name;
                    let port = at.port.map_or_else(String::new, |p| format!(" port {p}"));
                    let what = format!("{name}{port} has a cable already, by line {first}");
                    d.error(line, what, "the line is left out; a port has one cable");
                }
                return;
            }
        }
        self.taken.insert(a, (line, b));
        self.taken.insert(b, (line, a));
        self.cabling.cables.push(Cable { ends: [a, b], class });
    }

    /// What was read.
    pub(super) fn finish(self) -> Cabling {
        self.cabling
    }
}
