//! Bars over names, in groups, with whiskers.

use std::fmt::Write as _;

use super::colours::colour;
use super::groups::place;
use super::legend::whisker;
use super::panel::Panel;
use super::value::Mark;
use crate::number::short;

/// Bars that are this wide have their value above them.
const ROOM: f64 = 30.0;
/// Intervals that are lower than these pixels are not drawn.
const SEEN: f64 = 1.0;

/// The bars of a series; a missing value has a dash.
pub(super) fn bars(
    svg: &mut String,
    panel: &Panel<'_>,
    groups: usize,
    marks: &[Mark],
    (series, all): (usize, usize),
) {
    let base = panel.base;
    for mark in marks {
        let (middle, bar) = place(mark.x, groups, all, panel.size.0);
        let left = panel.left + middle + bar * (series as f64 - all as f64 / 2.0);
        let center = left + bar / 2.0;
        let Some(spread) = mark.y else {
            let _ok = writeln!(
                svg,
                "<text x=\"{center:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" \
                 fill=\"{}\">\u{2013}</text>",
                base - 3.0,
                colour(series)
            );
            continue;
        };
        let top = panel.y(spread.mean);
        let fill = if mark.hollow { "#ffffff" } else { colour(series) };
        let _ok = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\" \
             stroke=\"{}\"/>",
            left + 0.5,
            bar - 1.0,
            (base - top).max(0.5),
            colour(series)
        );
        let (upper, lower) = (panel.y(spread.high), panel.y(spread.low).min(base));
        let has_interval = lower - upper >= SEEN;
        if has_interval {
            let _ok = writeln!(svg, "{}", whisker(center, upper, lower));
        }
        if bar >= ROOM {
            let above = if has_interval { upper } else { top };
            let _ok = writeln!(
                svg,
                "<text x=\"{center:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10\" \
                 fill=\"#3e4c59\">{}</text>",
                above - 4.0,
                number(spread.mean)
            );
        }
    }
}

/// A value above a bar: whole numbers without decimals.
fn number(value: f64) -> String {
    #[expect(clippy::cast_sign_loss, reason = "a whole number above zero")]
    let whole = || crate::number::group(value as u64);
    if value >= 0.0 && value.fract() == 0.0 && value < 1e15 { whole() } else { short(value) }
}
