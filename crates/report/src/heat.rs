//! Pictures of patterns: channels by load, and where the load is.

use std::fmt::Write as _;

use crate::canvas::{LEFT, escape, fitted, header, nice_axis};
use crate::number::{group, percent};
use crate::shades::{Key, Ramp, SHADES, Squares, bar, colour, marks};

/// The panel of one engine.
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    /// Name of the engine.
    pub title: &'a str,
    /// Channels by load, from 0.
    pub by_load: &'a [u64],
    /// Mean flows of each channel.
    pub heat: &'a [f64],
}

/// The counted quantity, for the axes.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Text below the bars.
    pub load: &'static str,
    /// Difference between neighbouring bars.
    pub step: usize,
    /// Above the scale of colours.
    pub heat: &'static str,
}

/// Flows of a pattern.
pub const FLOWS: Unit = Unit { load: "flows on a channel", step: 1, heat: "mean flows" };

/// Ends of the channels: the place of each end's switch in the order of the map.
#[derive(Clone, Debug)]
pub struct Map {
    /// (tail, head) of every channel.
    pub ends: Vec<(u32, u32)>,
    /// The number of switches.
    pub switches: usize,
    /// Names of switches, in the order of the map; empty if they have none.
    pub names: Vec<String>,
    /// Description of the order of switches, for the axes.
    pub order: String,
}

const CELLS: usize = 96;
const SIDE: f64 = 288.0;
const HISTOGRAM: f64 = 330.0;
const GAP: f64 = 74.0;
const TOP: f64 = 104.0;
const BELOW: f64 = 92.0;

/// For each engine the shares of channels by load (bars, logarithmic), and a map whose rows are the switches
/// that channels leave, whose columns those that they enter; a cell has the largest mean load of the channels
/// in it. All panels have the same axes and colours.
pub fn loads_and_maps(
    title: &str,
    subtitle: &str,
    map: &Map,
    panels: &[Panel<'_>],
    unit: Unit,
) -> String {
    let width = LEFT + HISTOGRAM + GAP + SIDE + 96.0;
    let height = TOP + panels.len() as f64 * (SIDE + BELOW);
    let most = panels.iter().map(|p| p.by_load.len()).max().unwrap_or(1).max(2);
    let hottest =
        panels.iter().flat_map(|p| p.heat).copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    // The range of colours ends at a round number.
    let (hottest, step) = nice_axis(hottest, 4);
    let mut svg = header(width, height, title, subtitle);
    for (i, panel) in panels.iter().enumerate() {
        let top = TOP + i as f64 * (SIDE + BELOW);
        let _ok = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"13.5\" font-weight=\"600\">{}</text>",
            top - 16.0,
            escape(panel.title)
        );
        histogram(&mut svg, panel, (most, unit), top);
        let left = LEFT + HISTOGRAM + GAP;
        draw_map(&mut svg, panel, map, (left, top), hottest);
        scale(&mut svg, (left + SIDE + 14.0, top), (hottest, step), unit.heat);
    }
    svg.push_str("</svg>\n");
    svg
}

fn histogram(svg: &mut String, panel: &Panel<'_>, (most, unit): (usize, Unit), top: f64) {
    let base = top + SIDE;
    let all: u64 = panel.by_load.iter().sum();
    // The axis ends below the share of one channel.
    let decades = (all.max(2) as f64).log10().ceil();
    let y = |share: f64| base - SIDE * (1.0 + share.log10() / decades);
    #[expect(clippy::cast_possible_truncation, reason = "at most 20")]
    for power in -(decades as i32)..=0 {
        let share = 10f64.powi(power);
        let at = y(share);
        let label = match power {
            ..-4 => format!("1e{power}"),
            _ => format!("{share}"),
        };
        let _ok = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"#e4e7eb\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" \
             fill=\"#7b8794\">{label}</text>",
            LEFT + HISTOGRAM,
            LEFT - 7.0,
            at + 3.5
        );
    }
    let slot = HISTOGRAM / most as f64;
    for (load, &n) in panel.by_load.iter().enumerate().filter(|(_, n)| **n > 0) {
        let at = y(n as f64 / all as f64);
        let fill = if load == 0 { "#52606d" } else { "#4c8dd6" };
        let _ok = writeln!(
            svg,
            "<rect x=\"{:.2}\" y=\"{at:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{fill}\"/>",
            LEFT + slot * load as f64 + slot * 0.08,
            slot * 0.84,
            (base - at).max(0.8)
        );
    }
    let (_, step) = nice_axis(most as f64, 8);
    #[expect(clippy::cast_sign_loss, reason = "a step is positive")]
    let step = (step.ceil() as usize).max(1);
    for load in (0..most).step_by(step) {
        let _ok = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" \
             fill=\"#7b8794\">{}</text>",
            LEFT + slot * (load as f64 + 0.5),
            base + 15.0,
            load * unit.step
        );
    }
    let idle = panel.by_load.first().copied().unwrap_or(0) as f64 / (all as f64).max(1.0);
    let _ok = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#616e7c\">{}; share of \
         channels (idle: {})</text>",
        LEFT + HISTOGRAM / 2.0,
        base + 34.0,
        unit.load,
        percent(100.0 * idle)
    );
}

