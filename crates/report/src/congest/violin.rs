//! Distributions as violins, on logarithmic axes.

use std::fmt::Write as _;

use super::{CongestResult, number};
use crate::canvas::{LEFT, escape, header};
use crate::chart::colour;

const HEIGHT: f64 = 280.0;
const TOP: f64 = 96.0;
const SLOT: f64 = 118.0;
/// Half the width of a violin where it is widest.
const HALF: f64 = 40.0;
/// Steps of a density.
pub(super) const STEPS: usize = 64;

/// Density of values along `low..=high` of their logarithms, from 0 to 1 at the densest: counts of steps, smoothed.
pub(super) fn density(values: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut counts = vec![0.0f64; STEPS];
    let step = (high - low).max(f64::MIN_POSITIVE) / STEPS as f64;
    for v in values {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is out of range is put at its ends"
        )]
        let at = ((v.ln() - low) / step).clamp(0.0, STEPS as f64 - 1.0) as usize;
        counts[at] += 1.0;
    }
    for _ in 0..3 {
        let at = |i: usize| counts.get(i).copied().unwrap_or(0.0);
        counts = (0..STEPS)
            .map(|i| at(i.wrapping_sub(1)) / 4.0 + at(i) / 2.0 + at(i + 1) / 4.0)
            .collect();
    }
    let most = counts.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    counts.iter().map(|c| c / most).collect()
}

/// The congestion impacts of each mechanism and allocation over all victims, aggressors and splits; the largest is written, the median
/// marked.
pub fn violins(r: &CongestResult<'_>) -> String {
    let most = r.cells.iter().filter_map(|c| c.impact).fold(10.0, f64::max) * 1.1;
    let least = r.cells.iter().filter_map(|c| c.impact).fold(1.0, f64::min).max(0.1) / 1.1;
    let (low, high) = (least.ln(), most.ln());
    let y = |c: f64| TOP + HEIGHT * (1.0 - (c.ln() - low) / (high - low));
    let title = format!("Distribution of congestion impacts, {}", r.fabric.name);
    let subtitle = "of all victims, aggressors and splits; bars are medians, numbers the largest";
    let long = (10.0 * title.chars().count() as f64).max(6.6 * subtitle.len() as f64);
    let width = (LEFT + r.mechanisms.len() as f64 * SLOT + 40.0).max(LEFT + long);
    let mut svg = header(width, TOP + HEIGHT + 70.0, &title, subtitle);
    for tick in [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0] {
        if tick < least || tick > most {
            continue;
        }
        let stroke = if tick > 0.9 && tick < 1.1 { "#9aa5b1" } else { "#e4e7eb" };
        let _ok = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{stroke}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" fill=\"#7b8794\">{tick}</text>",
            width - 28.0,
            LEFT - 7.0,
            y(tick) + 3.5,
            y = y(tick)
        );
    }
    for (i, m) in r.mechanisms.iter().enumerate() {
        let of = |c: &&super::CellRow| {
            (&c.congestion, &c.routing, &c.allocation) == (&m.congestion, &m.routing, &m.allocation)
        };
        let values: Vec<f64> = r.cells.iter().filter(of).filter_map(|c| c.impact).collect();
        let x = LEFT + (i as f64 + 0.5) * SLOT;
        if let (Some(median), Some(max)) = (m.median, m.max) {
            let shape = outline(
                &density(&values, low, high),
                |along, dense| (x + HALF * dense, TOP + HEIGHT * (1.0 - along)),
                |along, dense| (x - HALF * dense, TOP + HEIGHT * (1.0 - along)),
            );
            let _ok = writeln!(
                svg,
                "<path d=\"{shape}\" fill=\"{c}\" fill-opacity=\"0.45\" stroke=\"{c}\"/>\
                 <path d=\"M{:.1} {:.1}h{:.1}\" stroke=\"#1f2933\" stroke-width=\"2\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\">{}</text>",
                x - HALF / 2.0,
                y(median),
                HALF,
                y(max) - 22.0,
                number(max),
                c = colour(i)
            );
        }
        for (line, text) in [&m.congestion, &m.routing, &m.allocation].into_iter().enumerate() {
            let _ok = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"#616e7c\">{}</text>",
                TOP + HEIGHT + 18.0 + 14.0 * line as f64,
                escape(text)
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// A closed path around a density: along one side and back along the other, where it is not empty.
pub(super) fn outline(
    dense: &[f64],
    one: impl Fn(f64, f64) -> (f64, f64),
    other: impl Fn(f64, f64) -> (f64, f64),
) -> String {
    let n = dense.len() as f64;
    let seen: Vec<(f64, f64)> = (dense.iter().enumerate())
        .filter(|(_, d)| **d > 0.002)
        .map(|(i, d)| ((i as f64 + 0.5) / n, *d))
        .collect();
    let there = seen.iter().map(|&(at, d)| one(at, d));
    let back = seen.iter().rev().map(|&(at, d)| other(at, d));
    let points: Vec<String> = there.chain(back).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    if points.is_empty() { String::new() } else { format!("M{}z", points.join("L")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_are_widest_where_most_are() {
        let values = [vec![1.0; 90], vec![10.0; 9], vec![100.0]].concat();
        let d = density(&values, 0.9f64.ln(), 110f64.ln());
        let at = |v: f64| {
            let share = (v.ln() - 0.9f64.ln()) / (110f64.ln() - 0.9f64.ln());
            #[expect(clippy::cast_sign_loss, reason = "inside the range")]
            let step = (share * STEPS as f64) as usize;
            d[step.min(STEPS - 1)]
        };
        assert!((at(1.0) - 1.0).abs() < 1e-12 && at(10.0) > 0.08 && at(10.0) < 0.12, "{d:?}");
        assert!(at(100.0) > 0.0 && at(3.0) < 1e-12);
        assert!(density(&[], 0.0, 1.0).iter().all(|x| *x < 1e-9));
    }
}
