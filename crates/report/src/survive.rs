//! The result of `darkfiber survive`: the consequences of every single fault.

use std::cmp::Reverse;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{FabricFacts, Provenance};
use crate::number::{duration, group};
use crate::style::Style;
use crate::table;
use crate::{Report, comma};

/// The fault book of one set of tables.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SurviveResult<'a> {
    /// The tables: their file, or the engine that made them.
    pub tables: &'a str,
    /// Virtual layers that they use.
    pub layers: usize,
    /// Whether the tables are free of deadlock before any fault. What can deadlock anyway is not kept whole.
    pub deadlock_free: bool,
    /// Largest load of a switch-to-switch channel before any fault (edge forwarding index).
    pub efi_max: u64,
    /// All single cables; `null` if these were not looked at.
    pub cables: Option<BookFacts>,
    /// All single switches; `null` if these were not looked at.
    pub switches: Option<BookFacts>,
    /// Every fault, cables first.
    pub faults: &'a [FaultRow],
    /// Seconds to read loads and dependencies from the tables.
    pub seconds_prepare: f64,
    /// Seconds to mend every fault.
    pub seconds_compute: f64,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// How many faults there are on each rung.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct BookFacts {
    /// All of them.
    pub faults: usize,
    /// New tables may be written in any order while connections run.
    pub any_order: usize,
    /// In steps, each complete before the next.
    pub steps: usize,
    /// Entries that change must drop packets for one packet lifetime.
    pub drop_drain: usize,
    /// Running connections must be re-established, with other service levels.
    pub reconnect: usize,
    /// Paths fit into none of the lanes: the fabric must be re-routed from scratch.
    pub anew: usize,
    /// The fabric falls apart.
    pub splits: usize,
    /// Any order and steps, as percent of the faults that leave the fabric in one piece, if there are any.
    pub untouched_percent: Option<f64>,
    /// Largest load of a channel after any of the faults that were mended.
    pub efi_max_after: u64,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct FaultRow {
    /// `cable` or `switch`.
    pub kind: &'static str,
    /// The cable as `NAME[PORT]` of both of its ends, or the name of the switch.
    pub name: String,
    /// What `reroute --fail` takes: `GUID:PORT` or GUID.
    pub id: String,
    /// `any-order`, `steps`, `drop-drain`, `reconnect`, `anew` or `splits`.
    pub rung: &'static str,
    /// Steps of the update; `null` on other rungs.
    pub steps: Option<u32>,
    /// Switches whose table changes; `null` where nothing was mended, here and below.
    pub switches: Option<usize>,
    /// Changed entries.
    pub entries: Option<usize>,
    /// (Source switch, row) pairs whose paths move to other service levels.
    pub paths_moved: Option<usize>,
    /// Largest load of a channel afterwards.
    pub efi_max: Option<u64>,
}

/// The levels, the gravest first.
const GRAVEST: [&str; 6] = ["splits", "anew", "reconnect", "drop-drain", "steps", "any-order"];

impl Report for SurviveResult<'_> {
    fn text(&self, style: Style) -> String {
        text(self, style)
    }

    fn csv(&self) -> String {
        csv(self.faults)
    }
}

/// For people: this many faults are listed as the style says, those first that disturb most.
fn text(r: &SurviveResult<'_>, style: Style) -> String {
    let most = style.most();
    let n = |x: usize| group(x as u64);
    let mut text = format!("{}\n\n", table::headline(r.fabric));
    let free = if r.deadlock_free { "" } else { "; these can deadlock without any fault" };
    let (prepare, compute) = (duration(r.seconds_prepare), duration(r.seconds_compute));
    let _infallible = writeln!(
        text,
        "tables of {}: EFI max {}, {} {}{free}\nprepare {prepare}, compute {compute}\n",
        r.tables,
        group(r.efi_max),
        r.layers,
        if r.layers == 1 { "layer" } else { "layers" },
    );
    let row = |name: &str, b: &BookFacts| {
        let counts = [b.faults, b.any_order, b.steps, b.drop_drain, b.reconnect, b.anew, b.splits];
        let mut row = vec![name.to_owned()];
        row.extend(counts.map(n));
        let untouched = b.untouched_percent.map_or("-".to_owned(), |share| format!("{share:.1} %"));
        row.extend([untouched, group(b.efi_max_after)]);
        row
    };
    let rows: Vec<Vec<String>> = [("cables", &r.cables), ("switches", &r.switches)]
        .into_iter()
        .filter_map(|(name, book)| book.as_ref().map(|b| row(name, b)))
        .collect();
    let heading = [
        "single",
        "faults",
        "any order",
        "steps",
        "drop-drain",
        "reconnect",
        "anew",
        "splits",
        "untouched",
        "EFI max after",
    ];
    text.push_str(&table::plain(&heading, &rows, &[1, 2, 3, 4, 5, 6, 7, 8, 9], style));
    let mut order: Vec<&FaultRow> = r.faults.iter().collect();
    let gravity = |f: &FaultRow| GRAVEST.iter().position(|rung| *rung == f.rung);
    order.sort_by_key(|f| (gravity(f), Reverse(f.efi_max)));
    let number = |x: Option<u64>| x.map_or("-".to_owned(), group);
    let rows: Vec<Vec<String>> = order
        .iter()
        .take(most)
        .map(|f| {
            let rung = match f.steps {
                Some(steps) => format!("{steps} steps"),
                None => f.rung.to_owned(),
            };
            let counts =
                [f.switches, f.entries, f.paths_moved].map(|x| number(x.map(|x| x as u64)));
            let mut row = vec![f.name.clone(), f.id.clone(), rung];
            row.extend(counts);
            row.push(number(f.efi_max));
            row
        })
        .collect();
    if !rows.is_empty() {
        text.push('\n');
        let heading =
            ["fault", "--fail", "tables", "switches", "entries", "paths moved", "EFI max"];
        text.push_str(&table::plain(&heading, &rows, &[3, 4, 5, 6], style));
    }
    table::more(&mut text, order.len(), most, "faults");
    text
}

/// A line for each fault.
fn csv(faults: &[FaultRow]) -> String {
    comma::table(
        faults,
        &[
            ("kind", &|f| f.kind.to_owned()),
            ("name", &|f| f.name.clone()),
            ("id", &|f| f.id.clone()),
            ("rung", &|f| f.rung.to_owned()),
            ("steps", &|f| comma::some(f.steps)),
            ("switches", &|f| comma::some(f.switches)),
            ("entries", &|f| comma::some(f.entries)),
            ("paths_moved", &|f| comma::some(f.paths_moved)),
            ("efi_max", &|f| comma::some(f.efi_max)),
        ],
    )
}
