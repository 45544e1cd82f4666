//! Effective bisection bandwidth, as Netgauge measures it.

use darkfiber_fabric::{Key, Params};

use super::values::{count, size};
use super::{Ranks, Traffic, TrafficError, even, finished};
use crate::Stream;
use crate::schedule::{Program, Script};

/// Kind of the traffic `ebb`.
pub(super) struct Ebb;

impl Traffic for Ebb {
    fn name(&self) -> &'static str {
        "ebb"
    }

    fn summary(&self) -> &'static str {
        "random bisections whose pairs exchange a message: Netgauge's eBB"
    }

    fn doc(&self) -> &'static str {
        "Each sample draws a random perfect matching; partners send each other one message at once, all pairs together \
         (Hoefler, Schneider, Lumsdaine, \"Multistage switches are not crossbars\", CLUSTER'08; Domke et al., SC'19, \
         section 4.1: 1000 samples of 1 MiB). Sample k is drawn by stream k of the seed."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of a message", "1MiB"),
            Key::optional("samples", "bisections", "1000"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = even(self.name(), job)?;
        let bytes = size(params, "bytes", 1 << 20)?;
        let mut program = Program::new(n);
        for sample in 0..count(params, "samples", 1000)? {
            let mut ranks = job.all();
            Stream::new(job.seed, sample.into()).shuffle(&mut ranks);
            let mut script = Script::new(n);
            for pair in ranks.chunks_exact(2) {
                script.message(pair[0], pair[1], bytes, 0);
                script.message(pair[1], pair[0], bytes, 0);
            }
            program.then_together(finished(self.name(), script)?, 1);
        }
        Ok(program)
    }
}
