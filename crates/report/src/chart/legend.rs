//! The lines below the title that explain colours and marks.

use std::fmt::Write as _;

use super::colours::{colour, marker, stroke};
use super::value::{Chart, Horizontal};
use crate::canvas::{LEFT, escape};

const LINE: f64 = 20.0;
const TOP: f64 = 72.0;
const GREY: &str = "#616e7c";

/// The lines below the title.
pub(super) struct Legend {
    pub(super) text: String,
    pub(super) height: f64,
}

/// Series, and other explanations, in as many lines as needed.
pub(super) fn legend(chart: &Chart, width: f64, is_dense: bool) -> Legend {
    let mut text = String::new();
    let (mut x, mut y) = (LEFT, TOP);
    let mut item = |mark: &dyn Fn(f64, f64) -> String, words: &str| {
        let wide = 40.0 + 6.3 * words.chars().count() as f64;
        if x > LEFT && x + wide > width {
            (x, y) = (LEFT, y + LINE);
        }
        let _ok = writeln!(
            text,
            "{}<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            mark(x, y),
            x + 24.0,
            y + 4.0,
            escape(words)
        );
        x += wide;
    };
    let is_bars = matches!(chart.x, Horizontal::Names(..));
    for (i, name) in chart.series.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let mark = |x: f64, y: f64| {
            if is_bars {
                return format!(
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{}\"/>",
                    x + 4.0,
                    y - 6.0,
                    colour(i)
                );
            }
            let point = if is_dense { String::new() } else { marker(x + 9.0, y, i, false) };
            format!(
                "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" {}/>{point}",
                x + 18.0,
                stroke(i, is_dense)
            )
        };
        item(&mark, name);
    }
    if let Some(words) = &chart.interval {
        let span = |x: f64, y: f64| {
            if is_bars {
                return whisker(x + 10.0, y - 6.0, y + 6.0);
            }
            format!(
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"18\" height=\"10\" fill=\"{GREY}\" \
                 fill-opacity=\"0.22\"/>",
                y - 5.0
            )
        };
        item(&span, words);
    }
    if let Some(words) = &chart.hollow {
        let hollow = |x: f64, y: f64| {
            if is_bars {
                return format!(
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"11\" height=\"11\" fill=\"#ffffff\" \
                     stroke=\"{GREY}\"/>",
                    x + 4.5,
                    y - 5.5
                );
            }
            format!(
                "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.4\" fill=\"#ffffff\" stroke=\"{GREY}\" \
                 stroke-width=\"1.2\"/>",
                x + 9.0
            )
        };
        item(&hollow, words);
    }
    let height = if text.is_empty() { 0.0 } else { y - TOP + LINE };
    Legend { text, height }
}

/// An interval as a line with ends.
pub(super) fn whisker(x: f64, top: f64, bottom: f64) -> String {
    format!(
        "<path d=\"M{:.1} {top:.1}h6m-3 0V{bottom:.1}m-3 0h6\" fill=\"none\" stroke=\"#1f2933\"/>",
        x - 3.0
    )
}
