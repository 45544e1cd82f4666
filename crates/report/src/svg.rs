//! Pictures: how evenly engines load the channels.

use std::fmt::Write as _;

use darkfiber_analysis::{Bins, Efi, Histogram, dark_fiber_percent};

use crate::canvas::{LEFT, escape, header, nice_axis};
use crate::number::{group, mean, percent};

/// The panel of one engine.
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    /// Name of the engine.
    pub title: &'a str,
    /// Routes that cross each directed switch-to-switch channel.
    pub load: &'a [u64],
}

const WIDTH: f64 = 760.0;
/// Right end of the axes.
const RIGHT_END: f64 = WIDTH - 28.0;
const TOP: f64 = 92.0;
const PANEL: f64 = 112.0;
const GAP: f64 = 34.0;
const BOTTOM: f64 = 62.0;
const BINS: usize = 60;
/// Width of the slot left of the axis for channels without load.
const DARK_SLOT: f64 = 30.0;
/// Left end of the axis of loads.
const X0: f64 = LEFT + DARK_SLOT;

/// A linear axis is hard to read if one engine's maximum is this many times another's.
const SPREAD: u64 = 6;

/// The channel loads of several engines as histograms on common axes, one panel an engine: maximum and mean are
/// marked, channels without load (dark fiber) are separate at the left. The axis of loads is linear, or logarithmic
/// where the engines differ a lot.
pub fn load_histograms(title: &str, subtitle: &str, panels: &[Panel<'_>]) -> String {
    let x = Scale::of(panels);
    let top = panels.iter().flat_map(|p| p.load).copied().max().unwrap_or(0).max(1);
    let bins = if matches!(x, Scale::Log { .. }) { Bins::Log } else { Bins::Linear };
    let histograms: Vec<Histogram> =
        panels.iter().map(|p| Histogram::of(p.load, top, BINS, bins)).collect();
    let peak = histograms
        .iter()
        .zip(panels)
        .flat_map(|(h, p)| h.count.iter().chain([&h.dark]).map(|&n| share(n, p.load.len())))
        .fold(1.0f64, f64::max);
    let (y_top, y_step) = nice_axis(peak, 3);
    let height = TOP + panels.len() as f64 * (PANEL + GAP) - GAP + BOTTOM;

    let mut svg = header(WIDTH, height, title, subtitle);
    for (i, (panel, histogram)) in panels.iter().zip(&histograms).enumerate() {
        let base = TOP + i as f64 * (PANEL + GAP) + PANEL;
        let axes = Axes { base, x, y_top, y_step, last: i + 1 == panels.len() };
        axes.draw(&mut svg);
        draw_panel(&mut svg, panel, histogram, &axes);
    }
    let _ok = write!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#616e7c\">routes that cross a \
         channel (edge forwarding index){}</text>\n</svg>\n",
        f64::midpoint(X0, RIGHT_END),
        height - 16.0,
        if bins == Bins::Log { ", logarithmic" } else { "" }
    );
    svg
}

/// The axis of loads.
#[derive(Clone, Copy)]
enum Scale {
    Linear { top: f64, step: f64 },
    Log { low: f64, top: f64 },
}

impl Scale {
    fn of(panels: &[Panel<'_>]) -> Self {
        let maxima = || panels.iter().filter_map(|p| p.load.iter().copied().max());
        let top = maxima().max().unwrap_or(0).max(1);
        if top <= SPREAD * maxima().min().unwrap_or(1).max(1) {
            let (top, step) = nice_axis(top as f64, 6);
            return Self::Linear { top, step };
        }
        let least = panels.iter().flat_map(|p| p.load).copied().filter(|&x| x > 0).min();
        Self::Log {
            low: 10f64.powf((least.unwrap_or(1) as f64).log10().floor()),
            top: top as f64 * 1.1,
        }
    }

    fn at(self, load: f64) -> f64 {
        let share = match self {
            Self::Linear { top, .. } => load / top,
            Self::Log { low, top } => (load.max(low) / low).ln() / (top / low).ln(),
        };
        X0 + (RIGHT_END - X0) * share
    }

    fn ticks(self) -> Vec<f64> {
        match self {
            Self::Linear { top, step } => {
                (1..=20).map(|i| f64::from(i) * step).take_while(|&x| x <= top * 1.001).collect()
            }
            Self::Log { low, top } => {
                let decades = (top / low).log10().ceil() as i32;
                // Labels must not touch.
                let steps: &[f64] = if decades > 2 { &[1.0, 3.0] } else { &[1.0, 2.0, 5.0] };
                (0..=decades)
                    .flat_map(|d| steps.iter().map(move |m| m * low * 10f64.powi(d)))
                    .filter(|&x| x <= top)
                    .collect()
            }
        }
    }
}

struct Axes {
    base: f64,
    x: Scale,
    y_top: f64,
    y_step: f64,
    last: bool,
}

impl Axes {
    fn y_of(&self, share: f64) -> f64 {
        self.base - PANEL * share / self.y_top
    }

