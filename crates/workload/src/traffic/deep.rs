//! Deep learning: Baidu's ring, and Allreduce between computations.

use darkfiber_fabric::{Key, Params};

use super::values::{count, size, time};
use super::{Ranks, Traffic, TrafficError, computing, finished, repeated, several};
use crate::collective::{Call, Collective};
use crate::schedule::{Program, Script};

/// Kind of the traffic `baidu`.
pub(super) struct Baidu;

impl Traffic for Baidu {
    fn name(&self) -> &'static str {
        "baidu"
    }

    fn summary(&self) -> &'static str {
        "ring Allreduce of large vectors: Baidu's DeepBench"
    }

    fn doc(&self) -> &'static str {
        "2 (n - 1) steps of 1/n of the vector to the next rank: Reduce-scatter, then Allgather (baidu-allreduce, \
         collectives.cu; Domke et al., SC'19, section 4.1, which takes 0 to 2 GiB of floats). The default of 64 MiB is \
         ours."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of the vector", "64MiB"),
            Key::optional("repeat", "calls", "1"),
            Key::optional("reduce", "time to reduce a MiB", "0s"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let bytes = size(params, "bytes", 64 << 20)?;
        let reduce = time(params, "reduce", 0)?;
        let mut script = Script::of_blocks(n);
        let ring = Collective::Allreduce.algorithm("ring").expect("it is in the registry");
        ring.write(&mut script, &Call { reduce, ..Call::new(&job.all(), bytes) });
        let mut program = Program::new(n);
        program.then(finished(self.name(), script)?, count(params, "repeat", 1)?.into());
        Ok(program)
    }
}

/// Kind of the traffic `emdl`.
pub(super) struct EmDl;

impl Traffic for EmDl {
    fn name(&self) -> &'static str {
        "emdl"
    }

    fn summary(&self) -> &'static str {
        "Allreduce and 0.1 s of computing in turn: training of a deep network"
    }

    fn doc(&self) -> &'static str {
        "IMB Allreduce changed to alternate with usleep of 0.1 s (Domke et al., SC'19, footnote 12: EmDL). The library \
         chooses the algorithm. Sizes are not given there; assumption: 100 MiB of gradients, as of ResNet-50 in single \
         precision, and 300 iterations a run, about a minute."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of the vector", "100MiB"),
            Key::optional("compute", "between two calls", "100ms"),
            Key::optional("iterations", "calls", "300"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let bytes = size(params, "bytes", 100 << 20)?;
        let mut script = Script::of_blocks(n);
        job.library.write(&mut script, Collective::Allreduce, &Call::new(&job.all(), bytes));
        let mut round = Program::new(n);
        let sleep = time(params, "compute", 100_000_000_000)?;
        round.then(computing(self.name(), n, sleep)?, 1);
        round.then(finished(self.name(), script)?, 1);
        Ok(repeated(&round, count(params, "iterations", 300)?.into()))
    }
}
