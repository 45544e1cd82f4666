//! The map alone, as a picture (SVG): light on dark, for README files and papers.

use std::fmt::Write as _;

use crate::escape::html;
use crate::layout::Layout;
use crate::model::{Page, Unit, View};
use crate::svg::{Still, still};

/// Steps of the scale; cables that a map draws.
const SCALE: (usize, usize) = (12, 4_000);
/// Views that are drawn next to each other.
const VIEWS: usize = 3;
/// Pixels of a map, and around it.
const SIDE: f32 = 560.0;
const EDGE: f32 = 24.0;
/// Above maps: title, and the name of each.
const HEAD: f32 = 96.0;
/// Below them: the scale.
const FOOT: f32 = 66.0;
/// The scale; a letter of the words next to it, which get a line below it where there is no room.
const WIDE: f32 = 360.0;
const WORD: f32 = 7.8;
/// Width of a letter of the title, as a part of its height, which is this at least.
const LETTER: f32 = 0.64;
const SMALL: f32 = 14.0;
const LINE: f32 = 24.0;

/// More lit cables than these are drawn thinner, so that they do not become one area.
const FEW: f64 = 300.0;
/// Lines thinner than this part of their width do not glow.
const GLOW: f64 = 0.4;

/// Height of captions, in units of the map.
const CAPTION: f32 = 50.0;

const BACK: &str = "#0a0e17";
const FAINT: &str = "#98a4ba";
/// From zero to the maximum; lightness rises, so that it can be read without distinguishing hues.
const HEAT: [[f64; 3]; 7] = [
    [59.0, 42.0, 99.0],
    [109.0, 42.0, 120.0],
    [168.0, 50.0, 125.0],
    [224.0, 82.0, 95.0],
    [249.0, 141.0, 60.0],
    [252.0, 195.0, 65.0],
    [253.0, 245.0, 166.0],
];

