//! Incasts that move: one root after the other, many of different sizes at once, and everybody to everybody in no order.

use darkfiber_fabric::{Key, Params};

use super::values::{count, size};
use super::{Ranks, Traffic, TrafficError, finished, several};
use crate::Stream;
use crate::collective::{Call, Collective};
use crate::schedule::{Program, Script};

/// Distinguishes the random stream here from others of a seed.
const STREAM_SEED: u64 = 0x_696e_6361_7374;

/// Kind of the traffic `rotating`.
pub(super) struct Rotating;

impl Traffic for Rotating {
    fn name(&self) -> &'static str {
        "rotating"
    }

    fn summary(&self) -> &'static str {
        "an incast whose root moves: all others put at one rank, then at another"
    }

    fn doc(&self) -> &'static str {
        "`roots` ranks are drawn by the seed. Every rank but the root puts `puts` messages of `bytes` at the first root, one after the \
         other, then at the next one; nobody waits for others, so that roots overlap where some are late, but with `together`. A put is done when its \
         last byte is there. What congestion control learns of an endpoint is of no use when the next one comes."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of a message, at least 1", "16KiB"),
            Key::optional("puts", "messages of each rank to a root", "2"),
            Key::optional("roots", "ranks that are roots, one after the other", "16"),
            Key::optional("together", "1: all begin with a root at once, after a barrier", "0"),
            Key::optional("iterations", "times all roots", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let bytes = at_least_one(params, "16KiB", 16 << 10)?;
        let puts = count(params, "puts", 2)?;
        let roots = count(params, "roots", 16)?.min(1 << 16);
        let together = params.get("together", 0..=1u32)? == Some(1);
        let mut barrier = Script::new(n);
        job.library.write(&mut barrier, Collective::Barrier, &Call::new(&job.all(), 0));
        let barrier = finished(self.name(), barrier)?;
        let mut draws = Stream::new(job.seed, STREAM_SEED);
        let mut round = Program::new(n);
        for _ in 0..roots {
            let root = draws.below(n);
            if together {
                round.then(barrier.clone(), 1);
            }
            let mut script = Script::new(n);
            (0..n).filter(|&r| r != root).for_each(|r| script.put(r, root, bytes));
            round.then(finished(self.name(), script)?, puts.into());
        }
        let mut program = Program::new(n);
        program.then_all(&round, count(params, "iterations", 1)?.into());
        Ok(program)
    }
}

/// Kind of the traffic `storm`.
pub(super) struct Storm;

impl Traffic for Storm {
    fn name(&self) -> &'static str {
        "storm"
    }

    fn summary(&self) -> &'static str {
        "incasts of different sizes at random ranks, again and again"
    }

    fn doc(&self) -> &'static str {
        "In each of `phases` the seed parts all ranks into groups of 2 to `most`, every size as likely, each with a root; the others of \
         a group put messages of 1, 4, 16, 64 or 256 KiB, drawn for the group, at it: as many as make 256 KiB, at least one. \
         Nobody waits for others."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("most", "ranks of a group, at least 2", "ranks / 2"),
            Key::optional("phases", "parts into groups, one after the other", "16"),
            Key::optional("iterations", "times all phases", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let most = count(params, "most", (n / 2).max(2))?.clamp(2, n);
        let phases = count(params, "phases", 16)?.min(1 << 16);
        let mut draws = Stream::new(job.seed, STREAM_SEED + 1);
        let mut round = Program::new(n);
        for _ in 0..phases {
            let mut order: Vec<u32> = (0..n).collect();
            draws.shuffle(&mut order);
            let mut script = Script::new(n);
            let mut left = order.as_slice();
            while left.len() > 1 {
                let group;
                (group, left) = left.split_at((2 + draws.below(most - 1) as usize).min(left.len()));
                let bytes = 1u64 << (10 + 2 * draws.below(5));
                for &rank in &group[1..] {
                    for _ in 0..(256 << 10) / bytes {
                        script.put(rank, group[0], bytes);
                        script.wait(rank);
                    }
                }
            }
            round.then(finished(self.name(), script)?, 1);
        }
        let mut program = Program::new(n);
        program.then_all(&round, count(params, "iterations", 1)?.into());
        Ok(program)
    }
}

/// Kind of the traffic `shuffle`.
pub(super) struct Shuffle;

impl Traffic for Shuffle {
    fn name(&self) -> &'static str {
        "shuffle"
    }

    fn summary(&self) -> &'static str {
        "every rank puts a block at every other, each in an order of its own"
    }

    fn doc(&self) -> &'static str {
        "Each rank draws an order of all others by the seed and puts `bytes` at one after the other, `at-once` of them under way at a \
         time, as map and reduce shuffle. Unlike an Alltoall nobody keeps anybody else in order: now and then many meet at one."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::optional("bytes", "of a block, at least 1", "16KiB"),
            Key::optional("at-once", "blocks of a rank under way", "4"),
            Key::optional("iterations", "times all blocks", "1"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let bytes = at_least_one(params, "16KiB", 16 << 10)?;
        let at_once = count(params, "at-once", 4)? as usize;
        let mut script = Script::new(n);
        for rank in 0..n {
            let mut others: Vec<u32> = (0..n).filter(|&r| r != rank).collect();
            Stream::new(job.seed, STREAM_SEED + 2 + u64::from(rank)).shuffle(&mut others);
            for some in others.chunks(at_once) {
                for &to in some {
                    script.put(rank, to, bytes);
                }
                script.wait(rank);
            }
        }
        let mut program = Program::new(n);
        program.then(finished(self.name(), script)?, count(params, "iterations", 1)?.into());
        Ok(program)
    }
}

/// Bytes of a message, which has one at least.
fn at_least_one(params: &Params, example: &str, default: u64) -> Result<u64, TrafficError> {
    match size(params, "bytes", default)? {
        0 => Err(params.bad("bytes", format!("at least 1, e.g. 64, {example}")).into()),
        bytes => Ok(bytes),
    }
}
