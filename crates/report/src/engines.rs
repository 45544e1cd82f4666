//! Comparison of engines and tables: the output of `route` and `check`.

use std::fmt::Write as _;

use darkfiber_analysis::finding::FindingKind;
use serde::{Serialize, Serializer};

use crate::model::{FabricFacts, Provenance, RouteOutcome, Routed, one_or_all};
use crate::style::Style;
use crate::table;
use crate::{Report, comma, findings, number};

/// Findings that are shown to readers in addition to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Findings {
    /// All findings, and a line if there are none.
    All,
    /// Those that are the engine's fault; all findings if the full text is requested.
    Faults,
}

/// Rows of engines, or of existing tables, on one fabric.
#[derive(Clone, Copy, Debug)]
pub struct Engines<'a> {
    /// One row an engine, in the requested order.
    pub rows: &'a [RouteOutcome],
    /// Findings that are shown to readers.
    pub findings: Findings,
    /// Facts about the fabric.
    pub fabric: &'a FabricFacts,
    /// Provenance of the result.
    pub provenance: &'a Provenance,
}

impl Routed {
    /// Whether the engine itself is at fault for a finding of this kind: a cycle only if it promised that there is none.
    pub fn is_at_fault(&self, kind: FindingKind) -> bool {
        match kind {
            FindingKind::Unreachable | FindingKind::Loops => true,
            FindingKind::CreditLoop => self.promises_freedom,
            _ => false,
        }
    }
}

impl Routed {
    /// Whether a finding of this kind is shown of the routes that an engine made: what it is at fault for, and lanes that ports may
    /// not have, which no column tells.
    fn must_show(&self, kind: FindingKind) -> bool {
        kind == FindingKind::ManyLanes || self.is_at_fault(kind)
    }
}

impl Report for Engines<'_> {
    fn text(&self, style: Style) -> String {
        let table = table::engines(self.rows, style);
        let mut text = format!("{}\n\n{table}", table::headline(self.fabric));
        let routed = self.rows.iter().filter_map(|row| match row {
            RouteOutcome::Routed(row) => Some(row),
            RouteOutcome::Refused(_) => None,
        });
        if let Some((planes, pairs)) = routed.clone().find_map(|r| Some((r.planes?, r.pairs))) {
            let _infallible = writeln!(
                text,
                "\n{planes} planes that share hosts: {} pairs of terminals, each within one plane",
                number::group(pairs)
            );
        }
        for row in routed {
            let shown: Vec<_> = (row.findings.iter())
                .filter(|f| style.full || self.findings == Findings::All || row.must_show(f.kind))
                .cloned()
                .collect();
            let _infallible = match (self.findings, shown.as_slice()) {
                (Findings::Faults, []) => Ok(()),
                (Findings::All, []) => writeln!(text, "\nno findings"),
                (Findings::All, all) => write!(text, "\n{}", findings::text(all, style.full)),
                (Findings::Faults, faults) => {
                    write!(text, "\n{}\n{}", row.engine, findings::text(faults, style.full))
                }
            };
        }
        text
    }

    fn csv(&self) -> String {
        comma::engines(self.rows)
    }
}

impl Serialize for Engines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        one_or_all(self.rows, self.fabric, self.provenance, serializer)
    }
}
