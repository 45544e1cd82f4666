//! MiniFE: finite elements, conjugate gradients.

use super::{Application, Length};
use crate::collective::Collective;
use crate::traffic::grid::Grid;

pub(in crate::traffic) static MINIFE: Application = Application {
    name: "minife",
    summary: "finite elements: conjugate gradients with 26 neighbours, two Allreduces",
    doc: "MiniFE, nx = ny = nz = cube root of (100^3 x ranks), weak scaling (Domke et al., SC'19, section 4.2). An \
          iteration is one of conjugate gradients: the 26 neighbours on a 3-D grid without wrap-around exchange faces \
          (100^2 numbers of 8 bytes), edges and corners, then two dot products, Allreduces of 8 bytes. Left out: \
          set-up with its Allgather and Bcast.",
    keys: &[],
    length: Length::Seconds(90),
    write: |body, _| {
        let grid = Grid::of(body.n(), 3, false);
        body.work(2.0);
        body.halo26(&grid, 100, 8);
        body.work(1.0);
        body.collective(Collective::Allreduce, 8);
        body.work(1.0);
        body.collective(Collective::Allreduce, 8);
        Ok(())
    },
};
