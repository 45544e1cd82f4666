//! Forwarding tables that may be written while packets follow them.

use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Lids, Routes};

use crate::packet::Packet;
use crate::routing::{LOST, Routing, SwitchView};
use crate::{ConfigError, Net, Peer};

/// Maximum LMC: a packet's path has this number of bits besides its service level.
pub(crate) const MOST_LMC: u8 = 4;

/// The packet followed an entry of the old tables that differs in the new ones.
pub(crate) const OLD: u8 = 1;
/// The packet followed an entry of the new tables that differs in the old ones.
pub(crate) const NEW: u8 = 2;
/// The packet was sent over a cable that is dead.
pub(crate) const DEAD_CABLE: u8 = 4;
/// The packet met an entry without a route.
pub(crate) const NO_ENTRY: u8 = 8;
/// The packet crossed more switches than any path has.
pub(crate) const LOOPED: u8 = 16;

/// Switches that a packet may cross before it counts as one that loops.
const MOST_HOPS: u8 = 200;

/// Entry of an image: no route.
const NONE: u8 = u8::MAX;

/// Encoding of LID and service level in a packet's path: four bits each.
pub(crate) fn path(plane: u8, service_level: u8) -> u8 {
    plane | service_level << 4
}

/// The forwarding tables of all switches at one moment: by switch, terminal and plane (a LID of that terminal), the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    outputs: Vec<u8>,
    /// LIDs of all terminals together.
    lids: usize,
    planes: usize,
}

impl Image {
    /// An image without any route.
    pub(crate) fn empty(net: &Net, planes: usize) -> Self {
        let lids = net.terminal_count() * planes;
        Self { outputs: vec![NONE; net.switch_count() * lids], lids, planes }
    }

    /// Takes over the tables of `routes`: its LID `i` of every terminal goes to plane `first + i`.
    pub(crate) fn set(&mut self, net: &Net, fabric: &Fabric, routes: &Routes, first: usize) {
        for s in (0..net.switch_count()).map(SwitchId::new) {
            // By physical port, its number among those of the switch.
            let mut local = [NONE; 256];
            for (i, c) in fabric.channels_from(s).enumerate() {
                local[usize::from(fabric.tail_ports()[c])] = i as u8;
            }
            for t in (0..net.terminal_count()).map(TerminalId::new) {
                for path in 0..routes.paths() {
                    let entry = routes.lft_entry(fabric, s, DestId::terminal(t), path);
                    let output = match entry {
                        Some(port) if matches!(fabric.at_port(s, port), AtPort::Switch(..)) => {
                            local[usize::from(port)]
                        }
                        // A terminal's own switch needs no entry; no other switch delivers to it.
                        _ => NONE,
                    };
                    let at = self.at(s.0, t.0, first + path);
                    self.outputs[at] = output;
                }
            }
        }
    }

    fn at(&self, switch: u32, to: u32, plane: usize) -> usize {
        switch as usize * self.lids + to as usize * self.planes + plane
    }

    /// The entries of a switch, by terminal and plane.
    fn row(&self, switch: u32) -> &[u8] {
        &self.outputs[switch as usize * self.lids..(switch as usize + 1) * self.lids]
    }

    /// These tables without the entries that differ from another's.
    pub(crate) fn without_changes(&self, other: &Self) -> Self {
        let both = self.outputs.iter().zip(&other.outputs);
        Self { outputs: both.map(|(&a, &b)| if a == b { a } else { NONE }).collect(), ..*self }
    }

    /// These tables with another's entries at the switches for which `takes` holds.
    pub(crate) fn with_switches(&self, other: &Self, takes: impl Fn(u32) -> bool) -> Self {
        let mut mixed = self.clone();
        let lids = self.lids;
        for s in (0..self.outputs.len() / lids.max(1)).filter(|&s| takes(s as u32)) {
            mixed.outputs[s * lids..(s + 1) * lids]
                .copy_from_slice(&other.outputs[s * lids..(s + 1) * lids]);
        }
        mixed
    }

    /// Number of switches in the tables.
    pub(crate) fn switch_count(&self) -> u32 {
        (self.outputs.len() / self.lids.max(1)) as u32
    }

    /// Whether a switch has the same entries in another.
    pub(crate) fn agrees(&self, other: &Self, switch: u32) -> bool {
        self.row(switch) == other.row(switch)
    }
}

/// The LIDs of each 64-entry block of a forwarding table.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    /// By block, entries of a row of an image.
    members: Vec<Vec<u32>>,
}