/// The map of the first views next to each other, on one scale if their units are equal: a separate picture.
pub fn map(page: &Page<'_>) -> String {
    let layout = Layout::of(page.fabric, page.shape);
    let views: Vec<Option<&View>> = match page.views.first() {
        None => vec![None],
        Some(first) => {
            page.views.iter().filter(|v| v.unit == first.unit).take(VIEWS).map(Some).collect()
        }
    };
    let most = |v: &View| v.load.iter().copied().fold(0.0, f64::max);
    let all = views.iter().flatten().map(|v| most(v)).fold(0.0, f64::max);
    let (end, step) = round_end(all);
    let stills: Vec<Still> = views.iter().map(|v| still(page, &layout, (*v, end), SCALE)).collect();
    let (wide, tall) = stills.first().map_or((1.0, 1.0), |s| s.size);
    let scale = SIDE / wide.max(tall).max(1.0);
    let (w, h) = ((wide * scale).max(SIDE * 0.5), tall * scale);
    let size = size(page, views.len());
    let words = page.views.first().map(|view| words(page, view.unit, &stills)).unwrap_or_default();
    let count = views.len() as f32;
    let letters = |text: &str| text.chars().count() as f32;
    let head = 14.0 + 9.2 * letters(&size);
    let width = (count * w + (count + 1.0) * EDGE)
        .max((2.0 * EDGE + head + LETTER * SMALL * letters(&page.title)).min(SIDE + 2.0 * EDGE))
        .max(2.0 * EDGE + WIDE + 24.0)
        .max(2.0 * EDGE + WORD * letters(&words));
    // Behind the title stands the size, whose letters are as wide as this. A long title is smaller.
    let room = width - 2.0 * EDGE - head;
    let large = (room / letters(&page.title).max(1.0) / LETTER).floor().clamp(SMALL, 23.0);
    let title = html(&shortened(&page.title, room, LETTER * large));
    let is_narrow = width < 2.0 * EDGE + WIDE + 34.0 + WORD * letters(&words);
    let height = HEAD + h + FOOT + if is_narrow { LINE } else { 0.0 };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"system-ui, sans-serif\" role=\"img\"><title>{title}</title>\
         <rect width=\"100%\" height=\"100%\" fill=\"{BACK}\"/>\
         <text x=\"{EDGE}\" y=\"38\" font-size=\"{large:.0}\" font-weight=\"600\" fill=\"#f2f5fa\">{title}<tspan dx=\"14\" font-size=\"17\" font-weight=\"400\" fill=\"{FAINT}\">{size}</tspan></text>\n",
    );
    for (i, (view, still)) in views.iter().zip(&stills).enumerate() {
        let x = EDGE + i as f32 * (w + EDGE);
        panel(&mut svg, (*view, still), (x, w, h));
    }
    if let Some(view) = page.views.first().filter(|_| all > 0.0) {
        let y = HEAD + h + 20.0;
        legend(&mut svg, view.unit, (end, step), y);
        let (x, y) =
            if is_narrow { (EDGE, y + 26.0 + LINE) } else { (EDGE + WIDE + 34.0, y + 10.0) };
        let _ok = writeln!(
            svg,
            "<text x=\"{x:.0}\" y=\"{y:.0}\" font-size=\"15\" fill=\"{FAINT}\">{words}</text>",
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Size of the fabric, and how many maps are drawn, where that is not all.
fn size(page: &Page<'_>, drawn: usize) -> String {
    let (switches, cables) = (page.fabric.switch_count(), page.fabric.switch_link_count());
    let (one, many) = (if switches == 1 { "" } else { "es" }, if cables == 1 { "" } else { "s" });
    let mut text =
        format!("{} switch{one}, {} cable{many}", digits(switches as f64), digits(cables as f64));
    if drawn < page.views.len() {
        let _ok = write!(text, "; {drawn} of {} maps", page.views.len());
    }
    text
}

/// A map below its name and its numbers.
fn panel(svg: &mut String, (view, still): (Option<&View>, &Still), (x, w, h): (f32, f32, f32)) {
    let (name, told) = match view {
        None => (String::new(), String::new()),
        Some(view) => {
            let most = view.load.iter().copied().fold(0.0, f64::max);
            let dark = view.load.iter().filter(|&&x| x <= 0.0).count();
            let share = 100.0 * dark as f64 / view.load.len().max(1) as f64;
            let most = value(most, view.unit);
            let fullest = match view.unit {
                Unit::Routes => format!("max EFI {most}"),
                _ => format!("at most {most}"),
            };
            let none = if view.unit == Unit::Errors { "without" } else { "dark" };
            (view.name.clone(), format!("{fullest}, {share:.1} % {none}"))
        }
    };
    let _ok = write!(
        svg,
        "<text x=\"{x:.0}\" y=\"74\" font-size=\"20\" fill=\"#f2f5fa\">{}<tspan dx=\"12\" font-size=\"17\" fill=\"{FAINT}\">{told}</tspan></text>\n\
         <svg x=\"{x:.0}\" y=\"{HEAD}\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"{}\" fill=\"none\" stroke-linecap=\"round\">\n",
        html(&shortened(&name, w * 0.45, 11.0)),
        still.view_box(14.0, CAPTION),
    );
    let steps = still.paths.len() - 1;
    let crowd = still.paths[0].matches('M').count().max(1) as f64;
    let lit = still.paths[1..].iter().map(|path| path.matches('M').count()).sum::<usize>();
    let fine = (FEW / lit.max(1) as f64).sqrt().clamp(0.3, 1.0);
    for (step, path) in still.paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let t = step as f64 / steps as f64;
        let (stroke, opacity, width) = if step == 0 {
            ("#5c78a8".to_owned(), (6.0 / crowd.sqrt()).clamp(0.1, 0.5), 0.6)
        } else {
            // Small loads are faint: they must not hide large ones.
            (colour(t), 0.3 + 0.7 * t.powf(0.7), (0.7 + 2.8 * t) * fine)
        };
        if t > 0.5 && fine > GLOW {
            // The fullest glow.
            let _ok = writeln!(
                svg,
                "<path vector-effect=\"non-scaling-stroke\" stroke=\"{stroke}\" stroke-opacity=\"0.16\" stroke-width=\"{:.1}\" d=\"{path}\"/>",
                width * 3.2
            );
        }
        let _ok = writeln!(
            svg,
            "<path vector-effect=\"non-scaling-stroke\" stroke=\"{stroke}\" stroke-opacity=\"{opacity:.2}\" stroke-width=\"{width:.2}\" d=\"{path}\"/>"
        );
    }
    let _ok = writeln!(
        svg,
        "<path stroke=\"#a8bfe6\" stroke-width=\"{:.1}\" d=\"{}\"/>",
        still.dot * 0.62,
        still.dots
    );
    for (text, x, y) in &still.captions {
        let _ok = writeln!(
            svg,
            "<text x=\"{x:.0}\" y=\"{y:.0}\" font-size=\"{CAPTION}\" fill=\"{FAINT}\" text-anchor=\"middle\" stroke=\"{BACK}\" \
             stroke-width=\"10\" paint-order=\"stroke\">{}</text>",
            html(text)
        );
    }
    svg.push_str("</svg>\n");
}

/// The scale with round numbers.
fn legend(svg: &mut String, unit: Unit, (end, step): (f64, f64), y: f32) {
    let wide = f64::from(WIDE);
    let stops: String = (0..=12).fold(String::new(), |mut all, i| {
        let t = f64::from(i) / 12.0;
        let _ok = write!(all, "<stop offset=\"{:.3}\" stop-color=\"{}\"/>", t, colour(t));
        all
    });
    let _ok = writeln!(
        svg,
        "<defs><linearGradient id=\"heat\">{stops}</linearGradient></defs>\
         <rect x=\"{EDGE}\" y=\"{y:.0}\" width=\"{wide}\" height=\"8\" fill=\"url(#heat)\"/>"
    );
    for at in (0..).map(|i| f64::from(i) * step).take_while(|at| *at <= end * 1.0001) {
        let _ok = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.0}\" font-size=\"15\" fill=\"{FAINT}\" text-anchor=\"{}\">{}</text>",
            f64::from(EDGE) + wide * at / end,
            y + 26.0,
            if at <= 0.0 { "start" } else { "middle" },
            value(at, unit)
        );
    }
}

