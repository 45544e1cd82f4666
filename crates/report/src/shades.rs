//! Squares coloured by numbers, and the colour bar.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Different colours of a picture.
pub(crate) const SHADES: f64 = 40.0;
/// Width of the bar.
const BAR: f64 = 12.0;

/// A mapping of numbers to colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ramp {
    /// Of loads, where much is bad: yellow to red to black.
    Load,
    /// Of bandwidths, where much is good: pale green to blue.
    Rate,
}

impl Ramp {
    /// The colour of a share of the most there is.
    pub(crate) fn colour(self, share: f64) -> String {
        const LOAD: [(f64, [f64; 3]); 5] = [
            (0.0, [255.0, 250.0, 220.0]),
            (0.3, [253.0, 190.0, 90.0]),
            (0.6, [230.0, 85.0, 45.0]),
            (0.85, [160.0, 20.0, 40.0]),
            (1.0, [60.0, 5.0, 30.0]),
        ];
        const RATE: [(f64, [f64; 3]); 5] = [
            (0.0, [240.0, 249.0, 232.0]),
            (0.3, [168.0, 221.0, 181.0]),
            (0.6, [67.0, 162.0, 202.0]),
            (0.85, [8.0, 88.0, 158.0]),
            (1.0, [8.0, 40.0, 96.0]),
        ];
        let stops = if self == Self::Load { LOAD } else { RATE };
        let share = share.clamp(0.0, 1.0);
        let above = stops.iter().position(|s| s.0 >= share).unwrap_or(stops.len() - 1).max(1);
        let ((a, low), (b, high)) = (stops[above - 1], stops[above]);
        let t = (share - a) / (b - a);
        let mix = |i: usize| (low[i] + (high[i] - low[i]) * t).round();
        format!("rgb({},{},{})", mix(0), mix(1), mix(2))
    }
}

/// The colour of a load.
pub(crate) fn colour(share: f64) -> String {
    Ramp::Load.colour(share)
}

/// Squares in few paths, one for each colour, so that large pictures stay small. Their edges are whole pixels, which neighbours
/// share: no line of the background is left between them. Neighbours in a row that have one colour are one rectangle.
#[derive(Default)]
pub(crate) struct Squares {
    paths: BTreeMap<String, Vec<[i32; 4]>>,
}

impl Squares {
    /// Adds a rectangle of a colour.
    pub(crate) fn add(&mut self, fill: String, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let whole = |at: f64| at.round() as i32;
        let (left, top) = (whole(x), whole(y));
        let (right, bottom) = (whole(x + width).max(left + 1), whole(y + height).max(top + 1));
        let all = self.paths.entry(fill).or_default();
        match all.last_mut() {
            Some(last) if last[1] == top && last[3] == bottom && last[2] == left => last[2] = right,
            _ => all.push([left, top, right, bottom]),
        }
    }

    /// Adds a rectangle whose colour represents a share of the maximum.
    pub(crate) fn shade(&mut self, ramp: Ramp, share: f64, at: (f64, f64), size: (f64, f64)) {
        self.add(ramp.colour((share * SHADES).round() / SHADES), at, size);
    }

    /// Draws all rectangles.
    pub(crate) fn draw(self, svg: &mut String) {
        for (fill, all) in self.paths {
            let path = all.iter().fold(String::new(), |mut path, [left, top, right, bottom]| {
                let (wide, tall) = (right - left, bottom - top);
                let _ok = write!(path, "M{left} {top}h{wide}v{tall}h-{wide}z");
                path
            });
            let _ok = writeln!(
                svg,
                "<path shape-rendering=\"crispEdges\" fill=\"{fill}\" d=\"{path}\"/>"
            );
        }
    }
}

/// A colour bar with its labels.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a> {
    /// Text above the bar.
    pub(crate) what: &'a str,
    /// Colours of the bar.
    pub(crate) ramp: Ramp,
    /// Shares of its height that are labelled.
    pub(crate) marks: &'a [f64],
}

/// A bar of the colours, `side` high, with labels at its marks.
pub(crate) fn bar(
    svg: &mut String,
    (left, top): (f64, f64),
    side: f64,
    Key { what, ramp, marks }: Key<'_>,
    label: impl Fn(f64) -> String,
) {
    const STEPS: u32 = 32;
    let step = side / f64::from(STEPS);
    for i in 0..STEPS {
        let share = 1.0 - (f64::from(i) + 0.5) / f64::from(STEPS);
        let _ok = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{:.2}\" width=\"{BAR}\" height=\"{:.2}\" fill=\"{}\"/>",
            top + f64::from(i) * step,
            step + 0.3,
            ramp.colour(share)
        );
    }
    for &share in marks {
        let _ok = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10.5\" fill=\"#7b8794\">{}</text>",
            left + BAR + 5.0,
            top + side * (1.0 - share) + 3.5,
            label(share)
        );
    }
    let _ok = writeln!(
        svg,
        "<text x=\"{left:.1}\" y=\"{:.1}\" font-size=\"10.5\" fill=\"#7b8794\">{what}</text>",
        top - 8.0
    );
}

/// Shares of an axis that ends at `end` and has marks every `step`.
pub(crate) fn marks(end: f64, step: f64) -> Vec<f64> {
    let mut all = Vec::new();
    let mut at = 0.0;
    while at <= end * 1.000_1 && all.len() < 20 {
        all.push((at / end).min(1.0));
        at += step;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_their_edges() {
        let mut squares = Squares::default();
        for i in 0..7 {
            let shade = if i < 3 { 0.1 } else { 0.9 };
            squares.shade(Ramp::Load, shade, (f64::from(i) * 2.143, 0.0), (2.143, 2.143));
        }
        let mut svg = String::new();
        squares.draw(&mut svg);
        // Two colours, each one rectangle, the second starting where the first ends.
        assert_eq!(svg.matches('M').count(), 2, "{svg}");
        assert!(svg.contains("M0 0h6v2") && svg.contains("M6 0h9v2"), "{svg}");
        assert_ne!(Ramp::Load.colour(1.0), Ramp::Rate.colour(1.0));
    }
}
