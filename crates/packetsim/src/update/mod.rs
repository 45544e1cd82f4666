//! Forwarding tables that change while packets are under way.
//!
//! A subnet manager writes tables block by block, which takes time; packets meet old entries here and new ones there. This is
//! where it shows what comes of that: deadlock, packets that are lost or overtaken, connections that wait. An [`Update`] says
//! from which tables to which, and [`How`]; [`PreparedUpdate`] is what can be worked out before, and [`Connected`] carries the
//! messages of programs over reliable connections meanwhile.
//!
//! Nothing of this is looked at where tables do not change: it is a routing and a wire of its own.

mod adapters;
mod manager;
mod outcome;
mod prepared;
mod queue_pair;
mod tables;
mod wire;

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};
use darkfiber_routing::{DestId, Routes};

pub use self::outcome::{Counted, JobPause, LOST_KEPT, Loss, LostPacket, Phase, UpdateOutcome};
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

/// How tables are brought from one state to the next.
#[derive(Clone, Debug)]
pub enum How<'a> {
    /// Not at all: what there is to compare with.
    Nothing,
    /// All blocks, as fast as the manager writes them; connections keep their service levels.
    Naive,
    /// Switches of a lower rank before those of a higher one, each rank read back before the next; switches without a rank do
    /// not change. Connections keep their service levels.
    Stages(Vec<Option<u32>>),
    /// The new tables on the idle one of two LIDs of each terminal, in lanes of their own; then all connections move there.
    Flip,
    /// The update protocol of Domke and Hoefler (SC'16, section 3.3): connections move to the second LIDs, which have these
    /// tables in lanes of their own; the first LIDs are rewritten; connections move back.
    FivePhase(&'a Routes),
    /// No route instead of every entry that changes; a packet lifetime later the new entries.
    DropDrain,
}

/// What writing tables takes, in picoseconds.
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
    /// Bytes of one.
    pub bytes: u32,
    /// None is sent from then on, in picoseconds.
    pub until: u64,
}

/// What hosts do. Times are in picoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// A message between manager and host takes up to this, drawn evenly.
    pub notice: u64,
    /// To change the path of a drained queue pair.
    pub migrate: u64,
    /// Hosts that hear this much later of a change of path.
    pub stragglers: u32,
    /// See `stragglers`.
    pub straggle: u64,
    /// Hosts that never answer the manager, and change no paths.
    pub silent: u32,
    /// The manager waits this long for answers.
    pub patience: u64,
    /// The manager waits this long between unpath and writing, in five phases: nothing but to make that time easy to see.
    pub pause: u64,
    /// No packet is under way for longer.
    pub lifetime: u64,
    /// Packets of a connection under way.
    pub window: u32,
    /// A connection sends again what is not acknowledged for this long.
    pub timeout: u64,
    /// Datagrams beside the connections.
    pub datagrams: Option<Datagrams>,
    /// Whether datagrams change their paths with the connections, or stay on the first LIDs.
    pub datagrams_migrate: bool,
    /// The width of the intervals of [`UpdateOutcome::arrived`], at first.
    pub interval: u64,
}

impl Default for Hosts {
    /// Decisions, where nobody printed a figure: 50 us for a message to or from the manager, 5 us to change a path, no stragglers,
    /// 100 ms of patience, 1 ms of lifetime, 16 packets under way, a time-out of 4.2 ms (2^10 times 4.096 us), no datagrams.
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
    /// When, in picoseconds.
    pub at: u64,
    /// A channel of each cable.
    pub cables: Vec<ChannelId>,
    /// The old tables and the new ones, mended: what drop-drain writes when the update is over or abandoned.
    pub mended: Option<[&'a Routes; 2]>,
}

/// An update of tables.
#[derive(Clone, Debug)]
pub struct Update<'a> {
    /// The tables that are in place.
    pub from: &'a Routes,
    /// Those that are to be.
    pub to: &'a Routes,
    /// How.
    pub how: How<'a>,
    /// When it begins, in picoseconds.
    pub at: u64,
    /// What writing takes.
    pub delays: Delays,
    /// What hosts do.
    pub hosts: Hosts,
    /// A cable that dies, before, during or after it.
    pub fault: Option<Fault<'a>>,
    /// Seed of all that is drawn: the order of blocks, delays, stragglers, datagrams.
    pub seed: u64,
}
