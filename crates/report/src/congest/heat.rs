//! Congestion impacts as coloured tables, one for each mechanism and allocation.

use std::fmt::Write as _;

use super::{CongestResult, Sheet};
use crate::canvas::{LEFT, escape, header};
use crate::shades::{bar, colour};

const CELL: (f64, f64) = (58.0, 24.0);
const TOP: f64 = 128.0;
/// Between tables: the names of columns, two lines, and a title.
const BETWEEN: f64 = 84.0;
/// Width of a character of the names of rows.
const LETTER: f64 = 6.4;
/// The scale of colours reaches to this at least, so that nothing looks bad that is not.
const LEAST: f64 = 10.0;

/// Congestion impacts, rows victims, columns aggressors by their share of the hosts, on one logarithmic scale of colours.
pub fn heat(r: &CongestResult<'_>) -> String {
    let sheets: Vec<Sheet<'_>> = r.mechanisms.iter().map(|m| Sheet::of(r, m)).collect();
    let longest = sheets.iter().flat_map(|s| &s.rows).map(|row| row.0.chars().count()).max();
    let names = LETTER * longest.unwrap_or(0).max(6) as f64;
    let columns = sheets.iter().map(|s| s.columns.len()).max().unwrap_or(0).max(4);
    let wide = names + columns as f64 * CELL.0;
    let tall: f64 = sheets.iter().map(|s| s.rows.len() as f64 * CELL.1 + BETWEEN).sum();
    let most = r.cells.iter().filter_map(|c| c.impact).fold(LEAST, f64::max);
    let title = format!("Congestion impact, {}", r.fabric.name);
    let subtitle = format!(
        "C = time beside the aggressor / time alone; switches as {}, {} hosts; * at the limit, > at least, - not run",
        r.switches, r.nodes
    );
    let width = (LEFT + wide + 110.0).max(LEFT + 6.2 * subtitle.len() as f64);
    let mut svg = header(width, TOP + tall, &title, &subtitle);
    let mut top = TOP;
    for (m, sheet) in r.mechanisms.iter().zip(&sheets) {
        let _ok = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"13.5\" font-weight=\"600\">{}</text>",
            top - 44.0,
            escape(&format!(
                "congestion {}, routing {}, {} allocation",
                m.congestion, m.routing, m.allocation
            ))
        );
        table(&mut svg, sheet, (LEFT + names, top), most);
        top += sheet.rows.len() as f64 * CELL.1 + BETWEEN;
    }
    let side = (tall - BETWEEN).clamp(80.0, 220.0);
    bar(&mut svg, (LEFT + wide + 30.0, TOP), side, "C", |share| super::number(most.powf(share)));
    svg.push_str("</svg>\n");
    svg
}

fn table(svg: &mut String, sheet: &Sheet<'_>, (left, top): (f64, f64), most: f64) {
    let mut above = |x: f64, y: f64, text: &str| {
        let _ok = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"#616e7c\">{}</text>",
            escape(text)
        );
    };
    for (i, (name, victim, aggressor)) in sheet.columns.iter().enumerate() {
        let x = left + (i as f64 + 0.5) * CELL.0;
        above(x, top - 6.0, &format!("{victim}/{aggressor}"));
        // The name once, over the middle of its columns.
        let alike = sheet.columns.iter().filter(|c| c.0 == *name).count() as f64;
        if i == 0 || sheet.columns[i - 1].0 != *name {
            above(x + (alike - 1.0) / 2.0 * CELL.0, top - 22.0, name);
        }
    }
    for (row, (name, cells)) in sheet.rows.iter().enumerate() {
        let y = top + row as f64 * CELL.1;
        let _ok = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"11\">{}</text>",
            left - 7.0,
            y + CELL.1 / 2.0 + 4.0,
            escape(name)
        );
        for (i, cell) in cells.iter().enumerate() {
            let impact = cell.and_then(|c| c.impact);
            let share = impact.map(|c| c.max(1.0).ln() / most.ln());
            let fill = share.map_or_else(|| "#f2f4f7".to_owned(), colour);
            let ink = if share.is_some_and(|s| s > 0.55) { "#ffffff" } else { "#1f2933" };
            let _ok = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"{ink}\">{}</text>",
                left + i as f64 * CELL.0,
                CELL.0 - 1.0,
                CELL.1 - 1.0,
                left + (i as f64 + 0.5) * CELL.0,
                y + CELL.1 / 2.0 + 4.0,
                escape(&cell.map_or_else(String::new, super::CellRow::short))
            );
        }
    }
}
