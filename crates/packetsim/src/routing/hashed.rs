//! By hashes: ECMP, as switches of Ethernet forward.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};
use darkfiber_routing::ecmp::Ecmp;

use super::physical::physical;
use super::{Routing, SwitchView};
use crate::Net;
use crate::packet::Packet;

/// Every switch picks the next hop that its hash of the packet's header selects, so that packets of a queue pair stay on one path.
/// All are in one lane, as in one class of priority flow control: deadlock-free if the sets of next hops are
/// ([`check_sets`](darkfiber_routing::check::check_sets)); if not, packets may deadlock.
#[derive(Clone, Debug)]
pub struct Hashed<'a> {
    fabric: &'a Fabric,
    ecmp: &'a Ecmp,
    /// By port of the network, its physical number.
    physical: Vec<u8>,
}

impl<'a> Hashed<'a> {
    /// The hashes of a fabric.
    pub fn new(net: &Net, fabric: &'a Fabric, ecmp: &'a Ecmp) -> Self {
        Self { fabric, ecmp, physical: physical(net, fabric) }
    }
}

impl Routing for Hashed<'_> {
    const STEADY: bool = true;

    fn lanes(&self) -> u8 {
        1
    }

    #[inline]
    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        if let Some(out) = here.to_terminal(packet.to) {
            return (out, 0);
        }
        let (from, to) = (TerminalId(packet.from), TerminalId(packet.to));
        let at = SwitchId(here.switch);
        let header = self.ecmp.header(from, to, packet.path.into());
        let input = self.physical[(here.net.base(here.switch) + here.input) as usize];
        let next = self.ecmp.next(at, SwitchId(here.net.switch_of(packet.to)), &header, input);
        let c = next.expect("a fabric in one piece has a next hop to every switch with terminals");
        ((c.index() - self.fabric.channels_from(at).start) as u32, 0)
    }
}
