//! SWFFT: three-dimensional FFT.

use super::{Application, Length, power_of_two};
use crate::collective::Collective;
use crate::traffic::grid::Grid;

/// A rank's part of the grid: 256^3 complex numbers.
const LOCAL: u64 = 256 * 256 * 256 * 16;

pub(in crate::traffic) static SWFFT: Application = Application {
    name: "swfft",
    summary: "3-D FFT: redistributions within rows and columns of ranks",
    doc: "SWFFT, the FFT of HACC, 16 repetitions, weak scaling, a power of two of ranks (Domke et al., SC'19, section \
          4.2). A repetition is an FFT forward and one back; each redistributes the grid five times (to pencils and back \
          to blocks for two dimensions, to pencils for the third), in turn within the rows and the columns of an almost \
          square grid of ranks, as Alltoalls. Assumptions: 256^3 complex numbers of 16 bytes a rank, all but a rank's \
          own share move each time, and one Allreduce of 8 bytes a repetition.",
    keys: &[],
    length: Length::Iterations(16),
    write: |body, _| {
        power_of_two("swfft", body)?;
        let grid = Grid::of(body.n(), 2, false);
        for turn in 0..10 {
            body.work(1.0);
            for line in grid.lines(turn % 2) {
                body.among(Collective::Alltoall, &line, LOCAL / line.len() as u64);
            }
        }
        body.collective(Collective::Allreduce, 8);
        Ok(())
    },
};
