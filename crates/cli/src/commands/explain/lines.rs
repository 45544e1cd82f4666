//! By one load: two lines that meet.

use darkfiber_analysis::piecewise::Piecewise;
use darkfiber_report::explain::{Lines, Two};

/// Below this share of the variance a load explains little.
const LITTLE: f64 = 0.5;
/// Fewer rows than this say little about themselves.
const FEW: usize = 30;

/// The lines; none if points are too few or too much alike.
pub(super) fn fitted<'a>(load: &'a str, points: &'a [(f64, f64)]) -> Option<Lines<'a>> {
    let fit = Piecewise::fit(points)?;
    Some(Lines {
        load,
        at: fit.at,
        at_least: fit.between.0,
        at_most: fit.between.1,
        start: fit.start,
        before: fit.before,
        after: fit.after,
        r2: fit.r2,
        r2_straight: fit.r2_straight,
        r2_cross_validated: Piecewise::cross_validated(points),
        drawn: Two { points, fit },
    })
}

/// A load in digits that show it, whatever its unit.
fn amount(load: f64) -> String {
    let is_usual = load == 0.0 || (1e-3..1e7).contains(&load.abs());
    if is_usual { format!("{load:.4}") } else { format!("{load:.3e}") }
}

/// What the numbers do and do not say.
pub(super) fn findings(l: &Lines<'_>, time: &str) -> Vec<String> {
    let mut all = Vec::new();
    let (load, rows) = (l.load, l.drawn.points.len());
    let percent = |x: f64| format!("{:.0} %", 100.0 * x);
    if l.r2 < LITTLE {
        all.push(format!(
            "{load} explains little of {time} ({}): look for something else, or for a load nearer to what slows it down",
            percent(l.r2)
        ));
    } else if !l.drawn.fit.is_broken(rows) {
        all.push(format!(
            "two lines are no better than one beyond chance: no {load} is seen from which on {time} grows faster"
        ));
    } else if l.after > l.before {
        all.push(format!(
            "above {} a unit of {load} costs more {time} than below: {} of the variance of {time} is explained",
            amount(l.at),
            percent(l.r2)
        ));
    } else {
        all.push(format!(
            "{time} grows less behind the break than before: that is not what congestion does"
        ));
    }
    if l.r2 - l.r2_cross_validated > 0.1 {
        all.push(format!(
            "rows that were not seen are predicted much worse ({}): the lines follow these rows, not a law",
            percent(l.r2_cross_validated.max(0.0))
        ));
    }
    if rows < FEW {
        all.push(format!("{rows} rows are few: the bounds of the break are rough"));
    }
    all.push("rows of one job are not independent, and bounds of 95 % are too narrow then; a law of one machine and its jobs is none of another's".to_owned());
    all
}
