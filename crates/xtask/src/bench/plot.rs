//! The scaling plot: a log-log panel for each kind of work, drawn as SVG.

use std::fmt::Write as _;

use super::growth::{Line, exponent, lines};
use super::results::Results;
use super::rows::{Plot, Rows};
use super::text::figure;

const WIDE: f64 = 400.0;
const HIGH: f64 = 300.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 70.0;
const ACROSS: f64 = 120.0;
const DOWN: f64 = 90.0;
const COLORS: [&str; 7] =
    ["#0072b2", "#d1495b", "#009e73", "#b07d00", "#7b4fa3", "#4d4d4d", "#0f8b8d"];

/// A logarithmic axis over whole decades.
struct Axis {
    first: f64,
    decades: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = values
            .filter(|v| *v > 0.0)
            .map(f64::log10)
            .fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        let first = low.floor();
        Self { first, decades: (high.ceil() - first).max(1.0), from, to }
    }

    fn place(&self, value: f64) -> f64 {
        self.from + (value.log10() - self.first) / self.decades * (self.to - self.from)
    }

    fn marks(&self) -> impl Iterator<Item = f64> {
        let (first, count) = (self.first as i32, self.decades as i32);
        (0..=count).map(move |i| 10f64.powi(first + i))
    }
}

/// The picture of all panels that have points.
pub(crate) fn picture(rows: &Rows, results: &Results) -> String {
    let panels: Vec<(&Plot, Vec<Line>)> = rows
        .plots
        .iter()
        .map(|plot| (plot, lines(plot, rows, results)))
        .filter(|(_, lines)| lines.iter().any(|line| !line.ours.is_empty()))
        .collect();
    let height = TOP + panels.len().div_ceil(2) as f64 * (HIGH + DOWN);
    let width = LEFT + 2.0 * (WIDE + ACROSS) - 40.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"system-ui, sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let title = "Growth with size: darkfiber (solid) and its peers (dashed), with exponents";
    text(&mut out, LEFT, 28.0, "start", 16, "#1f2933", title);
    for (i, (plot, lines)) in panels.iter().enumerate() {
        let left = LEFT + (i % 2) as f64 * (WIDE + ACROSS);
        panel(&mut out, left, TOP + (i / 2) as f64 * (HIGH + DOWN), plot, lines);
    }
    out + "</svg>\n"
}

fn panel(out: &mut String, left: f64, top: f64, plot: &Plot, lines: &[Line]) {
    let (right, bottom) = (left + WIDE, top + HIGH);
    let points = || lines.iter().flat_map(|line| line.ours.iter().chain(&line.theirs));
    let x = Axis::new(points().map(|p| p.0), left, right);
    let y = Axis::new(points().map(|p| p.1), bottom, top);
    text(out, left, top - 10.0, "start", 13, "#1f2933", &plot.title);
    for value in x.marks() {
        let at = x.place(value);
        stroke(out, &[(at, top), (at, bottom)], "#e4e7eb", "");
        let label = figure(value, "");
        text(out, at, bottom + 16.0, "middle", 11, "#616e7c", label.trim_end());
    }
    for value in y.marks() {
        let at = y.place(value);
        stroke(out, &[(left, at), (right, at)], "#e4e7eb", "");
        text(out, left - 6.0, at + 4.0, "end", 11, "#616e7c", &figure(value, "s"));
    }
    text(out, f64::midpoint(left, right), bottom + 34.0, "middle", 11, "#1f2933", &plot.x);
    // Lines rise to the right, so that the corner below them is free.
    let mut row = bottom - 8.0 - 15.0 * lines.len().saturating_sub(1) as f64;
    for (line, color) in lines.iter().zip(COLORS.iter().cycle()) {
        let mut label = line.name.replace('`', "");
        for (points, dash) in [(&line.ours, ""), (&line.theirs, " stroke-dasharray=\"5 4\"")] {
            let places: Vec<(f64, f64)> =
                points.iter().map(|p| (x.place(p.0), y.place(p.1))).collect();
            if places.is_empty() {
                continue;
            }
            stroke(out, &places, color, dash);
            for (a, b) in places {
                let _infallible =
                    writeln!(out, "<circle cx=\"{a:.1}\" cy=\"{b:.1}\" r=\"3\" fill=\"{color}\"/>");
            }
            let peer = if dash.is_empty() { "" } else { line.peer.unwrap_or_default() };
            if let Some(e) = exponent(points, plot.from) {
                let _infallible = write!(label, ", {peer}{}{e:.2}", blank(peer));
            }
        }
        text(out, right - 8.0, row, "end", 11, color, &label);
        row += 15.0;
    }
}

const fn blank(name: &str) -> &str {
    if name.is_empty() { "" } else { " " }
}

fn stroke(out: &mut String, places: &[(f64, f64)], color: &str, dash: &str) {
    let points: Vec<String> = places.iter().map(|(a, b)| format!("{a:.1},{b:.1}")).collect();
    let _infallible = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\"{dash}/>",
        points.join(" ")
    );
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, size: u32, color: &str, label: &str) {
    let label = label.replace('&', "&amp;").replace('<', "&lt;");
    let _infallible = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" \
         fill=\"{color}\">{label}</text>"
    );
}
