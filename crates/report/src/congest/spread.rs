//! Distribution of the times of victims, alone and with aggressors.

use std::fmt::Write as _;

use super::violin::{density, outline};
use crate::canvas::{LEFT, escape, header};
use crate::chart::colour;
use crate::quantity::seconds;

/// Times of a victim.
#[derive(Clone, Debug)]
pub struct Spread {
    /// The victim: those of one share an axis.
    pub victim: String,
    /// Name of the aggressor and of the machine.
    pub name: String,
    /// Index of the colour: equal for equal kinds.
    pub kind: usize,
    /// Seconds, in any order.
    pub times: Vec<f64>,
    /// Median, and the 95th and 99th percentiles.
    pub quantiles: [f64; 3],
}

const ROW: f64 = 26.0;
const NAMES: f64 = 250.0;
const WIDTH: f64 = 470.0;
const NUMBERS: f64 = 190.0;
const TOP: f64 = 108.0;
const BETWEEN: f64 = 56.0;

/// A violin for each, rows of one victim on one logarithmic axis, with marks at p50, p95 and p99.
pub fn spread(title: &str, all: &[Spread]) -> String {
    let mut victims: Vec<&str> = Vec::new();
    for s in all {
        if !victims.contains(&s.victim.as_str()) {
            victims.push(&s.victim);
        }
    }
    let height = TOP + all.len() as f64 * ROW + victims.len() as f64 * BETWEEN;
    let width = LEFT + NAMES + WIDTH + NUMBERS;
    let subtitle = "logarithmic; marks are p50, p95 and p99, as are the numbers";
    let mut svg = header(width, height, title, subtitle);
    let (left, mut top) = (LEFT + NAMES, TOP);
    for victim in victims {
        let rows: Vec<&Spread> =
            all.iter().filter(|s| s.victim == victim && !s.times.is_empty()).collect();
        let times = || rows.iter().flat_map(|s| &s.times).copied().filter(|t| *t > 0.0);
        let least = times().fold(f64::INFINITY, f64::min).min(1e9) / 1.15;
        let most = times().fold(0.0, f64::max).max(least) * 1.15;
        let (low, high) = (least.ln(), most.ln());
        let x = |t: f64| left + WIDTH * (t.max(least).ln() - low) / (high - low);
        let _ok = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"13.5\" font-weight=\"600\">{}</text>",
            top - 10.0,
            escape(victim)
        );
        let bottom = top + rows.len() as f64 * ROW;
        for power in -9..=2 {
            for m in [1.0, 2.0, 5.0] {
                let tick = m * 10f64.powi(power);
                // Between distant ticks only the powers of ten fit.
                if tick < least || tick > most || (high - low > 6.0 && m > 1.0) {
                    continue;
                }
                let _ok = writeln!(
                    svg,
                    "<line x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"#e4e7eb\"/>\
                     <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"#7b8794\">{}</text>",
                    bottom + 14.0,
                    seconds(tick),
                    x = x(tick)
                );
            }
        }
        for (i, s) in rows.iter().enumerate() {
            let middle = top + (i as f64 + 0.5) * ROW;
            let half = ROW * 0.42;
            let at = |along: f64| left + WIDTH * along;
            let shape = outline(
                &density(&s.times, low, high),
                |along, dense| (at(along), middle - half * dense),
                |along, dense| (at(along), middle + half * dense),
            );
            let fill = colour(s.kind);
            let _ok = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" fill=\"#616e7c\">{}</text>\
                 <path d=\"{shape}\" fill=\"{fill}\" fill-opacity=\"0.4\" stroke=\"{fill}\"/>",
                left - 8.0,
                middle + 3.5,
                escape(&s.name)
            );
            for (q, stroke) in s.quantiles.into_iter().zip(["#1f2933", "#c8321f", "#7a0c2e"]) {
                let _ok = writeln!(
                    svg,
                    "<path d=\"M{:.1} {:.1}v{:.1}\" stroke=\"{stroke}\" stroke-width=\"1.6\"/>",
                    x(q),
                    middle - half,
                    2.0 * half
                );
            }
            let numbers = s.quantiles.map(seconds).join("  ");
            let _ok = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10.5\">{numbers}</text>",
                left + WIDTH + 10.0,
                middle + 3.5
            );
        }
        top = bottom + BETWEEN;
    }
    svg.push_str("</svg>\n");
    svg
}
