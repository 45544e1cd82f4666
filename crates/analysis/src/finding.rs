//! Findings: facts that an operator should act on.
//!
//! Two sources: [`of_fabric`] looks at the network alone, [`of_routes`] at what the checker proved about routes. A
//! finding of severity [`Error`](Severity::Error) decides the exit code of the command line.

use darkfiber_fabric::{Fabric, Planes, SwitchId};
use darkfiber_routing::check::{Cycle, Report};
use darkfiber_routing::{DestId, Lids};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ChannelName, Efi, Names, PairName, group, hottest};

/// Maximum number of channels, pairs or nodes that a finding lists.
const EXAMPLES: usize = 5;
/// A largest load above this multiple of the mean is called an imbalance.
const IMBALANCE: f64 = 2.0;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Pairs of terminals without a route.
    Unreachable,
    /// Pairs whose packets loop forever.
    Loops,
    /// A cycle of channel dependencies within one lane: packets can block each other for ever.
    CreditLoop,
    /// No service levels were given, so that all routes were taken in lane 0.
    AssumedLane,
    /// Lanes beyond those that most ports have.
    ManyLanes,
    /// Channels that carry far more routes than others.
    Imbalance,
    /// The switches are in several pieces.
    Components,
    /// There are no hosts.
    NoHosts,
    /// There are no switches.
    NoSwitches,
    /// Adapters without a cable to any switch.
    UnlinkedAdapters,
    /// Cables from a switch to itself.
    Loopbacks,
    /// Hosts that share a description, and are therefore called by GUID.
    SharedNames,
    /// Lines of the input were left out or guessed.
    Input,
    /// Ports have other LIDs in the tables than in the fabric's own input.
    OtherLids,
    /// Cables or switches that the structure has and the fabric lacks, or the reverse.
    Structure,
}

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Costs performance or is likely a mistake.
    Warning,
    /// Does not work, or may stop working under load.
    Error,
}

/// One fact.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Finding {
    /// What was found.
    pub kind: FindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// One line for people.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
    /// The places, for programs.
    #[serde(flatten)]
    pub places: Places,
}

/// Where a finding is.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Places {
    /// Pairs that do not reach.
    Pairs {
        /// How many.
        count: u64,
        /// The first ones.
        examples: Vec<BrokenPair>,
    },
    /// A cycle of dependencies.
    Cycle {
        /// The virtual lane (layer) that it is in.
        lane: u8,
        /// Each channel waits for the next, the last for the first.
        cycle: Vec<Dependency>,
    },
    /// Channels and their load.
    Channels {
        /// The hottest first.
        channels: Vec<LoadedChannel>,
    },
    /// Sizes of pieces in switches, and the first switch of each but the largest.
    Components {
        /// Sizes, largest first.
        sizes: Vec<usize>,
        /// A switch of each of the smaller pieces.
        examples: Vec<String>,
    },
    /// Nodes.
    Nodes {
        /// How many.
        count: u64,
        /// The first ones.
        examples: Vec<String>,
    },
}

/// A pair that does not reach, and where it ends.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct BrokenPair {
    /// The pair.
    #[serde(flatten)]
    pub pair: PairName,
    /// The switch where its packets end or come back to.
    pub at: String,
}

/// One edge of a dependency cycle.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Dependency {
    /// The channel that is held.
    pub channel: ChannelName,
    /// The lane that it is held in, where a cycle goes through several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<u8>,
    /// A route that holds it and wants the next one.
    pub route: PairName,
}

/// A channel and how many routes cross it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct LoadedChannel {
    /// The channel.
    #[serde(flatten)]
    pub channel: ChannelName,
    /// Routes that cross it.
    pub load: u64,
}

