//! The map as a static picture: without WebGL2, without scripts, and in print.

use std::fmt::Write as _;

use crate::escape;
use crate::layout::{Cubic, DOT, Layout, cables};
use crate::model::{Page, View};

/// Cables that are drawn at most, the fullest first.
const CABLES: usize = 5_000;
/// Height of captions, as the page's style has it.
const CAPTION: f32 = 22.0;
/// Steps of the scale.
const STEPS: usize = 6;

/// The parts of a static map, in whole units of which the longer side has two thousand.
pub(crate) struct Still {
    /// Width and height of the map.
    pub(crate) size: (f32, f32),
    /// Paths of cables, by step of the scale; those of step 0 carry nothing.
    pub(crate) paths: Vec<String>,
    /// The path of all switches, points without length.
    pub(crate) dots: String,
    /// Width of a switch.
    pub(crate) dot: f32,
    /// Captions and where they are.
    pub(crate) captions: Vec<(String, f32, f32)>,
    /// Cables that were left out.
    pub(crate) left_out: usize,
}

impl Still {
    /// The part of the plane that has all of the map, this far around it, and captions of this height.
    pub(crate) fn view_box(&self, margin: f32, caption: f32) -> String {
        let (mut low, mut high) =
            ((-margin, -margin), (self.size.0 + margin, self.size.1 + margin));
        for (text, x, y) in &self.captions {
            // Letters are half as wide as high; texts stand around their middle, on their line.
            let half = text.chars().count() as f32 * caption * 0.28;
            low = (low.0.min(x - half), low.1.min(y - caption));
            high = (high.0.max(x + half), high.1.max(y + caption * 0.3));
        }
        format!("{:.0} {:.0} {:.0} {:.0}", low.0, low.1, high.0 - low.0, high.1 - low.1)
    }
}

/// The map of a view, whose scale ends at `most`: no more than `shown` cables, the fullest.
pub(crate) fn still(
    page: &Page<'_>,
    layout: &Layout,
    (view, most): (Option<&View>, f64),
    (steps, shown): (usize, usize),
) -> Still {
    let fabric = page.fabric;
    let (low, high) = layout.extent(fabric);
    let (wide, tall) = (high.x - low.x, high.y - low.y);
    let load = view.map(|v| v.load.as_slice());
    let heat = |c: darkfiber_fabric::ChannelId| {
        load.map_or(0.0, |load| load[c.index()].max(load[fabric.reverse(c).index()]))
    };
    let mut all: Vec<(f64, usize, darkfiber_fabric::ChannelId)> =
        cables(fabric).enumerate().map(|(i, c)| (heat(c), i, c)).collect();
    // Of equal ones those are left out that lie evenly among the others: no part of the map is without cables.
    let left_out = all.len().saturating_sub(shown);
    let place = |i: usize| if left_out > 0 { (i as u32).reverse_bits() } else { i as u32 };
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(place(a.1).cmp(&place(b.1))));
    all.truncate(shown);
    let mut paths = vec![String::new(); steps + 1];
    // Coordinates have three digits or so; the unit is a two-thousandth of the picture.
    let unit = (wide.max(tall) / 2000.0).max(1e-3);
    let put = |path: &mut String, cubic: &Cubic| {
        let at = |i: usize| {
            let p = cubic.0[i];
            (((p.x - low.x) / unit).round(), ((p.y - low.y) / unit).round())
        };
        let (a, b, c, d) = (at(0), at(1), at(2), at(3));
        let _ok = write!(
            path,
            "M{} {}c{} {} {} {} {} {}",
            a.0,
            a.1,
            b.0 - a.0,
            b.1 - a.1,
            c.0 - a.0,
            c.1 - a.1,
            d.0 - a.0,
            d.1 - a.1
        );
    };
    for &(value, i, c) in all.iter().rev() {
        let step = if value <= 0.0 || most <= 0.0 {
            0
        } else {
            #[expect(clippy::cast_sign_loss, reason = "it is above zero")]
            let step = (value / most * steps as f64).ceil() as usize;
            step.clamp(1, steps)
        };
        put(&mut paths[step], &layout.cubic(i, fabric.tail(c), fabric.head(c)));
    }
    let mut dots = String::new();
    for p in &layout.at {
        let _ok = write!(dots, "M{:.0} {:.0}h0", (p.x - low.x) / unit, (p.y - low.y) / unit);
    }
    let place = |c: &crate::layout::Caption| {
        (c.text.clone(), (c.at.x - low.x) / unit, (c.at.y - low.y) / unit)
    };
    Still {
        size: (wide / unit, tall / unit),
        paths,
        dots,
        dot: (2.0 * DOT / unit).max(2.0),
        captions: layout.captions.iter().map(place).collect(),
        left_out,
    }
}

/// The picture of the first view within a page, and how many cables were left out.
pub(crate) fn picture(page: &Page<'_>, layout: &Layout) -> (String, usize) {
    let view = page.views.first();
    let most = view.map_or(0.0, |v| v.load.iter().copied().fold(0.0, f64::max));
    let still = still(page, layout, (view, most), (STEPS, CABLES));
    let mut svg = format!(
        "<svg class=\"still\" viewBox=\"{}\" role=\"img\" aria-labelledby=\"about\">",
        still.view_box(0.0, CAPTION)
    );
    for (step, path) in still.paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let _ok = write!(svg, "<path class=\"heat{step}\" d=\"{path}\"/>");
    }
    let _ok = write!(
        svg,
        "<path class=\"dots\" stroke-width=\"{:.1}\" d=\"{}\"/>",
        still.dot, still.dots
    );
    for (text, x, y) in &still.captions {
        let _ok = write!(svg, "<text x=\"{x:.0}\" y=\"{y:.0}\">{}</text>", escape::html(text));
    }
    svg.push_str("</svg>");
    (svg, still.left_out)
}
