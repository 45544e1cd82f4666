//! Bursts of puts at one rank, with gaps between them: incast that comes and goes, or lasts.

use std::sync::Arc;

use darkfiber_fabric::{Key, Params};

use super::values::{count, size, time};
use super::{Ranks, Traffic, TrafficError, finished, several};
use crate::schedule::{Program, Script};

/// Kind of the traffic `bursts`.
pub(super) struct Bursts;

impl Traffic for Bursts {
    fn name(&self) -> &'static str {
        "bursts"
    }

    fn summary(&self) -> &'static str {
        "all others put messages at rank 0, in bursts or without a gap: incast of GPCNet"
    }

    fn doc(&self) -> &'static str {
        "Every rank above 0 puts `burst` messages of `bytes` at rank 0, one after the other, does nothing for `gap`, and \
         begins again; no rank waits for another, and rank 0 does nothing. A put is done when its last byte is there, as by \
         MPI_Win_flush (netbench/GPCNET, congestors.c: one put, one flush). Without a gap this is GPCNet's RMA incast, which \
         lasts; with gaps it is the bursty one of De Sensi et al., SC'20, figure 12 (bursts of up to 1000000 messages, gaps \
         from 1 us)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of a message, at least 1", "128KiB"),
            Key::optional("burst", "messages of each rank without a gap", "100"),
            Key::optional("gap", "from the end of a burst to the next one", "0s"),
            Key::optional("iterations", "bursts of each rank", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let bytes = size(params, "bytes", 128 << 10)?;
        if bytes == 0 {
            return Err(params.bad("bytes", "at least 1, e.g. 64, 128KiB").into());
        }
        let burst = count(params, "burst", 100)?;
        let gap = time(params, "gap", 0)?;
        let mut script = Script::new(n);
        (1..n).for_each(|rank| script.put(rank, 0, bytes));
        let put = finished(self.name(), script)?;
        let mut cycle = Program::new(n);
        cycle.then(Arc::clone(&put), burst.into());
        if gap > 0 {
            let mut script = Script::new(n);
            (1..n).for_each(|rank| script.compute(rank, gap));
            cycle.then(finished(self.name(), script)?, 1);
        }
        let mut program = Program::new(n);
        program.then_all(&cycle, count(params, "iterations", 1)?.into());
        Ok(program)
    }
}
