//! One half exchanges with the other.

use darkfiber_fabric::{Key, Params};

use super::values::{count, size};
use super::{Given, Traffic, TrafficError, even, finished};
use crate::schedule::{Program, Script};

/// `bisection`.
pub(super) struct Bisection;

impl Traffic for Bisection {
    fn name(&self) -> &'static str {
        "bisection"
    }

    fn summary(&self) -> &'static str {
        "every rank of one half exchanges with all nodes of the other half in turn"
    }

    fn doc(&self) -> &'static str {
        "In iteration i rank k of the first half and rank n/2 + (k + i p) mod n/2 send each other a message, p being the ranks \
         of a node, and wait for it; nobody waits for others. The bisection bandwidth test of De Sensi et al., \"An In-Depth \
         Analysis of the Slingshot Interconnect\", SC'20, figures 6 and 14, whose partners are not published (decision)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of a message", "256KiB"),
            Key::optional("iterations", "messages of each rank", "64"),
        ]
    }

    fn program(&self, params: &Params, given: &Given) -> Result<Program, TrafficError> {
        let half = even(self.name(), given)? / 2;
        let bytes = size(params, "bytes", 256 << 10)?;
        let mut script = Script::new(given.ranks);
        for i in 0..count(params, "iterations", 64)? {
            for k in 0..half {
                let far = u64::from(i) * u64::from(given.per_node) % u64::from(half);
                let partner = half + ((u64::from(k) + far) % u64::from(half)) as u32;
                script.message(k, partner, bytes, 0);
                script.message(partner, k, bytes, 0);
            }
            (0..given.ranks).for_each(|k| script.wait(k));
        }
        let mut program = Program::new(given.ranks);
        program.then(finished(self.name(), script)?, 1);
        Ok(program)
    }
}
