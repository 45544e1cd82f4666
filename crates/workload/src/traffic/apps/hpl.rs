//! HPL: dense linear equations.

use darkfiber_fabric::Key;

use super::{Application, Length};
use crate::collective::Collective;
use crate::traffic::grid::Grid;
use crate::traffic::values::count;

/// Columns of a panel.
const NB: f64 = 192.0;

pub(in crate::traffic) static HPL: Application = Application {
    name: "hpl",
    summary: "dense LU: panels round the rows, rows exchanged within the columns",
    doc: "High Performance Linpack, 1 GiB of matrix a rank, 0.25 GiB from 224 nodes on, weak scaling (Domke et al., SC'19, \
          sections 4.3 and 5.2). Ranks are an almost square grid with more columns than rows. For each panel its column \
          sends it round the rows (a ring from column to next column, HPL's 1ring), then the rows that change places \
          and the block U go round within the columns (Allgather by ring, HPL's long algorithm), then the trailing \
          matrix is updated, work in proportion to its size. An iteration is a whole factorisation, in `stages` of \
          several panels each. Assumptions: panels of 192 columns, no look-ahead, pivot search not told apart.",
    keys: &[Key::optional("stages", "that the panels are done in", "48")],
    length: Length::Iterations(1),
    #[expect(clippy::cast_sign_loss, reason = "sizes are not below zero")]
    write: |body, params| {
        let n = body.n();
        let gib: f64 = if body.job.nodes() >= 224 { 0.25 } else { 1.0 };
        let order = (f64::from(n) * gib * 1_073_741_824.0 / 8.0).sqrt();
        // The larger side first: rows of the grid are lines of the first dimension.
        let sides = Grid::of(n, 2, false).sides;
        let (columns, rows) = (sides[0], sides[1]);
        let grid = Grid::new(vec![columns, rows], false);
        let panels = (order / NB).floor().max(1.0);
        let stages = count(params, "stages", 48)?.min(panels as u32).max(1);
        for stage in 0..stages {
            // The remaining part, as a share of the order, in the middle of the stage.
            let left = 1.0 - (f64::from(stage) + 0.5) / f64::from(stages);
            let times = panels / f64::from(stages) * NB * 8.0;
            let panel = order * left / f64::from(rows) * times;
            let block = order * left / f64::from(columns) * times / f64::from(rows);
            let owner = stage % columns;
            for hop in 0..columns - 1 {
                let (from, to) = ((owner + hop) % columns, (owner + hop + 1) % columns);
                for row in 0..rows {
                    let (from, to) = (grid.rank(&[from, row]), grid.rank(&[to, row]));
                    body.message(from, to, panel as u64);
                    body.script.wait(from);
                    body.script.wait(to);
                }
            }
            for column in grid.lines(1) {
                body.with("ring", Collective::Allgather, &column, block as u64);
            }
            body.work(left * left);
        }
        Ok(())
    },
};
