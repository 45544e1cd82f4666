//! Jobs of several scenarios as groups of bars.

use std::fmt::Write as _;

use super::result::{CompareResult, ComparedJob};
use crate::canvas::{LEFT, escape, fitted, header};
use crate::chart::colour;
use crate::figures::frame::Axis;
use crate::quantity::seconds;

const HEIGHT: f64 = 220.0;
const BAR: f64 = 30.0;
const GAP: f64 = 34.0;
/// Below a row of groups, for what they are called.
const BELOW: f64 = 66.0;
/// Width that a row of groups fills before another one begins.
const ACROSS: f64 = 980.0;
/// A row is at least as wide; its bars are up to three times as wide then.
const LEAST: f64 = 560.0;
/// Above bars, for the numbers there.
const ABOVE: f64 = 26.0;
/// Bars from this width on have room for their numbers side by side.
const WIDE: f64 = 44.0;
const LEGEND_LINE: f64 = 20.0;
/// Times that differ more than this from job to job are drawn as parts of those of the first scenario.
const SPREAD: f64 = 8.0;

/// A group for each job, a bar for each scenario with the confidence interval of its mean, and the mean above it. Bars are seconds, or
/// parts of the first scenario's where jobs differ much.
pub fn bars(result: &CompareResult<'_>) -> String {
    let scenarios = result.scenarios.len();
    let means = || result.jobs.iter().flat_map(|job| &job.scenarios).filter_map(|one| one.run);
    let (least, most) = means()
        .map(|run| run.mean)
        .filter(|mean| *mean > 0.0)
        .fold((f64::INFINITY, 0.0), |(low, high), mean| (mean.min(low), mean.max(high)));
    let is_relative = scenarios > 1 && most > least * SPREAD;
    let unit = |job: &ComparedJob| {
        let first = job.scenarios.first().and_then(|one| one.run).map(|run| run.mean);
        if is_relative { first.filter(|mean| *mean > 0.0) } else { Some(1.0) }
    };
    let tops = result.jobs.iter().flat_map(|job| {
        let unit = unit(job);
        let runs = job.scenarios.iter().filter_map(|one| one.run);
        runs.filter_map(move |run| Some(run.ci_high.unwrap_or(run.mean).max(run.mean) / unit?))
    });
    let top = tops.fold(0.0, f64::max);
    let (factor, word) = if is_relative {
        (1.0, format!("time by that of {}", result.scenarios[0].name))
    } else {
        let units = [(1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")];
        let fitting = units.into_iter().find(|(factor, _)| top * factor >= 1.0);
        let (factor, unit) = fitting.unwrap_or((1e12, "ps"));
        (factor, format!("time of a run, {unit}"))
    };
    let axis = Axis::up_to(if top > 0.0 { top * factor } else { 1.0 }, 5);
    let (ticks, _) = axis.labelled("");
    let end = ticks.last().map_or(1.0, |tick| tick.0);

    let narrow = scenarios as f64 * BAR;
    #[expect(clippy::cast_sign_loss, reason = "above zero")]
    let in_row = (((ACROSS + GAP) / (narrow + GAP)) as usize).clamp(1, result.jobs.len().max(1));
    let used = in_row as f64 * (narrow + GAP);
    let width = used.max(LEAST);
    let wider = (width / used).min(3.0);
    let (bar, gap) = (BAR * wider, GAP * wider);
    let group = scenarios as f64 * bar;
    let (legend, legend_height) = legend(result, LEFT + width);
    let first = 62.0 + legend_height + 28.0 + ABOVE;
    let down = result.jobs.len().div_ceil(in_row).max(1);
    let block = HEIGHT + BELOW + ABOVE;
    let mut svg =
        header(LEFT + width + 24.0, first + down as f64 * block, result.title, &result.subtitle());
    svg.push_str(&legend);
    for (row, jobs) in result.jobs.chunks(in_row).enumerate() {
        let base = first + row as f64 * block + HEIGHT;
        let y = |value: f64| base - HEIGHT * (value * factor / end);
        for (at, text) in &ticks {
            let y = base - HEIGHT * at / end;
            let stroke = if *at == 0.0 { "#9aa5b1" } else { "#e4e7eb" };
            let _infallible = writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{stroke}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" fill=\"#7b8794\">{text}</text>",
                LEFT + width,
                LEFT - 7.0,
                y + 3.5
            );
        }
        let _infallible = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"10.5\" fill=\"#7b8794\">{}</text>",
            base - HEIGHT - ABOVE - 2.0,
            escape(&word)
        );
        for (i, job) in jobs.iter().enumerate() {
            let left = LEFT + gap / 2.0 + i as f64 * (group + gap);
            if let Some(unit) = unit(job) {
                draw(&mut svg, job, unit, (left, base, bar), &y);
            }
            let (size, name) = fitted(&job.job, group + gap - 4.0, 11.0, 0.56);
            let _infallible = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"{size}\" fill=\"#1f2933\">{}</text>",
                left + group / 2.0,
                base + 18.0,
                escape(&name)
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// The bars of a job, from its left end on a base line, each as wide.
fn draw(
    svg: &mut String,
    job: &ComparedJob,
    unit: f64,
    (left, base, bar): (f64, f64, f64),
    y: &impl Fn(f64) -> f64,
) {
    for (i, one) in job.scenarios.iter().enumerate() {
        let Some(run) = one.run else { continue };
        let (x, wide) = (left + i as f64 * bar, bar - 3.0);
        let middle = x + wide / 2.0;
        let top = y(run.mean / unit);
        let _infallible = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" fill=\"{}\" fill-opacity=\"0.8\"/>",
            base - top,
            colour(i)
        );
        let mut above = top;
        if let Some((low, high)) = run.ci_low.zip(run.ci_high) {
            let (low, high) = (y(low.max(0.0) / unit), y(high / unit));
            above = high;
            let _infallible = writeln!(
                svg,
                "<path d=\"M{middle:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h8M{:.1} {high:.1}h8\" fill=\"none\" \
                 stroke=\"#1f2933\" stroke-width=\"1.2\"/>",
                middle - 4.0,
                middle - 4.0
            );
        }
        let (size, text) = fitted(&seconds(run.mean), bar + 12.0, 10.0, 0.52);
        // Numbers of narrow neighbours would touch at one height.
        let higher = if i % 2 == 1 && bar < WIDE { 10.0 } else { 0.0 };
        let _infallible = writeln!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"{size}\" fill=\"#616e7c\">{}</text>",
            above - 4.0 - higher,
            escape(&text)
        );
    }
}

/// Which colour is which scenario, in as many lines as it takes, and their height.
fn legend(result: &CompareResult<'_>, width: f64) -> (String, f64) {
    let mut text = String::new();
    let (mut x, mut y) = (LEFT, 66.0);
    for (i, row) in result.scenarios.iter().enumerate() {
        let (_, name) = fitted(&row.name, width - LEFT - 40.0, 11.0, 0.56);
        let wide = 34.0 + 6.4 * name.chars().count() as f64;
        if x > LEFT && x + wide > width {
            (x, y) = (LEFT, y + LEGEND_LINE);
        }
        let _infallible = writeln!(
            text,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"12\" height=\"12\" fill=\"{}\" fill-opacity=\"0.8\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\">{}</text>",
            colour(i),
            x + 17.0,
            y + 10.0,
            escape(&name)
        );
        x += wide;
    }
    (text, y - 66.0 + LEGEND_LINE)
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::variant;
    use super::*;
    use crate::model::Provenance;

    fn drawn(variants: &[darkfiber_study::compare::Variant]) -> String {
        let provenance = Provenance {
            version: String::new(),
            command: String::new(),
            seed: 1,
            fabric_digest: String::new(),
        };
        bars(&CompareResult::new("t & t", &[1, 2], variants, &provenance))
    }

    #[test]
    fn a_bar_for_each_job_and_scenario() {
        let a = variant("a<b", &[("x", &[1e-3, 1.1e-3]), ("y", &[2e-3, 2e-3])]);
        let b = variant("b", &[("x", &[1.5e-3]), ("z", &[])]);
        let svg = drawn(&[a.clone(), b]);
        // The page, two of the legend, three bars.
        assert_eq!(svg.matches("<rect").count(), 1 + 2 + 3, "{svg}");
        assert_eq!(svg.matches("<path").count(), 2);
        for text in ["a&lt;b", "t &amp; t", "time of a run, ms", ">1.50 ms<", ">y | z<"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        // Jobs of seconds beside jobs of milliseconds.
        let svg = drawn(&[
            variant("a", &[("x", &[1.0]), ("y", &[1e-3])]),
            variant("b", &[("x", &[2.0]), ("y", &[3e-3])]),
        ]);
        assert!(svg.contains("time by that of a") && svg.contains(">3.00 ms<"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn nothing_and_much_are_pictures_too() {
        let many: Vec<(String, [f64; 2])> =
            (0..90).map(|i| (format!("job {i}"), [1.0, 2.0])).collect();
        let many: Vec<(&str, &[f64])> = many.iter().map(|(n, t)| (n.as_str(), &t[..])).collect();
        for svg in
            [drawn(&[]), drawn(&[variant("a", &[("x", &[])])]), drawn(&[variant("a", &many)])]
        {
            assert!(
                svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"),
                "{svg}"
            );
        }
    }
}
