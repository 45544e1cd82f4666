//! Pictures of sweeps: how engines bear failing cables.

mod axes;
mod legend;

use std::fmt::Write as _;

use darkfiber_study::{Stat, Summary};

use crate::canvas::{LEFT, escape, header};
use axes::{PANEL, XAxis, YAxis};
pub(crate) use legend::colour;
use legend::{legend, marker, stroke};

/// One fabric's panels.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Name of the fabric, above its panels.
    pub title: &'a str,
    /// Its rows, in any order.
    pub rows: &'a [&'a Summary],
}

const RIGHT: f64 = 24.0;
const GAP_X: f64 = 30.0;
/// Between the two panels of a fabric.
const GAP_Y: f64 = 40.0;
/// Below a fabric's panels, for the axis.
const BELOW: f64 = 66.0;
/// Fabrics side by side.
const ACROSS: usize = 3;
/// Two rows of panels, a column for each fabric, on common axes: the largest EFI as a multiple of that
/// without faults, and virtual layers; by the share of failed cables. A line joins the means of an
/// engine, a band spans its runs.
pub fn sweep(title: &str, subtitle: &str, engines: &[&str], columns: &[Column<'_>]) -> String {
    let across = columns.len().clamp(1, ACROSS);
    let panel_width = match across {
        1 => 620.0,
        2 => 360.0,
        _ => 280.0,
    };
    let width = LEFT + across as f64 * (panel_width + GAP_X) - GAP_X + RIGHT;
    let rows = || columns.iter().flat_map(|c| c.rows.iter().copied());
    let legend = legend(engines, &rows().collect::<Vec<_>>(), width);
    let top = 62.0 + legend.height + 34.0;
    let block = 2.0 * PANEL + GAP_Y + BELOW + 14.0;
    let height = top + columns.len().div_ceil(ACROSS) as f64 * block;
    let x = XAxis::of(rows(), panel_width);
    let ratio = YAxis::of_ratios(rows());
    let layers = YAxis::of_layers(rows());

    let mut svg = header(width, height, title, subtitle);
    svg.push_str(&legend.text);
    for (i, column) in columns.iter().enumerate() {
        let left = LEFT + (i % ACROSS) as f64 * (panel_width + GAP_X);
        let first = i % ACROSS == 0;
        let y = top + (i / ACROSS) as f64 * block;
        let _ok = writeln!(
            svg,
            "<text x=\"{left:.1}\" y=\"{:.1}\" font-size=\"13.5\" font-weight=\"600\">{}</text>",
            y - 10.0,
            escape(&shortened(column.title, panel_width))
        );
        let efi = Panel {
            left,
            base: y + PANEL,
            x: &x,
            y: &ratio,
            label: "EFI max, relative",
            first,
            pick: |s| s.efi_max_relative,
            apart: 0.0,
        };
        efi.draw(&mut svg, engines, column.rows, false);
        let lanes = Panel {
            base: y + 2.0 * PANEL + GAP_Y,
            y: &layers,
            label: "virtual layers",
            pick: |s| s.layers,
            // Engines with equal numbers of layers would hide each other.
            apart: 2.0,
            ..efi
        };
        lanes.draw(&mut svg, engines, column.rows, true);
    }
    svg.push_str("</svg>\n");
    svg
}

/// A title that fits above a panel.
fn shortened(title: &str, width: f64) -> String {
    let most = (1..200).take_while(|&n| f64::from(n) * 7.6 < width).count();
    if title.chars().count() <= most {
        return title.to_owned();
    }
    title.chars().take(most.saturating_sub(3)).chain("...".chars()).collect()
}

#[derive(Clone, Copy)]
struct Panel<'a> {
    left: f64,
    base: f64,
    x: &'a XAxis,
    y: &'a YAxis,
    label: &'a str,
    /// Whether it has the labels of the vertical axis.
    first: bool,
    pick: fn(&Summary) -> Option<Stat>,
    /// Pixels that engines are drawn apart.
    apart: f64,
}

