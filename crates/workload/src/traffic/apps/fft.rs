//! A three-dimensional FFT with broadcasts and scatters.

use darkfiber_fabric::Key;

use super::{Application, Length};
use crate::collective::Collective;
use crate::traffic::grid::Grid;

pub(in crate::traffic) static FFT: Application = Application {
    name: "fft",
    summary: "3-D FFT of pencils: a broadcast, a scatter, messages within rows and columns",
    doc: "De Sensi et al., SC'20, table I: a Fourier transform on a 3-D domain with broadcasts, scatters and point-to-point \
          messages; the input is not given. Ranks are on an almost square grid without wrap-around. A transform begins with \
          a broadcast of 1 KiB (what is to be done) and a scatter of the domain from rank 0, and moves all but a rank's own \
          share twice, by messages to all others of its row, then of its column. Assumptions: `side`^3 complex numbers of 16 \
          bytes a rank, one dimension transformed before each move and one after.",
    keys: &[Key::optional("side", "complex numbers of a rank in each dimension", "16")],
    length: Length::Seconds(90),
    write: |body, params| {
        let side = u64::from(params.get("side", 1..=512)?.unwrap_or(16u32));
        let local = side.pow(3) * 16;
        let grid = Grid::of(body.n(), 2, false);
        body.collective(Collective::Bcast, 1024);
        body.collective(Collective::Scatter, local);
        for dimension in [1, 0] {
            body.work(1.0);
            for line in grid.lines(dimension) {
                let share = local / line.len() as u64;
                for &from in &line {
                    for &to in line.iter().filter(|&&to| to != from) {
                        body.message(from, to, share);
                    }
                }
            }
            body.wait();
        }
        body.work(1.0);
        Ok(())
    },
};
