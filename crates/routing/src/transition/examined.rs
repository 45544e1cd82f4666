//! The graphs and rows of both tables together.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use darkfiber_fabric::Fabric;
use rayon::prelude::*;

use super::graphs::Graphs;
use super::ranks;
use super::row::{Circle, Findings, Order, Row, Tables};
use super::tasks::tasks;
use crate::check::dependency::Dependencies;

/// The result of examining the graphs and rows of both tables together.
pub(super) struct Examined {
    pub(super) graphs: Graphs,
    /// The first row in which some mix of entries loops, and the switches of the loop.
    pub(super) mixed_loop: Option<Circle>,
    /// The first row in which an old beginning and a new end loop.
    pub(super) ordered_loop: Option<Circle>,
    /// Rank of every switch, or switches whose order is contradictory.
    pub(super) ranks: Result<Vec<u32>, Vec<u32>>,
    /// Whether pairs that the tables in place connect stay connected from rank to rank.
    pub(super) keeps_pairs: bool,
}

/// Examines some rows; all others make the dependencies of `alike`.
pub(super) fn examine(
    fabric: &Fabric,
    tables: &Tables<'_>,
    runs: &[Range<usize>],
    alike: Option<&Dependencies>,
) -> Examined {
    let examine = |of_loops_only: bool, keeps_pairs: bool| {
        examine_in(fabric, tables, runs, alike, Order { of_loops_only, keeps_pairs })
    };
    let (kept, asks_more) = ranked(tables, fabric, |of_loops_only| examine(of_loops_only, true));
    // Fewer pairs are kept rather than no order found.
    if kept.ranks.is_err() && kept.ordered_loop.is_none() && asks_more {
        return ranked(tables, fabric, |of_loops_only| examine(of_loops_only, false)).0;
    }
    kept
}

/// Examines all rows with an order of switches, and where there is none, with one of rows that loop.
///
/// Rows of which no mix loops ask for no order, if the dependencies of all their mixes are counted, and may contradict each other where
/// the others do not.
fn ranked(
    tables: &Tables<'_>,
    fabric: &Fabric,
    examine: impl Fn(bool) -> (Examined, bool),
) -> (Examined, bool) {
    let (mut examined, mut asks_more) = examine(false);
    let is_free = |graph: &Dependencies| {
        let mut lanes = (0..32u8).filter(|lane| tables.every & (1 << lane) != 0);
        lanes.all(|lane| graph.find_cycle(fabric, lane).is_none())
    };
    if examined.ranks.is_err()
        && examined.ordered_loop.is_none()
        && is_free(&examined.graphs.ordered)
    {
        let (of_loops, asks) = examine(true);
        asks_more |= asks;
        if of_loops.ranks.is_ok() && is_free(&of_loops.graphs.ordered) {
            (examined.ranks, examined.graphs.ordered) = (of_loops.ranks, of_loops.graphs.ordered);
        }
    }
    (examined, asks_more)
}

/// Examines rows for an order, and whether it asks for more since pairs are kept.
fn examine_in(
    fabric: &Fabric,
    tables: &Tables<'_>,
    runs: &[Range<usize>],
    alike: Option<&Dependencies>,
    order: Order,
) -> (Examined, bool) {
    let graphs = alike.map_or_else(|| Graphs::new(fabric), Graphs::of);
    let first = ranks::Precedence::new(fabric.switch_count());
    let asks_more = AtomicBool::new(false);
    let into = Findings { graphs: &graphs, first: &first, order, asks_more: &asks_more };
    let found: Vec<(Option<Circle>, Option<Circle>)> = runs
        .par_chunks(tasks(runs.len()))
        .map(|runs| {
            let mut row = Row::new(fabric, tables);
            for run in runs {
                row.visit(run, into);
            }
            (row.mixed_loop, row.ordered_loop)
        })
        .collect();
    let (mut mixed_loop, mut ordered_loop) = (None, None);
    for (mixed, ordered) in found {
        mixed_loop = mixed_loop.or(mixed);
        ordered_loop = ordered_loop.or(ordered);
    }
    let ranks = first.ranks();
    let keeps_pairs = order.keeps_pairs;
    (Examined { graphs, mixed_loop, ordered_loop, ranks, keeps_pairs }, asks_more.into_inner())
}
