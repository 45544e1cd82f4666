//! The step of a packet at a switch, by its table entry.

use crate::{DELIVER, NO_ROUTE};
use darkfiber_fabric::{AtPort, ChannelId, Fabric, SwitchId, TerminalId};

/// The action of a switch on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sends it on over a switch-to-switch channel.
    To(ChannelId),
    /// Hands it to its destination.
    Delivers,
    /// Loses it: there is no route, or it leads nowhere.
    Drops,
}

/// The action of switch `at` on a packet for terminal `dest` by a row of the table.
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

/// Adds to `way` the channels between switches that a packet for `dest` crosses from a switch on by a row of the table;
/// returns whether it arrives.
pub fn follow(
    fabric: &Fabric,
    ports: &[u8],
    dest: TerminalId,
    from: SwitchId,
    way: &mut Vec<u32>,
) -> bool {
    let mut at = from;
    for _ in 0..=fabric.switch_count() {
        match step(fabric, ports, dest, at) {
            Step::Delivers => return true,
            Step::Drops => return false,
            Step::To(c) => {
                way.push(c.0);
                at = fabric.head(c);
            }
        }
    }
    false
}
