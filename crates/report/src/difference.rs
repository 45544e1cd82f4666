//! The result of `darkfiber diff`: the differences between two cablings.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use darkfiber_analysis::Finding;
use darkfiber_analysis::difference::{Difference, DifferenceKind, Pairing};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::comma;
use crate::findings;
use crate::model::Provenance;
use crate::number::{counted, group};
use crate::style::Style;
use crate::table;

/// How the two were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedBy {
    /// Devices that are the same, port by port.
    Ports,
    /// Devices that are the same, by how many cables join them: ports are numbered differently or not known.
    Devices,
    /// Devices have nothing in common: what was found is recognised as the same structure, and compared with that.
    Structure,
}

/// One side of the comparison.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct DiffSide {
    /// The file, preset or generator spec.
    pub name: String,
    /// Switches, adapters and boards.
    pub devices: usize,
    /// Cables.
    pub cables: usize,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct DiffResult {
    /// The plan, or the dump from before.
    pub expected: DiffSide,
    /// The fabric as it is.
    pub found: DiffSide,
    /// How they were compared.
    pub by: ComparedBy,
    /// What it was recognised as, if compared by structure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structure: Option<String>,
    /// How devices were paired.
    pub paired: Pairing,
    /// Cables that are as expected.
    pub common_cables: usize,
    /// What differs: devices first, then cables, by name.
    pub differences: Vec<Difference>,
    /// What of the files could not be read.
    pub findings: Vec<Finding>,
    /// Where the result comes from.
    pub provenance: Provenance,
}

/// Name of a kind in tables, and its plural for sums.
fn words(kind: DifferenceKind) -> (&'static str, &'static str) {
    match kind {
        DifferenceKind::DeviceMissing => ("device missing", "devices missing"),
        DifferenceKind::DeviceExtra => ("device extra", "devices extra"),
        DifferenceKind::DeviceReplaced => ("device replaced", "devices replaced"),
        DifferenceKind::DeviceRenamed => ("device renamed", "devices renamed"),
        DifferenceKind::CablesSwapped => ("cables swapped", "pairs of cables swapped"),
        DifferenceKind::CableMoved => ("cable moved", "cables moved"),
        DifferenceKind::CableMissing => ("cable missing", "cables missing"),
        DifferenceKind::CableExtra => ("cable extra", "cables extra"),
        DifferenceKind::CableSpeed => ("cable speed", "cables of another speed"),
    }
}

impl DiffResult {
    /// Counts by kind, in a line.
    fn counts(&self) -> String {
        let mut counts: BTreeMap<DifferenceKind, usize> = BTreeMap::new();
        for difference in &self.differences {
            *counts.entry(difference.kind).or_default() += 1;
        }
        let parts: Vec<String> = counts
            .into_iter()
            .map(|(kind, n)| {
                let (one, many) = words(kind);
                let one = if kind == DifferenceKind::CablesSwapped {
                    "pair of cables swapped"
                } else {
                    one
                };
                counted(n, one, many)
            })
            .collect();
        parts.join(", ")
    }

    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        let text = |t: &Option<String>| t.clone().unwrap_or_else(|| "-".to_owned());
        self.differences.iter().map(move |d| {
            vec![
                d.at.clone(),
                words(d.kind).0.to_owned(),
                text(&d.expected),
                text(&d.found),
                d.action.clone(),
            ]
        })
    }
}

impl Report for DiffResult {
    fn text(&self, style: Style) -> String {
        let side = |s: &DiffSide| {
            let devices = counted(s.devices, "device", "devices");
            format!("{}: {devices}, {}", s.name, counted(s.cables, "cable", "cables"))
        };
        let mut text = format!("expected  {}\n", side(&self.expected));
        let _ok = writeln!(text, "found     {}", side(&self.found));
        let how = match (self.by, &self.structure) {
            (ComparedBy::Ports, _) => "port by port".to_owned(),
            (ComparedBy::Devices, _) => {
                "by the number of cables between devices, without port numbers".to_owned()
            }
            (ComparedBy::Structure, what) => {
                format!("by structure: {}", what.as_deref().unwrap_or_default())
            }
        };
        let _ok = writeln!(text, "compared  {how}");
        if self.by != ComparedBy::Structure {
            let p = &self.paired;
            let _ok = writeln!(
                text,
                "devices   {} by GUID, {} by name, {} by their cables",
                group(p.by_guid as u64),
                group(p.by_name as u64),
                group(p.by_cables as u64)
            );
        }
        let _ok = writeln!(text, "as is     {}", counted(self.common_cables, "cable", "cables"));
        text.push_str(&findings::text(&self.findings, false));
        if self.differences.is_empty() {
            let what =
                if self.findings.is_empty() { "Nothing differs" } else { "Nothing else differs" };
            let _ok = writeln!(text, "\n{what}.");
            return text;
        }
        let _ok = writeln!(text, "differ    {}\n", self.counts());
        let rows: Vec<Vec<String>> = self.rows().collect();
        let heading = ["at", "what", "expected", "found", "to do"];
        text.push_str(&table::plain(&heading, &rows, &[], style));
        text
    }

    // A line for each difference.
    fn csv(&self) -> String {
        let text = |t: &Option<String>| t.clone().unwrap_or_default();
        comma::table(
            &self.differences,
            &[
                ("kind", &|d| words(d.kind).0.replace(' ', "-")),
                ("at", &|d| d.at.clone()),
                ("expected", &|d| text(&d.expected)),
                ("found", &|d| text(&d.found)),
                ("action", &|d| d.action.clone()),
            ],
        )
    }
}
