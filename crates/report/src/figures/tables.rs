//! Tables whose cells are coloured by their values.

use std::fmt::Write as _;

use darkfiber_study::reproduce::Table;

use crate::canvas::{LEFT, escape, header};
use crate::shades;

const CELL: (f64, f64) = (58.0, 22.0);
const NAMES: f64 = 96.0;
const TOP: f64 = 100.0;
const BETWEEN: f64 = 66.0;
/// Number of tables in a row.
const ACROSS: usize = 2;

/// Meaning of the colours.
#[derive(Clone, Copy)]
pub(super) enum Scale {
    /// Blue is better than the baseline, red worse.
    Gains,
    /// The darker the slower, by orders of magnitude up to this.
    Impacts(f64),
}

impl Scale {
    /// A scale for impacts: at least an order of magnitude, so that small impacts do not look bad.
    pub(super) fn of_impacts(tables: &[Table]) -> Self {
        let all = tables.iter().flat_map(|t| t.cells.iter().flatten().copied());
        Self::Impacts(all.fold(10.0, f64::max))
    }

    fn text(self, number: f64) -> String {
        match self {
            Self::Gains => format!("{number:+.2}"),
            Self::Impacts(_) => crate::number::mean(number),
        }
    }

    /// Colours of a cell, and of its text.
    fn colours(self, number: f64) -> (String, &'static str) {
        let (fill, is_dark) = match self {
            Self::Gains => (gain(number), number.abs() > 0.45),
            Self::Impacts(most) => {
                let share = number.max(1.0).ln() / most.ln();
                (shades::colour(share), share > 0.55)
            }
        };
        (fill, if is_dark { "#ffffff" } else { "#1f2933" })
    }
}

/// One table after the other.
pub(super) fn tables(title: &str, subtitle: &str, scale: Scale, tables: &[Table]) -> String {
    let columns = tables.iter().map(|t| t.columns.len()).max().unwrap_or(1);
    let rows = tables.iter().map(|t| t.rows.len()).max().unwrap_or(1);
    let across = tables.len().clamp(1, ACROSS);
    // Names of combinations need more space than sizes.
    let long = tables.iter().flat_map(|t| &t.columns).map(String::len).max().unwrap_or(0) > 8;
    let cell = if long { (124.0, CELL.1) } else { CELL };
    let rows_long = tables.iter().flat_map(|t| &t.rows).map(|r| r.chars().count()).max();
    let names = NAMES.max(6.0 * rows_long.unwrap_or(0) as f64 + 12.0);
    let titles = tables.iter().map(|t| t.title.chars().count()).max().unwrap_or(0) as f64;
    let width = (7.4 * titles + 20.0).max(names + columns as f64 * cell.0 + 40.0);
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
        draw(&mut svg, table, scale, (left + names, top), cell);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(
    svg: &mut String,
    table: &Table,
    scale: Scale,
    (left, top): (f64, f64),
    (width, height): (f64, f64),
) {
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
            let number = table.cells.get(i).copied().flatten();
            let text = match (table.texts.get(i), number) {
                (Some(text), _) => text.clone(),
                (None, Some(number)) => scale.text(number),
                (None, None) => String::new(),
            };
            let (fill, ink) =
                number.map_or_else(|| ("#f2f4f7".to_owned(), "#1f2933"), |n| scale.colours(n));
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

/// Red below zero, blue above, saturated at 0.8 in either direction.
fn gain(gain: f64) -> String {
    let share = (gain.abs() / 0.8).min(1.0);
    let full = if gain < 0.0 { [178.0, 34.0, 52.0] } else { [33.0, 90.0, 168.0] };
    let mix = |to: f64| (246.0 + (to - 246.0) * share).round();
    format!("rgb({},{},{})", mix(full[0]), mix(full[1]), mix(full[2]))
}