fn draw_map(svg: &mut String, panel: &Panel<'_>, map: &Map, (left, top): (f64, f64), hottest: f64) {
    let cells = map.switches.clamp(1, CELLS);
    let place = |s: u32| s as usize * cells / map.switches.max(1);
    let mut hot = vec![-1.0f64; cells * cells];
    for (&(tail, head), &heat) in map.ends.iter().zip(panel.heat) {
        let cell = &mut hot[place(tail) * cells + place(head)];
        *cell = cell.max(heat);
    }
    let side = SIDE / cells as f64;
    let _ok = writeln!(
        svg,
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"#f2f4f7\"/>"
    );
    let mut squares = Squares::default();
    for (i, &heat) in hot.iter().enumerate().filter(|(_, h)| **h >= 0.0) {
        // No flow at all is not just little.
        let share = (heat / hottest * SHADES).round() / SHADES;
        let fill = if heat == 0.0 { "#8aa4bf".to_owned() } else { colour(share) };
        let (x, y) = (left + (i % cells) as f64 * side, top + (i / cells) as f64 * side);
        squares.add(fill, (x, y), (side, side));
    }
    squares.draw(svg);
    let _ok = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#616e7c\">to switch, {}</text>\
         <text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" fill=\"#616e7c\" \
         transform=\"rotate(-90 {x:.1} {y:.1})\">from switch</text>",
        left + SIDE / 2.0,
        top + SIDE + 17.0,
        escape(&map.order),
        x = left - 10.0,
        y = top + SIDE / 2.0
    );
    let names = hottest_names(panel, map);
    if !names.is_empty() {
        let (size, text) = fitted(&names, SIDE + 90.0, 11.0, 0.52);
        let _ok = writeln!(
            svg,
            "<text x=\"{left:.1}\" y=\"{:.1}\" font-size=\"{size}\" fill=\"#616e7c\"><title>{}</title>{}</text>",
            top + SIDE + 36.0,
            escape(&names),
            escape(&text)
        );
    }
}

fn scale(svg: &mut String, at: (f64, f64), (hottest, step): (f64, f64), what: &str) {
    let key = Key { what, ramp: Ramp::Load, marks: &marks(hottest, step) };
    bar(svg, at, SIDE, key, |share| {
        let value = hottest * share;
        if value >= 1000.0 {
            #[expect(clippy::cast_sign_loss, reason = "loads are positive")]
            group(value.round() as u64)
        } else {
            // Rounded numbers are short.
            format!("{}", (value * 1e6).round() / 1e6)
        }
    });
}

/// The hottest channels of a map by name, as many as fit in a line.
fn hottest_names(panel: &Panel<'_>, map: &Map) -> String {
    const NAMED: usize = 3;
    let mut order: Vec<usize> = (0..panel.heat.len()).filter(|&c| panel.heat[c] > 0.0).collect();
    order.sort_by(|&a, &b| panel.heat[b].total_cmp(&panel.heat[a]).then(a.cmp(&b)));
    let name = |s: u32| map.names.get(s as usize).map_or("", String::as_str);
    let named = order.iter().take(NAMED).filter_map(|&c| map.ends.get(c));
    let all: Vec<String> =
        named.map(|&(a, b)| format!("{} \u{2192} {}", name(a), name(b))).collect();
    if map.names.is_empty() || all.is_empty() {
        return String::new();
    }
    format!("hottest: {}", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_is_there_and_no_number_is_broken() {
        let map = Map {
            ends: vec![(0, 1), (1, 0)],
            switches: 2,
            names: vec!["<a>".to_owned(), "b".to_owned()],
            order: "by <id>".to_owned(),
        };
        let panel = |title, by_load, heat| Panel { title, by_load, heat };
        let svg = loads_and_maps(
            "t",
            "s",
            &map,
            &[panel("a&b", &[5, 0, 3], &[0.0, 2.0]), panel("none", &[], &[0.0, 0.0])],
            FLOWS,
        );
        assert!(svg.contains("a&amp;b") && svg.contains("by &lt;id&gt;") && svg.contains("none"));
        assert!(svg.contains("hottest: b \u{2192} &lt;a&gt;"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
