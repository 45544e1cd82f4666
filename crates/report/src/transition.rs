//! The result of `darkfiber check --from`: the proofs about the transition from old tables to new ones.

use std::fmt::Write as _;

use darkfiber_analysis::ChannelName;
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{FabricFacts, Provenance};
use crate::number::{counted, group};
use crate::style::Style;
use crate::table;
use crate::{Report, comma};

/// A link of a cycle: a packet that holds a channel and waits for that of the next link.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct HeldChannel {
    /// The channel that is held.
    pub channel: ChannelName,
    /// Tables that sent the packet there: `old` or `new`.
    pub held_by: &'static str,
    /// Tables that send it on: `old` or `new`.
    pub wants_by: &'static str,
    /// Source of the packet.
    pub source: String,
    /// Its destination.
    pub destination: String,
    /// Offset of the LID of the destination, from 0.
    pub lid_offset: usize,
    /// State that gave its connection the service level: `old` or `new`.
    pub level_of: &'static str,
}

/// One of the obligations O1 to O5.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ObligationRow {
    /// `O1` to `O5`.
    pub name: &'static str,
    /// What must hold.
    pub statement: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Virtual lane of the cycle that closes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<u8>,
    /// The cycle, link by link; empty if none was found.
    pub witness: Vec<HeldChannel>,
}

/// One rung of the ladder.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RungRow {
    /// Its name.
    pub rung: &'static str,
    /// Whether it is proved.
    pub holds: bool,
    /// Its conditions, or why it is not proved.
    pub reason: String,
}

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ChangeFacts {
    /// Entries of forwarding tables that differ.
    pub entries: u64,
    /// Switches with such an entry.
    pub switches: usize,
    /// LIDs of terminals with such an entry.
    pub lids: u64,
    /// Pairs of a source and a LID that it uses now.
    pub pairs: u64,
    /// Of these, those whose path differs.
    pub pairs_path: u64,
    /// Of these, those whose service level differs from that of a state in use.
    pub pairs_level: u64,
    /// Of these, those for which anything differs: their connections must be drained for packets to stay in order (O6).
    pub pairs_changed: u64,
}

/// What is proved of the way from old tables to new ones.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct TransitionResult<'a> {
    /// The old tables; the last are in place.
    pub from: &'a [String],
    /// The new tables.
    pub to: &'a str,
    /// The first rung that is proved: `nothing-changes`, `any-order`, `stages`, `flip`, `five-phases`, `quiet-window`,
    /// `drop-drain` or `refuse`.
    pub verdict: &'static str,
    /// Whether service levels of all old tables are known; if not, connections were taken to use every lane.
    pub has_levels: bool,
    /// The obligations.
    pub obligations: &'a [ObligationRow],
    /// The rungs up to the verdict.
    pub rungs: &'a [RungRow],
    /// Names of the switches of each stage, in order; empty unless the verdict is `stages`.
    pub stages: &'a [Vec<String>],
    /// What changes.
    pub changes: ChangeFacts,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// Consequence of a verdict for the operator who loads the tables.
fn what_to_do(verdict: &str) -> Option<&'static str> {
    match verdict {
        "any-order" => Some("They may be loaded at any time, in one sweep of OpenSM, too."),
        "stages" => Some(
            "Each stage has to be complete before the next begins: one load of a file by OpenSM keeps no order.",
        ),
        "refuse" => Some(
            "No way by whole switches is proved while traffic runs: drain it before the change, or take what is safe of the new tables\n\
             (`darkfiber route FABRIC -e ENGINE --from OLD -o DIR`). --jobs FILE counts running jobs' pairs only.",
        ),
        _ => None,
    }
}

impl Report for TransitionResult<'_> {
    fn text(&self, style: Style) -> String {
        let c = &self.changes;
        let mut text = format!("{}\n\n", table::headline(self.fabric));
        let _infallible = writeln!(
            text,
            "{} of {} change; {} of {} take another path or service level\n",
            counted(usize::try_from(c.entries).unwrap_or(usize::MAX), "entry", "entries"),
            counted(c.switches, "switch", "switches"),
            group(c.pairs_changed),
            counted(usize::try_from(c.pairs).unwrap_or(usize::MAX), "pair", "pairs"),
        );
        if !self.has_levels {
            text.push_str(
                "The service levels of old connections are not known (--from-sl): they were taken to use every lane.\n\n",
            );
        }
        let rows: Vec<Vec<String>> = (self.obligations.iter())
            .map(|o| {
                let reason = o.reason.clone().unwrap_or_default();
                let holds = if o.holds { "yes" } else { "NO" };
                vec![o.name.to_owned(), o.statement.to_owned(), holds.to_owned(), reason]
            })
            .collect();
        text.push_str(&table::plain(&["", "obligation", "holds", "why not"], &rows, &[], style));
        for o in self.obligations.iter().filter(|o| !o.witness.is_empty()) {
            let lane = o.lane.unwrap_or(0);
            let _infallible = writeln!(text, "\n{}: a cycle in lane {lane}", o.name);
            for link in o.witness.iter().take(style.most()) {
                let c = &link.channel;
                let _infallible = writeln!(
                    text,
                    "    {} port {} -> {}: {} to {} (LID +{}), sent there by {} tables, on by {}, level of {}",
                    c.from,
                    c.from_port,
                    c.to,
                    link.source,
                    link.destination,
                    link.lid_offset,
                    link.held_by,
                    link.wants_by,
                    link.level_of
                );
            }
            table::more(&mut text, o.witness.len(), style.most(), "links");
        }
        text.push('\n');
        let rows: Vec<Vec<String>> = (self.rungs.iter())
            .map(|r| {
                let holds = if r.holds { "yes" } else { "no" };
                vec![r.rung.to_owned(), holds.to_owned(), r.reason.clone()]
            })
            .collect();
        text.push_str(&table::plain(
            &["rung", "proved", "condition, or why not"],
            &rows,
            &[],
            style,
        ));
        for (i, switches) in self.stages.iter().enumerate() {
            let shown = switches.iter().take(style.most()).cloned().collect::<Vec<_>>().join(", ");
            let more = if switches.len() > style.most() { ", ..." } else { "" };
            let _infallible = writeln!(
                text,
                "\nstage {}: {}: {shown}{more}",
                i + 1,
                counted(switches.len(), "switch", "switches")
            );
        }
        if let Some(what) = what_to_do(self.verdict) {
            let _infallible = writeln!(text, "\n{what}");
        }
        let _infallible = writeln!(text, "\nverdict: {}", self.verdict);
        text
    }

    // The levels of the ladder, one a line.
    fn csv(&self) -> String {
        comma::table(
            self.rungs,
            &[
                ("rung", &|r| r.rung.to_owned()),
                ("proved", &|r| r.holds.to_string()),
                ("reason", &|r| r.reason.clone()),
            ],
        )
    }
}
