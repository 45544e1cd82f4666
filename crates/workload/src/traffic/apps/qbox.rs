//! Qbox: first-principles molecular dynamics.

use super::{Application, Length};
use crate::collective::Collective;
use crate::traffic::grid::Grid;

pub(in crate::traffic) static QBOX: Application = Application {
    name: "qbox",
    summary: "first-principles molecular dynamics: collectives in rows and columns",
    doc: "qb@ll, gold, 32 atoms at one node and 16 at 672, weak scaling (Domke et al., SC'19, section 4.2 and table 2; \
          here 16 above 448 nodes, as it is not said where it changes). Ranks are an almost square grid. An iteration \
          transposes plane waves within columns (Alltoallv, evenly), sums up overlaps within rows, hands blocks to the \
          next column, broadcasts within columns, and sums up an energy. Assumptions, for 32 atoms: 16 MiB a rank are \
          transposed and back, 2 MiB summed up, 4 MiB handed on, 1 MiB broadcast; all in proportion to the atoms.",
    keys: &[],
    length: Length::Seconds(90),
    write: |body, _| {
        let atoms: u64 = if body.job.nodes() > 448 { 16 } else { 32 };
        let grid = Grid::of(body.n(), 2, true);
        let (columns, rows) = (grid.lines(0), grid.lines(1));
        let each = |mib: u64| (mib << 20) * atoms / 32;
        for _ in 0..2 {
            body.work(2.0);
            for column in &columns {
                body.among(Collective::Alltoall, column, each(16) / column.len() as u64);
            }
        }
        for row in &rows {
            body.among(Collective::Allreduce, row, each(2));
        }
        body.work(1.0);
        body.halo(&grid, &[vec![0, 1]], |_| each(4));
        for column in &columns {
            body.among(Collective::Bcast, column, each(1));
        }
        body.collective(Collective::Allreduce, 8);
        Ok(())
    },
};
