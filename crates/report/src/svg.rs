//! Pictures: how evenly engines load the channels.

use std::fmt::Write as _;

use darkfiber_analysis::{Bins, Efi, Histogram, dark_fiber_percent};

use crate::number::{group, mean, percent};

/// One engine's panel.
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    /// Engine name.
    pub title: &'a str,
    /// Routes that cross each directed switch-to-switch channel.
    pub load: &'a [u64],
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 74.0;
const PANEL: f64 = 112.0;
const GAP: f64 = 34.0;
const BOTTOM: f64 = 62.0;
const BINS: usize = 60;
/// Width of the slot left of the axis for channels without load.
const DARK_SLOT: f64 = 30.0;

/// The channel loads of several engines as histograms on common axes, one panel an engine: maximum and
/// mean are marked, channels without load (dark fiber) stand apart at the left.
pub fn load_histograms(title: &str, subtitle: &str, panels: &[Panel<'_>]) -> String {
    let top = panels.iter().flat_map(|p| p.load).copied().max().unwrap_or(0).max(1);
    let histograms: Vec<Histogram> =
        panels.iter().map(|p| Histogram::of(p.load, top, BINS, Bins::Linear)).collect();
    let peak = histograms
        .iter()
        .zip(panels)
        .flat_map(|(h, p)| {
            h.count.iter().chain([&h.dark]).map(|&n| share(n, p.load.len())).collect::<Vec<_>>()
        })
        .fold(1.0f64, f64::max);
    let (y_top, y_step) = nice_axis(peak, 3);
    let (x_top, x_step) = nice_axis(top as f64, 6);
    let height = TOP + panels.len() as f64 * (PANEL + GAP) - GAP + BOTTOM;

    let mut svg = String::new();
    let _ok = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" font-family=\"Inter, Helvetica, Arial, sans-serif\" \
         font-size=\"12\" fill=\"#1f2933\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"28\" font-size=\"17\" font-weight=\"600\">{title}</text>\n\
         <text x=\"{LEFT}\" y=\"48\" fill=\"#616e7c\">{subtitle}</text>\n",
        title = escape(title),
        subtitle = escape(subtitle)
    );
    let x0 = LEFT + DARK_SLOT;
    let x_of = |load: f64| x0 + (WIDTH - RIGHT - x0) * load / x_top;
    for (i, (panel, histogram)) in panels.iter().zip(&histograms).enumerate() {
        let base = TOP + i as f64 * (PANEL + GAP) + PANEL;
        let axes = Axes { base, x0, x_top, x_step, y_top, y_step, last: i + 1 == panels.len() };
        axes.draw(&mut svg, &x_of);
        draw_panel(&mut svg, panel, histogram, &axes, &x_of);
    }
    let _ok = write!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#616e7c\">routes that cross a \
         channel (edge forwarding index)</text>\n</svg>\n",
        f64::midpoint(x0, WIDTH - RIGHT),
        height - 16.0
    );
    svg
}

struct Axes {
    base: f64,
    x0: f64,
    x_top: f64,
    x_step: f64,
    y_top: f64,
    y_step: f64,
    last: bool,
}

impl Axes {
    fn y_of(&self, share: f64) -> f64 {
        self.base - PANEL * share / self.y_top
    }

    fn draw(&self, svg: &mut String, x_of: &impl Fn(f64) -> f64) {
        let mut y = 0.0;
        while y <= self.y_top * 1.001 {
            let at = self.y_of(y);
            let colour = if y == 0.0 { "#9aa5b1" } else { "#e4e7eb" };
            let _ok = writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" \
                 fill=\"#7b8794\">{} %</text>",
                WIDTH - RIGHT,
                LEFT - 7.0,
                at + 3.5,
                tick(y)
            );
            y += self.y_step;
        }
        let mut x = 0.0;
        while x <= self.x_top * 1.001 {
            let at = x_of(x);
            let _ok = writeln!(
                svg,
                "<line x1=\"{at:.1}\" y1=\"{:.1}\" x2=\"{at:.1}\" y2=\"{:.1}\" stroke=\"#9aa5b1\"/>",
                self.base,
                self.base + 4.0
            );
            if self.last && x > 0.0 {
                let _ok = writeln!(
                    svg,
                    "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" \
                     fill=\"#7b8794\">{}</text>",
                    self.base + 17.0,
                    tick(x)
                );
            }
            x += self.x_step;
        }
        if self.last {
            let _ok = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" \
                 fill=\"#7b8794\">none</text>",
                f64::midpoint(LEFT, self.x0),
                self.base + 17.0
            );
        }
    }
}

