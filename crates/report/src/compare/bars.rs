//! Jobs of several scenarios as groups of bars.

use super::result::{CompareResult, ComparedJob, RunMean};
use crate::chart::{Block, Chart, Horizontal, Mark, Measure, Scale, Spread};

/// Times that differ more than this from job to job are drawn as parts of those of the first scenario.
const SPREAD: f64 = 8.0;
/// Gaps between the lines behind bars, about.
const GAPS: u32 = 5;

/// A group for each job, a bar for each scenario with the confidence interval of its mean. Bars are times, or parts of the first
/// scenario's where jobs differ much.
pub fn bars(result: &CompareResult<'_>) -> String {
    let runs = || result.jobs.iter().flat_map(|job| &job.scenarios).filter_map(|one| one.run);
    let (least, most) = runs()
        .map(|run| run.mean)
        .filter(|mean| *mean > 0.0)
        .fold((f64::INFINITY, 0.0), |(low, high), mean| (mean.min(low), mean.max(high)));
    let is_relative = result.scenarios.len() > 1 && most > least * SPREAD;
    let (factor, label) = if is_relative {
        (1.0, format!("time by that of {}", result.scenarios[0].name))
    } else {
        let units = [(1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")];
        let fitting = units.into_iter().find(|(factor, _)| most * factor >= 1.0);
        let (factor, unit) = fitting.unwrap_or((1e12, "ps"));
        (factor, format!("time of a run, {unit}"))
    };
    let unit = |job: &ComparedJob| {
        let first = job.scenarios.first().and_then(|one| one.run).map(|run| run.mean);
        if is_relative { first.filter(|mean| *mean > 0.0) } else { Some(1.0) }
    };
    let spread = |run: RunMean, unit: f64| {
        let of = |x: f64| x.max(0.0) * factor / unit;
        let mean = of(run.mean);
        Spread { mean, low: run.ci_low.map_or(mean, of), high: run.ci_high.map_or(mean, of) }
    };
    let series = |scenario: usize| -> Vec<Mark> {
        let mark = |(at, job): (usize, &ComparedJob)| {
            let run = job.scenarios.get(scenario).and_then(|one| one.run);
            let y = run.zip(unit(job)).map(|(run, unit)| spread(run, unit));
            Mark { x: at as f64, y, hollow: false }
        };
        result.jobs.iter().enumerate().map(mark).collect()
    };
    let series: Vec<Vec<Mark>> = (0..result.scenarios.len()).map(series).collect();
    let tops = series.iter().flatten().filter_map(|mark| mark.y).map(|y| y.high);
    let top = tops.fold(0.0, f64::max);
    let has_intervals = runs().any(|run| run.ci_low.is_some());
    Chart {
        title: result.title.to_owned(),
        subtitle: result.subtitle(),
        series: result.scenarios.iter().map(|row| row.name.clone()).collect(),
        interval: has_intervals.then(|| "95 % confidence interval of the mean".to_owned()),
        hollow: None,
        x: Horizontal::Names(
            String::new(),
            result.jobs.iter().map(|job| job.job.clone()).collect(),
        ),
        measures: vec![Measure {
            label,
            hint: None,
            scale: Scale::from_zero(top, GAPS),
            reference: None,
            apart: 0.0,
        }],
        blocks: vec![Block { title: String::new(), note: None, panels: vec![series] }],
        panel: Chart::usual_panel(1),
    }
    .svg()
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
        for text in ["a&lt;b", "t &amp; t", "time of a run, ms", ">1.500<", ">y | z<"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        // Jobs of seconds together with jobs of milliseconds.
        let svg = drawn(&[
            variant("a", &[("x", &[1.0]), ("y", &[1e-3])]),
            variant("b", &[("x", &[2.0]), ("y", &[3e-3])]),
        ]);
        assert!(svg.contains("time by that of a") && svg.contains(">3<"), "{svg}");
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