    fn draw(&self, svg: &mut String) {
        let mut y = 0.0;
        while y <= self.y_top * 1.001 {
            let at = self.y_of(y);
            let colour = if y == 0.0 { "#9aa5b1" } else { "#e4e7eb" };
            let _ok = writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT_END}\" y2=\"{at:.1}\" \
                 stroke=\"{colour}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" \
                 font-size=\"10.5\" fill=\"#7b8794\">{} %</text>",
                LEFT - 7.0,
                at + 3.5,
                tick(y)
            );
            y += self.y_step;
        }
        let below = |x: f64, text: &str| {
            format!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" \
                 fill=\"#7b8794\">{text}</text>\n",
                self.base + 17.0
            )
        };
        for x in self.x.ticks() {
            let at = self.x.at(x);
            let _ok = writeln!(
                svg,
                "<line x1=\"{at:.1}\" y1=\"{:.1}\" x2=\"{at:.1}\" y2=\"{:.1}\" stroke=\"#9aa5b1\"/>",
                self.base,
                self.base + 4.0
            );
            // The label of the slot for unused channels is left of the first tick.
            if self.last && at > X0 + 12.0 {
                svg.push_str(&below(at, &tick(x)));
            }
        }
        if self.last {
            svg.push_str(&below(LEFT + DARK_SLOT / 2.0 - 1.0, "none"));
        }
    }
}

fn draw_panel(svg: &mut String, panel: &Panel<'_>, histogram: &Histogram, axes: &Axes) {
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
    bar(LEFT + 6.0, X0 - 8.0, histogram.dark, "#52606d");
    let mut lower = 0;
    for (&upper, &n) in histogram.upper.iter().zip(&histogram.count) {
        bar(axes.x.at(lower as f64) + 0.5, axes.x.at(upper as f64) - 0.5, n, "#4c8dd6");
        lower = upper;
    }
    let efi = Efi::of(panel.load);
    let top = base - PANEL;
    for (value, colour, dash) in
        [(efi.mean, "#1b4f8f", " stroke-dasharray=\"4 3\""), (efi.max as f64, "#c8321f", "")]
    {
        let x = axes.x.at(value);
        let _ok = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{base:.1}\" stroke=\"{colour}\" \
             stroke-width=\"1.5\"{dash}/>"
        );
    }
    let mut label = |x: f64, style: &str, text: String| {
        let _ok = writeln!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\" {style}>{text}</text>", top - 9.0);
    };
    label(LEFT, "font-size=\"13.5\" font-weight=\"600\"", escape(panel.title));
    // One text each at a fixed place: not every viewer lays out runs that end at a point.
    let end = |colour: &str| format!("text-anchor=\"end\" fill=\"{colour}\"");
    label(RIGHT_END - 220.0, &end("#c8321f"), format!("max {}", group(efi.max)));
    label(RIGHT_END - 115.0, &end("#1b4f8f"), format!("mean {}", mean(efi.mean)));
    let dark = percent(dark_fiber_percent(panel.load));
    label(RIGHT_END, &end("#52606d"), format!("dark fiber {dark}"));
}

/// Share of channels in percent.
fn share(n: u64, of: usize) -> f64 {
    if of == 0 { 0.0 } else { 100.0 * n as f64 / of as f64 }
}

fn tick(x: f64) -> String {
    if x >= 1000.0 { mean(x) } else { format!("{}", (x * 1e6).round() / 1e6) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
