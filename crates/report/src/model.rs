//! The results. Field names are the JSON keys, documented in `docs/` and relied upon by scripts: add,
//! never rename.

use std::collections::BTreeMap;

use darkfiber_analysis::group_finding::GroupWait;
use darkfiber_analysis::jobs::EffectiveFacts;
use darkfiber_analysis::{Efi, Finding, Peaks};
use darkfiber_scenario::Recognised;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Everything that a result depends on. The number of threads is not among it: results do not depend on
/// it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Provenance {
    /// Version of darkfiber.
    pub version: String,
    /// The command line, without the number of threads.
    pub command: String,
    /// Seed of all random choices.
    pub seed: u64,
    /// Digest of the fabric as routed (faults and roles applied), `0x` and sixteen digits.
    pub fabric_digest: String,
}

/// Cables of one width and speed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ClassFacts {
    /// `4xHDR` or any other short name.
    pub label: String,
    /// Data rate of one direction in Gbit/s, after line coding.
    pub gbit_per_second: f64,
    /// Cables between switches.
    pub switch_links: usize,
    /// Cables between a switch and a terminal.
    pub terminal_links: usize,
}

/// What a fabric consists of.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FabricFacts {
    /// File stem, preset or generator spec.
    pub name: String,
    /// What it is, in a line, where known.
    pub shape: Option<String>,
    /// What it was recognised as, if nobody stated it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recognised: Option<Recognised>,
    /// For each family why it is not that, if nobody stated what it is and it was not recognised.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unrecognised: Vec<String>,
    /// Number of switches.
    pub switches: usize,
    /// Linked endpoint ports, aggregation adapters included.
    pub terminals: usize,
    /// Terminals that jobs can use.
    pub compute_terminals: usize,
    /// Number of hosts.
    pub hosts: usize,
    /// Cables between two switches.
    pub switch_links: usize,
    /// All cables.
    pub links: usize,
    /// Connected components of switches.
    pub components: usize,
    /// Largest hop distance between two switches of one component; `darkfiber fabric` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diameter: Option<usize>,
    /// What a dragonfly carries at most, in bytes a second; `darkfiber fabric` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peaks: Option<Peaks>,
    /// Rails of a GPU cluster, if it has any; `darkfiber fabric` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rails: Option<RailFacts>,
    /// Cables from a switch to itself.
    pub loopbacks: usize,
    /// Adapters without a cable to a switch.
    pub unlinked_adapters: usize,
    /// Terminals by role.
    pub roles: BTreeMap<&'static str, usize>,
    /// Cables by width and speed, fastest first.
    pub link_classes: Vec<ClassFacts>,
}

/// Rails: NIC i of every host of a unit is on leaf i.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct RailFacts {
    /// How many rails there are.
    pub rails: usize,
    /// Hosts of each unit (hosts on the same leaves), the largest first.
    pub units: Vec<usize>,
    /// Sets of leaves that share switches above them.
    pub pods: usize,
    /// Whether rails share switches above their leaves, or are networks of their own.
    pub rails_meet: bool,
    /// Networks without a common switch, each with all rails; 1 where every rail is a network of its own.
    pub planes: usize,
    /// Adapters on a leaf of another rail: `adapter is on leaf, of rail 2`, rails from 1.
    pub exceptions: Vec<String>,
}

/// Hops of terminal pairs in switches crossed, as OpenSM counts.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Hops {
    /// Mean over the pairs that reach.
    pub mean: f64,
    /// Largest.
    pub max: usize,
}

/// An engine that could not route, and why.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Refused {
    /// Its name; of a fallback chain all names with commas.
    pub engine: String,
    /// Its reason.
    pub refused: String,
}

