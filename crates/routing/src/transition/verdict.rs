//! The result of judging a transition.

use darkfiber_fabric::{ChannelId, SwitchId, TerminalId};
use serde::{Deserialize, Serialize};

use super::changes::Changes;

/// Old or new tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Of an old state.
    Old,
    /// Of the new tables.
    New,
}

/// Obligation that a transition must meet; docs/transitions.md has the definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obligation {
    /// O1: the new tables are sound.
    Target,
    /// O2: new paths are deadlock-free with the service levels of old and new connections.
    Steady,
    /// O3: they are also deadlock-free together with packets on old paths.
    Flight,
    /// O4: and at any interleaving of writes, which loops nowhere.
    Mixed,
    /// O5: and if switches are written by rank.
    Ordered,
}

impl Obligation {
    /// The name, `O1` to `O5`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Target => "O1",
            Self::Steady => "O2",
            Self::Flight => "O3",
            Self::Mixed => "O4",
            Self::Ordered => "O5",
        }
    }
}

/// One obligation and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The obligation that is judged.
    pub obligation: Obligation,
    /// Why it does not hold; `None` if it holds.
    pub fails: Option<Why>,
}

/// Why an obligation does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The new tables are not sound: pairs are lost or loop, or layers have a cycle.
    Unsound {
        /// Pairs that do not reach.
        lost: u64,
        /// Number of pairs whose packets loop.
        loops: u64,
        /// Layers with a cycle.
        cyclic: Vec<u8>,
    },
    /// Not looked at, since the new tables are not sound.
    NotExamined,
    /// Packets may deadlock.
    Cycle(Witness),
    /// Packets may loop forever.
    Circle {
        /// Destination of these packets.
        dest: TerminalId,
        /// To which of its LIDs, from 0.
        path: usize,
        /// Switches of the loop.
        switches: Vec<SwitchId>,
    },
    /// Each of these switches would have to be written before the next, the last before the first.
    Contradiction(Vec<SwitchId>),
}

/// A cycle of channel dependencies in one lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The service level (lane).
    pub lane: u8,
    /// Its links: each holds its channel and waits for that of the next, the last for that of the first.
    pub links: Vec<Held>,
}

/// A packet that holds one channel of a cycle and wants the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The channel that the packet holds.
    pub channel: ChannelId,
    /// Generation of the tables that sent it there.
    pub held_by: Generation,
    /// Generation of the tables that send it on to the next.
    pub wants_by: Generation,
    /// Source of the packet.
    pub source: TerminalId,
    /// Destination of the packet.
    pub dest: TerminalId,
    /// The LID of its destination, from 0.
    pub path: usize,
    /// Generation that gave its connection the service level.
    pub level_of: Generation,
}

/// A method to write the new tables, the easiest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rung {
    /// Nothing changes between the tables.
    NothingChanges,
    /// Blocks may be written in any order.
    AnyOrder,
    /// Switches must be written by rank.
    Stages,
    /// The new tables use LIDs that are still unused; hosts move to them.
    Flip,
    /// Hosts move to LIDs that do not change, and back.
    FivePhases,
    /// No running job uses a pair that changes.
    QuietWindow,
    /// Entries of cut rows are cleared, packets die out, and then the new ones are written.
    DropDrain,
    /// None of these methods is proved.
    Refuse,
}

impl Rung {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::NothingChanges => "nothing-changes",
            Self::AnyOrder => "any-order",
            Self::Stages => "stages",
            Self::Flip => "flip",
            Self::FivePhases => "five-phases",
            Self::QuietWindow => "quiet-window",
            Self::DropDrain => "drop-drain",
            Self::Refuse => "refuse",
        }
    }
}

/// One level of the ladder and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RungJudged {
    /// The level that is judged.
    pub rung: Rung,
    /// Whether it is proved.
    pub holds: bool,
    /// Under which conditions it holds, or why not.
    pub because: String,
}

/// The judgement about a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The first level that is proved.
    pub verdict: Rung,
    /// The results for O1 to O5.
    pub obligations: Vec<Judged>,
    /// The levels up to the verdict.
    pub rungs: Vec<RungJudged>,
    /// By switch, the rank in which it is written, from 0; `None` if it does not change. Given wherever stages are
    /// proved: with O1, O2 and O5, also if an easier level is the verdict.
    pub ranks: Option<Vec<Option<u32>>>,
    /// Whether pairs that the tables in place connect, and the new ones, stay connected from rank to rank. Else no such order was found,
    /// and some may be lost until the next rank is written: after a fault, where a switch had no entry.
    pub keeps_pairs: bool,
    /// The pairs and entries that change.
    pub changes: Changes,
    /// Whether the service levels of all old states are known; if not, connections were assumed to use every lane.
    pub has_levels: bool,
}

impl Transition {
    /// Whether an obligation holds.
    pub fn holds(&self, obligation: Obligation) -> bool {
        self.obligations.iter().any(|j| j.obligation == obligation && j.fails.is_none())
    }

    /// Number of ranks of the transition.
    pub fn stages(&self) -> usize {
        let top = self.ranks.iter().flatten().flatten().max();
        top.map_or(0, |&top| top as usize + 1)
    }
}
