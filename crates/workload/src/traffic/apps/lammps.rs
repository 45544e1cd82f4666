//! LAMMPS: molecular dynamics.

use super::{Application, Length};
use crate::collective::Collective;
use crate::traffic::grid::{Grid, faces};

/// Ghost atoms of a face: 32000 atoms in a box whose cutoff is a tenth of its side.
const FACE_ATOMS: u64 = 3_200;

pub(in crate::traffic) static LAMMPS: Application = Application {
    name: "lammps",
    summary: "molecular dynamics: six faces at distances one and two, small Allreduces",
    doc: "De Sensi et al., SC'20, table I: reductions and messages at different distances; the input is not given. Ranks \
          are on a periodic 3-D grid. A step exchanges ghost atoms with both neighbours along x, then y, then z, and \
          forces back the same way, then does the same at distance two with half as much, and sums up 48 bytes. Ghost \
          atoms and forces of a neighbour are one message of both sizes. Assumptions: 32000 atoms a rank (the rhodopsin benchmark's size), 3200 of them in a face, 24 bytes an atom.",
    keys: &[],
    length: Length::Seconds(90),
    write: |body, _| {
        let grid = Grid::of(body.n(), 3, true);
        body.work(1.0);
        for (distance, atoms) in [(1, 2 * FACE_ATOMS), (2, FACE_ATOMS)] {
            for phase in faces(3).chunks_exact(2) {
                let far = |step: &Vec<i32>| step.iter().map(|by| by * distance).collect();
                let steps: Vec<Vec<i32>> = phase.iter().map(far).collect();
                body.halo(&grid, &steps, |_| atoms * 24);
            }
        }
        body.collective(Collective::Allreduce, 48);
        Ok(())
    },
};
