//! Squares whose colours are numbers, and the bar that says which.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Different colours of a picture.
pub(crate) const SHADES: f64 = 40.0;
/// Width of the bar.
const BAR: f64 = 12.0;

/// Yellow to red to black by share of the hottest.
pub(crate) fn colour(share: f64) -> String {
    const STOPS: [(f64, [f64; 3]); 5] = [
        (0.0, [255.0, 250.0, 220.0]),
        (0.3, [253.0, 190.0, 90.0]),
        (0.6, [230.0, 85.0, 45.0]),
        (0.85, [160.0, 20.0, 40.0]),
        (1.0, [60.0, 5.0, 30.0]),
    ];
    let share = share.clamp(0.0, 1.0);
    let above = STOPS.iter().position(|s| s.0 >= share).unwrap_or(STOPS.len() - 1).max(1);
    let ((a, low), (b, high)) = (STOPS[above - 1], STOPS[above]);
    let t = (share - a) / (b - a);
    let mix = |i: usize| (low[i] + (high[i] - low[i]) * t).round();
    format!("rgb({},{},{})", mix(0), mix(1), mix(2))
}

/// Many squares in few paths, one for each colour, so that large pictures stay small.
#[derive(Default)]
pub(crate) struct Squares {
    paths: BTreeMap<String, String>,
}

impl Squares {
    /// Adds a rectangle.
    pub(crate) fn add(&mut self, fill: String, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let path = self.paths.entry(fill).or_default();
        let _ok = write!(path, "M{x:.1} {y:.1}h{width:.2}v{height:.2}h-{width:.2}z");
    }

    /// Adds a rectangle whose colour tells a share of the most there is.
    pub(crate) fn shade(&mut self, share: f64, at: (f64, f64), size: (f64, f64)) {
        self.add(colour((share * SHADES).round() / SHADES), at, size);
    }

    /// Draws them.
    pub(crate) fn draw(self, svg: &mut String) {
        for (fill, path) in self.paths {
            let _ok = writeln!(
                svg,
                "<path shape-rendering=\"crispEdges\" fill=\"{fill}\" d=\"{path}\"/>"
            );
        }
    }
}

/// A bar of the colours, `side` high, from 0 to `most`.
pub(crate) fn bar(
    svg: &mut String,
    (left, top): (f64, f64),
    side: f64,
    what: &str,
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
            colour(share)
        );
    }
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
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
