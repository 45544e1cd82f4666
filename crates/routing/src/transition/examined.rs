//! The graphs and rows of both tables together.

use std::ops::Range;

use darkfiber_fabric::Fabric;
use rayon::prelude::*;

use super::graphs::Graphs;
use super::ranks;
use super::row::{Circle, Row, Tables};
use super::tasks::tasks;

/// The result of examining the graphs and rows of both tables together.
pub(super) struct Examined {
    pub(super) graphs: Graphs,
    /// The first row in which some mix of entries loops, and the switches of the loop.
    pub(super) mixed_loop: Option<Circle>,
    /// The first row in which an old beginning and a new end loop.
    pub(super) ordered_loop: Option<Circle>,
    /// Rank of every switch, or switches whose order is contradictory.
    pub(super) ranks: Result<Vec<u32>, Vec<u32>>,
}

/// Examines some rows; `graphs` have the dependencies of all others.
pub(super) fn examine(
    fabric: &Fabric,
    tables: &Tables<'_>,
    runs: &[Range<usize>],
    graphs: Graphs,
) -> Examined {
    let first = ranks::Precedence::new(fabric.switch_count());
    let found: Vec<(Option<Circle>, Option<Circle>)> = runs
        .par_chunks(tasks(runs.len()))
        .map(|runs| {
            let mut row = Row::new(fabric, tables);
            for run in runs {
                row.visit(run, &graphs, &first);
            }
            (row.mixed_loop, row.ordered_loop)
        })
        .collect();
    let (mut mixed_loop, mut ordered_loop) = (None, None);
    for (mixed, ordered) in found {
        mixed_loop = mixed_loop.or(mixed);
        ordered_loop = ordered_loop.or(ordered);
    }
    Examined { graphs, mixed_loop, ordered_loop, ranks: first.ranks() }
}
