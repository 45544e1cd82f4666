//! Pictures of sweeps: how engines bear failing cables.

use std::fmt::Write as _;

use darkfiber_study::{Stat, Summary};

use crate::svg::{escape, nice_axis};

/// One fabric's panels.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Name of the fabric, above its panels.
    pub title: &'a str,
    /// Its rows, in any order.
    pub rows: &'a [&'a Summary],
}

const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const PANEL: f64 = 150.0;
const GAP_X: f64 = 30.0;
/// Between the two panels of a fabric.
const GAP_Y: f64 = 40.0;
/// Below a fabric's panels, for the axis.
const BELOW: f64 = 66.0;
/// Width left of the logarithmic axis, for the fabric without faults.
const SLOT: f64 = 30.0;
/// Fabrics side by side.
const ACROSS: usize = 3;
const LEGEND_LINE: f64 = 20.0;
/// Colours that are told apart with any kind of sight (Okabe and Ito, "Color universal design", 2008).
const COLOURS: &[&str] =
    &["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1f2933", "#8c6d1f"];
/// Later engines are drawn over earlier ones; where they coincide, their gaps let these be seen.
const DASHES: &[&str] = &["", "7 3", "2.5 3", "9 3 2.5 3"];
/// An axis of ratios is logarithmic if they spread more than this.
const SPREAD: f64 = 6.0;

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

    let mut svg = String::new();
    let _ok = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"Inter, Helvetica, Arial, sans-serif\" \
         font-size=\"12\" fill=\"#1f2933\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"28\" font-size=\"17\" font-weight=\"600\">{title}</text>\n\
         <text x=\"{LEFT}\" y=\"48\" fill=\"#616e7c\">{subtitle}</text>\n",
        title = escape(title),
        subtitle = escape(subtitle)
    );
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

struct Legend {
    text: String,
    height: f64,
}

fn legend(engines: &[&str], rows: &[&Summary], width: f64) -> Legend {
    let mut text = String::new();
    let (mut x, mut y) = (LEFT, 72.0);
    let mut item = |mark: &dyn Fn(f64, f64) -> String, words: &str| {
        let wide = 40.0 + 6.3 * words.chars().count() as f64;
        if x > LEFT && x + wide > width {
            (x, y) = (LEFT, y + LEGEND_LINE);
        }
        let _ok = writeln!(
            text,
            "{}<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            mark(x, y),
            x + 24.0,
            y + 4.0,
            escape(words)
        );
        x += wide;
    };
    for (i, engine) in engines.iter().enumerate() {
        let mut of_engine = rows.iter().filter(|r| r.engine == *engine);
        let cyclic = of_engine.any(|r| r.deadlock_free < r.runs - r.refused);
        let words = if cyclic { format!("{engine} (can deadlock)") } else { (*engine).to_owned() };
        let mark = |x: f64, y: f64| {
            format!(
                "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" {}/>{}",
                x + 18.0,
                stroke(i),
                marker(x + 9.0, y, i, false)
            )
        };
        item(&mark, &words);
    }
    let grey = "#616e7c";
    let band = |x: f64, y: f64| {
        format!(
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"18\" height=\"10\" fill=\"{grey}\" \
             fill-opacity=\"0.22\"/>",
            y - 5.0
        )
    };
    item(&band, "from the least to the most of all runs");
    if rows.iter().any(|r| (1..r.runs).contains(&r.refused)) {
        let ring = |x: f64, y: f64| {
            format!(
                "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.4\" fill=\"#ffffff\" stroke=\"{grey}\" \
                 stroke-width=\"1.2\"/>",
                x + 9.0
            )
        };
        item(&ring, "some runs refused");
    }
    Legend { height: y - 72.0 + LEGEND_LINE, text }
}

fn colour(engine: usize) -> &'static str {
    COLOURS[engine % COLOURS.len()]
}

/// The attributes of an engine's line.
fn stroke(engine: usize) -> String {
    let dash = DASHES[engine % DASHES.len()];
    let dash =
        if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{dash}", colour(engine))
}

