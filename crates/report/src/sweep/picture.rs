//! Effect of failing cables on engines, as a picture.

use darkfiber_study::{Stat, Summary};

use crate::chart::{Block, Chart, Horizontal, Mark, Measure, Scale, Spread};

/// The panels of one fabric.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Name of the fabric, above its panels.
    pub title: &'a str,
    /// Its rows, in any order.
    pub rows: &'a [&'a Summary],
}

/// Height of a panel.
const HEIGHT: f64 = 150.0;
/// An axis of ratios is logarithmic if they spread more than this.
const SPREAD: f64 = 6.0;

/// Two rows of panels, a column for each fabric, on common axes: the largest EFI as a multiple of that
/// without faults, and virtual layers; by the share of failed cables. A line joins the means of an
/// engine, a band spans its runs.
pub fn picture(title: &str, subtitle: &str, engines: &[&str], columns: &[Column<'_>]) -> String {
    let rows = || columns.iter().flat_map(|c| c.rows.iter().copied());
    let ratios = || rows().filter_map(|r| r.efi_max_relative);
    let low = ratios().map(|s| s.min).fold(1.0, f64::min);
    let high = ratios().map(|s| s.max).fold(1.2, f64::max);
    let layers = rows().filter_map(|r| r.layers).map(|s| s.max).fold(1.0, f64::max);
    let measure = |label: &str, scale, apart| Measure {
        label: label.to_owned(),
        hint: None,
        scale,
        // No change, or one layer.
        reference: Some(1.0),
        apart,
    };
    let mut percents: Vec<f64> = rows().map(|r| r.percent).collect();
    percents.sort_by(f64::total_cmp);
    percents.dedup();
    let percents: Vec<(f64, String)> = percents.iter().map(|p| (*p, p.to_string())).collect();
    let series = |engine: &&str| {
        let mut of_engine = rows().filter(|r| r.engine == *engine);
        let cyclic = of_engine.any(|r| r.deadlock_free < r.runs - r.refused);
        if cyclic { format!("{engine} (can deadlock)") } else { (*engine).to_owned() }
    };
    let some_refused = rows().any(|r| (1..r.runs).contains(&r.refused));
    Chart {
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        series: engines.iter().map(series).collect(),
        interval: Some("from the least to the most of all runs".to_owned()),
        hollow: some_refused.then(|| "some runs refused".to_owned()),
        x: Horizontal::Numbers("failed cables, %".to_owned(), Scale::of_values_as(&percents, true)),
        measures: vec![
            measure("EFI max, relative", Scale::between(low, high, SPREAD), 0.0),
            // Engines with equal numbers of layers would hide each other.
            measure("virtual layers", Scale::of_counts(layers), 2.0),
        ],
        blocks: columns.iter().map(|column| block(column, engines)).collect(),
        panel: (Chart::usual_panel(columns.len()).0, HEIGHT),
    }
    .svg()
}

fn block(column: &Column<'_>, engines: &[&str]) -> Block {
    let of = |engine: &str| {
        let mut rows: Vec<&Summary> =
            column.rows.iter().copied().filter(|r| r.engine == engine).collect();
        rows.sort_by(|a, b| a.percent.total_cmp(&b.percent));
        rows
    };
    let marks = |engine: &str, pick: fn(&Summary) -> Option<Stat>| -> Vec<Mark> {
        let mark = |row: &Summary| {
            let spread = |s: Stat| Spread { mean: s.mean, low: s.min, high: s.max };
            Mark { x: row.percent, y: pick(row).map(spread), hollow: row.refused > 0 }
        };
        of(engine).into_iter().map(mark).collect()
    };
    let panel = |pick| engines.iter().map(|engine| marks(engine, pick)).collect();
    let none = |engine: &&&str| {
        let rows = of(engine);
        !rows.is_empty() && rows.iter().all(|r| r.refused == r.runs)
    };
    let refused: Vec<&str> = engines.iter().filter(none).copied().collect();
    Block {
        title: column.title.to_owned(),
        note: (!refused.is_empty()).then(|| format!("refused: {}", refused.join(", "))),
        panels: vec![panel(|s| s.efi_max_relative), panel(|s| s.layers)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(engine: &str, percent: f64, relative: Option<f64>) -> Summary {
        let stat = |x: f64| Some(Stat { mean: x, min: x / 2.0, max: x * 2.0 });
        Summary {
            fabric: "f".to_owned(),
            engine: engine.to_owned(),
            percent,
            failed: 1,
            runs: 3,
            refused: if relative.is_none() { 3 } else { 0 },
            reason: None,
            deadlock_free: 0,
            lost: stat(0.0),
            layers: relative.and(stat(2.0)),
            efi_max: stat(9.0),
            efi_max_relative: relative.and_then(stat),
            hops_mean: stat(2.0),
            seconds: stat(0.1),
        }
    }

    #[test]
    fn every_fabric_and_engine_is_there() {
        let rows = [
            row("minhop", 0.0, Some(1.0)),
            row("minhop", 1.0, Some(1.5)),
            row("minhop", 10.0, Some(30.0)),
            row("a<b", 1.0, None),
        ];
        let rows: Vec<&Summary> = rows.iter().collect();
        let column = |title| Column { title, rows: &rows };
        let columns = [column("one & all"), column("two"), column("three"), column("four")];
        let svg = picture("t", "s", &["minhop", "a<b"], &columns);
        for text in
            ["one &amp; all", ">four<", "a&lt;b", "minhop (can deadlock)", "refused: a&lt;b"]
        {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        // Two panels a fabric have a line of minhop, and none of the engine that refused.
        assert_eq!(svg.matches("<polyline").count(), 8);
    }

    #[test]
    fn nothing_is_a_picture_too() {
        let svg = picture("t", "s", &["minhop"], &[Column { title: "x", rows: &[] }]);
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }
}
