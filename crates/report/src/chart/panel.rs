//! A panel: its axes, with their marks and labels.

use std::fmt::Write as _;

use super::groups;
use super::value::{Horizontal, Measure};
use crate::canvas::{escape, fitted};

/// Width of a letter next to marks.
const LETTER: f64 = 6.0;
/// Letters of a name below bars at most.
const LONGEST: usize = 30;
/// The sine and the cosine of the angle of names that do not fit horizontally.
const SLOPE: (f64, f64) = (0.5, 0.866);

/// Position of a panel, and its vertical axis.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    pub(super) left: f64,
    /// Lower edge of the panel.
    pub(super) base: f64,
    pub(super) size: (f64, f64),
    pub(super) measure: &'a Measure,
    /// Whether it has the labels of the vertical axis: its neighbors have the same.
    pub(super) has_y_labels: bool,
    /// Whether it has the labels of the horizontal axis: those above it have the same.
    pub(super) has_x_labels: bool,
}

/// Names below bars: how much space they take, and whether they are slanted.
pub(super) struct Names {
    pub(super) shown: Vec<String>,
    pub(super) is_slanted: bool,
    pub(super) height: f64,
}

impl Names {
    /// Below groups that are this wide.
    pub(super) fn of(names: &[String], slot: f64) -> Self {
        let longest = names.iter().map(|n| n.chars().count()).max().unwrap_or(0);
        let is_slanted = longest as f64 * LETTER + 6.0 > slot;
        let cut = |name: &String| -> String {
            if name.chars().count() <= LONGEST {
                return name.clone();
            }
            name.chars().take(LONGEST - 1).chain(['\u{2026}']).collect()
        };
        let letters = longest.min(LONGEST) as f64;
        let height = if is_slanted { letters * LETTER * SLOPE.0 + 14.0 } else { 20.0 };
        Self { shown: names.iter().map(cut).collect(), is_slanted, height }
    }
}

impl Panel<'_> {
    /// Position of a value of the vertical axis.
    pub(super) fn y(&self, value: f64) -> f64 {
        self.base - self.measure.scale.at(value, self.size.1)
    }

    /// Draws the axes of the panel.
    pub(super) fn axes(&self, svg: &mut String, x: &Horizontal, names: Option<&Names>, all: usize) {
        let Self { left, base, .. } = *self;
        let right = left + self.size.0;
        let _ok = writeln!(
            svg,
            "<line x1=\"{left:.1}\" y1=\"{base:.1}\" x2=\"{right:.1}\" y2=\"{base:.1}\" \
             stroke=\"#9aa5b1\"/>"
        );
        self.vertical(svg);
        let label = match (x, names) {
            (Horizontal::Names(label, _), Some(names)) => {
                self.below_bars(svg, names, all);
                label.clone()
            }
            (Horizontal::Names(label, _), None) => label.clone(),
            (Horizontal::Numbers(label, scale), _) => {
                self.below_lines(svg, &scale.ticks, |value| scale.at(value, self.size.0));
                let is_log = scale.is_log();
                if is_log { format!("{label} (logarithmic)") } else { label.clone() }
            }
        };
        if self.has_x_labels && !label.is_empty() {
            let below = names.map_or(36.0, |names| names.height + 16.0);
            let (size, text) = fitted(&label, self.size.0 + 24.0, 12.0, 0.52);
            let _ok = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\"{} fill=\"#616e7c\">{}</text>",
                f64::midpoint(left, right),
                base + below,
                sized(size),
                escape(&text)
            );
        }
    }

    fn vertical(&self, svg: &mut String) {
        let Self { left, base, measure, .. } = *self;
        let right = left + self.size.0;
        for (tick, text) in &measure.scale.ticks {
            let y = self.y(*tick);
            let is_reference = measure.reference.is_some_and(|value| (tick - value).abs() < 1e-9);
            let stroke = if is_reference { "#9aa5b1" } else { "#e4e7eb" };
            if (base - y).abs() > 0.05 {
                let _ok = writeln!(
                    svg,
                    "<line x1=\"{left:.1}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\" \
                     stroke=\"{stroke}\"/>"
                );
            }
            if self.has_y_labels {
                let _ok = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" \
                     fill=\"#7b8794\">{text}</text>",
                    left - 7.0,
                    y + 3.5
                );
            }
        }
        let label = &measure.label;
        if let Some(hint) = &measure.hint {
            let _ok = writeln!(
                svg,
                "<text x=\"{left:.1}\" y=\"{:.1}\" font-weight=\"600\">{}<tspan dx=\"8\" \
                 font-weight=\"400\" fill=\"#7b8794\">{}</tspan></text>",
                base - self.size.1 - 8.0,
                escape(label),
                escape(hint)
            );
        } else if self.has_y_labels {
            let label = if measure.scale.is_log() {
                format!("{label} (logarithmic)")
            } else {
                label.clone()
            };
            let (size, label) = fitted(&label, self.size.1 + 24.0, 12.0, 0.52);
            let (x, y) = (left - 50.0, base - self.size.1 / 2.0);
            let _ok = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\"{} fill=\"#616e7c\" \
                 transform=\"rotate(-90 {x:.1} {y:.1})\">{}</text>",
                sized(size),
                escape(&label)
            );
        }
    }

    fn below_lines(&self, svg: &mut String, ticks: &[(f64, String)], at: impl Fn(f64) -> f64) {
        let base = self.base;
        let mut label_ends = f64::NEG_INFINITY;
        for (value, text) in ticks {
            let x = self.left + at(*value);
            let _ok = writeln!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{base:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" \
                 stroke=\"#9aa5b1\"/>",
                base + 4.0
            );
            // Labels must not touch.
            let half = 3.4 * text.chars().count() as f64;
            if self.has_x_labels && x - half > label_ends + 4.0 {
                label_ends = x + half;
                let _ok = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" \
                     fill=\"#7b8794\">{}</text>",
                    base + 17.0,
                    escape(text)
                );
            }
        }
    }

    fn below_bars(&self, svg: &mut String, names: &Names, series: usize) {
        if !self.has_x_labels {
            return;
        }
        for (i, name) in names.shown.iter().enumerate() {
            let (middle, _) = groups::place(i as f64, names.shown.len(), series, self.size.0);
            let (x, y) = (self.left + middle, self.base + 16.0);
            let how = if names.is_slanted {
                format!("text-anchor=\"end\" transform=\"rotate(-30 {x:.1} {y:.1})\"")
            } else {
                "text-anchor=\"middle\"".to_owned()
            };
            let _ok = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" {how} font-size=\"10.5\" fill=\"#616e7c\">{}</text>",
                escape(name)
            );
        }
    }
}

/// The size of a text, where it is not that of the whole picture.
fn sized(size: f64) -> String {
    if size < 12.0 { format!(" font-size=\"{size}\"") } else { String::new() }
}
