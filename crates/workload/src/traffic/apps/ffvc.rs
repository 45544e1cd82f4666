//! FFVC: incompressible flow.

use super::{Application, Length, power_of_two};
use crate::collective::Collective;
use crate::traffic::grid::{Grid, faces};

pub(in crate::traffic) static FFVC: Application = Application {
    name: "ffvc",
    summary: "incompressible flow: six faces and an Allreduce for each pressure sweep",
    doc: "FFVC, flow in a cavity, 128^3 cells a rank, 64^3 on more than 64 nodes, weak scaling, run on powers of two \
          (Domke et al., SC'19, sections 4.2 and 5.2). An iteration is a sweep of the pressure solver: the six \
          neighbours on a 3-D grid without wrap-around exchange a face, then the residual is summed up, an Allreduce of \
          8 bytes. Assumptions: single precision, two layers of guide cells; velocities, a few of fifty sweeps, are not \
          told apart.",
    keys: &[],
    length: Length::Seconds(90),
    write: |body, _| {
        power_of_two("ffvc", body)?;
        let side: u64 = if body.job.nodes() > 64 { 64 } else { 128 };
        let grid = Grid::of(body.n(), 3, false);
        body.work(1.0);
        body.halo(&grid, &faces(3), |_| side * side * 4 * 2);
        body.collective(Collective::Allreduce, 8);
        Ok(())
    },
};
