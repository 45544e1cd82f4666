//! By forwarding tables, as a subnet manager loads them.

use darkfiber_fabric::{AtPort, Fabric, Planes, SwitchId, TerminalId};
use darkfiber_routing::{DELIVER, DestId, NO_ROUTE, Routes};

use super::physical::physical;
use super::{Routing, SwitchView};
use crate::Net;
use crate::packet::Packet;

/// Every packet takes the entry of its destination in the forwarding table of each switch, in the virtual lane of its path's
/// layer, or in that which the switch has for its input and output port. Deadlock-free if the tables are; if not, packets may
/// deadlock.
#[derive(Clone, Debug)]
pub struct Tables<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    /// By switch and physical port, its number among the ports of the switch.
    local: Vec<u8>,
    /// By port of the network, its physical number.
    physical: Vec<u8>,
}

/// Physical ports of a switch, at most.
const PORTS: usize = 256;

impl<'a> Tables<'a> {
    /// The tables of a fabric.
    ///
    /// # Errors
    /// If they leave a terminal without a path to another one.
    pub fn new(net: &Net, fabric: &'a Fabric, routes: &'a Routes) -> Result<Self, MissingPath> {
        let mut local = vec![u8::MAX; fabric.switch_count() * PORTS];
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            for (i, c) in fabric.channels_from(s).enumerate() {
                local[s.index() * PORTS + fabric.tail_ports()[c] as usize] = i as u8;
            }
        }
        let tables = Self { fabric, routes, local, physical: physical(net, fabric) };
        let planes = Planes::of(fabric);
        for to in 0..net.terminal_count() as u32 {
            for path in 0..routes.paths() {
                tables.reaches(net, &planes, to, path)?;
            }
        }
        Ok(tables)
    }

    /// Whether every switch with terminals in its plane leads to one.
    fn reaches(&self, net: &Net, planes: &Planes, to: u32, path: usize) -> Result<(), MissingPath> {
        let ports = self.routes.ports(self.routes.row(DestId(to), path));
        // 0: not seen, 1: on this walk, 2: leads there.
        let mut seen = vec![0u8; net.switch_count()];
        let mut walk = Vec::new();
        let plane = planes.of_switch(SwitchId(net.switch_of(to)));
        for t in 0..net.terminal_count() as u32 {
            let mut s = net.switch_of(t);
            if planes.of_switch(SwitchId(s)) != plane {
                continue;
            }
            walk.clear();
            while seen[s as usize] == 0 {
                seen[s as usize] = 1;
                walk.push(s);
                match ports[s as usize] {
                    DELIVER => seen[s as usize] = 2,
                    NO_ROUTE => return Err(MissingPath { from: t, to }),
                    port => match self.fabric.at_port(SwitchId(s), port) {
                        AtPort::Switch(_, next) => s = next.0,
                        _ => return Err(MissingPath { from: t, to }),
                    },
                }
            }
            if seen[s as usize] == 1 {
                return Err(MissingPath { from: t, to });
            }
            for s in &walk {
                seen[*s as usize] = 2;
            }
        }
        Ok(())
    }
}

/// Tables that leave a pair of terminals without a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingPath {
    /// Terminal that sends.
    pub from: u32,
    /// Terminal that cannot be reached.
    pub to: u32,
}

impl Routing for Tables<'_> {
    const STEADY: bool = true;

    fn lanes(&self) -> u8 {
        self.routes.layer_count() as u8
    }

    fn path_of(&self, from: u32) -> u8 {
        self.routes.path_of(TerminalId(from)) as u8
    }

    #[inline]
    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        let from = TerminalId(packet.from);
        let row = self.routes.row(DestId(packet.to), packet.path.into());
        if packet.phase == 0 {
            let layer = self.routes.layer_on(self.fabric, from, row);
            packet.phase = 1 + layer;
        }
        if let Some(out) = here.to_terminal(packet.to) {
            return (out, 0);
        }
        let port = self.routes.ports(row)[here.switch as usize];
        let lane = match self.routes.layers.by_hop() {
            Some(lanes) => {
                let input = self.physical[(here.net.base(here.switch) + here.input) as usize];
                lanes.get(packet.phase - 1, SwitchId(here.switch), input, port)
            }
            None => packet.phase - 1,
        };
        (u32::from(self.local[here.switch as usize * PORTS + usize::from(port)]), lane)
    }
}
