//! One half exchanges with the other.

use darkfiber_fabric::{Key, Params};

use super::values::{count, size};
use super::{Ranks, Traffic, TrafficError, even, finished};
use crate::schedule::{Program, Script};

/// Kind of the traffic `bisection`.
pub(super) struct Bisection;

impl Traffic for Bisection {
    fn name(&self) -> &'static str {
        "bisection"
    }

    fn summary(&self) -> &'static str {
        "every rank exchanges with one of the other half, those of a node with many nodes"
    }

    fn doc(&self) -> &'static str {
        "The ranks of a node of the first half each have a partner on another node of the second half, spread evenly, so that all \
         nodes have as many partners. Partners send each other a message, wait for both, and go on; nobody waits for others. The \
         bisection bandwidth test of De Sensi et al., \"An In-Depth Analysis of the Slingshot Interconnect\", SC'20, figures 6 and \
         14, whose partners are not published (decision)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of a message", "256KiB"),
            Key::optional("iterations", "messages of each rank", "64"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let half = even(self.name(), job)? / 2;
        let bytes = size(params, "bytes", 256 << 10)?;
        let mut script = Script::new(job.ranks);
        let per_node = job.per_node.clamp(1, half);
        // Ranks of the last node may be fewer: then each has its opposite.
        let nodes = if half.is_multiple_of(per_node) { half / per_node } else { 1 };
        let stride = (nodes / per_node).max(1);
        let partner = |k: u32| {
            if nodes == 1 {
                return half + k;
            }
            let (node, local) = (k / per_node, k % per_node);
            half + (node + local * stride) % nodes * per_node + local
        };
        for _ in 0..count(params, "iterations", 64)? {
            for k in 0..half {
                script.message(k, partner(k), bytes, 0);
                script.message(partner(k), k, bytes, 0);
            }
            (0..job.ranks).for_each(|k| script.wait(k));
        }
        let mut program = Program::new(job.ranks);
        program.then(finished(self.name(), script)?, 1);
        Ok(program)
    }
}