fn draw_panel(
    svg: &mut String,
    panel: &Panel<'_>,
    histogram: &Histogram,
    axes: &Axes,
    x_of: &impl Fn(f64) -> f64,
) {
    let (channels, base) = (panel.load.len(), axes.base);
    let mut bar = |x1: f64, x2: f64, n: u64, colour: &str| {
        if n > 0 {
            // Even a single channel must be seen.
            let tall = (base - axes.y_of(share(n, channels))).max(1.2);
            let _ok = writeln!(
                svg,
                "<rect x=\"{x1:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{tall:.2}\" \
                 fill=\"{colour}\"/>",
                base - tall,
                (x2 - x1).max(0.6)
            );
        }
    };
    bar(LEFT + 7.0, axes.x0 - 9.0, histogram.dark, "#52606d");
    let mut lower = 0;
    for (&upper, &n) in histogram.upper.iter().zip(&histogram.count) {
        bar(x_of(lower as f64) + 0.5, x_of(upper as f64) - 0.5, n, "#4c8dd6");
        lower = upper;
    }
    let efi = Efi::of(panel.load);
    let top = base - PANEL;
    for (value, colour, dash) in
        [(efi.mean, "#1b4f8f", " stroke-dasharray=\"4 3\""), (efi.max as f64, "#c8321f", "")]
    {
        let x = x_of(value);
        let _ok = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{base:.1}\" stroke=\"{colour}\" \
             stroke-width=\"1.5\"{dash}/>"
        );
    }
    let _ok = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"13.5\" font-weight=\"600\">{}</text>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\"><tspan fill=\"#c8321f\" \
         font-weight=\"600\">max {}</tspan><tspan dx=\"10\" fill=\"#1b4f8f\" font-weight=\"600\">mean \
         {}</tspan><tspan dx=\"10\" fill=\"#52606d\">dark {}</tspan></text>",
        top - 7.0,
        escape(panel.title),
        WIDTH - RIGHT,
        top - 7.0,
        group(efi.max),
        mean(efi.mean),
        percent(dark_fiber_percent(panel.load))
    );
}

/// Share of channels in percent.
fn share(n: u64, of: usize) -> f64 {
    if of == 0 { 0.0 } else { 100.0 * n as f64 / of as f64 }
}

/// The end and the step of an axis over `0..=top` with about `steps` steps of 1, 2, 2.5 or 5 times a
/// power of ten.
fn nice_axis(top: f64, steps: u32) -> (f64, f64) {
    let raw = top / f64::from(steps);
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|&s| s >= raw * 0.999)
        .unwrap_or(raw);
    ((top / step * 0.999).ceil() * step, step)
}

fn tick(x: f64) -> String {
    if x.fract() == 0.0 { group(x as u64) } else { format!("{x}") }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(nice_axis(100.0, 5), (100.0, 20.0));
        assert_eq!(nice_axis(7.0, 3), (7.5, 2.5));
        assert_eq!(nice_axis(18_400.0, 6), (20_000.0, 5000.0));
    }

    #[test]
    fn names_are_escaped_and_every_panel_is_there() {
        let svg = load_histograms(
            "a<b",
            "&",
            &[Panel { title: "minhop", load: &[0, 1, 5] }, Panel { title: "nothing", load: &[] }],
        );
        assert!(svg.contains("a&lt;b") && svg.contains("minhop") && svg.contains("nothing"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(svg.matches("<svg").count(), 1);
    }
}
