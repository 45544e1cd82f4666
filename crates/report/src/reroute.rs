//! The result of `darkfiber reroute`: the changes after a fault.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::comma;
use crate::ease::EaseStep;
use crate::model::{FabricFacts, Provenance, Routed};
use crate::number::{counted, duration, group};
use crate::style::Style;
use crate::table;

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failed {
    /// Cables between switches, those of failed switches not counted.
    pub links: usize,
    /// Switches.
    pub switches: usize,
    /// Cables of terminals, those of failed switches not counted.
    pub terminals: usize,
}

/// A terminal that no path leads to any more: its cable failed, or its switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LostTerminal {
    /// Its host, with the port GUID where the host has several ports.
    pub name: String,
    /// Port GUID.
    pub guid: String,
    /// The switch that it hung on.
    pub switch: String,
    /// Whether its host has lost all of its terminals.
    pub host_lost: bool,
}

/// One switch whose table changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SwitchChange {
    /// Node GUID.
    pub guid: String,
    /// Node description.
    pub name: String,
    /// Changed entries.
    pub entries: usize,
    /// Changed blocks of 64 LIDs.
    pub blocks: usize,
    /// The step in which it may be updated, from 1. `null` if traffic must be drained, or where it takes part in several:
    /// `steps_by_entry` has these.
    pub step: Option<usize>,
}

/// Whether old and new tables may coexist while switches are updated one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdict {
    /// `any-order`, `steps`, `drop-drain` (entries that change drop packets for one packet lifetime), `drain` (stop
    /// the traffic that changes) or `reconnect` (running connections must be re-established).
    pub verdict: &'static str,
    /// Steps of the update; `null` if traffic must be drained.
    pub steps: Option<usize>,
    /// In a sentence.
    pub reason: String,
}

/// The same fault, routed from scratch.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scratch {
    /// Entries that this would change.
    pub entries_changed: usize,
    /// Blocks of 64 LIDs that this would change.
    pub blocks_changed: usize,
    /// The routes.
    #[serde(flatten)]
    pub routed: Routed,
}

/// The result of `darkfiber reroute`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RerouteResult {
    /// `mended`, or `anew` if the engine had to route from scratch.
    pub method: &'static str,
    /// Why mending failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_mended: Option<String>,
    /// What failed.
    pub failed: Failed,
    /// Terminals that are lost with it, by switch and port.
    pub terminals_lost: Vec<LostTerminal>,
    /// Table rows (LIDs, unless they share rows) that used what failed.
    pub rows_affected: usize,
    /// LIDs with a changed entry somewhere.
    pub lids_changed: usize,
    /// Changed entries in all tables; those of LIDs that failed are not counted.
    pub entries_changed: usize,
    /// Changed blocks of 64 LIDs in all tables.
    pub blocks_changed: usize,
    /// Switches whose table changed.
    pub switches_changed: usize,
    /// (Source switch, LID) pairs whose paths changed their virtual layer.
    pub paths_moved: usize,
    /// Seconds to read loads and dependencies from the old tables; once for many faults.
    pub seconds_prepare: f64,
    /// Seconds from the fault to complete tables.
    pub seconds_compute: f64,
    /// Whether tables may coexist.
    pub coexistence: Verdict,
    /// The changed switches, by GUID.
    pub switches: Vec<SwitchChange>,
    /// The entries of each step, where no order of whole switches is safe.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps_by_entry: Vec<EaseStep>,
    /// The old tables on the whole fabric.
    pub before: Routed,
    /// The new tables on the damaged fabric, proved by the checker.
    pub after: Routed,
    /// Routing from scratch, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scratch: Option<Scratch>,
    /// Why the engine refused to route from scratch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scratch_refused: Option<String>,
    /// The damaged fabric.
    pub fabric: FabricFacts,
    /// Where the result comes from.
    pub provenance: Provenance,
}

/// Switches that are listed one by one.
const LISTED: usize = 10;

