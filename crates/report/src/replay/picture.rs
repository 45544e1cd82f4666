//! Four rows over time, as the paper's Figure 7.

use std::fmt::Write as _;

use darkfiber_study::replay::{Measure, Moment};

use crate::canvas::{LEFT, escape, header, nice_axis};
use crate::plot::colour;

const WIDTH: f64 = 900.0;
/// Most points of a line: one a pixel.
const POINTS: usize = 900;
const PANEL: f64 = 128.0;
const GAP: f64 = 34.0;
const RIGHT: f64 = 24.0;

/// Largest effective EFI, mean of jobs' largest, dark fiber, links a job; a line for each engine, over days. Where
/// there are more moments than pixels a point is the mean of those under it.
pub fn picture(
    title: &str,
    subtitle: &str,
    engines: &[&str],
    every: i64,
    moments: &[Moment],
) -> String {
    let top = 104.0;
    let height = top + 4.0 * (PANEL + GAP) + 24.0;
    let mut svg = header(LEFT + WIDTH + RIGHT, height, title, subtitle);
    let mut x = LEFT;
    for (i, engine) in engines.iter().enumerate() {
        let _ok = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"72\" x2=\"{:.1}\" y2=\"72\" stroke=\"{}\" \
             stroke-width=\"2\"/><text x=\"{:.1}\" y=\"76\">{}</text>",
            x + 18.0,
            colour(i),
            x + 24.0,
            escape(engine)
        );
        x += 44.0 + 7.0 * engine.chars().count() as f64;
    }
    let days = moments.len().max(1) as f64 * every as f64 / 86_400.0;
    for (row, measure) in Measure::ALL.into_iter().enumerate() {
        let panel = Panel { base: top + row as f64 * (PANEL + GAP) + PANEL, days, measure };
        panel.draw(&mut svg, engines.len(), moments, row == 3);
    }
    svg.push_str("</svg>\n");
    svg
}

struct Panel {
    base: f64,
    days: f64,
    measure: Measure,
}

impl Panel {
    fn draw(&self, svg: &mut String, engines: usize, moments: &[Moment], last: bool) {
        let base = self.base;
        let lines: Vec<Vec<(f64, f64)>> = (0..engines).map(|e| self.line(e, moments)).collect();
        let most = lines.iter().flatten().map(|p| p.1).fold(0.0, f64::max);
        let (top, step) = nice_axis(if most > 0.0 { most } else { 1.0 }, 4);
        let better = if self.measure.is_higher_better() { "higher" } else { "lower" };
        let _ok = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{:.1}\" font-weight=\"600\">{}<tspan dx=\"8\" \
             font-weight=\"400\" fill=\"#7b8794\">{better} is better</tspan></text>",
            base - PANEL - 8.0,
            escape(self.measure.label())
        );
        let mut tick = 0.0;
        while tick <= top * 1.0001 {
            let y = base - PANEL * tick / top;
            let grey = if tick == 0.0 { "#9aa5b1" } else { "#e4e7eb" };
            let text = (tick * 1000.0).round() / 1000.0;
            let _ok = writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{grey}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10.5\" \
                 fill=\"#7b8794\">{text}</text>",
                LEFT + WIDTH,
                LEFT - 7.0,
                y + 3.5
            );
            tick += step;
        }
        let (_, step) = nice_axis(self.days, 10);
        let mut day = 0.0;
        while day <= self.days * 1.0001 {
            let x = LEFT + WIDTH * day / self.days;
            let _ok = writeln!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{base:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#9aa5b1\"/>",
                base + 4.0
            );
            if last {
                let text = (day * 1000.0).round() / 1000.0;
                let _ok = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10.5\" \
                     fill=\"#7b8794\">{text}</text>",
                    base + 17.0
                );
            }
            day += step;
        }
        if last {
            let _ok = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#616e7c\">days</text>",
                LEFT + WIDTH / 2.0,
                base + 34.0
            );
        }
        for (e, line) in lines.iter().enumerate() {
            let mut points = String::new();
            for (x, y) in line {
                let _ok = write!(points, "{:.1},{:.1} ", LEFT + x, base - PANEL * y / top);
            }
            let _ok = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.1\" \
                 stroke-opacity=\"0.85\"/>",
                points.trim_end(),
                colour(e)
            );
        }
    }

    /// Points of an engine: distance from the left, and value.
    fn line(&self, engine: usize, moments: &[Moment]) -> Vec<(f64, f64)> {
        let under = moments.len().div_ceil(POINTS).max(1);
        let pixels = WIDTH / moments.len().max(1) as f64;
        moments
            .chunks(under)
            .enumerate()
            .map(|(i, chunk)| {
                let values = chunk.iter().map(|m| self.measure.of(&m.engines[engine]));
                let mean = values.sum::<f64>() / chunk.len() as f64;
                let middle = (i * under) as f64 + chunk.len() as f64 / 2.0;
                (middle * pixels, mean)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_study::replay::EngineLoads;

    use super::*;

    #[test]
    fn every_engine_has_four_lines() {
        let moment = |i: u64| Moment {
            time: i.cast_signed() * 600,
            jobs: 3,
            multi_switch_jobs: 2,
            busy_percent: 50.0,
            changed: true,
            engines: vec![EngineLoads { efi_max: i, ..EngineLoads::default() }; 3],
        };
        let moments: Vec<Moment> = (0..5000).map(moment).collect();
        let svg = picture("a & b", "s", &["x<y", "b", "c"], 600, &moments);
        assert_eq!(svg.matches("<polyline").count(), 12);
        assert!(svg.contains("a &amp; b") && svg.contains("x&lt;y") && !svg.contains("NaN"));
        let empty = picture("t", "s", &["x"], 600, &[]);
        assert!(empty.ends_with("</svg>\n") && !empty.contains("NaN") && !empty.contains("inf"));
    }
}
