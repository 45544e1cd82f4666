//! Concurrent ping-pongs.

use darkfiber_fabric::{Key, Params};

use super::values::{MOST_TIMES, count, size};
use super::{Ranks, Traffic, TrafficError, even, finished, repeated};
use crate::schedule::{Program, Script};

/// Kind of the traffic `muppp`.
pub(super) struct MuPPP;

/// IMB's sizes: 0, and the powers of two up to 4 MiB.
const SIZES: u32 = 24;

impl Traffic for MuPPP {
    fn name(&self) -> &'static str {
        "muppp"
    }

    fn summary(&self) -> &'static str {
        "ping-pongs of all pairs i, i + n/2 at once, over all sizes up to 4 MiB"
    }

    fn doc(&self) -> &'static str {
        "IMB PingPong with -multi: groups of two all run at once (Domke et al., SC'19, section 4.4.2: MuPP). Assumption: \
         rank i < n/2 plays with i + n/2, so that most pairs cross the network; neighbour=1 pairs 2i with 2i + 1, as \
         IMB groups consecutive ranks. A run goes through 0 bytes and the powers of two from 1 byte to 4 MiB; one \
         ping-pong is a message there and one of the same size back. IMB's counts are 1000 of each size, but no more \
         than 40 MiB; with `scale`, 1 in this many of these, at least one."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "one size instead of all", "0 to 4MiB"),
            Key::optional("repeat", "ping-pongs of that one size", "1000 or 40MiB"),
            Key::optional("scale", "does one of this many", "10"),
            Key::optional("runs", "times all sizes", "1"),
            Key::optional("neighbour", "1: pairs are 2i and 2i + 1", "0"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = even(self.name(), job)?;
        let scale = u64::from(count(params, "scale", 10)?);
        let neighbour = params.get("neighbour", 0..=1)? == Some(1);
        let sizes: Vec<u64> = match params.raw("bytes") {
            Some(_) => vec![size(params, "bytes", 0)?],
            None => (0..SIZES).map(|k| (1 << k) >> 1).collect(),
        };
        let mut run = Program::new(n);
        for bytes in sizes {
            let mut script = Script::new(n);
            for i in 0..n / 2 {
                let (a, b) = if neighbour { (2 * i, 2 * i + 1) } else { (i, i + n / 2) };
                script.message(a, b, bytes, 0);
                script.wait(a);
                script.wait(b);
                script.message(b, a, bytes, 0);
            }
            let usual = ((40 << 20) / bytes.max(1)).clamp(1, 1000).div_ceil(scale);
            let repeat = params.get("repeat", 1..=MOST_TIMES)?.map_or(usual, u64::from);
            run.then(finished(self.name(), script)?, repeat);
        }
        Ok(repeated(&run, count(params, "runs", 1)?.into()))
    }
}
