//! What a switch does with a packet, entry by entry.

use crate::{DELIVER, NO_ROUTE};
use darkfiber_fabric::{AtPort, ChannelId, Fabric, SwitchId, TerminalId};

/// What a switch does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sends it on over a switch-to-switch channel.
    To(ChannelId),
    /// Hands it to its destination.
    Delivers,
    /// Loses it: there is no route, or it leads nowhere.
    Drops,
}

/// What switch `at` does with a packet for terminal `dest` by a row of the table.
#[inline]
pub fn step(fabric: &Fabric, ports: &[u8], dest: TerminalId, at: SwitchId) -> Step {
    match ports[at.index()] {
        DELIVER if at == fabric.terminal(dest).switch => Step::Delivers,
        DELIVER | NO_ROUTE => Step::Drops,
        port => match fabric.at_port(at, port) {
            AtPort::Switch(c, _) => Step::To(c),
            AtPort::Terminal(t) if t == dest => Step::Delivers,
            AtPort::Terminal(_) | AtPort::Nothing | AtPort::Loopback => Step::Drops,
        },
    }
}
