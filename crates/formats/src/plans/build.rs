//! A plan while it is read: devices by name, ports that have one cable each.

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
pub(super) struct FabricPlan {
    cabling: Cabling,
    devices: HashMap<String, usize>,
    /// By port the line that cables it, and the other end.
    taken: HashMap<CableEnd, (usize, CableEnd)>,
}

impl FabricPlan {
    /// The end for a device name; adds the device if it is new.
    fn end(&mut self, end: PlanEnd) -> CableEnd {
        let PlanEnd { device, alias, port, in_host } = end;
        let next = self.cabling.devices.len();
        let index = *self.devices.entry(device.clone()).or_insert(next);
        if index == next {
            let aliases = alias.into_iter().collect();
            self.cabling.devices.push(Device {
                name: device,
                aliases,
                in_host,
                ..Device::default()
            });
        } else {
            self.cabling.devices[index].in_host &= in_host;
        }
        CableEnd { device: index, port }
    }

    /// An end whose device exists.
    fn known(&self, end: &PlanEnd) -> Option<CableEnd> {
        self.devices.get(&end.device).map(|&device| CableEnd { device, port: end.port })
    }

    /// Adds a cable; one that is listed from its other end, too, is one.
    pub(super) fn cable(
        &mut self,
        line: usize,
        ends: [PlanEnd; 2],
        class: Option<LinkClass>,
        d: &mut Diagnostics,
    ) {
        let [a, b] = &ends;
        if a.device == b.device && a.port == b.port && a.port.is_some() {
            d.error(line, "both ends are the same port", "the line is left out");
            return;
        }
        for (at, other) in [(a, b), (b, a)] {
            let Some(port) = at.port else { continue };
            let taken = self.known(at).and_then(|end| self.taken.get(&end));
            if let Some(&(first, before)) = taken {
                if Some(before) != self.known(other) {
                    let what =
                        format!("{} port {port} has a cable already, by line {first}", at.device);
                    d.error(line, what, "the line is left out; a port has one cable");
                }
                return;
            }
        }
        let [a, b] = ends.map(|end| self.end(end));
        self.taken.insert(a, (line, b));
        self.taken.insert(b, (line, a));
        self.cabling.cables.push(Cable { ends: [a, b], class });
    }

    /// Returns the finished plan.
    pub(super) fn finish(self) -> Cabling {
        self.cabling
    }
}
