//! mpiGraph: every shift of a ring.

use darkfiber_fabric::{Key, Params};

use super::values::{count, size};
use super::{Ranks, Traffic, TrafficError, finished, several};
use crate::schedule::{Program, Script};

/// Kind of the traffic `mpigraph`.
pub(super) struct MpiGraph;

impl Traffic for MpiGraph {
    fn name(&self) -> &'static str {
        "mpigraph"
    }

    fn summary(&self) -> &'static str {
        "every rank to the one D further on, for each D: bandwidth of every pair"
    }

    fn doc(&self) -> &'static str {
        "Step D of n - 1: rank i sends `window` messages to i + D and receives as many from i - D at once, counted \
         round. All begin a step together (LLNL mpiGraph; Domke et al., SC'19, figure 1). The tool's defaults are \
         1 MiB, 10 iterations of a window of 10; here one message each, which is enough where nothing varies."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of a message", "1MiB"),
            Key::optional("window", "messages at once", "1"),
            Key::optional("iterations", "windows one after the other in each step", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let bytes = size(params, "bytes", 1 << 20)?;
        let (window, iterations) = (count(params, "window", 1)?, count(params, "iterations", 1)?);
        let mut program = Program::new(n);
        for by in 1..n {
            let mut script = Script::new(n);
            for i in 0..n {
                for _ in 0..window {
                    script.send(i, (i + by) % n, bytes, 0);
                    script.recv(i, (i + n - by) % n, bytes, 0);
                }
            }
            let step = finished(self.name(), script)?;
            program.then_together(step.clone(), 1);
            program.then(step, u64::from(iterations) - 1);
        }
        Ok(program)
    }
}