impl Blocks {
    /// Blocks with LIDs as a subnet manager assigns them: those of the fabric, and the lowest free ones.
    ///
    /// # Errors
    /// If there are not enough LIDs.
    pub(crate) fn new(fabric: &Fabric, planes: usize) -> Result<Self, ConfigError> {
        let lmc = planes.next_power_of_two().ilog2() as u8;
        let lids = Lids::assign(fabric, lmc).map_err(|e| ConfigError(e.to_string()))?;
        let mut members = vec![Vec::new(); usize::from(lids.top()) / 64 + 1];
        for t in (0..fabric.terminal_count()).map(TerminalId::new) {
            for plane in 0..planes {
                let lid = usize::from(lids.terminal(t)) + plane;
                members[lid / 64].push((t.index() * planes + plane) as u32);
            }
        }
        Ok(Self { members })
    }

    /// Blocks of a switch whose entries differ between two images.
    pub(crate) fn changed<'a>(
        &'a self,
        before: &'a Image,
        after: &'a Image,
        switch: u32,
    ) -> impl Iterator<Item = u16> + 'a {
        let (a, b) = (before.row(switch), after.row(switch));
        let differs =
            move |members: &[u32]| members.iter().any(|&m| a[m as usize] != b[m as usize]);
        let all = self.members.iter().enumerate();
        all.filter(move |(_, members)| differs(members)).map(|(block, _)| block as u16)
    }
}

/// Forwarding tables that are written between ticks. Every switch reads its own; no entry is cached.
pub(crate) struct LiveTables {
    planes: usize,
    lids: usize,
    lanes: u8,
    /// By switch and LID, the output, and above it [`OLD`] or [`NEW`].
    entries: Vec<AtomicU16>,
    /// By port, whether arriving packets are lost, since the cable is dead.
    dead: Vec<AtomicBool>,
}

impl LiveTables {
    /// Begins with an image; entries that differ in `last` belong to one of the two tables only.
    pub(crate) fn new(net: &Net, first: &Image, last: &Image, lanes: u8) -> Self {
        let both = first.outputs.iter().zip(&last.outputs);
        let mark = |a: u8, b: u8| if a == b || a == NONE { 0 } else { u16::from(OLD) << 8 };
        Self {
            planes: first.planes,
            lids: first.lids,
            lanes,
            entries: both.map(|(&a, &b)| AtomicU16::new(mark(a, b) | u16::from(a))).collect(),
            dead: (0..net.port_count()).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// Writes a block of a switch; entries that it changes are of the new tables from now on.
    pub(crate) fn write(&self, blocks: &Blocks, image: &Image, switch: u32, block: u16) {
        let row = image.row(switch);
        for &m in &blocks.members[usize::from(block)] {
            let entry = &self.entries[switch as usize * self.lids + m as usize];
            let output = row[m as usize];
            if entry.load(Ordering::Relaxed) & 0xff != u16::from(output) {
                let mark = if output == NONE { 0 } else { u16::from(NEW) << 8 };
                entry.store(mark | u16::from(output), Ordering::Relaxed);
            }
        }
    }

    /// From now on the cable at a port of a switch carries nothing in either direction.
    pub(crate) fn kill(&self, net: &Net, port: u32) {
        self.dead[port as usize].store(true, Ordering::Relaxed);
        if let Peer::Port(peer) = net.port(port).peer() {
            self.dead[peer as usize].store(true, Ordering::Relaxed);
        }
    }
}

impl Routing for LiveTables {
    const STEADY: bool = true;
    const LOSES: bool = true;
    const BY_SERVICE_LEVEL: bool = true;

    fn lanes(&self) -> u8 {
        self.lanes
    }

    #[inline]
    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        let port = here.net.base(here.switch) + here.input;
        if self.dead[port as usize].load(Ordering::Relaxed) {
            packet.phase |= DEAD_CABLE;
            return (LOST, 0);
        }
        if let Some(out) = here.to_terminal(packet.to) {
            return (out, 0);
        }
        let (plane, service_level) = (usize::from(packet.path & 15), packet.path >> 4);
        let lid = packet.to as usize * self.planes + plane;
        let entry = self.entries[here.switch as usize * self.lids + lid].load(Ordering::Relaxed);
        let output = entry as u8;
        if output == NONE {
            packet.phase |= NO_ENTRY;
            return (LOST, 0);
        }
        if packet.hops >= MOST_HOPS {
            packet.phase |= LOOPED;
            return (LOST, 0);
        }
        packet.phase |= (entry >> 8) as u8;
        (u32::from(output), service_level)
    }
}
