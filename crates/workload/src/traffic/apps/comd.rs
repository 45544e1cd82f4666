//! CoMD: molecular dynamics.

use super::{Application, Length};
use crate::collective::Collective;
use crate::traffic::grid::{Grid, faces};

/// Atoms of one layer of link cells: 64^3 atoms in 25 layers of cutoff 5.79 A.
const FACE_ATOMS: u64 = 64 * 64 * 64 / 25;

pub(in crate::traffic) static COMD: Application = Application {
    name: "comd",
    summary: "molecular dynamics: six faces in three phases, small Allreduces",
    doc: "CoMD, 64^3 atoms a rank, weak scaling (Domke et al., SC'19, section 4.2). Ranks are on a periodic 3-D grid; in \
          each step they exchange atoms with both neighbours along x, then y, then z, each phase waited for, and sum up \
          16 bytes. Assumptions: a face is one layer of link cells (cutoff 5.79 A in copper at 3.615 A: 25 layers), an \
          atom is 56 bytes as CoMD packs it, and the sum is in every step instead of every tenth.",
    keys: &[],
    length: Length::Seconds(90),
    write: |body, _| {
        let grid = Grid::of(body.n(), 3, true);
        body.work(1.0);
        for phase in faces(3).chunks_exact(2) {
            body.halo(&grid, phase, |_| FACE_ATOMS * 56);
        }
        body.collective(Collective::Allreduce, 16);
        Ok(())
    },
};
