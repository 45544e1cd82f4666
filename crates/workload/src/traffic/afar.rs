//! The four benchmarks of adaptive flow-aware routing.

use darkfiber_fabric::{Key, Params};

use super::grid::{Grid, faces};
use super::values::{count, size, time};
use super::{
    Ranks, Traffic, TrafficError, computing, even, finished, multiples_near, repeated, several,
};
use crate::Stream;
use crate::collective::{Call, Collective};
use crate::schedule::{Program, Script};

/// One of the four.
pub(super) struct Afar {
    name: &'static str,
    summary: &'static str,
    doc: &'static str,
    /// Iterations of a step and microseconds of computing in each (table I).
    iterations: u32,
    compute: u64,
    usual: (&'static str, &'static str),
    write: fn(&Afar, &Ranks, u64, &mut Script) -> Result<(), TrafficError>,
}

const KIB64: u64 = 64 * 1024;

pub(super) static BIS: Afar = Afar {
    name: "bis",
    summary: "rank k and k + n/2 exchange 64 KiB again and again",
    doc: "k < n/2 and k + n/2 send each other one message in each iteration. Smith et al., \"Mitigating Inter-Job \
          Interference Using Adaptive Flow-Aware Routing\", SC'18, section III and table I: 10 steps of 1800 \
          iterations, 0.56 ms of computing in each, a barrier after each step. They vary the computing by 0.18 %; here \
          it is even.",
    iterations: 1800,
    compute: 560,
    usual: ("1800", "560us"),
    write: |_, job, bytes, script| {
        let half = even("bis", job)? / 2;
        for k in 0..half {
            script.message(k, k + half, bytes, 0);
            script.message(k + half, k, bytes, 0);
        }
        Ok(())
    },
};

pub(super) static NN: Afar = Afar {
    name: "nn",
    summary: "four neighbours on a grid of x 64 exchange 64 KiB again and again",
    doc: "Ranks on a periodic grid of n/64 x 64, row by row, send a message to each of four neighbours (Smith et al., \
          SC'18, section III, tables I and IV: 10 steps of 1200 iterations, 0.83 ms of computing, 256 KB an iteration, \
          which is what makes the grid periodic; barrier after each step). Where n is no multiple of 64, or 64, the grid is \
          as square as can be. They vary the computing by 0.18 %; here it is even.",
    iterations: 1200,
    compute: 830,
    usual: ("1200", "830us"),
    write: |_, job, bytes, script| {
        let n = several("nn", job)?;
        let grid = if n.is_multiple_of(64) && n > 64 {
            Grid::new(vec![n / 64, 64], true)
        } else {
            Grid::of(n, 2, true)
        };
        for rank in 0..n {
            for step in faces(2) {
                if let Some(to) = grid.on(rank, &step) {
                    script.message(rank, to, bytes, 0);
                }
            }
        }
        Ok(())
    },
};

pub(super) static PAIRS: Afar = Afar {
    name: "pairs",
    summary: "the first half sends 64 KiB to random partners again and again",
    doc: "A random matching of the first half of the ranks with the other half, drawn once by the seed: each of the \
          first half sends one message in each iteration (Smith et al., SC'18, section III and table I: 10 steps of \
          2500 iterations, 0.40 ms of computing, 32 KB an iteration on average; barrier after each step). They vary \
          the computing by 0.18 %; here it is even.",
    iterations: 2500,
    compute: 400,
    usual: ("2500", "400us"),
    write: |_, job, bytes, script| {
        let n = even("pairs", job)?;
        let mut partners: Vec<u32> = (n / 2..n).collect();
        Stream::new(job.seed, 0).shuffle(&mut partners);
        for (k, &partner) in partners.iter().enumerate() {
            script.message(k as u32, partner, bytes, 0);
        }
        Ok(())
    },
};

pub(super) static FFT_PROXY: Afar = Afar {
    name: "fft-proxy",
    summary: "Alltoall of 64 KiB among groups of 16 again and again",
    doc: "Ranks on a grid of 8 x 16 x n/128, the last dimension first; all 16 of a line along the second dimension do an \
          Alltoall (Smith et al., SC'18, section III, tables I and IV: 10 steps of 150 iterations, 10 ms of computing, \
          960 KB an iteration, which is 15 messages; barrier after each step). Ranks that 128 does not divide make a \
          grid of 1 x 16 x n/16. They vary the computing by 0.18 %; here it is even.",
    iterations: 150,
    compute: 10_000,
    usual: ("150", "10ms"),
    write: |_, job, bytes, script| {
        let n = job.ranks;
        if n == 0 || !n.is_multiple_of(16) {
            return Err(TrafficError::Ranks {
                traffic: "fft-proxy",
                needs: "a multiple of 16 ranks",
                ranks: n,
                hint: multiples_near(n, 16),
            });
        }
        let x = if n.is_multiple_of(128) { 8 } else { 1 };
        let grid = Grid::new(vec![x, 16, n / 16 / x], false);
        for line in grid.lines(1) {
            job.library.write(script, Collective::Alltoall, &Call::new(&line, bytes));
        }
        Ok(())
    },
};

impl Traffic for Afar {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of a message", "64KiB"),
            Key::optional("steps", "with a barrier after each", "10"),
            Key::optional("iterations", "of a step", self.usual.0),
            Key::optional("compute", "in each iteration", self.usual.1),
            Key::optional("group", "iterations that are done as one, messages as much larger", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        several(self.name, job)?;
        let n = job.ranks;
        let group = params.get("group", 1..=1_000_000)?.unwrap_or(1);
        let iterations = count(params, "iterations", self.iterations)?;
        let compute = time(params, "compute", self.compute * 1_000_000)?;
        let bytes = size(params, "bytes", KIB64)?;
        let mut step = Program::new(n);
        // The last group may be smaller.
        for (times, of) in [(iterations / group, group), (1, iterations % group)] {
            if times > 0 && of > 0 {
                let mut script = Script::new(n);
                (self.write)(self, job, bytes.saturating_mul(of.into()), &mut script)?;
                let mut round = Program::new(n);
                round.then(computing(self.name, n, compute.saturating_mul(of.into()))?, 1);
                round.then(finished(self.name, script)?, 1);
                step.then_all(&round, times.into());
            }
        }
        let mut barrier = Script::new(n);
        job.library.write(&mut barrier, Collective::Barrier, &Call::new(&job.all(), 0));
        step.then(finished(self.name, barrier)?, 1);
        Ok(repeated(&step, count(params, "steps", 10)?.into()))
    }
}
