//! On a HyperX: in any dimension that is not right yet, straight or by way of another switch.

use darkfiber_fabric::{Fabric, GridKind, GridShape, SwitchId};

use super::{Here, Routing};
use crate::packet::Packet;

/// Dimensionally adaptive, load-balanced routing: every switch weighs, for each dimension in which a packet is not where it must
/// be, the channel that puts it right and one to another switch of that line (a deroute, once a dimension), by what waits there
/// times the channels that are left. Lanes rise from switch to switch: free of deadlock with twice as many as dimensions.
///
/// J. H. Ahn et al., HyperX: Topology, Routing, and Packaging of Efficient Large-Scale Networks (SC'09), section 3.2.
#[derive(Clone, Debug)]
pub struct Dal<'a> {
    grid: &'a GridShape,
    /// By switch, dimension and coordinate, the port there; of several cables, the first and how many.
    ports: Vec<(u8, u8)>,
    /// Where a dimension begins, and how many there are for a switch.
    begin: Vec<usize>,
    stride: usize,
}

impl<'a> Dal<'a> {
    /// On this grid; none if it is no HyperX, or a cable is missing.
    pub fn new(fabric: &Fabric, grid: &'a GridShape) -> Option<Self> {
        if grid.kind != GridKind::HyperX || grid.dims.len() > 8 {
            return None;
        }
        let mut begin = Vec::new();
        let mut stride = 0;
        for &size in &grid.dims {
            begin.push(stride);
            stride += usize::from(size);
        }
        let mut ports = vec![(u8::MAX, 0u8); fabric.switch_count() * stride];
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            for (i, c) in fabric.channels_from(s).enumerate() {
                let t = SwitchId(fabric.heads()[c]);
                let (a, b) = (grid.at(s), grid.at(t));
                let d = (0..a.len()).find(|&d| a[d] != b[d])?;
                let port = &mut ports[s.index() * stride + begin[d] + usize::from(b[d])];
                // Parallel cables are side by side, since channels are by port.
                if port.1 == 0 {
                    port.0 = i as u8;
                }
                port.1 += 1;
            }
            for (d, &size) in grid.dims.iter().enumerate() {
                let line = &ports[s.index() * stride + begin[d]..][..usize::from(size)];
                if line.iter().filter(|p| p.1 > 0).count() + 1 < usize::from(size) {
                    return None;
                }
            }
        }
        Some(Self { grid, ports, begin, stride })
    }

    /// A port to a coordinate in a dimension: of parallel ones, any.
    #[inline]
    fn port(&self, here: &mut Here<'_>, d: usize, to: u16) -> u32 {
        let at = here.switch as usize * self.stride + self.begin[d] + usize::from(to);
        let (first, count) = self.ports[at];
        let more = if count > 1 { here.random.below(count.into()) } else { 0 };
        u32::from(first) + more
    }
}

impl Routing for Dal<'_> {
    fn lanes(&self) -> u8 {
        2 * self.grid.dims.len() as u8
    }

    fn route(&self, here: &mut Here<'_>, packet: &mut Packet) -> (u32, u8) {
        if let Some(out) = here.to_terminal(packet.to) {
            return (out, 0);
        }
        let to = self.grid.at(SwitchId(here.net.switch_of(packet.to)));
        let at = self.grid.at(SwitchId(here.switch));
        let open = (0..to.len()).filter(|&d| at[d] != to[d]).count() as u64;
        // What it would cost, whether it is a deroute, where, and in which dimension.
        let mut best = (u64::MAX, false, 0, 0);
        for d in 0..to.len() {
            if at[d] == to[d] {
                continue;
            }
            let out = self.port(here, d, to[d]);
            let cost = u64::from(here.occupied(out)) * open;
            // Equal ones are taken by turns of the dice; straight on wins over a deroute.
            if (cost, false) < (best.0, best.1) || (cost == best.0 && here.random.below(2) == 0) {
                best = (cost, false, out, d);
            }
            let size = self.grid.dims[d];
            if packet.phase & (1 << d) == 0 && size > 2 {
                let mut by = here.random.below(u32::from(size) - 2) as u16;
                for taken in [at[d].min(to[d]), at[d].max(to[d])] {
                    by += u16::from(by >= taken);
                }
                let out = self.port(here, d, by);
                let cost = u64::from(here.occupied(out)) * (open + 1) + u64::from(packet.bytes);
                if cost < best.0 {
                    best = (cost, true, out, d);
                }
            }
        }
        if best.1 {
            packet.phase |= 1 << best.3;
            packet.round = true;
        }
        (best.2, packet.hops)
    }
}