/// Findings from the network alone.
pub fn of_fabric(fabric: &Fabric) -> Vec<Finding> {
    let names = Names::new(fabric);
    let mut found = Vec::new();
    let nodes =
        |count: usize, examples: Vec<String>| Places::Nodes { count: count as u64, examples };
    if fabric.switch_count() == 0 {
        found.push(Finding {
            kind: FindingKind::NoSwitches,
            severity: Severity::Error,
            message: "the fabric has no switches".into(),
            hint: "was the dump taken on a host that is cabled back to back?",
            places: nodes(0, Vec::new()),
        });
    }
    if fabric.terminal_count() == 0 {
        found.push(Finding {
            kind: FindingKind::NoHosts,
            severity: Severity::Error,
            message: "the fabric has no host with a cable to a switch".into(),
            hint: "a dump of switches only (ibnetdiscover -S) has none; take a full one",
            places: nodes(0, Vec::new()),
        });
    }
    found.extend(components(fabric, &names));
    let unlinked = fabric.unlinked_adapters();
    if !unlinked.is_empty() {
        let label = |a: &darkfiber_fabric::AdapterId| {
            let adapter = fabric.adapter(*a);
            if adapter.description.is_empty() {
                adapter.guid.to_string()
            } else {
                format!("{} ({})", adapter.description, adapter.guid)
            }
        };
        let examples: Vec<String> = unlinked.iter().take(EXAMPLES).map(label).collect();
        found.push(Finding {
            kind: FindingKind::UnlinkedAdapters,
            severity: Severity::Error,
            message: format!(
                "{} without a cable to a switch: {}",
                plural(unlinked.len(), "adapter is", "adapters are"),
                list(&examples, unlinked.len())
            ),
            hint: "no route can lead there; check the cable, or take the dump again",
            places: nodes(unlinked.len(), examples),
        });
    }
    if !fabric.loopbacks().is_empty() {
        let all = fabric.loopbacks();
        let examples: Vec<String> = all
            .iter()
            .take(EXAMPLES)
            .map(|l| format!("{} ports {} and {}", names.switch(l.switch), l.ports.0, l.ports.1))
            .collect();
        found.push(Finding {
            kind: FindingKind::Loopbacks,
            severity: Severity::Note,
            message: format!(
                "{} from a switch to itself: {}",
                plural(all.len(), "cable", "cables"),
                list(&examples, all.len())
            ),
            hint: "such cables carry no routes",
            places: nodes(all.len(), examples),
        });
    }
    found
}

fn components(fabric: &Fabric, names: &Names<'_>) -> Option<Finding> {
    let sizes = fabric.components();
    // Planes share hosts, which reach each other in every one of them.
    if sizes.len() == Planes::of(fabric).count() || sizes.is_empty() {
        return None;
    }
    let labels = fabric.component_labels();
    let mut first = vec![(0usize, 0usize); sizes.len()];
    for (s, &label) in labels.iter().enumerate().rev() {
        let (count, at) = &mut first[label as usize];
        *count += 1;
        *at = s;
    }
    first.sort_by_key(|&(count, at)| (std::cmp::Reverse(count), at));
    let examples: Vec<String> =
        first[1..].iter().take(EXAMPLES).map(|&(_, s)| names.switch(SwitchId::new(s))).collect();
    let shown: Vec<String> = sizes.iter().take(8).map(ToString::to_string).collect();
    Some(Finding {
        kind: FindingKind::Components,
        severity: Severity::Error,
        message: format!(
            "the switches are in {} pieces (of {} switches); a switch of each smaller piece: {}",
            sizes.len(),
            list(&shown, sizes.len()),
            list(&examples, sizes.len() - 1)
        ),
        hint: "hosts of different pieces cannot reach each other; mend the cables between them, or leave out the switches of smaller pieces (--fail)",
        places: Places::Components { sizes, examples },
    })
}