impl Report for RerouteResult {
    fn text(&self, style: Style) -> String {
        let n = |x: usize| group(x as u64);
        let mut text = format!("{}\n\n", table::headline(&self.fabric));
        let Failed { links, switches, terminals } = self.failed;
        let mut line = |key: &str, value: String| {
            let _infallible = writeln!(text, "  {key:<18} {value}");
        };
        let failed = [
            counted(links, "link", "links"),
            counted(switches, "switch", "switches"),
            counted(terminals, "terminal link", "terminal links"),
        ];
        line("failed", failed.join(", "));
        if !self.terminals_lost.is_empty() {
            line("terminals lost", lost(&self.terminals_lost, style.full));
        }
        let method = match &self.not_mended {
            Some(why) => format!("re-routed from scratch, since the repair failed: {why}"),
            None => "mended".to_owned(),
        };
        line("method", method);
        line("time", {
            let (prepare, compute) =
                (duration(self.seconds_prepare), duration(self.seconds_compute));
            format!("prepare {prepare}, compute {compute}")
        });
        line(
            "LIDs affected",
            format!("{}   ({} changed)", n(self.rows_affected), n(self.lids_changed)),
        );
        let changed = |entries, blocks| format!("{} entries, {} blocks", n(entries), n(blocks));
        let switches = n(self.switches_changed);
        line(
            "changed",
            changed(self.entries_changed, self.blocks_changed) + &format!(", {switches} switches"),
        );
        if self.paths_moved > 0 {
            line("layer changes", format!("{} paths", n(self.paths_moved)));
        }
        line("coexistence", self.coexistence.reason.clone());
        text.push('\n');
        let mut rows = vec![row("before", &self.before, None), row("after", &self.after, None)];
        rows[1][6] = n(self.entries_changed);
        rows[1][7] = n(self.blocks_changed);
        if let Some(s) = &self.scratch {
            rows.push(row("from scratch", &s.routed, Some((s.entries_changed, s.blocks_changed))));
        }
        let heading = [
            "",
            "lost pairs",
            "layers",
            "deadlock-free",
            "EFI max",
            "hops mean",
            "entries",
            "blocks",
        ];
        text.push_str(&table::plain(&heading, &rows, &[1, 2, 4, 5, 6, 7], style));
        if let Some(why) = &self.scratch_refused {
            let _infallible = writeln!(text, "from scratch: {why}");
        }
        if !self.switches.is_empty() {
            let mut order: Vec<&SwitchChange> = self.switches.iter().collect();
            order.sort_by_key(|s| (std::cmp::Reverse(s.entries), &s.guid));
            let shown = if style.full { order.len() } else { LISTED.min(order.len()) };
            let rows: Vec<Vec<String>> = order[..shown]
                .iter()
                .map(|s| {
                    let step = s.step.map_or("-".to_owned(), |step| step.to_string());
                    vec![s.name.clone(), s.guid.clone(), n(s.entries), n(s.blocks), step]
                })
                .collect();
            text.push('\n');
            let heading = ["switch", "GUID", "entries", "blocks", "step"];
            text.push_str(&table::plain(&heading, &rows, &[2, 3, 4], style));
            if shown < order.len() {
                let _infallible = writeln!(
                    text,
                    "... and {} more switches (-v shows all)",
                    n(order.len() - shown)
                );
            }
        }
        text
    }

    // The switches whose tables change, in the order of their steps.
    fn csv(&self) -> String {
        comma::table(
            &self.switches,
            &[
                ("step", &|s| comma::some(s.step)),
                ("switch", &|s| s.name.clone()),
                ("guid", &|s| s.guid.clone()),
                ("entries", &|s| s.entries.to_string()),
                ("blocks", &|s| s.blocks.to_string()),
            ],
        )
    }
}

/// Number of lost terminals and of their switches, and their names.
fn lost(terminals: &[LostTerminal], all: bool) -> String {
    let shown = if all { terminals.len() } else { LISTED.min(terminals.len()) };
    let names: Vec<&str> = terminals[..shown].iter().map(|t| t.name.as_str()).collect();
    let more = match terminals.len() - shown {
        0 => String::new(),
        more => format!(" and {} more (-v shows all)", group(more as u64)),
    };
    format!("{}: {}{more}", group(terminals.len() as u64), names.join(", "))
}

fn row(name: &str, r: &Routed, changed: Option<(usize, usize)>) -> Vec<String> {
    let number = |x: Option<usize>| x.map_or(String::new(), |x| group(x as u64));
    vec![
        name.to_owned(),
        group(r.unreachable + r.loops),
        r.layers.to_string(),
        if r.deadlock_free { "yes" } else { "NO" }.to_owned(),
        group(r.efi.max),
        format!("{:.3}", r.hops.mean),
        number(changed.map(|c| c.0)),
        number(changed.map(|c| c.1)),
    ]
}
