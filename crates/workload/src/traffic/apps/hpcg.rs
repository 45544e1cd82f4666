//! HPCG: preconditioned conjugate gradients.

use darkfiber_fabric::Key;

use super::{Application, Length};
use crate::collective::Collective;
use crate::traffic::grid::Grid;

pub(in crate::traffic) static HPCG: Application = Application {
    name: "hpcg",
    summary: "conjugate gradients with multigrid: 26 neighbours on four levels, dot products",
    doc: "HPCG, 192^3 unknowns a rank, weak scaling (Domke et al., SC'19, section 4.3). Ranks are on a 3-D grid without \
          wrap-around. An iteration exchanges faces, edges and corners of 8-byte numbers with 26 neighbours on four \
          levels, sides 192, 96, 48 and 24, and has three dot products, Allreduces of 8 bytes. The exchanges of a level \
          (four on the finest: product, two sweeps of the smoother and residual; three on the next two, one on the \
          last) are one of as many times the size.",
    keys: &[Key::optional("side", "unknowns of a rank in each dimension, a multiple of 8", "192")],
    length: Length::Seconds(90),
    write: |body, params| {
        let side = params.get("side", 8..=4096)?.unwrap_or(192u32);
        if !side.is_multiple_of(8) {
            return Err(params.bad("side", "a multiple of 8: levels are half as wide each").into());
        }
        let grid = Grid::of(body.n(), 3, false);
        for (side, exchanges) in [(side, 4), (side / 2, 3), (side / 4, 3), (side / 8, 1)] {
            body.work(f64::from(side).powi(3));
            body.halo26(&grid, side.into(), 8 * exchanges);
        }
        (0..3).for_each(|_| body.collective(Collective::Allreduce, 8));
        Ok(())
    },
};
