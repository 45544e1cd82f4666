//! Lines over numbers, with bands around them.

use std::fmt::Write as _;

use super::colours::{colour, marker, stroke};
use super::legend::whisker;
use super::panel::Panel;
use super::scale::Scale;
use super::value::{Mark, Spread};

/// Lines with more points than these have no markers.
const DENSE: usize = 60;
/// Intervals that are lower than these pixels are not drawn.
const SEEN: f64 = 1.0;

/// Whether a line is so dense that it would hide markers.
pub(super) fn is_dense(marks: &[Mark]) -> bool {
    marks.len() > DENSE
}

/// The band and the line of a series, broken at missing values; no line leaves the slot next to a logarithmic axis.
pub(super) fn line(
    svg: &mut String,
    panel: &Panel<'_>,
    across: &Scale,
    marks: &[Mark],
    (series, shift): (usize, f64),
) {
    let is_dense = is_dense(marks);
    let x = |mark: &Mark| panel.left + across.at(mark.x, panel.size.0);
    let y = |value: f64| panel.y(value) - shift;
    let mut stretches: Vec<Vec<(f64, Spread)>> = vec![Vec::new()];
    for mark in marks.iter().filter(|mark| !across.is_beside(mark.x)) {
        match (mark.y, stretches.last_mut()) {
            (Some(spread), Some(open)) => open.push((x(mark), spread)),
            _ => stretches.push(Vec::new()),
        }
    }
    for points in stretches.iter().filter(|points| points.len() > 1) {
        let path = |pick: fn(&Spread) -> f64, (x, spread): &(f64, Spread)| {
            format!("{x:.1},{:.1} ", y(pick(spread)))
        };
        if points.iter().any(|(_, s)| (y(s.low) - y(s.high)).abs() >= SEEN) {
            // An interval may reach out of the frame, below zero for example.
            let inside = |pick: fn(&Spread) -> f64, (x, spread): &(f64, Spread)| {
                let edges = (panel.base - panel.size.1 - shift, panel.base - shift);
                format!("{x:.1},{:.1} ", y(pick(spread)).clamp(edges.0, edges.1))
            };
            let upper: String = points.iter().map(|p| inside(|s| s.high, p)).collect();
            let lower: String = points.iter().rev().map(|p| inside(|s| s.low, p)).collect();
            let _ok = writeln!(
                svg,
                "<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.14\"/>",
                format!("{upper}{lower}").trim_end(),
                colour(series)
            );
        }
        let line: String = points.iter().map(|p| path(|s| s.mean, p)).collect();
        let _ok = writeln!(
            svg,
            "<polyline points=\"{}\" {}/>",
            line.trim_end(),
            stroke(series, is_dense)
        );
    }
    if is_dense {
        return;
    }
    // Isolated points have no band.
    let alone = stretches.iter().filter(|points| points.len() == 1).flatten().copied();
    let beside = marks.iter().filter(|mark| across.is_beside(mark.x));
    let beside = beside.filter_map(|mark| mark.y.map(|spread| (x(mark), spread)));
    for (x, spread) in alone.chain(beside) {
        let (top, bottom) = (y(spread.high), y(spread.low));
        if bottom - top >= SEEN {
            let _ok = writeln!(svg, "{}", whisker(x, top, bottom));
        }
    }
    for mark in marks {
        if let Some(spread) = mark.y {
            let _ok = writeln!(svg, "{}", marker(x(mark), y(spread.mean), series, mark.hollow));
        }
    }
}
