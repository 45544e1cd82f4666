//! Motifs of Ember: halo exchange, wavefront, incast.

use darkfiber_fabric::{Key, Params};

use super::grid::{Grid, near_cubic};
use super::values::{count, time};
use super::{Given, Traffic, TrafficError, computing, finished, repeated, several};
use crate::collective::{Call, Collective};
use crate::schedule::{Program, Script};

/// Sides that the spec gives, or as cubic as can be.
fn grid(params: &Params, n: u32, dimensions: usize) -> Result<Grid, TrafficError> {
    let sides = params.list("grid", &(1..=n))?.unwrap_or_else(|| near_cubic(n, dimensions));
    let product = sides.iter().map(|&s| u64::from(s)).product::<u64>();
    if sides.len() != dimensions || product != u64::from(n) {
        let expected = format!("{dimensions} sides joined by x whose product is {n}");
        return Err(params.bad("grid", expected).into());
    }
    Ok(Grid::new(sides, false))
}

/// `halo3d`.
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

    fn program(&self, params: &Params, given: &Given) -> Result<Program, TrafficError> {
        let n = several(self.name(), given)?;
        let grid = grid(params, n, 3)?;
        let cells = params.per("cells", &(1..=100_000), 3, 10)?;
        let vars = count(params, "vars", 1)?;
        let mut script = Script::new(n);
        for d in 0..3 {
            let other = |k: usize| u64::from(cells[(d + k) % 3]);
            let face = other(1) * other(2) * 8 * u64::from(vars);
            for rank in 0..n {
                for by in [-1, 1] {
                    let mut step = [0; 3];
                    step[d] = by;
                    if let Some(to) = grid.on(rank, &step) {
                        script.message(rank, to, face, 0);
                    }
                }
            }
            script.wait_all(&given.all());
        }
        let mut round = Program::new(n);
        round.then(computing(self.name(), n, time(params, "compute", 1_000_000)?)?, 1);
        round.then(finished(self.name(), script)?, 1);
        Ok(repeated(&round, count(params, "iterations", 100)?.into()))
    }
}

/// `sweep3d`.
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
         the two neighbours behind, computes, and sends to the two ahead: nx * kba * vars doubles along y and ny * kba * \
         vars along x. Each of four corners sweeps twice in an iteration. Defaults are the tool's: 50 x 50 x 100 cells, \
         kba 10, 1 us a stage (sstsimulator/ember, mpi/sweep3d; De Sensi et al., SC'20, section III)."
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

    fn program(&self, params: &Params, given: &Given) -> Result<Program, TrafficError> {
        let n = several(self.name(), given)?;
        let grid = grid(params, n, 2)?;
        let cells = match params.raw("cells") {
            Some(_) => params.per("cells", &(1..=100_000), 3, 50)?,
            None => vec![50, 50, 100],
        };
        let kba = params.get("kba", 1..=cells[2])?.unwrap_or_else(|| 10.min(cells[2]));
        let bytes = 8 * u64::from(kba) * u64::from(count(params, "vars", 1)?);
        let sizes = [bytes * u64::from(cells[1]), bytes * u64::from(cells[0])];
        let compute = time(params, "compute", 1_000_000)?;
        let mut script = Script::new(n);
        let corners = [[1, 1], [-1, 1], [-1, -1], [1, -1]];
        for way in corners.into_iter().flat_map(|c| [c, c]) {
            for _ in 0..cells[2].div_ceil(kba) {
                for rank in 0..n {
                    let step = |d: usize, by: i32| {
                        let mut step = [0; 2];
                        step[d] = by * way[d];
                        grid.on(rank, &step)
                    };
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

/// `incast`.
pub(super) struct Incast;

impl Traffic for Incast {
    fn name(&self) -> &'static str {
        "incast"
    }

    fn summary(&self) -> &'static str {
        "all to the last rank after a barrier: Ember's incast"
    }

    fn doc(&self) -> &'static str {
        "After a barrier every rank sends one message to the last one, which receives them one after the other as they \
         are asked for; 1024 doubles by default (sstsimulator/ember, mpi/incast; De Sensi et al., SC'20, section III)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of a message", "8KiB"),
            Key::optional("iterations", "in all", "1"),
        ]
    }

    fn program(&self, params: &Params, given: &Given) -> Result<Program, TrafficError> {
        let n = several(self.name(), given)?;
        let bytes = super::values::size(params, "bytes", 8 * 1024)?;
        let all = given.all();
        let mut script = Script::new(n);
        given.library.write(&mut script, Collective::Barrier, &Call::new(&all, 0));
        for rank in 0..n - 1 {
            script.message(rank, n - 1, bytes, 0);
            script.wait(n - 1);
        }
        let mut program = Program::new(n);
        program.then(finished(self.name(), script)?, count(params, "iterations", 1)?.into());
        Ok(program)
    }
}
