//! Who is who: colours, dashes and markers of engines, and the legend that explains them.

use std::fmt::Write as _;

use darkfiber_study::Summary;

use crate::canvas::{LEFT, escape};

const LEGEND_LINE: f64 = 20.0;
/// Colours that are told apart with any kind of sight (Okabe and Ito, "Color universal design", 2008).
const COLOURS: &[&str] =
    &["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1f2933", "#8c6d1f"];
/// Later engines are drawn over earlier ones; where they coincide, their gaps let these be seen.
const DASHES: &[&str] = &["", "7 3", "2.5 3", "9 3 2.5 3"];

/// The lines below the title.
pub(super) struct Legend {
    pub(super) text: String,
    pub(super) height: f64,
}

/// Engines, and what else is to be explained, in as many lines as it takes.
pub(super) fn legend(engines: &[&str], rows: &[&Summary], width: f64) -> Legend {
    let mut text = String::new();
    let (mut x, mut y) = (LEFT, 72.0);
    let mut item = |mark: &dyn Fn(f64, f64) -> String, words: &str| {
        let wide = 40.0 + 6.3 * words.chars().count() as f64;
        if x > LEFT && x + wide > width {
            (x, y) = (LEFT, y + LEGEND_LINE);
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
    for (i, engine) in engines.iter().enumerate() {
        let mut of_engine = rows.iter().filter(|r| r.engine == *engine);
        let cyclic = of_engine.any(|r| r.deadlock_free < r.runs - r.refused);
        let words = if cyclic { format!("{engine} (can deadlock)") } else { (*engine).to_owned() };
        let mark = |x: f64, y: f64| {
            format!(
                "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" {}/>{}",
                x + 18.0,
                stroke(i),
                marker(x + 9.0, y, i, false)
            )
        };
        item(&mark, &words);
    }
    let grey = "#616e7c";
    let band = |x: f64, y: f64| {
        format!(
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"18\" height=\"10\" fill=\"{grey}\" \
             fill-opacity=\"0.22\"/>",
            y - 5.0
        )
    };
    item(&band, "from the least to the most of all runs");
    if rows.iter().any(|r| (1..r.runs).contains(&r.refused)) {
        let ring = |x: f64, y: f64| {
            format!(
                "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.4\" fill=\"#ffffff\" stroke=\"{grey}\" \
                 stroke-width=\"1.2\"/>",
                x + 9.0
            )
        };
        item(&ring, "some runs refused");
    }
    Legend { height: y - 72.0 + LEGEND_LINE, text }
}

/// The colour of an engine.
pub(crate) fn colour(engine: usize) -> &'static str {
    COLOURS[engine % COLOURS.len()]
}

/// The attributes of an engine's line.
pub(super) fn stroke(engine: usize) -> String {
    let dash = DASHES[engine % DASHES.len()];
    let dash =
        if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{dash}", colour(engine))
}

/// A point of an engine, the smaller the later the engine comes; hollow where it refused some runs.
pub(super) fn marker(x: f64, y: f64, engine: usize, hollow: bool) -> String {
    let colour = colour(engine);
    let fill = if hollow { "#ffffff" } else { colour };
    let radius = (4.0 - 0.6 * engine as f64).max(1.6);
    format!(
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{fill}\" \
         stroke=\"{colour}\" stroke-width=\"1.2\"/>"
    )
}