/// What colours mean, and what of the fabric is drawn, where that is not all.
fn words(page: &Page<'_>, unit: Unit, stills: &[Still]) -> String {
    let word = match unit {
        Unit::Routes => "routes over a channel",
        Unit::Flows => "flows over a channel, on average",
        Unit::Share => "share of the channel\u{2019}s rate",
        Unit::Bytes => "bytes over a channel",
        Unit::Errors => "symbol errors",
        Unit::Failure => "if this cable fails",
    };
    let dark = match unit {
        Unit::Failure => "dark fiber costs nothing",
        Unit::Errors => "dark: none",
        _ => "dark fiber carries none",
    };
    let mut text = format!("{word}; {dark}");
    if stills.first().is_some_and(|still| still.left_out > 0) {
        let all = digits(page.fabric.switch_link_count() as f64);
        let _ok = write!(text, "; {} of {all} cables drawn", digits(SCALE.1 as f64));
    }
    text
}

fn colour(t: f64) -> String {
    let at = (0.06 + 0.94 * t).clamp(0.0, 1.0) * (HEAT.len() - 1) as f64;
    #[expect(clippy::cast_sign_loss, reason = "it is not below zero")]
    let i = (at.floor() as usize).min(HEAT.len() - 2);
    let f = at - i as f64;
    let part = |k: usize| (HEAT[i][k] * (1.0 - f) + HEAT[i + 1][k] * f).round();
    format!("rgb({},{},{})", part(0), part(1), part(2))
}

/// The end of a scale that holds the largest number with minimal headroom, and the distance of three to five round
/// numbers.
fn round_end(most: f64) -> (f64, f64) {
    if most <= 0.0 {
        return (1.0, 1.0);
    }
    let mut best = (f64::INFINITY, 1.0);
    for parts in [3.0, 4.0, 5.0] {
        let power = 10f64.powf((most / parts).log10().floor());
        let fits = |m: &f64| m * power * parts >= most * 0.999_999;
        if let Some(m) = [1.0, 2.0, 4.0, 5.0, 10.0].into_iter().find(fits)
            && m * power * parts < best.0 * 0.999_999
        {
            best = (m * power * parts, m * power);
        }
    }
    best
}

fn value(x: f64, unit: Unit) -> String {
    match unit {
        Unit::Share | Unit::Failure => format!("{} %", digits(100.0 * x)),
        Unit::Bytes => {
            let steps = [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
            let fits = steps.iter().find(|(by, _)| x >= *by * 0.9995);
            fits.map_or_else(
                || format!("{} B", digits(x)),
                |(by, s)| format!("{} {s}", digits(x / by)),
            )
        }
        _ => digits(x),
    }
}

/// Three digits, or all before the point, in groups of three.
fn digits(x: f64) -> String {
    if x < 1000.0 {
        let places = usize::from(x < 100.0 && x.fract() != 0.0);
        return format!("{x:.places$}");
    }
    let whole = format!("{x:.0}");
    let mut text = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(c);
    }
    text
}

/// A text shortened to this number of pixels, with this width of a letter.
fn shortened(text: &str, room: f32, letter: f32) -> String {
    #[expect(clippy::cast_sign_loss, reason = "rooms are not below zero")]
    let most = ((room / letter) as usize).max(8);
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['\u{2026}']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_round_numbers() {
        assert_eq!(round_end(1148.0), (1200.0, 400.0));
        assert_eq!(round_end(232.0), (250.0, 50.0));
        assert_eq!(round_end(4.0), (4.0, 1.0));
        assert_eq!(round_end(0.0), (1.0, 1.0));
        assert_eq!(value(1_148.0, Unit::Routes), "1,148");
        assert_eq!(value(0.25, Unit::Share), "25 %");
        assert_eq!(value(2.5e9, Unit::Bytes), "2.5 GB");
        assert_eq!(shortened("abcdefghijkl", 100.0, 10.0), "abcdefghi\u{2026}");
    }
}
