//! The result of `darkfiber ecmp`: how evenly hashes spread flows, and whether any choice of next hops can deadlock.

use std::fmt::Write as _;

use darkfiber_analysis::ecmp::TierSpread;
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{FabricFacts, Provenance};
use crate::number::{counted, group, percent};
use crate::style::Style;
use crate::table;
use crate::{Report, comma};

/// What ECMP makes of a pattern.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct EcmpResult<'a> {
    /// The pattern of traffic.
    pub pattern: &'a str,
    /// Pairs of terminals in a draw, mean.
    pub pairs: f64,
    /// Draws of queue pairs, and of the pattern where it is random.
    pub draws: u32,
    /// What holds for every choice among next hops.
    pub sets: EcmpSets,
    /// By configuration of the hash.
    pub hashes: &'a [EcmpHash],
    /// By configuration and tier.
    pub tiers: &'a [EcmpTier],
    /// Cables that failed, each by itself, to see which flows move; 0 if it was not asked.
    pub failed: usize,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// All next hops on shortest paths.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct EcmpSets {
    /// Different groups of several next hops, of all switches together.
    pub groups: usize,
    /// Next hops of the largest group.
    pub largest: usize,
    /// Switches that a packet crosses at most.
    pub hops: usize,
    /// Pairs of switches with hosts without a path.
    pub unreachable: u64,
    /// Whether no choice of next hops, by whatever hash, can deadlock: packets that wait for each other (PFC).
    pub deadlock_free: bool,
    /// Channels that may wait for each other, each with the destination for which it waits for the next one; empty without a cycle.
    pub cycle: Vec<EcmpWait>,
}

/// A channel that may wait for the next one of a cycle.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct EcmpWait {
    /// The channel, by its ends.
    pub channel: String,
    /// The switch for whose hosts a packet on it may wait for the next channel.
    pub towards: String,
}

/// A configuration of the hash.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct EcmpHash {
    /// The configuration.
    pub ecmp: String,
    /// Share of its link that the slowest pair gets, where flows on a channel share it evenly: mean over draws.
    pub slowest: f64,
    /// The least of all draws.
    pub slowest_worst: f64,
    /// Pairs without a path, of all draws together.
    pub lost: u64,
    /// Whether the switches of any tier use fewer of their next hops than chance would leave out.
    pub polarized: bool,
    /// Flows that crossed a failed cable, of all, mean over cables; `null` if it was not asked.
    pub hit: Option<f64>,
    /// Flows that take another path afterwards; `null` if it was not asked.
    pub moved: Option<f64>,
}

/// What the switches of a tier pick; flows count in pairs of terminals.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct EcmpTier {
    /// The configuration of the hash.
    pub ecmp: String,
    /// What they pick.
    #[serde(flatten)]
    pub spread: TierSpread,
    /// Whether fewer next hops are used than chance would leave out.
    pub polarized: bool,
}

impl Report for EcmpResult<'_> {
    fn text(&self, style: Style) -> String {
        text(self, style)
    }

    fn csv(&self) -> String {
        comma::table(
            self.tiers,
            &[
                ("ecmp", &|t| t.ecmp.clone()),
                ("tier", &|t| t.spread.tier.to_string()),
                ("next_hops", &|t| t.spread.members.to_string()),
                ("flows", &|t| t.spread.flows.to_string()),
                ("fullest", &|t| t.spread.fullest.to_string()),
                ("fullest_random", &|t| t.spread.fullest_random.to_string()),
                ("most", &|t| t.spread.most.to_string()),
                ("worst", &|t| t.spread.worst.to_string()),
                ("idle", &|t| t.spread.idle.to_string()),
                ("idle_random", &|t| t.spread.idle_random.to_string()),
                ("used", &|t| t.spread.used.to_string()),
                ("polarized", &|t| t.polarized.to_string()),
            ],
        )
    }
}

