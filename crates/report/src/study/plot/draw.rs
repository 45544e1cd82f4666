//! Points as a chart.

use darkfiber_study::MeanInterval;
use darkfiber_study::grid::Value;

use super::choice::Choice;
use super::options::Shape;
use super::points::{Point, Points};
use super::selection::{OF, Selection};
use crate::chart::{
    Block, Chart, HeatCell, HeatKey, HeatMap, HeatTable, Horizontal, Mark, Measure, Scale, Spread,
};
use crate::study::shown;

/// Values that are this many times apart have a logarithmic axis: next to a logarithmic one, and else.
const FAR: (f64, f64) = (10.0, 100.0);
/// Colours of values that are this many times apart go by powers.
const FAR_COLOURS: f64 = 50.0;

/// A chart of lines or bars.
pub(super) fn chart(
    title: String,
    selection: &Selection,
    choice: &Choice,
    points: &Points,
) -> Chart {
    let x = &selection.dimensions[choice.x];
    let by = choice.by.map(|by| &selection.dimensions[by]);
    let is_lines = choice.shape == Shape::Lines;
    let mark = |panel: &[usize], colour: usize, at: usize| -> Option<Mark> {
        let point = points.at(panel, colour, at)?;
        let y = point.mean().map(|m| Spread {
            mean: m.mean,
            low: m.mean - m.half,
            high: m.mean + m.half,
        });
        let x = if is_lines { x.levels[at].number } else { at as f64 };
        Some(Mark { x, y, hollow: point.missing > 0 })
    };
    let series = |panel: &[usize], colour: usize| -> Vec<Mark> {
        (0..x.len()).filter_map(|at| mark(panel, colour, at)).collect()
    };
    let colours = by.map_or(1, super::dimension::Dimension::len);
    let block = |panel: &Vec<usize>| Block {
        title: panel_title(selection, choice, panel),
        note: None,
        panels: vec![(0..colours).map(|colour| series(panel, colour)).collect()],
    };
    let horizontal = if is_lines {
        let ticks: Vec<(f64, String)> =
            x.levels.iter().map(|level| (level.number, level.label.clone())).collect();
        Horizontal::Numbers(x.label.clone(), Scale::of_values(&ticks))
    } else {
        let names = x.levels.iter().map(|level| level.label.clone()).collect();
        let label = if x.label == OF { String::new() } else { x.label.clone() };
        Horizontal::Names(label, names)
    };
    let is_log = matches!(&horizontal, Horizontal::Numbers(_, scale) if scale.is_log());
    let names = by.map(|by| by.levels.iter().map(|level| level.label.clone()).collect());
    let blocks: Vec<Block> = points.panels.iter().map(block).collect();
    Chart {
        title,
        subtitle: subtitle(selection, choice.shape, points),
        series: names.unwrap_or_else(|| vec![String::new()]),
        interval: interval(points),
        hollow: points.is_partial().then(|| "some seeds without an answer".to_owned()),
        x: horizontal,
        measures: vec![Measure {
            label: selection.unit.label.clone(),
            hint: None,
            scale: vertical(points, is_lines, is_log),
            reference: None,
            apart: 0.0,
        }],
        panel: Chart::usual_panel(blocks.len()),
        blocks,
    }
}

/// A heat map of the values.
pub(super) fn heat_map(
    title: String,
    selection: &Selection,
    choice: &Choice,
    points: &Points,
) -> HeatMap {
    let x = &selection.dimensions[choice.x];
    // A choice without colours is no heat map.
    let by = &selection.dimensions[choice.by.unwrap_or(choice.x)];
    let label = |name: &str| if name == OF { String::new() } else { name.to_owned() };
    let table = |panel: &Vec<usize>| HeatTable {
        title: panel_title(selection, choice, panel),
        corner: label(&by.label),
        columns: x.levels.iter().map(|level| (label(&x.label), level.label.clone())).collect(),
        rows: (by.levels.iter().enumerate())
            .map(|(row, level)| {
                let cells = (0..x.len()).map(|at| cell(points.at(panel, row, at))).collect();
                (level.label.clone(), cells)
            })
            .collect(),
    };
    let low = points.means().map(|m| m.mean).fold(f64::INFINITY, f64::min).min(1e300);
    let high = points.means().map(|m| m.mean).fold(low, f64::max);
    let is_log = low > 0.0 && high / low > FAR_COLOURS;
    let middle = if is_log { (low * high).sqrt() } else { f64::midpoint(low, high) };
    let ends: &[f64] = if high > low { &[low, middle, high] } else { &[low] };
    let mut subtitle = subtitle(selection, choice.shape, points);
    if points.is_partial() {
        subtitle.push_str("; * of some seeds only");
    }
    HeatMap {
        title,
        subtitle,
        tables: points.panels.iter().map(table).collect(),
        key: HeatKey {
            what: selection.unit.label.clone(),
            low,
            high,
            is_log,
            marks: ends.iter().map(|end| (*end, number(*end))).collect(),
        },
    }
}

