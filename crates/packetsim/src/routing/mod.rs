//! Routing of packets: one file for each algorithm.

mod aries;
mod booksim_hyperx;
mod classes;
mod dal;
mod dimwar;
mod distance;
mod dor;
mod groups;
mod hashed;
mod lines;
mod minimal;
mod ofar;
mod omniwar;
mod physical;
mod registry;
mod tables;
mod ugal;
mod ugal_global;
mod valiant;
#[cfg(test)]
mod walks;

pub use aries::Aries;
pub use booksim_hyperx::BooksimHyperx;
pub use dal::Dal;
pub use dimwar::Dimwar;
pub use distance::Distances;
pub use dor::Dor;
pub use hashed::Hashed;
pub use lines::Lines;
pub use minimal::Minimal;
pub use ofar::Ofar;
pub use omniwar::Omniwar;
pub use registry::{AnyRouting, ROUTINGS, RoutingContext, RoutingKind, WithRouting, kind, make};
pub use tables::{MissingPath, Tables};
pub use ugal::{Adaptive, PathWeight, Ugal};
pub use ugal_global::UgalGlobal;
pub use valiant::Valiant;

use crate::packet::Packet;
use crate::random::Random;
use crate::switch::Waiting;
use crate::{EVEN, Net, OutPort, QueueBoard};

/// The state that a switch sees when it forwards a packet.
pub struct SwitchView<'a> {
    /// Network of the switch.
    pub net: &'a Net,
    /// Number of the switch.
    pub switch: u32,
    /// The port that the packet arrived at, by its number among those of the switch.
    pub input: u32,
    /// Lanes of a channel.
    pub lanes: u8,
    /// Lanes as good as the chosen one, if a routing offers them: a half-open range.
    pub(crate) alike: Option<(u8, u8)>,
    /// Outputs of the switch.
    pub outputs: &'a [OutPort],
    /// Random numbers of the switch.
    pub random: &'a mut Random,
    /// Last reported queues of all switches, if the routing needs them.
    pub board: &'a QueueBoard,
    /// By output and traffic class, the bytes that wait for it, if there are classes; and the packet's class.
    pub(crate) classes: &'a [Waiting],
    pub(crate) class: u8,
    /// Non-minimal paths count this many times, in 256ths (see [`crate::TrafficClass::bias`]).
    pub bias: u32,
}

impl<'a> SwitchView<'a> {
    /// The view of a switch without traffic classes.
    #[inline]
    pub(crate) fn new(
        net: &'a Net,
        (switch, input): (u32, u32),
        lanes: u8,
        outputs: &'a [OutPort],
        random: &'a mut Random,
        board: &'a QueueBoard,
    ) -> Self {
        Self {
            net,
            switch,
            input,
            lanes,
            alike: None,
            outputs,
            random,
            board,
            classes: &[],
            class: 0,
            bias: EVEN,
        }
    }
}

impl SwitchView<'_> {
    /// Bytes that were sent to an output and are not known to have left the next switch's buffer.
    #[inline]
    pub fn occupied(&self, local: u32) -> u32 {
        self.outputs[local as usize].used
    }

    /// Bytes that wait for an output: in this switch, and behind it those beyond the packets and credits that are in flight on
    /// an unloaded channel. Long cables are not mistaken for full buffers.
    #[inline]
    pub fn pressing(&self, local: u32) -> u32 {
        let port = self.net.port(self.net.base(self.switch) + local);
        if self.classes.is_empty() {
            return self.outputs[local as usize].pressing(port);
        }
        // Packets of other classes are in other queues.
        let all = self.classes.len() / self.outputs.len();
        self.classes[local as usize * all + usize::from(self.class)].pressing(port)
    }

    /// The weighted cost of a non-minimal path, for the packet's traffic class.
    #[inline]
    pub fn biased(&self, cost: u64) -> u64 {
        cost * u64::from(self.bias) / u64::from(crate::EVEN)
    }

    /// As [`Self::pressing`] for any port of the network, as last reported.
    #[inline]
    pub fn reported(&self, port: u32) -> u32 {
        self.board.of(port, self.class)
    }

    /// The output to a terminal of this switch, if it is one.
    #[inline]
    pub fn to_terminal(&self, terminal: u32) -> Option<u32> {
        let is_here = self.net.switch_of(terminal) == self.switch;
        is_here.then(|| self.net.home(terminal) - self.net.base(self.switch))
    }
}

/// The output of a packet that goes nowhere: it is dropped where it has arrived.
pub const LOST: u32 = u32::MAX;

impl<R: Routing> Routing for &R {
    const LOSES: bool = R::LOSES;
    const BY_SERVICE_LEVEL: bool = R::BY_SERVICE_LEVEL;
    const STEADY: bool = R::STEADY;

    fn lanes(&self) -> u8 {
        (**self).lanes()
    }

    fn news(&self) -> Option<u64> {
        (**self).news()
    }

    fn path_of(&self, from: u32) -> u8 {
        (**self).path_of(from)
    }

    #[inline]
    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        (**self).route(here, packet)
    }
}

/// A routing: which output and lane a packet takes that has arrived at a switch. It is decided once at each switch.
pub trait Routing: Send + Sync {
    /// Whether it may return [`LOST`]. If not, no caller checks for it.
    const LOSES: bool = false;

    /// Whether a packet's path names its service level in its upper four bits, and it enters its first switch in that lane, so
    /// that packets of a path stay in order. Otherwise lanes into the first switch are all alike, and take turns.
    const BY_SERVICE_LEVEL: bool = false;

    /// Whether packets for one LID always take the same path: they stay in order without further measures.
    const STEADY: bool = false;

    /// Lanes that it needs to be free of deadlock.
    fn lanes(&self) -> u8;

    /// Interval at which switches report all their outputs to each other, in picoseconds, if they do.
    fn news(&self) -> Option<u64> {
        None
    }

    /// Index of the path of messages from this terminal whose senders do not choose one.
    fn path_of(&self, _from: u32) -> u8 {
        0
    }

    /// Output, by its number among those of the switch, and lane.
    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8);
}