fn text(r: &EcmpResult<'_>, style: Style) -> String {
    let mut text = format!(
        "{}\n{}: {} pairs, {}\n",
        table::headline(r.fabric),
        r.pattern,
        short(r.pairs),
        counted(r.draws as usize, "draw of queue pairs", "draws of queue pairs")
    );
    sets(&mut text, &r.sets);
    // How fast, by configuration.
    let mut heading = vec!["ECMP", "slowest pair", "worst draw", "polarized"];
    if r.failed > 0 {
        heading.extend(["flows hit", "flows moved"]);
    }
    let rows = r.hashes.iter().map(|h| {
        let mut row = vec![
            h.ecmp.clone(),
            percent(100.0 * h.slowest),
            percent(100.0 * h.slowest_worst),
            if h.polarized { "yes" } else { "no" }.to_owned(),
        ];
        row.extend([h.hit, h.moved].into_iter().flatten().map(|x| percent(100.0 * x)));
        row
    });
    text.push_str(&table::plain(&heading, &rows.collect::<Vec<_>>(), &[1, 2, 4, 5], style));
    let lost: u64 = r.hashes.iter().map(|h| h.lost).max().unwrap_or(0);
    if lost > 0 {
        let _infallible =
            writeln!(text, "pairs without a path, in all draws together: {}", group(lost));
    }
    text.push('\n');
    // How evenly, by configuration and tier.
    let heading = [
        "ECMP",
        "tier",
        "flows",
        "next hops",
        "used",
        "fullest",
        "random",
        "most",
        "worst",
        "idle",
        "random",
    ];
    let rows = r.tiers.iter().map(|t| {
        vec![
            t.ecmp.clone(),
            t.spread.tier.to_string(),
            short(t.spread.flows),
            short(t.spread.members),
            short(t.spread.used),
            format!("{:.2}", t.spread.fullest),
            format!("{:.2}", t.spread.fullest_random),
            format!("{:.2}", t.spread.most),
            short(t.spread.worst),
            percent(100.0 * t.spread.idle),
            percent(100.0 * t.spread.idle_random),
        ]
    });
    text.push_str(&table::plain(
        &heading,
        &rows.collect::<Vec<_>>(),
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        style,
    ));
    text.push_str(
        "\nslowest pair: what it gets of its link, where flows on a channel share it evenly; mean and minimum of all draws. tier: cables\n\
         from the switch that picks to the nearest one with hosts. flows: pairs that come to a group of next hops; fullest: pairs on\n\
         its fullest next hop, beside balls thrown into bins at random; most, worst: on any of the tier, mean and maximum of all draws;\n\
         idle: next hops without a flow; used: next hops that any draw uses. polarized: fewer are used than chance leaves out.\n",
    );
    if r.failed > 0 {
        let cables = counted(r.failed, "cable", "cables");
        let _infallible = writeln!(
            text,
            "flows hit, moved: those that cross a failed cable, and those that change paths; mean of {cables}, one at a time."
        );
    }
    text
}

fn sets(text: &mut String, sets: &EcmpSets) {
    let _infallible = write!(
        text,
        "next hops: {} groups of up to {}, paths of up to {} switches",
        group(sets.groups as u64),
        sets.largest,
        sets.hops
    );
    if sets.unreachable > 0 {
        let _infallible =
            write!(text, "; {} pairs of switches without a path", group(sets.unreachable));
    }
    if sets.deadlock_free {
        text.push_str("; whatever hashes pick, PFC cannot deadlock: no cyclic dependency\n\n");
        return;
    }
    text.push_str("; a cyclic dependency: pauses (PFC) can deadlock\n");
    for wait in &sets.cycle {
        let _infallible = writeln!(text, "  {}  (for hosts of {})", wait.channel, wait.towards);
    }
    text.push('\n');
}

/// A number without needless digits.
fn short(x: f64) -> String {
    let text = format!("{x:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