/// The assumption behind a deadlock that was found without service levels.
pub fn of_assumed_lane() -> Finding {
    Finding {
        kind: FindingKind::AssumedLane,
        severity: Severity::Note,
        message: "no service levels were given, so all routes were taken in lane 0".to_owned(),
        hint: "if OpenSM runs dfsssp, lash or nue, give their service levels with --sl (of tables in place --from-sl): path records that \
               saquery printed, a matrix of its path_sl, or path-sl; of torus-2QoS also opensm-sl2vl.dump with --sl2vl",
        places: Places::Nodes { count: 0, examples: Vec::new() },
    }
}

/// Ports whose LID in the tables is another one than in the fabric's own input. Where the tables brought their LIDs along,
/// `are_planned`, the fabric is to get them; else one of the two files is of another time.
pub fn of_lids(fabric: &Fabric, lids: &Lids, are_planned: bool) -> Option<Finding> {
    let unlike = lids.unlike(fabric);
    let name = Names::new(fabric);
    let text = |&(dest, theirs, ours): &(DestId, u16, u16)| {
        let name = match dest.as_terminal(fabric) {
            Some(t) => name.terminal(t),
            None => name.switch(SwitchId::new(dest.index() - fabric.terminal_count())),
        };
        format!("{name}: LID {theirs}, not {ours}")
    };
    let examples: Vec<String> = unlike.iter().take(EXAMPLES).map(text).collect();
    let first = examples.first()?;
    let ports = plural(unlike.len(), "port has another LID", "ports have other LIDs");
    Some(Finding {
        kind: FindingKind::OtherLids,
        severity: if are_planned { Severity::Note } else { Severity::Error },
        message: format!(
            "{ports} in the fabric's file than the tables are read with, for example {first}"
        ),
        hint: if are_planned {
            "the tables hold once the subnet manager has given out their LIDs (guid2lid)"
        } else {
            "one of them is of another time: read fabric, tables and LIDs (guid2lid) from the same sweep"
        },
        places: Places::Nodes { count: unlike.len() as u64, examples },
    })
}

/// Findings from the checker's report, the gravest first.
pub fn of_routes(fabric: &Fabric, report: &Report) -> Vec<Finding> {
    let names = Names::new(fabric);
    let mut found = Vec::new();
    found.extend(broken(&names, report, false));
    found.extend(broken(&names, report, true));
    for layer in &report.layers {
        if let Some(cycle) = &layer.cycle {
            found.push(credit_loop(&names, layer.layer, cycle));
        }
    }
    found.extend(many_lanes(report));
    found.extend(imbalance(&names, report));
    found
}

/// Virtual lanes for data that ports usually have. VL 15 is that of subnet management (InfiniBand Architecture Specification, volume
/// 1, 3.5.7).
const USUAL_LANES: u8 = 8;

/// Lanes that a port of usual hardware folds onto others: a proof for each lane by itself holds no more there.
fn many_lanes(report: &Report) -> Option<Finding> {
    let beyond: Vec<u8> =
        report.layers.iter().map(|layer| layer.layer).filter(|&lane| lane >= USUAL_LANES).collect();
    let lanes: Vec<String> = beyond.iter().take(EXAMPLES).map(ToString::to_string).collect();
    let is_management = beyond.contains(&15);
    (!beyond.is_empty()).then(|| Finding {
        kind: FindingKind::ManyLanes,
        severity: Severity::Warning,
        message: format!(
            "{} beyond the {USUAL_LANES} that most ports have: {}{}",
            plural(beyond.len(), "lane", "lanes"),
            list(&lanes, beyond.len()),
            if is_management { "; 15 never carries data" } else { "" }
        ),
        hint: "OpenSM sends service level s in lane s modulo the lanes of a port, where two may share one and deadlock: look \
               at VLCap of the ports (smpquery portinfo), or use fewer lanes (--lanes)",
        places: Places::Nodes { count: beyond.len() as u64, examples: lanes },
    })
}

