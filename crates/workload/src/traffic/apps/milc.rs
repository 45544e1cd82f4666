//! MILC: lattice quantum chromodynamics.

use darkfiber_fabric::Key;

use super::{Application, Length, power_of_two};
use crate::collective::Collective;
use crate::traffic::grid::{Grid, faces};

pub(in crate::traffic) static MILC: Application = Application {
    name: "milc",
    summary: "lattice QCD: eight neighbours in four dimensions, small Allreduces",
    doc: "MILC su3_rmd, NERSC's benchmark_n8, weak scaling, a power of two of ranks (Domke et al., SC'19, section 4.2; Smith \
          et al., SC'18, use 64^3 x T). An iteration is one of conjugate gradients on a periodic 4-D grid of ranks: the \
          eight neighbours exchange vectors of three complex numbers in single precision (24 bytes) on sites of one \
          parity, then an Allreduce of 8 bytes. Assumptions: 24^4 sites a rank, and four layers a face: one for the \
          nearest and three for the third neighbour (Naik term). The trajectories and their longer steps are not told \
          apart.",
    keys: &[Key::optional("side", "sites of a rank in each dimension", "24")],
    length: Length::Seconds(90),
    write: |body, params| {
        // Of one parity.
        let face = u64::from(params.get("side", 2..=1024)?.unwrap_or(24u32)).pow(3) / 2;
        power_of_two("milc", body)?;
        let grid = Grid::of(body.n(), 4, true);
        body.work(1.0);
        body.halo(&grid, &faces(4), |_| face * 24 * 4);
        body.collective(Collective::Allreduce, 8);
        Ok(())
    },
};
