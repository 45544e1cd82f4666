//! Forwarding tables that change while packets are in flight.
//!
//! A subnet manager writes tables block by block, which takes time; packets meet old entries at one switch and new ones at
//! another. This simulates the consequences: deadlock, packets that are lost or overtaken, connections that wait. An
//! [`Update`] gives the old and new tables, and [`UpdateMethod`]; [`PreparedUpdate`] holds everything computed in advance, and
//! [`Connected`] carries the messages of programs over reliable connections meanwhile.
//!
//! Simulations with static tables do not pay for this: it has a separate routing and wire.

mod adapters;
mod manager;
mod outcome;
mod prepared;
mod queue_pair;
mod tables;
mod wire;

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};
use darkfiber_routing::{DestId, Routes};

pub use self::outcome::{
    JobPause, LOST_KEPT, LossReason, LostPacket, Phase, TransportCounts, UpdateOutcome,
};
pub use self::prepared::PreparedUpdate;
pub use self::wire::Connected;

/// Tables of one moment that connections may have their paths from: LIDs from a plane on, service levels from a lane on.
#[derive(Clone, Copy)]
pub(crate) struct Generation<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) routes: &'a Routes,
    pub(crate) plane: usize,
    pub(crate) first_lane: u8,
}

impl Generation<'_> {
    /// The path from a terminal to another, as packets carry it.
    pub(crate) fn path(&self, from: u32, to: u32) -> u8 {
        let from = TerminalId(from);
        let of = self.routes.path_of(from);
        let row = self.routes.row(DestId(to), of);
        let layer = self.routes.layer_on(self.fabric, from, row);
        tables::path((self.plane + of) as u8, self.first_lane + layer)
    }
}

/// Method by which tables are brought from one state to the next.
#[derive(Clone, Debug)]
pub enum UpdateMethod<'a> {
    /// The tables stay: a baseline for comparison.
    Nothing,
    /// All blocks, as fast as the manager writes them; connections keep their service levels.
    Naive,
    /// Switches of a lower rank before those of a higher one, each rank read back before the next; switches without a rank do
    /// not change. Connections keep their service levels.
    Stages(Vec<Option<u32>>),
    /// The new tables on the idle one of two LIDs of each terminal, in separate lanes; then all connections move there.
    Flip,
    /// The update protocol of Domke and Hoefler (SC'16, section 3.3): connections move to the second LIDs, which have these
    /// tables in separate lanes; the first LIDs are rewritten; connections move back.
    FivePhase(&'a Routes),
    /// No route instead of every entry that changes; a packet lifetime later the new entries.
    DropDrain,
}

/// Delays of writing tables, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// From sending a block to its acknowledgement, at least.
    pub block: u64,
    /// A round, in which one block number is written on all switches: drawn between these.
    pub round: (u64, u64),
    /// All blocks of a step together, instead of both.
    pub total: Option<u64>,
}

impl Delays {
    /// As measured with OpenSM on 210 switches: 4.6 us a block, 25 to 50 ms a round (Domke and Hoefler, "Scheduling-Aware Routing
    /// for Supercomputers", SC'16, section 4.3.3).
    pub const PUBLISHED: Self =
        Self { block: 4_600_000, round: (25_000_000_000, 50_000_000_000), total: None };
}

/// Unreliable datagrams of every host, to hosts drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagrams {
    /// Mean time between two of a host, exponentially distributed, in picoseconds.
    pub interval: u64,
    /// Size of a datagram in bytes.
    pub bytes: u32,
    /// Time from which none is sent, in picoseconds.
    pub until: u64,
}

/// Parameters of hosts. Times are in picoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// A message between manager and host takes up to this, drawn evenly.
    pub notice: u64,
    /// To change the path of a drained queue pair.
    pub migrate: u64,
    /// Hosts that hear this much later of a change of path.
    pub stragglers: u32,
    /// Additional delay of these hosts.
    pub straggle: u64,
    /// Hosts that never reply to the manager, and change no paths.
    pub silent: u32,
    /// Time that the manager waits for replies.
    pub patience: u64,
    /// Time that the manager waits between unpath and writing, in five phases: only to make that time easy to see.
    pub pause: u64,
    /// Maximum time that a packet is in flight.
    pub lifetime: u64,
    /// Packets of a connection in flight.
    pub window: u32,
    /// A connection resends packets that are not acknowledged for this time.
    pub timeout: u64,
    /// Datagrams in addition to the connections.
    pub datagrams: Option<Datagrams>,
    /// Whether datagrams change their paths with the connections, or stay on the first LIDs.
    pub datagrams_migrate: bool,
    /// The width of the intervals of [`UpdateOutcome::arrived`], at first.
    pub interval: u64,
}

impl Default for Hosts {
    /// Decisions, where no published value exists: 50 us for a message to or from the manager, 5 us to change a path, no
    /// stragglers, 100 ms of patience, 1 ms of lifetime, 16 packets in flight, a time-out of 4.2 ms (2^10 times 4.096 us), no
    /// datagrams.
    fn default() -> Self {
        Self {
            notice: 50_000_000,
            migrate: 5_000_000,
            stragglers: 0,
            straggle: 0,
            silent: 0,
            patience: 100_000_000_000,
            pause: 0,
            lifetime: 1_000_000_000,
            window: 16,
            timeout: 4_194_304_000,
            datagrams: None,
            datagrams_migrate: true,
            interval: 10_000_000,
        }
    }
}

/// A cable that dies.
#[derive(Clone, Debug)]
pub struct Fault<'a> {
    /// Time of the fault, in picoseconds.
    pub at: u64,
    /// A channel of each cable.
    pub cables: Vec<ChannelId>,
    /// The old tables and the new ones, repaired: drop-drain writes them when the update is over or abandoned.
    pub mended: Option<[&'a Routes; 2]>,
}

/// An update of tables.
#[derive(Clone, Debug)]
pub struct Update<'a> {
    /// The tables that are in place.
    pub from: &'a Routes,
    /// Those that are to be.
    pub to: &'a Routes,
    /// Method of the update.
    pub how: UpdateMethod<'a>,
    /// When it begins, in picoseconds.
    pub at: u64,
    /// Delays of writing tables.
    pub delays: Delays,
    /// Parameters of hosts.
    pub hosts: Hosts,
    /// A cable that dies, before, during or after it.
    pub fault: Option<Fault<'a>>,
    /// Seed of all that is drawn: the order of blocks, delays, stragglers, datagrams.
    pub seed: u64,
}
