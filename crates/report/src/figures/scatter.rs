//! Points and a line.

use std::fmt::Write as _;

use super::frame::{Axis, Frame};
use crate::canvas::{LEFT, header};
use crate::chart::colour;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 340.0;
const TOP: f64 = 90.0;

/// Points on axes that begin at zero, or nearer to the points if all of them are far from it.
pub(crate) fn scatter(
    (title, subtitle): (&str, &str),
    axes: (&str, &str),
    points: &[(f64, f64)],
    line: &[(f64, f64)],
) -> String {
    let all = || points.iter().chain(line);
    let across = Axis::of(all().map(|p| p.0), 8);
    let up = Axis::of(all().map(|p| p.1), 6);
    let frame = Frame { across, up, top: TOP, size: (WIDTH, HEIGHT) };
    let (x, y) = (|v| frame.x(v), |v| frame.y(v));
    let mut svg = header(LEFT + WIDTH + 40.0, TOP + HEIGHT + 60.0, title, subtitle);
    frame.draw(&mut svg, axes);
    let _ok = writeln!(svg, "<g fill=\"{}\" fill-opacity=\"0.35\">", colour(0));
    for p in points {
        let _ok = writeln!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2\"/>", x(p.0), y(p.1));
    }
    svg.push_str("</g>\n");
    let path: Vec<String> = line.iter().map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1))).collect();
    let _ok = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
        path.join(" "),
        colour(1)
    );
    svg.push_str("</svg>\n");
    svg
}
