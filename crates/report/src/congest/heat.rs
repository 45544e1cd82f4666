//! Congestion impacts as coloured tables, one for each mechanism and allocation.

use std::fmt::Write as _;

use super::{CongestResult, Sheet};
use crate::canvas::{LEFT, escape, header};
use crate::shades::{Key, Ramp, bar, colour};

const TALL: f64 = 24.0;
/// Cells are as wide as the names above them need, within limits.
const WIDE: (f64, f64) = (58.0, 150.0);
/// Width of a character of these, and of titles.
const SMALL: f64 = 5.6;
const LARGE: f64 = 7.4;
/// More tables than these stand two by two.
const ALONE: usize = 4;
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
    let cell = sheets.iter().map(cell).fold(WIDE.0, f64::max);
    let titles: Vec<String> = (r.mechanisms.iter())
        .map(|m| {
            format!(
                "congestion {}, routing {}, {} allocation",
                m.congestion, m.routing, m.allocation
            )
        })
        .collect();
    let title = titles.iter().map(|t| LARGE * t.chars().count() as f64).fold(0.0, f64::max);
    let block = (names + columns as f64 * cell).max(title) + 30.0;
    let across = if sheets.len() > ALONE { 2 } else { 1 };
    let wide = across as f64 * block;
    let most_rows = sheets.iter().map(|s| s.rows.len()).max().unwrap_or(0) as f64;
    let each = most_rows * TALL + BETWEEN;
    let tall = sheets.len().div_ceil(across) as f64 * each;
    let most = r.cells.iter().filter_map(|c| c.impact).fold(LEAST, f64::max);
    let title = format!("Congestion impact, {}", r.fabric.name);
    let subtitle = format!(
        "C = time beside the aggressor / time alone; switches as {}, {} hosts; * at the limit, > at least, - not run",
        r.switches, r.nodes
    );
    let width = (LEFT + wide + 90.0).max(LEFT + 6.2 * subtitle.len() as f64);
    let mut svg = header(width, TOP + tall, &title, &subtitle);
    for (i, (sheet, title)) in sheets.iter().zip(&titles).enumerate() {
        let left = LEFT + (i % across) as f64 * block;
        let top = TOP + (i / across) as f64 * each;
        let _ok = writeln!(
            svg,
            "<text x=\"{left}\" y=\"{:.1}\" font-size=\"13.5\" font-weight=\"600\">{}</text>",
            top - 44.0,
            escape(title)
        );
        table(&mut svg, sheet, (left + names, top), (cell, most));
    }
    let side = (tall - BETWEEN).clamp(80.0, 220.0);
    // Its colours go by powers: marks at round numbers among them.
    let round = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 10_000.0];
    let shares: Vec<f64> =
        round.into_iter().filter(|c| *c <= most).map(|c: f64| c.ln() / most.ln()).collect();
    let key = Key { what: "C", ramp: Ramp::Load, marks: &shares };
    bar(&mut svg, (LEFT + wide + 10.0, TOP), side, key, |share| super::number(most.powf(share)));
    svg.push_str("</svg>\n");
    svg
}

/// How wide cells must be for the names above them.
fn cell(sheet: &Sheet<'_>) -> f64 {
    let one = |name: &str| {
        let alike = sheet.columns.iter().filter(|c| c.0 == name).count().max(1);
        (SMALL * name.chars().count() as f64 + 8.0) / alike as f64
    };
    sheet.columns.iter().map(|c| one(&c.0)).fold(WIDE.0, f64::max).min(WIDE.1)
}

/// A name that has this much room.
fn cut(name: &str, room: f64) -> String {
    #[expect(clippy::cast_sign_loss, reason = "rooms are not below zero")]
    let most = (room / SMALL) as usize;
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most.saturating_sub(1)).chain(['\u{2026}']).collect()
}

fn table(svg: &mut String, sheet: &Sheet<'_>, (left, top): (f64, f64), (wide, most): (f64, f64)) {
    let mut above = |x: f64, y: f64, text: &str, room: f64| {
        let _ok = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"#616e7c\">\
             <title>{}</title>{}</text>",
            escape(text),
            escape(&cut(text, room))
        );
    };
    for (i, (name, victim, aggressor)) in sheet.columns.iter().enumerate() {
        let x = left + (i as f64 + 0.5) * wide;
        above(x, top - 6.0, &format!("{victim}/{aggressor}"), wide);
        // The name once, over the middle of its columns.
        let alike = sheet.columns.iter().filter(|c| c.0 == *name).count() as f64;
        if i == 0 || sheet.columns[i - 1].0 != *name {
            above(x + (alike - 1.0) / 2.0 * wide, top - 22.0, name, alike * wide);
        }
    }
    for (row, (name, cells)) in sheet.rows.iter().enumerate() {
        let y = top + row as f64 * TALL;
        let _ok = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"11\">{}</text>",
            left - 7.0,
            y + TALL / 2.0 + 4.0,
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
                left + i as f64 * wide,
                wide - 1.0,
                TALL - 1.0,
                left + (i as f64 + 0.5) * wide,
                y + TALL / 2.0 + 4.0,
                escape(&cell.map_or_else(String::new, super::CellRow::short))
            );
        }
    }
}
