//! Four rows over time, as the paper's Figure 7.

use darkfiber_study::replay::{Measure, Moment};

use crate::chart::{self, Block, Chart, Horizontal, Mark, Scale, Spread};

/// Most points of a line: one a pixel.
const POINTS: usize = 900;
/// Width and height of a row.
const PANEL: (f64, f64) = (900.0, 128.0);

/// Largest effective EFI, mean of jobs' largest, dark fiber, links a job; a line for each engine, over days. Where
/// there are more moments than pixels a point is the mean of those under it.
pub fn picture(
    title: &str,
    subtitle: &str,
    engines: &[&str],
    every: i64,
    moments: &[Moment],
) -> String {
    let days = moments.len().max(1) as f64 * every as f64 / 86_400.0;
    let each = days / moments.len().max(1) as f64;
    let rows: Vec<Vec<Vec<Mark>>> = Measure::ALL
        .into_iter()
        .map(|measure| (0..engines.len()).map(|e| line(measure, e, moments, each)).collect())
        .collect();
    let measures = Measure::ALL.into_iter().zip(&rows).map(|(measure, lines)| {
        let better = if measure.is_higher_better() { "higher" } else { "lower" };
        let most = lines.iter().flatten().filter_map(|mark| mark.y).map(|y| y.mean);
        chart::Measure {
            label: measure.label().to_owned(),
            hint: Some(format!("{better} is better")),
            scale: Scale::from_zero(most.fold(0.0, f64::max), 4),
            reference: None,
            apart: 0.0,
        }
    });
    Chart {
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        series: engines.iter().map(|&engine| engine.to_owned()).collect(),
        interval: None,
        hollow: None,
        x: Horizontal::Numbers("days".to_owned(), Scale::up_to(days)),
        measures: measures.collect(),
        blocks: vec![Block { title: String::new(), note: None, panels: rows }],
        panel: PANEL,
    }
    .svg()
}

/// Points of an engine: days since the first moment, and value.
fn line(measure: Measure, engine: usize, moments: &[Moment], each: f64) -> Vec<Mark> {
    let under = moments.len().div_ceil(POINTS).max(1);
    let chunks = moments.chunks(under).enumerate();
    chunks
        .map(|(i, chunk)| {
            let values = chunk.iter().map(|m| measure.of(&m.engines[engine]));
            let mean = values.sum::<f64>() / chunk.len() as f64;
            let middle = (i * under) as f64 + chunk.len() as f64 / 2.0;
            Mark { x: middle * each, y: Some(Spread::exactly(mean)), hollow: false }
        })
        .collect()
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
