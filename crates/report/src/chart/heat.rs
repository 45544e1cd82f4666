//! Tables whose cells are coloured by their values.

use std::fmt::Write as _;

use crate::canvas::{LEFT, escape, header};
use crate::shades::{Key, Ramp, bar, colour};

const TALL: f64 = 24.0;
/// Cells are as wide as the names above them need, within limits.
const WIDE: (f64, f64) = (58.0, 150.0);
/// Width of a character of these, and of titles.
const SMALL: f64 = 5.6;
const LARGE: f64 = 7.4;
/// More tables than this number are arranged two by two.
const ALONE: usize = 4;
const TOP: f64 = 128.0;
/// Between tables: the names of columns, two lines, and a title.
const BETWEEN: f64 = 84.0;
/// Width of a character of the names of rows.
const LETTER: f64 = 6.4;
/// Characters of the name of a row at most.
const LONGEST: usize = 48;

/// Tables with one scale of colours.
pub(crate) struct HeatMap {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) tables: Vec<HeatTable>,
    /// Meaning of the colours.
    pub(crate) key: HeatKey,
}

/// A table with coloured cells.
pub(crate) struct HeatTable {
    /// Text above the table.
    pub(crate) title: String,
    /// Text above the names of rows; may be empty.
    pub(crate) corner: String,
    /// Names of columns: a common name above neighbours that share it, and a separate one.
    pub(crate) columns: Vec<(String, String)>,
    /// Rows with a cell for each column.
    pub(crate) rows: Vec<(String, Vec<HeatCell>)>,
}

/// A cell of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeatCell {
    /// Its value; without, it has no colour.
    pub(crate) value: Option<f64>,
    /// Text of the cell.
    pub(crate) text: String,
    /// Tooltip of the cell; may be empty.
    pub(crate) hint: String,
}

/// Meaning of the colours: from the palest to the darkest.
pub(crate) struct HeatKey {
    /// The measured quantity.
    pub(crate) what: String,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) is_log: bool,
    /// Values that are marked, with their texts.
    pub(crate) marks: Vec<(f64, String)>,
}

impl HeatKey {
    /// The share of the scale that a value has.
    fn share(&self, value: f64) -> f64 {
        let Self { low, high, is_log, .. } = *self;
        let share = if high <= low {
            0.5
        } else if is_log {
            (value.max(low) / low).ln() / (high / low).ln()
        } else {
            (value - low) / (high - low)
        };
        share.clamp(0.0, 1.0)
    }
}

impl HeatMap {
    /// The picture as SVG.
    pub(crate) fn svg(&self) -> String {
        let tables = &self.tables;
        let longest = tables.iter().flat_map(|t| &t.rows).map(|row| row.0.chars().count()).max();
        let corners = tables.iter().map(|t| t.corner.chars().count()).max().unwrap_or(0);
        let names = LETTER * longest.unwrap_or(0).clamp(6, LONGEST).max(corners) as f64;
        let columns = tables.iter().map(|t| t.columns.len()).max().unwrap_or(0).max(4);
        let cell = tables.iter().map(width).fold(WIDE.0, f64::max);
        let titles = tables.iter().map(|t| LARGE * t.title.chars().count() as f64);
        let block = (names + columns as f64 * cell).max(titles.fold(0.0, f64::max)) + 30.0;
        let across = if tables.len() > ALONE { 2 } else { 1 };
        let wide = across as f64 * block;
        let most_rows = tables.iter().map(|t| t.rows.len()).max().unwrap_or(0) as f64;
        let each = most_rows * TALL + BETWEEN;
        let tall = tables.len().div_ceil(across) as f64 * each;
        let width = (LEFT + wide + 90.0).max(LEFT + 6.2 * self.subtitle.len() as f64);
        let mut svg = header(width, TOP + tall, &self.title, &self.subtitle);
        for (i, table) in tables.iter().enumerate() {
            let left = LEFT + (i % across) as f64 * block;
            let top = TOP + (i / across) as f64 * each;
            let _ok = writeln!(
                svg,
                "<text x=\"{left}\" y=\"{:.1}\" font-size=\"13.5\" font-weight=\"600\">{}</text>",
                top - 44.0,
                escape(&table.title)
            );
            self.table(&mut svg, table, (left + names, top), cell);
        }
        let side = (tall - BETWEEN).clamp(80.0, 220.0);
        let shares: Vec<f64> = self.key.marks.iter().map(|(at, _)| self.key.share(*at)).collect();
        let key = Key { what: &escape(&self.key.what), ramp: Ramp::Load, marks: &shares };
        bar(&mut svg, (LEFT + wide + 10.0, TOP), side, key, |share| {
            let mark =
                self.key.marks.iter().zip(&shares).find(|(_, s)| s.total_cmp(&share).is_eq());
            mark.map_or_else(String::new, |((_, text), _)| text.clone())
        });
        svg.push_str("</svg>\n");
        svg
    }

