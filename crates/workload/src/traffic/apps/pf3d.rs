//! pF3D: laser and plasma.

use super::{Application, Length};
use crate::collective::Collective;
use crate::traffic::grid::Grid;
use crate::traffic::{TrafficError, multiples_near};

pub(in crate::traffic) static PF3D: Application = Application {
    name: "pf3d",
    summary: "laser and plasma: Alltoalls along x and y, neighbours along z",
    doc: "pF3D on ranks of X x 16 x 8, weak scaling (Smith et al., SC'18, section III and table IV: 10 steps; its source is \
          not public). An iteration does an Alltoall within each line along x and each along y, and sends a plane to the \
          neighbour along z. A number of ranks that 128 does not divide is a grid of X x 16 x 1. Assumptions: 64 KiB to \
          each in the Alltoalls, as their fft-proxy, which mimics pF3D, and 1 MiB along z.",
    keys: &[],
    length: Length::Seconds(90),
    write: |body, _| {
        let n = body.n();
        if !n.is_multiple_of(16) {
            return Err(TrafficError::Ranks {
                traffic: "pf3d",
                needs: "a multiple of 16 ranks",
                ranks: n,
                hint: multiples_near(n, 16),
            });
        }
        let z = if n.is_multiple_of(128) { 8 } else { 1 };
        let grid = Grid::new(vec![n / 16 / z, 16, z], false);
        for dimension in [0, 1] {
            body.work(1.0);
            for line in grid.lines(dimension) {
                body.among(Collective::Alltoall, &line, 64 << 10);
            }
        }
        body.work(1.0);
        body.halo(&grid, &[vec![0, 0, 1], vec![0, 0, -1]], |_| 1 << 20);
        Ok(())
    },
};
