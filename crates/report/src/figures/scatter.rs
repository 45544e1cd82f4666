//! Points and a line.

use std::fmt::Write as _;

use crate::canvas::{LEFT, escape, header, nice_axis};
use crate::plot::colour;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 340.0;
const TOP: f64 = 90.0;

/// Points on axes that begin at zero, or nearer to the points if all of them are far from it.
pub(crate) fn scatter(
    (title, subtitle): (&str, &str),
    (x_axis, y_axis): (&str, &str),
    points: &[(f64, f64)],
    line: &[(f64, f64)],
) -> String {
    let all = || points.iter().chain(line);
    let across = Axis::of(all().map(|p| p.0), 8);
    let up = Axis::of(all().map(|p| p.1), 6);
    let x = |v: f64| LEFT + WIDTH * across.part(v);
    let y = |v: f64| TOP + HEIGHT * (1.0 - up.part(v));
    let mut svg = header(LEFT + WIDTH + 40.0, TOP + HEIGHT + 60.0, title, subtitle);
    for value in up.marks() {
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
    for value in across.marks() {
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

/// From where to where an axis goes, and where it is marked.
struct Axis {
    begin: f64,
    end: f64,
    step: f64,
}

impl Axis {
    /// For some values that are not below zero, with about so many marks.
    fn of(values: impl Iterator<Item = f64> + Clone, marks: u32) -> Self {
        let far = values.clone().fold(f64::MIN_POSITIVE, f64::max);
        let near = values.fold(far, f64::min);
        if near < far / 2.0 || near >= far {
            let (end, step) = nice_axis(far, marks);
            return Self { begin: 0.0, end, step };
        }
        let (_, step) = nice_axis(far - near, marks);
        let begin = (near / step).floor() * step;
        Self { begin, end: (far / step).ceil() * step, step }
    }

    /// Where a value is, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        (value - self.begin) / (self.end - self.begin)
    }

    /// Values at which it is marked.
    fn marks(&self) -> impl Iterator<Item = f64> + use<> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "there are about eight"
        )]
        let count = ((self.end - self.begin) / self.step).round() as u32;
        let (begin, step) = (self.begin, self.step);
        // Rounded, so that sums of steps are short.
        (0..=count).map(move |i| ((begin + f64::from(i) * step) * 1e6).round() / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_begin_where_it_is_worth_it() {
        let marks =
            |values: &[f64]| -> Vec<f64> { Axis::of(values.iter().copied(), 6).marks().collect() };
        let from_zero = marks(&[0.4, 1.0]);
        assert_eq!((from_zero[0], from_zero.last()), (0.0, Some(&1.0)));
        let near = marks(&[15.2, 19.7]);
        assert_eq!((near[0], near.last()), (15.0, Some(&20.0)));
        assert_eq!(marks(&[3.0]).first(), Some(&0.0));
    }
}