    fn table(&self, svg: &mut String, table: &HeatTable, (left, top): (f64, f64), wide: f64) {
        let mut above = |x: f64, y: f64, text: &str, room: f64| {
            let _ok = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"#616e7c\">\
                 <title>{}</title>{}</text>",
                escape(text),
                escape(&cut(text, room, SMALL))
            );
        };
        for (i, (group, name)) in table.columns.iter().enumerate() {
            let x = left + (i as f64 + 0.5) * wide;
            above(x, top - 6.0, name, wide);
            // The name once, over the middle of its columns.
            let alike = table.columns.iter().filter(|c| c.0 == *group).count() as f64;
            if i == 0 || table.columns[i - 1].0 != *group {
                above(x + (alike - 1.0) / 2.0 * wide, top - 22.0, group, alike * wide);
            }
        }
        let before = |svg: &mut String, y: f64, style: &str, text: &str| {
            let _ok = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\" {style}>{}</text>",
                left - 7.0,
                escape(&cut(text, LONGEST as f64, 1.0))
            );
        };
        if !table.corner.is_empty() {
            before(svg, top - 6.0, "font-size=\"10.5\" fill=\"#616e7c\"", &table.corner);
        }
        for (row, (name, cells)) in table.rows.iter().enumerate() {
            let y = top + row as f64 * TALL;
            before(svg, y + TALL / 2.0 + 4.0, "font-size=\"11\"", name);
            for (i, cell) in cells.iter().enumerate() {
                self.cell(svg, cell, (left + i as f64 * wide, y), wide);
            }
        }
    }

    fn cell(&self, svg: &mut String, cell: &HeatCell, (x, y): (f64, f64), wide: f64) {
        let share = cell.value.map(|value| self.key.share(value));
        let fill = share.map_or_else(|| "#f2f4f7".to_owned(), colour);
        let ink = if share.is_some_and(|s| s > 0.55) { "#ffffff" } else { "#1f2933" };
        let hint = match cell.hint.as_str() {
            "" => String::new(),
            hint => format!("<title>{}</title>", escape(hint)),
        };
        let _ok = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"{ink}\">{hint}{}</text>",
            wide - 1.0,
            TALL - 1.0,
            x + 0.5 * wide,
            y + TALL / 2.0 + 4.0,
            escape(&cell.text)
        );
    }
}

/// Required width of cells for the names above them.
fn width(table: &HeatTable) -> f64 {
    let wide = |(group, name): &(String, String)| {
        let alike = table.columns.iter().filter(|c| c.0 == *group).count().max(1);
        let letters =
            (group.chars().count() as f64 / alike as f64).max(name.chars().count() as f64);
        SMALL * letters + 8.0
    };
    table.columns.iter().map(wide).fold(WIDE.0, f64::max).min(WIDE.1)
}

/// A name shortened to this width.
fn cut(name: &str, room: f64, letter: f64) -> String {
    #[expect(clippy::cast_sign_loss, reason = "rooms are not below zero")]
    let most = (room / letter) as usize;
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most.saturating_sub(1)).chain(['\u{2026}']).collect()
}
