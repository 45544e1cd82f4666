//! Tables whose cells are coloured by gain.

use std::fmt::Write as _;

use darkfiber_study::reproduce::Gains;

use crate::canvas::{LEFT, escape, header};

const CELL: (f64, f64) = (58.0, 22.0);
const NAMES: f64 = 96.0;
const TOP: f64 = 100.0;
const BETWEEN: f64 = 66.0;
/// Tables side by side.
const ACROSS: usize = 2;

/// One table after the other: blue is better than the baseline, red worse.
pub(super) fn tables(title: &str, subtitle: &str, tables: &[Gains]) -> String {
    let columns = tables.iter().map(|t| t.columns.len()).max().unwrap_or(1);
    let rows = tables.iter().map(|t| t.rows.len()).max().unwrap_or(1);
    let across = tables.len().clamp(1, ACROSS);
    // Names of combinations need more room than sizes.
    let long = tables.iter().flat_map(|t| &t.columns).map(String::len).max().unwrap_or(0) > 8;
    let cell = if long { (124.0, CELL.1) } else { CELL };
    let width = NAMES + columns as f64 * cell.0 + 40.0;
    let height = rows as f64 * cell.1 + BETWEEN;
    let down = tables.len().div_ceil(ACROSS) as f64;
    let mut svg = header(LEFT + across as f64 * width, TOP + down * height, title, subtitle);
    for (i, table) in tables.iter().enumerate() {
        let left = LEFT + (i % ACROSS) as f64 * width;
        let top = TOP + (i / ACROSS) as f64 * height;
        let _ok = writeln!(
            svg,
            "<text x=\"{left:.1}\" y=\"{:.1}\" font-size=\"13.5\" font-weight=\"600\">{}</text>",
            top - 22.0,
            escape(&table.title)
        );
        draw(&mut svg, table, (left + NAMES, top), cell);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, table: &Gains, (left, top): (f64, f64), (width, height): (f64, f64)) {
    for (c, name) in table.columns.iter().enumerate() {
        let _ok = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"#616e7c\">{}</text>",
            left + (c as f64 + 0.5) * width,
            top - 5.0,
            escape(name)
        );
    }
    for (r, name) in table.rows.iter().enumerate() {
        let y = top + r as f64 * height;
        let _ok = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" fill=\"#616e7c\">{}</text>",
            left - 6.0,
            y + height / 2.0 + 4.0,
            escape(name)
        );
        for c in 0..table.columns.len() {
            let i = r * table.columns.len() + c;
            let gain = table.cells.get(i).copied().flatten();
            let text = match (table.texts.get(i), gain) {
                (Some(text), _) => text.clone(),
                (None, Some(gain)) => format!("{gain:+.2}"),
                (None, None) => String::new(),
            };
            let fill = gain.map_or_else(|| "#f2f4f7".to_owned(), colour);
            let ink = if gain.is_some_and(|g| g.abs() > 0.45) { "#ffffff" } else { "#1f2933" };
            let _ok = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"{ink}\">{}</text>",
                left + c as f64 * width,
                width - 1.0,
                height - 1.0,
                left + (c as f64 + 0.5) * width,
                y + height / 2.0 + 4.0,
                escape(&text)
            );
        }
    }
}

/// Red below zero, blue above, full at 0.8 either way.
fn colour(gain: f64) -> String {
    let share = (gain.abs() / 0.8).min(1.0);
    let full = if gain < 0.0 { [178.0, 34.0, 52.0] } else { [33.0, 90.0, 168.0] };
    let mix = |to: f64| (246.0 + (to - 246.0) * share).round();
    format!("rgb({},{},{})", mix(full[0]), mix(full[1]), mix(full[2]))
}