/// How many pairs of how many, in words: `count` of `paths` pairs of a source and a LID, which are the `pairs` of terminals where
/// each port has one LID.
pub fn of_pairs(count: u64, pairs: u64, paths: u64) -> String {
    let of = if paths == pairs { "pairs" } else { "pairs of a source and a LID" };
    format!("{} of {} {of}", group(count), group(paths))
}

fn broken(names: &Names<'_>, report: &Report, loops: bool) -> Option<Finding> {
    let count = if loops { report.loops } else { report.unreachable };
    if count == 0 {
        return None;
    }
    let examples: Vec<BrokenPair> = report
        .broken
        .iter()
        .filter(|b| b.loops == loops)
        .take(EXAMPLES)
        .map(|b| BrokenPair { pair: names.pair(b.source, b.dest), at: names.switch(b.at) })
        .collect();
    let share = of_pairs(count, report.pairs, report.paths);
    let example = |word: &str| {
        examples
            .first()
            .map_or(String::new(), |e| format!(", for example {} ({word} {})", e.pair, e.at))
    };
    Some(if loops {
        Finding {
            kind: FindingKind::Loops,
            severity: Severity::Error,
            message: format!("{share} loop forever{}", example("comes back to")),
            hint: "the tables contradict each other; recompute them, they must not be loaded",
            places: Places::Pairs { count, examples },
        }
    } else {
        Finding {
            kind: FindingKind::Unreachable,
            severity: Severity::Error,
            message: format!("{share} have no route{}", example("ends at")),
            hint: if count == report.paths {
                "no entry fits: are the tables older than the fabric, or of LIDs that the dump does not have (--guid2lid FILE says them)?"
            } else {
                "the tables lack entries or point at ports without a cable; are they older than the fabric?"
            },
            places: Places::Pairs { count, examples },
        }
    })
}

fn credit_loop(names: &Names<'_>, lane: u8, cycle: &Cycle) -> Finding {
    // Where switches choose lanes, a cycle goes through several.
    let several = cycle.lanes.iter().any(|&other| other != lane);
    let cycle: Vec<Dependency> = cycle
        .channels
        .iter()
        .zip(&cycle.routes)
        .zip(&cycle.lanes)
        .map(|((&c, &(source, dest)), &of)| Dependency {
            channel: names.channel(c),
            lane: several.then_some(of),
            route: names.pair(source, dest),
        })
        .collect();
    let where_from = if several {
        format!("lane {lane} and others have together")
    } else {
        format!("lane {lane} has")
    };
    Finding {
        kind: FindingKind::CreditLoop,
        severity: Severity::Error,
        message: format!(
            "{where_from} a cycle of {} channels that wait for each other: packets can deadlock",
            cycle.len()
        ),
        hint: "use an engine that promises freedom (updn, dfsssp), or separate the routes by service levels",
        places: Places::Cycle { lane, cycle },
    }
}

fn imbalance(names: &Names<'_>, report: &Report) -> Option<Finding> {
    let efi = Efi::of(&report.load);
    if efi.max as f64 <= IMBALANCE * efi.mean {
        return None;
    }
    let channels: Vec<LoadedChannel> = hottest(&report.load, EXAMPLES)
        .into_iter()
        .map(|(c, load)| LoadedChannel { channel: names.channel(c), load })
        .collect();
    Some(Finding {
        kind: FindingKind::Imbalance,
        severity: Severity::Warning,
        message: format!(
            "the hottest channel carries {} routes, {:.1} times the mean",
            group(efi.max),
            efi.max as f64 / efi.mean
        ),
        hint: "compare engines with `darkfiber route`; look for missing or slow cables beside the hottest ones",
        places: Places::Channels { channels },
    })
}

fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", group(n as u64), if n == 1 { one } else { many })
}

fn list(shown: &[String], total: usize) -> String {
    let more = total.saturating_sub(shown.len());
    let joined = shown.join(", ");
    if more == 0 { joined } else { format!("{joined} and {} more", group(more as u64)) }
}
