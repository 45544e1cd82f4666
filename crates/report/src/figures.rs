//! Figures of published experiments.

mod boxes;
pub(crate) mod frame;
mod lines;
pub(crate) mod scatter;
mod tables;

use darkfiber_study::reproduce::{Drawn, Figure};

use self::tables::Scale;
use crate::quantity::rate;
use crate::simulate::{Matrix, matrices};

/// The picture of a figure.
pub fn picture(figure: &Figure) -> String {
    let Figure { title, subtitle, what, .. } = figure;
    match what {
        Drawn::Pairs(squares) => {
            let panels: Vec<Matrix<'_>> = squares
                .iter()
                .map(|s| Matrix {
                    title: &s.title,
                    subtitle: format!("mean {}", rate(s.mean)),
                    ranks: s.ranks,
                    cells: s.cells.clone(),
                })
                .collect();
            matrices(title, subtitle, &panels)
        }
        Drawn::Gains(all) => tables::tables(title, subtitle, Scale::Gains, all),
        Drawn::Impacts(all) => tables::tables(title, subtitle, Scale::of_impacts(all), all),
        Drawn::Scatter { x, y, points, line } => {
            scatter::scatter((title, subtitle), (x, y), points, line)
        }
        Drawn::Lines { x, y, lines } => lines::lines((title, subtitle), (x, y), lines),
        Drawn::Boxes { unit, groups } => boxes::boxes(title, subtitle, unit, groups),
    }
}
