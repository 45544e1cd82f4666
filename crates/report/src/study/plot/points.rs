//! Rows that differ in their seed only, as one point.

use std::collections::BTreeMap;

use darkfiber_study::MeanInterval;

use super::choice::Choice;
use super::selection::Selection;

/// Confidence level of the intervals.
const CONFIDENCE: f64 = 0.95;

/// The data at one position.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    values: Vec<f64>,
    /// Number of rows without an answer.
    pub(super) missing: usize,
}

impl Point {
    /// The mean over seeds with its confidence interval, which has no width if there is one seed; `None` without an answer.
    pub(super) fn mean(&self) -> Option<MeanInterval> {
        let mean = MeanInterval::of(&self.values, CONFIDENCE)?;
        Some(MeanInterval { half: if mean.samples > 1 { mean.half } else { 0.0 }, ..mean })
    }
}

/// A panel, a colour and a place on the horizontal axis.
type Place = (Vec<usize>, usize, usize);

/// All that is drawn, by panel, colour, and place on the horizontal axis.
pub(super) struct Points {
    all: BTreeMap<Place, Point>,
    /// The panels that there are, in the order of their values.
    pub(super) panels: Vec<Vec<usize>>,
}

impl Points {
    pub(super) fn of(selection: &Selection, choice: &Choice) -> Self {
        let mut all: BTreeMap<Place, Point> = BTreeMap::new();
        let dimensions = &selection.dimensions;
        for row in &selection.rows {
            // A row without an answer stands for all subjects of the cell.
            let each = |i: usize| -> Vec<usize> {
                row.places[i].map_or_else(|| (0..dimensions[i].len()).collect(), |at| vec![at])
            };
            let mut panels: Vec<Vec<usize>> = vec![Vec::new()];
            for &i in &choice.panels {
                let more = |panel: &Vec<usize>| -> Vec<Vec<usize>> {
                    each(i).into_iter().map(|at| [panel.as_slice(), &[at]].concat()).collect()
                };
                panels = panels.iter().flat_map(more).collect();
            }
            let colours = choice.by.map_or_else(|| vec![0], each);
            for panel in panels {
                for &colour in &colours {
                    for x in each(choice.x) {
                        let point = all.entry((panel.clone(), colour, x)).or_default();
                        point.values.extend(row.value);
                        point.missing += usize::from(row.value.is_none());
                    }
                }
            }
        }
        let mut panels: Vec<Vec<usize>> = all.keys().map(|place| place.0.clone()).collect();
        panels.dedup();
        Self { all, panels }
    }

    /// The data at a position; `None` if there is no such cell.
    pub(super) fn at(&self, panel: &[usize], colour: usize, x: usize) -> Option<&Point> {
        self.all.get(&(panel.to_vec(), colour, x))
    }

    /// The means that are drawn, with their intervals.
    pub(super) fn means(&self) -> impl Iterator<Item = MeanInterval> + '_ {
        self.all.values().filter_map(Point::mean)
    }

    /// The minimum and the maximum number of values behind a point; `None` if there is no value.
    pub(super) fn samples(&self) -> Option<(usize, usize)> {
        let all = || self.means().map(|mean| mean.samples);
        Some((all().min()?, all().max()?))
    }

    /// Whether some points have answers of only some seeds.
    pub(super) fn is_partial(&self) -> bool {
        self.all.values().any(|point| point.missing > 0 && !point.values.is_empty())
    }

    /// Whether some cells have no answer at all.
    pub(super) fn has_gaps(&self) -> bool {
        self.all.values().any(|point| point.values.is_empty())
    }
}
