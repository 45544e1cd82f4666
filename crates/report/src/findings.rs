//! Text form of findings.

use std::fmt::Write as _;

use darkfiber_analysis::finding::Places;
use darkfiber_analysis::{Finding, Severity};

/// Longest cycle that is shown completely by default.
const SHOWN: usize = 12;

/// All findings, each with its places and what to do; long lists are cut unless `full`.
pub fn text(findings: &[Finding], full: bool) -> String {
    let mut out = String::new();
    for f in findings {
        let word = match f.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let _infallible = writeln!(out, "{word}: {}", f.message);
        let lines = places(&f.places);
        let shown = if full { lines.len() } else { SHOWN };
        for line in lines.iter().take(shown) {
            let _infallible = writeln!(out, "    {line}");
        }
        if lines.len() > shown {
            let _infallible =
                writeln!(out, "    ... and {} more (-v shows all)", lines.len() - shown);
        }
        if !f.hint.is_empty() {
            let _infallible = writeln!(out, "    hint: {}", f.hint);
        }
    }
    out
}

fn places(places: &Places) -> Vec<String> {
    match places {
        // The message has the first one.
        Places::Pairs { examples, .. } => {
            examples.iter().skip(1).map(|e| format!("{} (at {})", e.pair, e.at)).collect()
        }
        Places::Cycle { cycle, .. } => aligned(
            cycle
                .iter()
                .map(|d| {
                    let lane = d.lane.map_or(String::new(), |lane| format!(", lane {lane}"));
                    (format!("{}{lane}", d.channel), format!("route {}", d.route))
                })
                .collect(),
        ),
        Places::Channels { channels } => aligned(
            channels
                .iter()
                .map(|c| {
                    (c.channel.to_string(), format!("{} routes", crate::number::group(c.load)))
                })
                .collect(),
        ),
        // The message names them.
        Places::Components { .. } | Places::Nodes { .. } => Vec::new(),
    }
}

fn aligned(rows: Vec<(String, String)>) -> Vec<String> {
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
    rows.into_iter().map(|(left, right)| format!("{left:<width$}   {right}")).collect()
}