fn cell(point: Option<&Point>) -> HeatCell {
    let Some(point) = point else { return HeatCell::default() };
    let Some(MeanInterval { mean, half, samples }) = point.mean() else {
        return HeatCell { text: "-".to_owned(), ..HeatCell::default() };
    };
    let hint = if samples > 1 {
        format!("{} \u{b1} {} ({samples} seeds)", number(mean), number(half))
    } else {
        String::new()
    };
    let star = if point.missing > 0 { "*" } else { "" };
    let text = format!("{}{star}", number(mean));
    HeatCell { value: Some(mean), text, hint }
}

/// A number for people; whole ones are whole.
fn number(x: f64) -> String {
    let is_whole = x >= 0.0 && x.fract() == 0.0 && x < 1e15;
    #[expect(clippy::cast_sign_loss, reason = "it is not below zero where it is used")]
    let whole = Value::Whole(x as u64);
    shown(&if is_whole { whole } else { Value::Number(x) })
}

/// The values that a panel is of.
fn panel_title(selection: &Selection, choice: &Choice, panel: &[usize]) -> String {
    let each = choice.panels.iter().zip(panel).map(|(i, at)| {
        let dimension = &selection.dimensions[*i];
        let label = &dimension.levels[*at].label;
        // A number needs the name of its axis.
        if dimension.is_numeric { format!("{} {label}", dimension.label) } else { label.clone() }
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Description of the picture, in the words of the question.
fn subtitle(selection: &Selection, shape: Shape, points: &Points) -> String {
    let one = matches!(points.samples(), Some((_, 1)));
    let one = if one { "; one seed" } else { "" };
    let gaps = match shape {
        Shape::Bars if points.has_gaps() => "; \u{2013} no answer",
        Shape::Map if points.has_gaps() => "; - no answer",
        Shape::Lines | Shape::Bars | Shape::Map => "",
    };
    match (selection.unit.column.as_str(), selection.unit.meaning.as_str()) {
        (column, "") => format!("{column}{one}{gaps}"),
        (column, meaning) => format!("{column}: {meaning}{one}{gaps}"),
    }
}

/// Meaning of the intervals.
fn interval(points: &Points) -> Option<String> {
    let (least, most) = points.samples()?;
    let seeds = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    (most > 1).then(|| format!("95 % confidence interval of the mean of {seeds} seeds"))
}

/// The vertical axis: bars begin at zero, lines where their values do if all are far from it.
fn vertical(points: &Points, is_lines: bool, is_log: bool) -> Scale {
    let high = points.means().map(|m| m.mean + m.half).fold(0.0, f64::max);
    if !is_lines {
        // The value of the highest bar is printed above it.
        return Scale::from_zero(high * 1.06, 5);
    }
    let least = points.means().map(|m| m.mean).fold(f64::INFINITY, f64::min).min(1e300);
    let most = points.means().map(|m| m.mean).fold(0.0, f64::max);
    let low = points.means().map(|m| m.mean - m.half).fold(least, f64::min);
    let far = if is_log { FAR.0 } else { FAR.1 };
    if least > 0.0 && most / least > far {
        // An interval may reach below zero, where no logarithm does.
        return Scale::between(low.max(least / 2.0), high, far);
    }
    if low > high / 2.0 {
        return Scale::between(low, high, f64::INFINITY);
    }
    Scale::from_zero(high, 5)
}
