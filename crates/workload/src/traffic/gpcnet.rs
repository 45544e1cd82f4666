//! GPCNet's congestor of the middle of a network, and Alltoall with a barrier. Its incast is `bursts`.

use darkfiber_fabric::{Key, Params};

use super::values::{count, size};
use super::{Ranks, Traffic, TrafficError, finished, several};
use crate::collective::{Call, Collective};
use crate::schedule::{Program, Script};

/// Kind of the traffic `gpcnet-alltoall`.
pub(super) struct AllToAll;

impl Traffic for AllToAll {
    fn name(&self) -> &'static str {
        "gpcnet-alltoall"
    }

    fn summary(&self) -> &'static str {
        "pairwise exchange of 128 KiB among all, again and again: GPCNet"
    }

    fn doc(&self) -> &'static str {
        "Step s of n - 1 is an MPI_Sendrecv with rank i xor s if n is a power of two, else to i + s and from i - s \
         (Chunduri et al., SC'19; De Sensi et al., SC'20, section III-A: 128 KiB)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of a message", "128KiB"),
            Key::optional("iterations", "times all steps", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let bytes = size(params, "bytes", 128 << 10)?;
        let mut script = Script::new(n);
        let pairwise =
            Collective::Alltoall.algorithm("pairwise-xor").expect("it is in the registry");
        pairwise.write(&mut script, &Call::new(&job.all(), bytes));
        let mut program = Program::new(n);
        program.then(finished(self.name(), script)?, count(params, "iterations", 1)?.into());
        Ok(program)
    }
}

/// Kind of the traffic `alltoall`.
pub(super) struct AllToAllBarrier;

impl Traffic for AllToAllBarrier {
    fn name(&self) -> &'static str {
        "alltoall"
    }

    fn summary(&self) -> &'static str {
        "MPI_Alltoall, then MPI_Barrier, again and again"
    }

    fn doc(&self) -> &'static str {
        "1 MiB of every rank to every other, then a barrier; the library chooses how (Domke, Hoefler, \
         \"Scheduling-Aware Routing for Supercomputers\", SC'16, figure 8: about 1600 iterations; one by default here)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of each to each", "1MiB"),
            Key::optional("iterations", "in all", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let bytes = size(params, "bytes", 1 << 20)?;
        let all = job.all();
        let mut script = Script::new(n);
        job.library.write(&mut script, Collective::Alltoall, &Call::new(&all, bytes));
        job.library.write(&mut script, Collective::Barrier, &Call::new(&all, 0));
        let mut program = Program::new(n);
        program.then(finished(self.name(), script)?, count(params, "iterations", 1)?.into());
        Ok(program)
    }
}
