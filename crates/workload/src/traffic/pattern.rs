//! Any pattern as a program.

use darkfiber_fabric::{Key, Params};

use super::values::{count, size};
use super::{Ranks, Traffic, TrafficError, finished, repeated, several};
use crate::schedule::{Program, Script};
use crate::{Extent, Participants, Stream, pattern};

/// Kind of the traffic `pattern`.
pub(super) struct OfPattern;

impl Traffic for OfPattern {
    fn name(&self) -> &'static str {
        "pattern"
    }

    fn summary(&self) -> &'static str {
        "the pairs of a pattern each send a message, phase by phase"
    }

    fn doc(&self) -> &'static str {
        "Each pair of a phase of the pattern `of` sends one message; all begin a phase together, when the one before is \
         done. Random patterns have `samples` phases, drawn as everywhere by stream k of the seed. Commas between the \
         keys of a pattern are written as semicolons: of=nn3d:dims=4x4x2;periodic=0."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::required("of", "a pattern, as in other places but with semicolons"),
            Key::optional("bytes", "of a message", "1MiB"),
            Key::optional("samples", "phases of a random pattern", "100"),
            Key::optional("iterations", "times all phases", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let Some(of) = params.raw("of") else {
            return Err(params.bad("of", "a pattern, e.g. of=shift:by=3").into());
        };
        let made = pattern(&of.replace(';', ","), &Participants::all(n))?;
        let bytes = size(params, "bytes", 1 << 20)?;
        let phases = match made.extent() {
            Extent::Phases(phases) => phases,
            Extent::Samples => count(params, "samples", 100)?.into(),
        };
        let mut round = Program::new(n);
        let mut pairs = Vec::new();
        for phase in 0..phases {
            made.fill(phase, &mut Stream::new(job.seed, phase), &mut pairs);
            let mut script = Script::new(n);
            for &[from, to] in &pairs {
                script.message(from, to, bytes, 0);
            }
            round.then_together(finished(self.name(), script)?, 1);
        }
        Ok(repeated(&round, count(params, "iterations", 1)?.into()))
    }
}
