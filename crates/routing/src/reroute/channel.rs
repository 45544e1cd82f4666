//! The channel behind a table entry.

use darkfiber_fabric::{AtPort, Fabric, SwitchId};

use crate::{DELIVER, NO_ROUTE};

/// No channel: a switch delivers, or has no route.
pub(super) const NONE: u32 = u32::MAX;

/// The inter-switch channel that `s` sends on.
#[inline]
pub(super) fn channel(fabric: &Fabric, ports: &[u8], s: u32) -> u32 {
    channel_at(fabric, s, ports[s as usize])
}

/// The inter-switch channel behind a table entry of `s`.
#[inline]
pub(super) fn channel_at(fabric: &Fabric, s: u32, entry: u8) -> u32 {
    match entry {
        DELIVER | NO_ROUTE => NONE,
        port => match fabric.at_port(SwitchId(s), port) {
            AtPort::Switch(c, _) => c.0,
            _ => NONE,
        },
    }
}