/// Routes, checked and measured.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Routed {
    /// Name of the engine that computed them, or what they were read from.
    pub engine: String,
    /// The fallback chain asked for, if it was one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<String>,
    /// GUIDs of the root switches that the engine was told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// Engines of the chain that refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refused>,
    /// Wall time of computing routes and layers, nothing else; `null` for routes that were read.
    pub seconds: Option<f64>,
    /// Planes of the fabric, where it has several: pairs, loads and everything else are of pairs within each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planes: Option<usize>,
    /// Ordered pairs of different terminals of a plane.
    pub pairs: u64,
    /// Pairs of a source and a LID that it may send to; as many as `pairs` where everybody uses one LID of each port.
    pub paths: u64,
    /// Of these, those without a route.
    pub unreachable: u64,
    /// Of these, those whose packets loop forever.
    pub loops: u64,
    /// Hops.
    pub hops: Hops,
    /// Virtual layers in use.
    pub layers: usize,
    /// Virtual layers before they were dealt out over idle lanes, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers_needed: Option<usize>,
    /// Virtual layers if they depended on source and destination, where they depend on one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers_by_pair: Option<usize>,
    /// Share of single cables whose repairs leave running connections alone, if every cable was mended in advance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cables_untouched_percent: Option<f64>,
    /// How near they are to those of the engine, if tables in place were to become as near as they can in any order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub towards: Option<Towards>,
    /// Whether no layer has a cycle of channel dependencies, whatever ports of their groups switches pick.
    pub deadlock_free: bool,
    /// Groups of ports of adaptive routing, where the tables have some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<PortGroups>,
    /// Routes that cross each directed switch-to-switch channel.
    pub efi: Efi,
    /// Share of those channels that no route crosses.
    pub dark_fiber_percent: f64,
    /// What routes inside the jobs that run load, if jobs were given.
    #[serde(flatten)]
    pub jobs: Option<EffectiveFacts>,
    /// Number of directed switch-to-switch channels.
    pub channels: usize,
    /// What an operator should act on.
    pub findings: Vec<Finding>,
    /// Whether the engine promises deadlock freedom, so that a cycle is a fault.
    #[serde(skip)]
    pub promises_freedom: bool,
    /// Routes that cross each channel, for pictures.
    #[serde(skip)]
    pub load: Vec<u64>,
}

/// Groups of ports of adaptive routing, and what holds whichever port a switch picks.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PortGroups {
    /// Different groups of several ports, of all switches together.
    pub groups: usize,
    /// Ports of the largest.
    pub largest: usize,
    /// Switches that a packet crosses at most.
    pub hops: usize,
    /// Pairs of a switch with terminals and LIDs with equal groups to which some choice leads nowhere.
    pub unreachable: u64,
    /// LIDs, those with equal groups once, to which some choice loops.
    pub loops: u64,
    /// Whether no choice can deadlock.
    pub deadlock_free: bool,
    /// Pairs of terminals that are expected on the fullest channel between switches, where every switch splits evenly over a
    /// group; `null` if some choice loops.
    pub expected_max: Option<f64>,
    /// The mean over these channels.
    pub expected_mean: Option<f64>,
    /// Entries that make a shortest cycle; empty without one.
    pub cycle: Vec<GroupWait>,
    /// Which of them breaks it, from 0: the one with the fewest destinations.
    pub breaks: Option<usize>,
    /// Whether there is no cycle without that entry.
    pub alone: bool,
}

/// How much of an engine's tables can take the place of others in any order, with their service levels.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Towards {
    /// How the engine's tables were taken: `as they are`, `in part`, `in part, then eased`, `not at all, those in
    /// place are eased` or `not at all`.
    pub how: &'static str,
    /// The rung on which the engine's own tables could be put in place.
    pub verdict: &'static str,
    /// Most routes on a channel by these.
    pub efi_max: u64,
    /// LIDs for which entries differ.
    pub lids: usize,
    /// Of these, LIDs for which all entries were taken.
    pub lids_whole: usize,
    /// LIDs for which some were.
    pub lids_in_part: usize,
    /// Entries that differ.
    pub entries: usize,
    /// Entries that were taken.
    pub entries_taken: usize,
}

/// One row of a comparison.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum RouteOutcome {
    /// It routed.
    Routed(Box<Routed>),
    /// It did not.
    Refused(Refused),
}

/// The result of a command with one engine.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Single<'a, T = RouteOutcome> {
    /// What came out.
    #[serde(flatten)]
    pub outcome: &'a T,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// The result of a command with several engines.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Comparison<'a, T = RouteOutcome> {
    /// One entry an engine, in the order asked for.
    pub engines: &'a [T],
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// The result of a command that compares: a single engine is not put in a list.
pub(crate) fn one_or_all<T: Serialize, S: Serializer>(
    engines: &[T],
    fabric: &FabricFacts,
    provenance: &Provenance,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match engines {
        [outcome] => Single { outcome, fabric, provenance }.serialize(serializer),
        engines => Comparison { engines, fabric, provenance }.serialize(serializer),
    }
}

/// The result of `darkfiber list`, of `reproduce` without experiments, and of `study plan` and `study status`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Listed {
    /// What there is. Keys are the headings of the table, with `_` in place of blanks; of `list` the first is the
    /// kind of the item (`engine`, `family`, `preset`, `format` or `metric`), its value the name.
    pub items: Vec<BTreeMap<String, ListedCell>>,
}

/// A cell of a list.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum ListedCell {
    /// A count.
    Count(u64),
    /// Another number.
    Number(f64),
    /// A text.
    Text(String),
    /// A number that is not known, or that the row has none of.
    Unknown,
}
