//! Samples as boxes with whiskers.

use std::fmt::Write as _;

use darkfiber_study::reproduce::Group;

use super::frame::Axis;
use crate::canvas::{LEFT, escape, header, nice_axis};
use crate::chart::colour;

const HEIGHT: f64 = 300.0;
const TOP: f64 = 108.0;
const BOX: f64 = 12.0;
const GAP: f64 = 26.0;

/// Minimum, quartiles and maximum of each, in adjacent groups, on a common axis; a single sample is a line.
pub(super) fn boxes(title: &str, subtitle: &str, unit: &str, groups: &[Group]) -> String {
    let names: Vec<&str> =
        groups.first().map_or(Vec::new(), |g| g.boxes.iter().map(|b| b.0.as_str()).collect());
    let entry = |name: &str| 34.0 + 6.6 * name.len() as f64;
    let legend: f64 = names.iter().map(|n| entry(n)).sum();
    let narrow: f64 = groups.iter().map(|g| g.boxes.len() as f64 * BOX + GAP).sum::<f64>();
    let width = narrow.max(legend).max(560.0);
    // Few boxes are as wide as their legend.
    let wider = (width / narrow.max(1.0)).min(3.0);
    let (box_width, gap) = (BOX * wider, GAP * wider);
    let all = || groups.iter().flat_map(|g| &g.boxes).flat_map(|b| b.1.iter().copied());
    let most = all().fold(0.0, f64::max);
    let least = all().fold(0.0, f64::min);
    let (_, step) = nice_axis((most - least).max(f64::MIN_POSITIVE), 6);
    let (bottom, top) = ((least / step).floor() * step, (most / step).ceil() * step);
    let y = |v: f64| TOP + HEIGHT * (1.0 - (v - bottom) / (top - bottom).max(f64::MIN_POSITIVE));
    let mut svg = header(LEFT + width + 40.0, TOP + HEIGHT + 56.0, title, subtitle);
    let mut x = LEFT;
    for (i, name) in names.iter().enumerate() {
        let _ok = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"62\" width=\"10\" height=\"10\" fill=\"{}\"/>\
             <text x=\"{:.1}\" y=\"71\" font-size=\"11\">{}</text>",
            colour(i),
            x + 14.0,
            escape(name)
        );
        x += entry(name);
    }
    let (ticks, unit) = Axis::between(bottom, top, step).labelled(unit);
    for (at, value) in ticks {
        let stroke = if at.abs() < step / 2.0 { "#9aa5b1" } else { "#e4e7eb" };
        let _ok = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{stroke}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" fill=\"#7b8794\">{value}</text>",
            LEFT + width,
            LEFT - 7.0,
            y(at) + 3.5,
            y = y(at)
        );
    }
    let _ok = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"10.5\" fill=\"#7b8794\">{}</text>",
        TOP - 10.0,
        escape(&unit)
    );
    let mut left = LEFT + gap / 2.0;
    for group in groups {
        for (i, (_, samples)) in group.boxes.iter().enumerate() {
            draw(&mut svg, samples, (left + i as f64 * box_width, box_width), colour(i), &y);
        }
        let wide = group.boxes.len() as f64 * box_width;
        let _ok = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"#616e7c\">{}</text>",
            left + wide / 2.0,
            TOP + HEIGHT + 18.0,
            escape(&group.name)
        );
        left += wide + gap;
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(
    svg: &mut String,
    samples: &[f64],
    (x, wide): (f64, f64),
    fill: &str,
    y: &impl Fn(f64) -> f64,
) {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return };
    // Linear between samples.
    #[expect(clippy::cast_sign_loss, reason = "shares are not below zero")]
    let quantile = |share: f64| {
        let place = share * last as f64;
        let i = place as usize;
        sorted[i] + (sorted[(i + 1).min(last)] - sorted[i]) * (place - i as f64)
    };
    let [min, q1, median, q3, max] = [0.0, 0.25, 0.5, 0.75, 1.0].map(quantile).map(y);
    let middle = x + (wide - 3.0) / 2.0;
    let _ok = writeln!(
        svg,
        "<path d=\"M{middle:.1} {min:.1}V{max:.1}\" stroke=\"{fill}\"/>\
         <rect x=\"{x:.1}\" y=\"{q3:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\" fill-opacity=\"0.45\" stroke=\"{fill}\"/>\
         <path d=\"M{x:.1} {median:.1}h{:.1}\" stroke=\"{fill}\" stroke-width=\"2\"/>",
        wide - 3.0,
        (q1 - q3).max(0.5),
        wide - 3.0
    );
}
