//! Motifs of Ember: halo exchange, wavefront, incast.

use darkfiber_fabric::{Key, Params};

use super::grid::Grid;
use super::values::{count, time};
use super::{Ranks, Traffic, TrafficError, computing, finished, repeated, several};
use crate::collective::{Call, Collective};
use crate::near_cubic::near_cubic;
use crate::schedule::{Program, Script};

/// Sides that the spec gives, or as cubic as can be. The tool numbers ranks along x first, so x is the last dimension.
fn grid(params: &Params, n: u32, dimensions: usize) -> Result<Grid, TrafficError> {
    let mut sides = params.list("grid", &(1..=n))?.unwrap_or_else(|| near_cubic(n, dimensions));
    let product = sides.iter().map(|&s| u64::from(s)).product::<u64>();
    if sides.len() != dimensions || product != u64::from(n) {
        let expected = format!("{dimensions} sides joined by x whose product is {n}");
        return Err(params.bad("grid", expected).into());
    }
    sides.reverse();
    Ok(Grid::new(sides, false))
}

/// A step along x (0), y or z.
fn along(dimensions: usize, d: usize, by: i32) -> Vec<i32> {
    (0..dimensions).rev().map(|k| if k == d { by } else { 0 }).collect()
}

/// Kind of the traffic `halo3d`.
pub(super) struct Halo3d;

impl Traffic for Halo3d {
    fn name(&self) -> &'static str {
        "halo3d"
    }

    fn summary(&self) -> &'static str {
        "six faces with the neighbours on a 3-D grid: Ember's halo3d"
    }

    fn doc(&self) -> &'static str {
        "Ranks on a grid without wrap-around exchange faces with both neighbours along x, then y, then z, each phase \
         waited for; a face is the product of its sides times vars doubles. Defaults are the tool's: 10 x 10 x 10 \
         cells, one variable, 1 us of computing, 100 iterations (sstsimulator/ember, mpi/halo3d; De Sensi et al., \
         SC'20, section III, which does not give its own)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("grid", "ranks in each dimension, joined by x", "as cubic as can be"),
            Key::optional("cells", "of a rank in each dimension, joined by x", "10x10x10"),
            Key::optional("vars", "doubles of a cell", "1"),
            Key::optional("compute", "in each iteration", "1us"),
            Key::optional("iterations", "in all", "100"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let grid = grid(params, n, 3)?;
        let cells = params.per("cells", &(1..=100_000), 3, 10)?;
        let vars = count(params, "vars", 1)?;
        let mut script = Script::new(n);
        for d in 0..3 {
            let other = |k: usize| u64::from(cells[(d + k) % 3]);
            let face = other(1) * other(2) * 8 * u64::from(vars);
            for rank in 0..n {
                for by in [-1, 1] {
                    if let Some(to) = grid.on(rank, &along(3, d, by)) {
                        script.message(rank, to, face, 0);
                    }
                }
            }
            script.wait_all(&job.all());
        }
        let mut round = Program::new(n);
        round.then(computing(self.name(), n, time(params, "compute", 1_000_000)?)?, 1);
        round.then(finished(self.name(), script)?, 1);
        Ok(repeated(&round, count(params, "iterations", 100)?.into()))
    }
}

/// Kind of the traffic `sweep3d`.
pub(super) struct Sweep3d;

impl Traffic for Sweep3d {
    fn name(&self) -> &'static str {
        "sweep3d"
    }

    fn summary(&self) -> &'static str {
        "wavefronts over a 2-D grid from its corners: Ember's sweep3d"
    }

    fn doc(&self) -> &'static str {
        "Ranks on a grid of px x py; a sweep begins in a corner and goes through nz / kba stages: each rank receives from \
         the two neighbours behind, computes, and sends to the two ahead, nx * kba * vars doubles along x and ny * kba * \
         vars along y (the tool sends nx both ways). The four corners take turns, twice in an iteration. Defaults are \
         the tool's: 50 x 50 x 100 cells, kba 10, 1 us a stage (sstsimulator/ember, mpi/sweep3d; De Sensi et al., SC'20, \
         section III)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("grid", "ranks in each dimension, joined by x", "as square as can be"),
            Key::optional("cells", "of a rank: nx, ny and nz, joined by x", "50x50x100"),
            Key::optional("kba", "layers of a stage", "10"),
            Key::optional("vars", "doubles of a cell", "1"),
            Key::optional("compute", "of a stage", "1us"),
            Key::optional("iterations", "in all", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let grid = grid(params, n, 2)?;
        let cells = match params.raw("cells") {
            Some(_) => params.per("cells", &(1..=100_000), 3, 50)?,
            None => vec![50, 50, 100],
        };
        let kba = params.get("kba", 1..=cells[2])?.unwrap_or(10);
        if !cells[2].is_multiple_of(kba) {
            return Err(params.bad("kba", format!("a divisor of nz, {}", cells[2])).into());
        }
        let bytes = 8 * u64::from(kba) * u64::from(count(params, "vars", 1)?);
        let sizes = [bytes * u64::from(cells[0]), bytes * u64::from(cells[1])];
        let compute = time(params, "compute", 1_000_000)?;
        let mut script = Script::new(n);
        let corners = [[1, 1], [-1, 1], [-1, -1], [1, -1]];
        for direction in [corners, corners].into_iter().flatten() {
            for _ in 0..cells[2] / kba {
                for rank in 0..n {
                    let step = |d: usize, by: i32| grid.on(rank, &along(2, d, by * direction[d]));
                    for (d, &bytes) in sizes.iter().enumerate() {
                        if let Some(from) = step(d, -1) {
                            script.recv(rank, from, bytes, 0);
                        }
                    }
                    script.wait(rank);
                    script.compute(rank, compute);
                    script.wait(rank);
                    for (d, &bytes) in sizes.iter().enumerate() {
                        if let Some(to) = step(d, 1) {
                            script.send(rank, to, bytes, 0);
                        }
                    }
                    script.wait(rank);
                }
            }
        }
        let mut program = Program::new(n);
        program.then(finished(self.name(), script)?, count(params, "iterations", 1)?.into());
        Ok(program)
    }
}

/// Kind of the traffic `incast`.
pub(super) struct Incast;

impl Traffic for Incast {
    fn name(&self) -> &'static str {
        "incast"
    }

    fn summary(&self) -> &'static str {
        "all to the last rank after a barrier: Ember's incast"
    }

    fn doc(&self) -> &'static str {
        "The last rank posts receives from all others; after a barrier each of them sends it one message; 1024 doubles by \
         default (sstsimulator/ember, mpi/incast; De Sensi et al., SC'20, section III)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of a message", "8KiB"),
            Key::optional("iterations", "in all", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let bytes = super::values::size(params, "bytes", 8 * 1024)?;
        let all = job.all();
        let mut script = Script::new(n);
        // Messages of the barrier must not meet these receives.
        (0..n - 1).for_each(|rank| script.recv_aside(n - 1, rank, bytes, 1));
        job.library.write(&mut script, Collective::Barrier, &Call::new(&all, 0));
        (0..n - 1).for_each(|rank| script.send(rank, n - 1, bytes, 1));
        script.settle(n - 1);
        let mut program = Program::new(n);
        program.then(finished(self.name(), script)?, count(params, "iterations", 1)?.into());
        Ok(program)
    }
}
