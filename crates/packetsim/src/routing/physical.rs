//! Physical numbers of ports, which tables and hashes of switches go by.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

use crate::Net;

/// By port of the network, its physical number.
pub(super) fn physical(net: &Net, fabric: &Fabric) -> Vec<u8> {
    let mut physical = vec![0; net.port_count()];
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        let base = net.base(s.0) as usize;
        for (i, c) in fabric.channels_from(s).enumerate() {
            physical[base + i] = fabric.tail_ports()[c];
        }
    }
    for t in 0..net.terminal_count() as u32 {
        physical[net.home(t) as usize] = fabric.terminal(TerminalId(t)).switch_port;
    }
    physical
}
