//! Lines on common axes, each with its name.

use std::fmt::Write as _;

use super::frame::{Axis, Frame};
use crate::canvas::{LEFT, escape, header};
use crate::chart::colour;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 280.0;
const TOP: f64 = 110.0;

/// Lines on axes that begin at zero, or nearer to their points if all of them are far from it.
pub(crate) fn lines(
    (title, subtitle): (&str, &str),
    axes: (&str, &str),
    lines: &[(String, Vec<(f64, f64)>)],
) -> String {
    let all = || lines.iter().flat_map(|l| &l.1);
    let across = Axis::of(all().map(|p| p.0), 8);
    let up = Axis::of(all().map(|p| p.1), 6);
    let frame = Frame { across, up, top: TOP, size: (WIDTH, HEIGHT) };
    let mut svg = header(LEFT + WIDTH + 40.0, TOP + HEIGHT + 60.0, title, subtitle);
    frame.draw(&mut svg, axes);
    let mut left = LEFT;
    for (i, (name, points)) in lines.iter().enumerate() {
        let path: Vec<String> =
            points.iter().map(|p| format!("{:.1},{:.1}", frame.x(p.0), frame.y(p.1))).collect();
        let _ok = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
            path.join(" "),
            colour(i)
        );
        let _ok = writeln!(
            svg,
            "<line x1=\"{left:.0}\" y1=\"{y:.0}\" x2=\"{:.0}\" y2=\"{y:.0}\" stroke=\"{}\" stroke-width=\"3\"/>\n\
             <text x=\"{:.0}\" y=\"{:.0}\" font-size=\"12\">{}</text>",
            left + 18.0,
            colour(i),
            left + 24.0,
            TOP - 32.0,
            escape(name),
            y = TOP - 36.0,
        );
        left += 40.0 + 7.0 * name.chars().count() as f64;
    }
    svg.push_str("</svg>\n");
    svg
}
