//! The part of a scenario file about an update of tables.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Chain;
use crate::value::{Bytes, Count, Picos};

/// An update of tables while jobs run, at the depth of packets.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UpdatePart {
    /// The tables in place: an engine, or a file or directory of tables. Without, those of `[routes]`, which names none otherwise.
    pub from: Option<String>,
    /// The tables that are to be: an engine, or a file or directory of tables. Without, those in place, mended for the fault.
    pub to: Option<String>,
    /// Root switches by name, for engines that have roots: of the tables in place.
    pub from_roots: Option<Vec<String>>,
    /// The same of the tables that are to be.
    pub to_roots: Option<Vec<String>>,
    /// Names of the jobs that an engine that follows jobs is given for the tables in place; all without.
    pub from_jobs: Option<Vec<String>>,
    /// The same of the tables that are to be.
    pub to_jobs: Option<Vec<String>>,
    /// How.
    pub how: HowPart,
    /// When it begins.
    pub at: Picos,
    /// What a block of tables takes, at least, from sending it to its acknowledgement; 4600ns without, as was measured.
    pub block: Option<Picos>,
    /// What a round takes, in which one block number is written on all switches; 25ms without, as was measured.
    pub round: Option<Picos>,
    /// What a round takes at most, drawn between `round` and this; 50ms without, or `round` where that is given.
    pub round_max: Option<Picos>,
    /// What all blocks of a step take together, instead of rounds.
    pub total: Option<Picos>,
    /// A message between the manager and a host takes up to this; 50us without.
    pub notice: Option<Picos>,
    /// To change the path of a drained connection; 5us without.
    pub migrate: Option<Picos>,
    /// Hosts, drawn by the seed, that hear later by `straggle` of a change of path.
    #[serde(default)]
    pub stragglers: u32,
    /// See `stragglers`; 1ms without.
    pub straggle: Option<Picos>,
    /// Hosts, drawn by the seed, that never answer the manager and change no path.
    #[serde(default)]
    pub silent: u32,
    /// How long the manager waits for answers; 100ms without.
    pub patience: Option<Picos>,
    /// In five phases the manager waits this long before it writes, to make that time easy to see; not at all without.
    pub pause: Option<Picos>,
    /// No packet is under way for longer; 1ms without.
    pub lifetime: Option<Picos>,
    /// Packets of a connection that may be under way; 16 without.
    pub window: Option<Count<1, 65_536>>,
    /// A connection sends again what is not acknowledged for this long; 4194304ns without.
    pub timeout: Option<Picos>,
    /// Mean time between two unreliable datagrams of a host to others drawn at random; none are sent without.
    pub datagrams: Option<Picos>,
    /// Bytes of a datagram, which is one packet; 256B without.
    pub datagram_bytes: Option<Bytes>,
    /// No datagram is sent from then on; without, 1s.
    pub datagrams_until: Option<Picos>,
    /// Whether datagrams change their paths with the connections, or stay on the first LIDs as the paper has it.
    pub datagrams_migrate: Option<bool>,
    /// The engine of the second LIDs in five phases; updn without.
    pub high: Option<Chain>,
    /// A fault before, during or after it.
    pub fault: Option<UpdateFaultPart>,
}

/// How tables are brought from one state to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HowPart {
    /// All blocks, as fast as the manager writes them.
    Naive,
    /// Switch by switch in an order in which no packet can meet a new entry and an old one behind it.
    Stages,
    /// The new tables on an idle second LID of each host, in lanes of their own; then all connections move there.
    Flip,
    /// All connections move to a second LID of each host with tables of another engine, the first ones are written, and they
    /// move back.
    FivePhase,
    /// No route instead of every entry that changes; a packet lifetime later the new entries.
    DropDrain,
}

impl std::fmt::Display for HowPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Naive => "naive",
            Self::Stages => "stages",
            Self::Flip => "flip",
            Self::FivePhase => "five-phase",
            Self::DropDrain => "drop-drain",
        })
    }
}

/// Cables that die while tables are updated.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UpdateFaultPart {
    /// When.
    pub at: Picos,
    /// How many cables between switches, drawn by the seed so that the fabric stays connected; 1 without.
    pub links: Option<Count<1, 10_000>>,
    /// Whether tables are mended by drop-drain when the update is over or abandoned.
    pub repair: Option<bool>,
}
