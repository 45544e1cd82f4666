//! Congestion impacts as coloured tables, one for each mechanism and allocation.

use super::{CellRow, CongestResult, Sheet};
use crate::chart::{HeatCell, HeatKey, HeatMap, HeatTable};

/// Minimum upper end of the colour scale, so that small impacts do not look bad.
const LEAST: f64 = 10.0;
/// Congestion impacts that are marked next to the scale.
const ROUND: [f64; 11] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 10_000.0];

/// Congestion impacts, rows victims, columns aggressors by their share of the hosts, on one logarithmic scale of colours.
pub fn heat(r: &CongestResult<'_>) -> String {
    let table = |m| {
        let sheet = Sheet::of(r, m);
        let cell = |cell: Option<&CellRow>| HeatCell {
            value: cell.and_then(|c| c.impact).map(|c| c.max(1.0)),
            text: cell.map_or_else(String::new, CellRow::short),
            hint: String::new(),
        };
        HeatTable {
            title: format!(
                "congestion {}, routing {}, {} allocation",
                m.congestion, m.routing, m.allocation
            ),
            corner: String::new(),
            columns: (sheet.columns.iter())
                .map(|(name, victim, aggressor)| (name.clone(), format!("{victim}/{aggressor}")))
                .collect(),
            rows: (sheet.rows.iter())
                .map(|(name, cells)| (name.clone(), cells.iter().copied().map(cell).collect()))
                .collect(),
        }
    };
    let most = r.cells.iter().filter_map(|c| c.impact).fold(LEAST, f64::max);
    let marks = ROUND.into_iter().filter(|c| *c <= most).map(|c| (c, super::number(c))).collect();
    HeatMap {
        title: format!("Congestion impact, {}", r.fabric.name),
        subtitle: format!(
            "C = time beside the aggressor / time alone; switches as {}, {} hosts; * at the limit, > at least, - not run",
            r.switches, r.nodes
        ),
        tables: r.mechanisms.iter().map(table).collect(),
        key: HeatKey { what: "C".to_owned(), low: 1.0, high: most, is_log: true, marks },
    }
    .svg()
}
