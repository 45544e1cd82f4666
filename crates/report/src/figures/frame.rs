//! Axes of numbers, and the frame that two of them span.

use std::fmt::Write as _;

use crate::canvas::{LEFT, escape, nice_axis};
use crate::number::group;
use crate::quantity::bytes;

/// From where to where an axis goes, and where it is marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    begin: f64,
    end: f64,
    step: f64,
}

impl Axis {
    /// For some values that are not below zero, with about this many marks.
    pub(crate) fn of(values: impl Iterator<Item = f64> + Clone, marks: u32) -> Self {
        let far = values.clone().fold(f64::MIN_POSITIVE, f64::max);
        let near = values.fold(far, f64::min);
        if near < far / 2.0 || near >= far {
            return Self::up_to(far, marks);
        }
        let (_, step) = nice_axis(far - near, marks);
        let begin = (near / step).floor() * step;
        Self { begin, end: (far / step).ceil() * step, step }
    }

    /// Between two multiples of a step.
    pub(crate) fn between(begin: f64, end: f64, step: f64) -> Self {
        Self { begin, end, step }
    }

    /// From zero to at least an end, with about this many marks.
    pub(crate) fn up_to(end: f64, marks: u32) -> Self {
        let (end, step) = nice_axis(end, marks);
        Self { begin: 0.0, end, step }
    }

    /// Position of a value, from 0 to 1.
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
        let digits = 1e6f64.max(1e6 / step);
        (0..=count).map(move |i| {
            let mark = begin + f64::from(i) * step;
            if mark.abs() < 1e9 { (mark * digits).round() / digits } else { mark }
        })
    }
}

impl Axis {
    /// Positions and texts of marks, and the name of the axis with them.
    pub(crate) fn labelled(&self, name: &str) -> (Vec<(f64, String)>, String) {
        if let Some(name) = name.strip_prefix("log10 ") {
            (self.powers_of_ten(), format!("{}, logarithmic", name.trim_start_matches("of ")))
        } else if let Some(name) = name.strip_prefix("log2 ") {
            let text = |v: f64| match name {
                "bytes" => bytes(v.exp2()).replace(".00", "").replace(".0 ", " "),
                _ => format!("{}", v.exp2()),
            };
            let all = self.marks().filter(|v| v.fract() == 0.0).map(|v| (v, text(v))).collect();
            (all, format!("{name}, logarithmic"))
        } else {
            let text = |v: f64| if v.abs() < 1e7 { v.to_string() } else { format!("{v:e}") };
            (self.marks().map(|v| (v, text(v))).collect(), name.to_owned())
        }
    }

    /// Powers of ten between its ends, and twice and five times those where there are few.
    fn powers_of_ten(&self) -> Vec<(f64, String)> {
        let few = self.end - self.begin < 2.5;
        let steps: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let (low, high) = (self.begin.floor() as i32, self.end.ceil() as i32);
        let marks = (low..=high).flat_map(|p| steps.iter().map(move |m| m * 10f64.powi(p)));
        marks
            .map(|number| (number.log10(), power_text(number)))
            .filter(|(at, _)| *at >= self.begin - 1e-9 && *at <= self.end + 1e-9)
            .collect()
    }
}

fn power_text(number: f64) -> String {
    if number >= 1000.0 {
        #[expect(clippy::cast_sign_loss, reason = "it is above zero")]
        return group(number.round() as u64);
    }
    format!("{}", (number * 1e9).round() / 1e9)
}

/// Two axes, and where they are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The horizontal axis.
    pub(crate) across: Axis,
    /// The vertical axis.
    pub(crate) up: Axis,
    /// Upper edge of the frame.
    pub(crate) top: f64,
    /// Its width and height.
    pub(crate) size: (f64, f64),
}

impl Frame {
    /// Position of a value of the horizontal axis.
    pub(crate) fn x(&self, value: f64) -> f64 {
        LEFT + self.size.0 * self.across.part(value)
    }

    /// Position of a value of the vertical axis.
    pub(crate) fn y(&self, value: f64) -> f64 {
        self.top + self.size.1 * (1.0 - self.up.part(value))
    }

    /// Draws marks, and the names of the axes.
    ///
    /// Names that begin with `log10` or `log2` are of axes whose values are logarithms: marks show the numbers
    /// themselves.
    pub(crate) fn draw(&self, svg: &mut String, (x_axis, y_axis): (&str, &str)) {
        let (width, height) = self.size;
        let (y_marks, y_axis) = self.up.labelled(y_axis);
        let (x_marks, x_axis) = self.across.labelled(x_axis);
        for (value, text) in y_marks {
            let _ok = writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#e4e7eb\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" fill=\"#7b8794\">{text}</text>",
                LEFT + width,
                LEFT - 7.0,
                self.y(value) + 3.5,
                y = self.y(value)
            );
        }
        for (value, text) in x_marks {
            let _ok = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"#7b8794\">{text}</text>",
                self.x(value),
                self.top + height + 16.0
            );
        }
        let _ok = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"10.5\" fill=\"#7b8794\">{}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#616e7c\">{}</text>",
            self.top - 10.0,
            escape(&y_axis),
            LEFT + width / 2.0,
            self.top + height + 36.0,
            escape(&x_axis)
        );
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

    #[test]
    fn logarithms_are_marked_with_numbers() {
        let texts = |axis: Axis, name: &str| -> (Vec<String>, String) {
            let (marks, name) = axis.labelled(name);
            (marks.into_iter().map(|m| m.1).collect(), name)
        };
        let (marks, name) = texts(Axis::up_to(5.0, 5), "log10 us");
        assert_eq!(marks, ["1", "10", "100", "1,000", "10,000", "100,000"]);
        assert_eq!(name, "us, logarithmic");
        assert_eq!(texts(Axis::up_to(1.0, 5), "log10 C").0, ["1", "2", "5", "10"]);
        let (marks, name) = texts(Axis::up_to(20.0, 4), "log2 bytes");
        assert_eq!(marks, ["1 B", "32 B", "1 KiB", "32 KiB", "1 MiB"]);
        assert_eq!(name, "bytes, logarithmic");
        assert_eq!(texts(Axis::up_to(4.0, 4), "ns").0, ["0", "1", "2", "3", "4"]);
    }
}