impl Panel<'_> {
    fn draw(&self, svg: &mut String, engines: &[&str], rows: &[&Summary], last: bool) {
        self.grid(svg, last);
        for (i, engine) in engines.iter().enumerate() {
            let mut of_engine: Vec<&Summary> =
                rows.iter().copied().filter(|r| r.engine == *engine).collect();
            of_engine.sort_by(|a, b| a.percent.total_cmp(&b.percent));
            let shift = self.apart * (i as f64 - (engines.len() - 1) as f64 / 2.0);
            self.series(svg, &of_engine, i, shift);
        }
        let none = |engine: &&&str| {
            let mut of_engine = rows.iter().filter(|r| r.engine == **engine).peekable();
            of_engine.peek().is_some() && of_engine.all(|r| r.refused == r.runs)
        };
        let refused: Vec<&str> = engines.iter().filter(none).copied().collect();
        if !last && !refused.is_empty() {
            let _ok = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10.5\" fill=\"#7b8794\">refused: {}</text>",
                self.left,
                self.base + 20.0,
                escape(&refused.join(", "))
            );
        }
    }

    fn grid(&self, svg: &mut String, last: bool) {
        let Self { left, base, .. } = *self;
        let right = left + self.x.width;
        let _ok = writeln!(
            svg,
            "<line x1=\"{left:.1}\" y1=\"{base:.1}\" x2=\"{right:.1}\" y2=\"{base:.1}\" \
             stroke=\"#9aa5b1\"/>"
        );
        for &tick in &self.y.ticks {
            let y = base - self.y.at(tick);
            // No change, or one layer: what everything is compared with.
            let stroke = if (tick - 1.0).abs() < 1e-9 { "#9aa5b1" } else { "#e4e7eb" };
            let _ok = writeln!(
                svg,
                "<line x1=\"{left:.1}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\" \
                 stroke=\"{stroke}\"/>"
            );
            if self.first {
                let text = (tick * 1000.0).round() / 1000.0;
                let _ok = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" \
                     fill=\"#7b8794\">{text}</text>",
                    left - 7.0,
                    y + 3.5
                );
            }
        }
        if self.first {
            let (x, y) = (left - 44.0, base - PANEL / 2.0);
            let _ok = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" fill=\"#616e7c\" \
                 transform=\"rotate(-90 {x:.1} {y:.1})\">{}</text>",
                self.label
            );
        }
        let mut label_ends = f64::NEG_INFINITY;
        for &percent in &self.x.percents {
            let x = left + self.x.at(percent);
            let _ok = writeln!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{base:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" \
                 stroke=\"#9aa5b1\"/>",
                base + 4.0
            );
            let text = percent.to_string();
            let half = 3.4 * text.len() as f64;
            if last && x - half > label_ends + 4.0 {
                label_ends = x + half;
                let _ok = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" \
                     fill=\"#7b8794\">{text}</text>",
                    base + 17.0
                );
            }
        }
        if last {
            let _ok = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#616e7c\">failed \
                 cables, % (logarithmic)</text>",
                f64::midpoint(left, right),
                base + 36.0
            );
        }
    }

    /// The band and the line of one engine, broken where it refused all runs; no line leaves the slot
    /// of the fabric without faults, as that is not on the axis.
    fn series(&self, svg: &mut String, rows: &[&Summary], engine: usize, shift: f64) {
        let x = |row: &Summary| self.left + self.x.at(row.percent);
        let y = |value: f64| self.base - self.y.at(value) - shift;
        let mut stretches: Vec<Vec<(f64, Stat)>> = vec![Vec::new()];
        for row in rows.iter().filter(|r| r.percent > 0.0) {
            match ((self.pick)(row), stretches.last_mut()) {
                (Some(stat), Some(open)) => open.push((x(row), stat)),
                _ => stretches.push(Vec::new()),
            }
        }
        for points in stretches.iter().filter(|points| points.len() > 1) {
            let path = |pick: fn(&Stat) -> f64, (x, stat): &(f64, Stat)| {
                format!("{x:.1},{:.1} ", y(pick(stat)))
            };
            let upper: String = points.iter().map(|p| path(|s| s.max, p)).collect();
            let lower: String = points.iter().rev().map(|p| path(|s| s.min, p)).collect();
            let line: String = points.iter().map(|p| path(|s| s.mean, p)).collect();
            let _ok = writeln!(
                svg,
                "<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.14\"/>\n\
                 <polyline points=\"{}\" {}/>",
                format!("{upper}{lower}").trim_end(),
                colour(engine),
                line.trim_end(),
                stroke(engine)
            );
        }
        for row in rows {
            if let Some(stat) = (self.pick)(row) {
                let mark = marker(x(row), y(stat.mean), engine, row.refused > 0);
                let _ok = writeln!(svg, "{mark}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn row(engine: &str, percent: f64, relative: Option<f64>) -> Summary {
        let stat = |x: f64| Some(Stat { mean: x, min: x / 2.0, max: x * 2.0 });
        Summary {
            fabric: "f".to_owned(),
            engine: engine.to_owned(),
            percent,
            failed: 1,
            runs: 3,
            refused: if relative.is_none() { 3 } else { 0 },
            reason: None,
            deadlock_free: 0,
            lost: stat(0.0),
            layers: relative.and(stat(2.0)),
            efi_max: stat(9.0),
            efi_max_relative: relative.and_then(stat),
            hops_mean: stat(2.0),
            seconds: stat(0.1),
        }
    }

    #[test]
    fn every_fabric_and_engine_is_there() {
        let rows = [
            row("minhop", 0.0, Some(1.0)),
            row("minhop", 1.0, Some(1.5)),
            row("minhop", 10.0, Some(30.0)),
            row("a<b", 1.0, None),
        ];
        let rows: Vec<&Summary> = rows.iter().collect();
        let column = |title| Column { title, rows: &rows };
        let columns = [column("one & all"), column("two"), column("three"), column("four")];
        let svg = sweep("t", "s", &["minhop", "a<b"], &columns);
        for text in
            ["one &amp; all", ">four<", "a&lt;b", "minhop (can deadlock)", "refused: a&lt;b"]
        {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        // Two panels a fabric have a line of minhop, and none of the engine that refused.
        assert_eq!(svg.matches("<polyline").count(), 8);
    }

    #[test]
    fn nothing_is_a_picture_too() {
        let svg = sweep("t", "s", &["minhop"], &[Column { title: "x", rows: &[] }]);
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }
}
