//! AMG: algebraic multigrid.

use super::{Application, Length};
use crate::collective::Collective;
use crate::traffic::grid::Grid;

pub(in crate::traffic) static AMG: Application = Application {
    name: "amg",
    summary: "algebraic multigrid: 26 neighbours on each level, small Allreduces",
    doc: "AMG2013 (hypre), problem 1, 256^3 unknowns a rank, 27-point stencil, weak scaling (Domke et al., SC'19, section \
          4.2). Ranks are on a 3-D grid without wrap-around. An iteration is a V-cycle: on each of seven levels, sides \
          256 down to 4, the 26 neighbours exchange faces, edges and corners of 8-byte numbers; then two Allreduces of \
          8 bytes. Assumptions: sides halve from level to level (faces quarter), and the ways down and up of a level \
          are one exchange of twice the size.",
    keys: &[],
    length: Length::Seconds(90),
    write: |body, _| {
        let grid = Grid::of(body.n(), 3, false);
        for level in 0..7u32 {
            let side = 256u32 >> level;
            body.work(f64::from(side).powi(3));
            body.halo26(&grid, side.into(), 2 * 8);
        }
        body.collective(Collective::Allreduce, 8);
        body.collective(Collective::Allreduce, 8);
        Ok(())
    },
};
