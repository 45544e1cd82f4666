//! Pictures of the bandwidth between ranks.

use std::fmt::Write as _;

use crate::canvas::{LEFT, escape, fitted, header, nice_axis};
use crate::quantity::rate;
use crate::shades::{Key, Ramp, Squares, bar, marks};

/// One panel: a square of numbers by sender and receiver.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    /// Text above the panel.
    pub title: &'a str,
    /// Text below the title.
    pub subtitle: String,
    /// The number of ranks.
    pub ranks: u32,
    /// By sender and receiver, in bytes a second; ranks that sent nothing to each other are left out.
    pub cells: Vec<((u32, u32), f64)>,
}

const SIDE: f64 = 300.0;
const GAP: f64 = 52.0;
const TOP: f64 = 112.0;
/// More cells in a row than this are drawn together, as their mean.
const CELLS: u32 = 150;
/// Number of panels in a row.
const ACROSS: usize = 3;

/// Bandwidth by sender (rows) and receiver (columns), panels next to each other, on a common colour scale that ends at a
/// round number: dark blue is fast. The reds of loads, where dark is bad, are different.
pub fn matrices(title: &str, subtitle: &str, panels: &[Matrix<'_>]) -> String {
    let across = panels.len().clamp(1, ACROSS);
    let down = panels.len().div_ceil(ACROSS).max(1);
    let width = LEFT + across as f64 * (SIDE + GAP) + 64.0;
    let height = TOP + down as f64 * (SIDE + GAP + 40.0);
    let most = panels.iter().flat_map(|p| &p.cells).map(|c| c.1).fold(0.0, f64::max);
    // Rates are printed in powers of 1024.
    let unit = 1024f64.powf((most.max(1.0).log2() / 10.0).floor());
    let (end, step) = nice_axis(most.max(f64::MIN_POSITIVE) / unit, 4);
    let (nothing, most) = (most <= 0.0, end * unit);
    let mut svg = header(width, height, title, subtitle);
    for (i, panel) in panels.iter().enumerate() {
        let left = LEFT + (i % ACROSS) as f64 * (SIDE + GAP);
        let top = TOP + (i / ACROSS) as f64 * (SIDE + GAP + 40.0);
        let (size, name) = fitted(panel.title, SIDE + GAP - 10.0, 13.5, 0.6);
        let _ok = writeln!(
            svg,
            "<text x=\"{left:.1}\" y=\"{:.1}\" font-size=\"{size}\" font-weight=\"600\">{}</text>\
             <text x=\"{left:.1}\" y=\"{:.1}\" font-size=\"11\" fill=\"#616e7c\">{}</text>",
            top - 26.0,
            escape(&name),
            top - 10.0,
            escape(&panel.subtitle)
        );
        draw(&mut svg, panel, (left, top), most);
    }
    let left = LEFT + across as f64 * (SIDE + GAP) - GAP + 16.0;
    if nothing {
        let _ok = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{:.1}\" fill=\"#616e7c\">nothing was sent: there is nothing to draw</text>",
            TOP + SIDE / 2.0
        );
    } else {
        let key = Key { what: "bandwidth", ramp: Ramp::Rate, marks: &marks(end, step) };
        bar(&mut svg, (left, TOP), SIDE, key, |share| {
            if share > 0.0 { rate(most * share) } else { "0".to_owned() }
        });
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, panel: &Matrix<'_>, (left, top): (f64, f64), most: f64) {
    let _ok = writeln!(
        svg,
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"#eef1f5\"/>"
    );
    let cells = panel.ranks.clamp(1, CELLS);
    let place = |r: u32| (u64::from(r) * u64::from(cells) / u64::from(panel.ranks.max(1))) as usize;
    let n = cells as usize;
    let mut sum = vec![(0.0f64, 0u32); n * n];
    for &((from, to), value) in &panel.cells {
        let cell = &mut sum[place(from) * n + place(to)];
        *cell = (cell.0 + value, cell.1 + 1);
    }
    let side = SIDE / f64::from(cells);
    let mut squares = Squares::default();
    for (i, &(sum, count)) in sum.iter().enumerate().filter(|(_, c)| c.1 > 0) {
        let at = (left + (i % n) as f64 * side, top + (i / n) as f64 * side);
        squares.shade(Ramp::Rate, sum / f64::from(count) / most, at, (side, side));
    }
    squares.draw(svg);
    let _ok = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#616e7c\">to rank, 0 to {}</text>\
         <text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#616e7c\" \
         transform=\"rotate(-90 {x:.1} {y:.1})\">from rank</text>",
        left + SIDE / 2.0,
        top + SIDE + 16.0,
        panel.ranks.saturating_sub(1),
        x = left - 8.0,
        y = top + SIDE / 2.0
    );
}