/// A point of an engine, the smaller the later the engine comes; hollow where it refused some runs.
fn marker(x: f64, y: f64, engine: usize, hollow: bool) -> String {
    let colour = colour(engine);
    let fill = if hollow { "#ffffff" } else { colour };
    let radius = (4.0 - 0.6 * engine as f64).max(1.6);
    format!(
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{fill}\" \
         stroke=\"{colour}\" stroke-width=\"1.2\"/>"
    )
}

/// Shares of failed cables: a slot for none, then logarithmic.
struct XAxis {
    /// Those that occur, rising.
    percents: Vec<f64>,
    width: f64,
}

impl XAxis {
    fn of<'a>(rows: impl Iterator<Item = &'a Summary>, width: f64) -> Self {
        let mut percents: Vec<f64> = rows.map(|r| r.percent).collect();
        percents.sort_by(f64::total_cmp);
        percents.dedup();
        Self { percents, width }
    }

    /// Distance from the left end of the panel.
    fn at(&self, percent: f64) -> f64 {
        if percent <= 0.0 {
            return SLOT / 2.0;
        }
        let low = self.percents.iter().copied().find(|&p| p > 0.0).unwrap_or(percent);
        let top = self.percents.last().copied().unwrap_or(percent);
        let share = if top > low { (percent / low).ln() / (top / low).ln() } else { 0.5 };
        SLOT + 10.0 + (self.width - SLOT - 20.0) * share
    }
}

/// An axis of values over `low..=top`.
struct YAxis {
    low: f64,
    top: f64,
    ticks: Vec<f64>,
    log: bool,
}

impl YAxis {
    fn of_ratios<'a>(rows: impl Iterator<Item = &'a Summary>) -> Self {
        let (mut low, mut top) = (1.0f64, 1.2f64);
        for stat in rows.filter_map(|r| r.efi_max_relative) {
            low = low.min(stat.min);
            top = top.max(stat.max);
        }
        if low > 0.0 && top / low > SPREAD {
            let decades = (low.log10().floor() as i32)..=(top.log10().ceil() as i32);
            let steps: &[f64] =
                if top / low < 30.0 { &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0] } else { &[1.0, 2.0, 5.0] };
            let all = decades.flat_map(|d| steps.iter().map(move |m| m * 10f64.powi(d)));
            let ticks = all.filter(|&t| t >= low * 0.999 && t <= top * 1.001).collect();
            return Self { low: low / 1.05, top: top * 1.05, ticks, log: true };
        }
        let (_, step) = nice_axis(top - low, 4);
        let low = (low / step + 1e-9).floor() * step;
        let top = (top / step - 1e-9).ceil() * step;
        Self { low, top, ticks: steps(low, top, step), log: false }
    }

    fn of_layers<'a>(rows: impl Iterator<Item = &'a Summary>) -> Self {
        let most = rows.filter_map(|r| r.layers).map(|s| s.max).fold(1.0, f64::max);
        let (_, step) = nice_axis(most, 4);
        let step = step.max(1.0).round();
        let top = (most / step).ceil() * step;
        Self { low: 0.0, top, ticks: steps(0.0, top, step), log: false }
    }

    /// Distance from the bottom of the panel.
    fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low) / self.low).ln() / (self.top / self.low).ln()
        } else {
            (value - self.low) / (self.top - self.low)
        };
        PANEL * share
    }
}

fn steps(low: f64, top: f64, step: f64) -> Vec<f64> {
    (0..=40).map(|i| low + f64::from(i) * step).take_while(|&t| t <= top + step / 1e6).collect()
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

    fn row(engine: &str, percent: f64, relative: Option<f64>) -> Summary {
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

    #[test]
    fn axes_hold_their_values() {
        let rows = [row("m", 1.0, Some(1.1)), row("m", 2.0, Some(1.3))];
        let y = YAxis::of_ratios(rows.iter());
        assert!(y.low <= 0.55 && y.top >= 2.6 && !y.log);
        let wide = [row("m", 1.0, Some(1.0)), row("m", 2.0, Some(40.0))];
        assert!(YAxis::of_ratios(wide.iter()).log);
        assert_eq!(YAxis::of_layers(rows.iter()).ticks, [0.0, 1.0, 2.0, 3.0, 4.0]);
    }
}
