//! Steps of a grid done as early as possible: columns of work that each of several rows does in
//! turn.
//!
//! Cell (row, column) is done after (row, column - 1) and (row - 1, column). A cell can depend only on those
//! two, so neither the order in which threads reach cells nor their number affects the result. No thread waits:
//! the thread that completes the later of the two continues with the cell, or leaves it to an idle thread.

use std::sync::atomic::{AtomicU8, Ordering};

use rayon::Scope;

/// Calls `work(row, column)` for all cells of a grid.
pub(super) fn each_cell(rows: usize, columns: usize, work: impl Fn(usize, usize) + Sync) {
    if rows == 0 || columns == 0 {
        return;
    }
    let awaited = |cell: usize| u8::from(cell >= columns) + u8::from(!cell.is_multiple_of(columns));
    let awaited = (0..rows * columns).map(|cell| AtomicU8::new(awaited(cell))).collect();
    let grid = Grid { rows, columns, work, awaited };
    rayon::scope(|scope| grid.run(scope, 0, 0));
}

struct Grid<F> {
    rows: usize,
    columns: usize,
    work: F,
    /// Number of cells that must be done before each one.
    awaited: Vec<AtomicU8>,
}

impl<F: Fn(usize, usize) + Sync> Grid<F> {
    /// Does a cell, then as many as follow from it.
    fn run<'s>(&'s self, scope: &Scope<'s>, row: usize, mut column: usize) {
        loop {
            (self.work)(row, column);
            if self.is_due(row + 1, column) {
                scope.spawn(move |scope| self.run(scope, row + 1, column));
            }
            column += 1;
            if !self.is_due(row, column) {
                return;
            }
        }
    }

    /// Whether a cell waited for the one just done, and for no other.
    fn is_due(&self, row: usize, column: usize) -> bool {
        row < self.rows
            && column < self.columns
            && self.awaited[row * self.columns + column].fetch_sub(1, Ordering::AcqRel) == 1
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn each_cell_is_done_once_after_those_before_it() {
        for threads in [1, 2, 7] {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let done = Mutex::new(Vec::new());
            pool.install(|| {
                each_cell(5, 9, |row, column| done.lock().expect("no panic").push((row, column)));
            });
            let done = done.into_inner().expect("no panic");
            let place = |cell| done.iter().position(|&d| d == cell).expect("every cell");
            assert_eq!(done.len(), 45);
            for (row, column) in (0..5).flat_map(|row| (0..9).map(move |column| (row, column))) {
                let at = place((row, column));
                assert!(row == 0 || place((row - 1, column)) < at);
                assert!(column == 0 || place((row, column - 1)) < at);
            }
        }
    }

    #[test]
    fn an_empty_grid_is_no_work() {
        each_cell(0, 3, |_, _| panic!("no cell"));
        each_cell(3, 0, |_, _| panic!("no cell"));
    }
}
