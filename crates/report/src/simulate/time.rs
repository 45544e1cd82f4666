//! Pictures over time: jobs as bars, channels as shades.

use std::fmt::Write as _;

use crate::canvas::{LEFT, escape, fitted, header, nice_axis};
use crate::chart::colour;
use crate::quantity::seconds;
use crate::shades::{Key, Ramp, Squares, bar};

/// A job over time.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// Name of the line.
    pub name: &'a str,
    /// Its runs, from and to, in seconds.
    pub runs: Vec<(f64, f64)>,
}

/// Utilization of channels over time.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// Meaning of the shares, for the scale: busy, or stalled.
    pub what: &'static str,
    /// Length of an interval in seconds.
    pub interval: f64,
    /// Channels, the busiest first: by interval the share of its capacity, of a whole interval in the last one, too.
    pub channels: Vec<Vec<f64>>,
    /// Total number of channels.
    pub all: usize,
}

const WIDTH: f64 = 820.0;
const ROW: f64 = 18.0;
const MAP: f64 = 300.0;
const NAMES: f64 = 120.0;
const TOP: f64 = 74.0;
/// Columns and rows of the map at most.
const COLUMNS: usize = 240;
const ROWS: usize = 120;

/// Runs of jobs as bars, and below them, if there are any, channels as lines whose colours show their utilization.
pub fn timeline(title: &str, subtitle: &str, end: f64, jobs: &[Line<'_>], lines: &Lines) -> String {
    let left = LEFT + NAMES;
    let has_map = !lines.channels.is_empty();
    let bars = jobs.len() as f64 * ROW;
    let map_top = TOP + bars + 44.0;
    let height = if has_map { map_top + MAP + 50.0 } else { TOP + bars + 50.0 };
    let mut svg = header(left + WIDTH + 90.0, height, title, subtitle);
    let end = end.max(f64::MIN_POSITIVE);
    let x = |t: f64| left + WIDTH * (t / end).min(1.0);
    for (i, job) in jobs.iter().enumerate() {
        let y = TOP + i as f64 * ROW;
        let fill = colour(i);
        let (size, name) = fitted(job.name, left - 16.0, 11.0, 0.56);
        let _ok = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"{size}\">{}</text>",
            left - 8.0,
            y + 12.0,
            escape(&name)
        );
        for &(from, to) in &job.runs {
            // A gap shows where one run ends and the next begins.
            let width = (x(to) - x(from) - 0.6).max(0.4);
            let _ok = writeln!(
                svg,
                "<rect x=\"{:.2}\" y=\"{:.1}\" width=\"{width:.2}\" height=\"{:.1}\" fill=\"{fill}\"/>",
                x(from),
                y + 2.0,
                ROW - 5.0
            );
        }
    }
    if !jobs.is_empty() || !has_map {
        axis(&mut svg, end, (left, TOP + bars));
    }
    if has_map {
        let rows = lines.channels.len().min(ROWS);
        let columns = lines.channels.iter().map(Vec::len).max().unwrap_or(0).clamp(1, COLUMNS);
        map(&mut svg, lines, (left, map_top), (rows, columns), end);
        axis(&mut svg, end, (left, map_top + MAP));
        let _ok = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#616e7c\" \
             transform=\"rotate(-90 {x:.1} {y:.1})\">{rows} of {} channels, the busiest on top</text>",
            lines.all,
            x = left - 12.0,
            y = map_top + MAP / 2.0
        );
        let key = Key { what: lines.what, ramp: Ramp::Load, marks: &[0.0, 0.25, 0.5, 0.75, 1.0] };
        bar(&mut svg, (left + WIDTH + 16.0, map_top), MAP, key, |share| {
            format!("{:.0} %", share * 100.0)
        });
    }
    svg.push_str("</svg>\n");
    svg
}

fn map(
    svg: &mut String,
    lines: &Lines,
    (left, top): (f64, f64),
    (rows, columns): (usize, usize),
    end: f64,
) {
    let (width, height) = (WIDTH / columns as f64, MAP / rows as f64);
    let mut squares = Squares::default();
    for (row, busy) in lines.channels.iter().take(rows).enumerate() {
        for column in 0..columns {
            // In intervals; the last one ends with the run.
            let time = |c: usize| c as f64 / columns as f64 * end / lines.interval;
            let mean = mean(busy, (time(column), time(column + 1)), end / lines.interval);
            let at = (left + column as f64 * width, top + row as f64 * height);
            squares.shade(Ramp::Load, mean, at, (width, height));
        }
    }
    squares.draw(svg);
}

/// The mean of shares from one time to another, in intervals. The interval in which a run ends, at `end`, is not longer than the run.
fn mean(busy: &[f64], (from, to): (f64, f64), end: f64) -> f64 {
    #[expect(clippy::cast_sign_loss, reason = "times are not below zero")]
    let touched = from as usize..(to.ceil() as usize).min(busy.len());
    let part = |i: usize| {
        let (begin, until) = (i as f64, ((i + 1) as f64).min(end.max(i as f64 + 1e-9)));
        busy[i] / (until - begin) * (until.min(to) - begin.max(from)).max(0.0)
    };
    touched.map(part).sum::<f64>() / (to - from).max(f64::MIN_POSITIVE)
}

fn axis(svg: &mut String, end: f64, (left, y): (f64, f64)) {
    let (_, step) = nice_axis(end, 8);
    let _ok = writeln!(
        svg,
        "<line x1=\"{left:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#9aa5b1\"/>",
        left + WIDTH
    );
    let mut t = 0.0;
    while t <= end * 1.000_001 {
        let x = left + WIDTH * t / end;
        let _ok = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#9aa5b1\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" fill=\"#7b8794\">{}</text>",
            y + 4.0,
            y + 17.0,
            seconds(t)
        );
        t += step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns take intervals as far as these reach into them; the last interval is as long as the run was in it.
    #[test]
    fn columns_take_their_part_of_each_interval() {
        // A run of 4.9 intervals in five columns: full in the first one, and in the last one for all of its nine tenths.
        let (busy, end) = ([1.0, 0.0, 0.0, 0.0, 0.9], 4.9);
        let of = |column: usize| {
            let time = |c: usize| c as f64 * end / 5.0;
            mean(&busy, (time(column), time(column + 1)), end)
        };
        for (column, share) in [1.0, 0.02 / 0.98, 0.0, 0.0, 0.9 / 0.98].into_iter().enumerate() {
            assert!((of(column) - share).abs() < 1e-9, "{column}: {} {share}", of(column));
        }
    }
}
