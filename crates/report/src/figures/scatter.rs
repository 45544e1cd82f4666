//! Points and a line.

use std::fmt::Write as _;

use crate::canvas::{LEFT, escape, header, nice_axis};
use crate::plot::colour;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 340.0;
const TOP: f64 = 90.0;

/// Points on axes that begin at zero.
pub(crate) fn scatter(
    (title, subtitle): (&str, &str),
    (x_axis, y_axis): (&str, &str),
    points: &[(f64, f64)],
    line: &[(f64, f64)],
) -> String {
    let far = |of: fn(&(f64, f64)) -> f64| {
        points.iter().chain(line).map(of).fold(f64::MIN_POSITIVE, f64::max)
    };
    let (right, across) = nice_axis(far(|p| p.0), 8);
    let (top, up) = nice_axis(far(|p| p.1), 6);
    let x = |v: f64| LEFT + WIDTH * v / right;
    let y = |v: f64| TOP + HEIGHT * (1.0 - v / top);
    let mut svg = header(LEFT + WIDTH + 40.0, TOP + HEIGHT + 60.0, title, subtitle);
    for value in marks(top, up) {
        let _ok = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#e4e7eb\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" fill=\"#7b8794\">{value}</text>",
            LEFT + WIDTH,
            LEFT - 7.0,
            y(value) + 3.5,
            y = y(value)
        );
    }
    for value in marks(right, across) {
        let _ok = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"#7b8794\">{value}</text>",
            x(value),
            TOP + HEIGHT + 16.0
        );
    }
    let _ok = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"10.5\" fill=\"#7b8794\">{}</text>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#616e7c\">{}</text>",
        TOP - 10.0,
        escape(y_axis),
        LEFT + WIDTH / 2.0,
        TOP + HEIGHT + 36.0,
        escape(x_axis)
    );
    let _ok = writeln!(svg, "<g fill=\"{}\" fill-opacity=\"0.35\">", colour(0));
    for p in points {
        let _ok = writeln!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2\"/>", x(p.0), y(p.1));
    }
    svg.push_str("</g>\n");
    let way: Vec<String> = line.iter().map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1))).collect();
    let _ok = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
        way.join(" "),
        colour(1)
    );
    svg.push_str("</svg>\n");
    svg
}

/// Values at which an axis is marked.
fn marks(end: f64, step: f64) -> impl Iterator<Item = f64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "there are about eight"
    )]
    let count = (end / step).round() as u32;
    // Rounded, so that sums of steps are short.
    (0..=count).map(move |i| (f64::from(i) * step * 1e6).round() / 1e6)
}
