//! Intel MPI Benchmarks: collectives.

use darkfiber_fabric::{Key, Params, nearest};

use super::values::{count, size, time};
use super::{Ranks, Traffic, TrafficError, finished, several};
use crate::collective::{COLLECTIVES, Call, Choice, Collective};
use crate::schedule::{Program, Script};

/// Kind of the traffic `imb`.
pub(super) struct Imb;

impl Traffic for Imb {
    fn name(&self) -> &'static str {
        "imb"
    }

    fn summary(&self) -> &'static str {
        "a collective again and again, as the Intel MPI Benchmarks do"
    }

    fn doc(&self) -> &'static str {
        "One collective of MPI (`op`) among all ranks, `repeat` times; ranks go from one to the next without a barrier \
         unless together=1. The root is 0 in the first call and moves on by one with each of the first n calls, as IMB \
         does, unless `root` fixes it. Sizes are as in MPI: of a block for gather, scatter, allgather, alltoall and \
         reduce-scatter, of the vector for others. The library chooses the algorithm and its segments; an `algorithm` \
         that is named takes whole messages unless `segment` cuts them, as Open MPI's own does where it is forced. \
         Keys that an operation has no use for (`root` of an Allreduce, `segment` of an algorithm that does not cut) \
         change nothing, so that a study may vary `op` alone (Intel MPI Benchmarks, MPI-1 part; Domke et al., SC'19, section 4.1)."
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::required(
                "op",
                "barrier, bcast, gather, scatter, reduce, allreduce, allgather, ...",
            ),
            Key::optional("bytes", "of a vector or block", "1MiB"),
            Key::optional("repeat", "calls", "1"),
            Key::optional("algorithm", "name of an algorithm", "the library's"),
            Key::optional(
                "segment",
                "bytes of a segment; 0 does not cut",
                "the library's; 0 with `algorithm`",
            ),
            Key::optional("root", "rank of the root", "moves on"),
            Key::optional("reduce", "time to reduce a MiB", "0s"),
            Key::optional("together", "1: all begin a call together", "0"),
        ]
    }

    fn program(&self, params: &Params, job: &Ranks) -> Result<Program, TrafficError> {
        let n = several(self.name(), job)?;
        let op = params.raw("op").unwrap_or_default();
        let Some(collective) = Collective::named(op) else {
            let names = COLLECTIVES.iter().map(|c| c.name());
            return Err(params.bad("op", one_of(op, names)).into());
        };
        let bytes = size(params, "bytes", 1 << 20)?;
        let mut choice = job.library.choose(collective, n, bytes);
        if let Some(name) = params.raw("algorithm") {
            let Some(algorithm) = collective.algorithm(name) else {
                let names = collective.algorithms().iter().map(|a| a.name);
                return Err(params.bad("algorithm", one_of(name, names)).into());
            };
            choice = Choice { algorithm, segment: 0 };
        }
        let segment = size(params, "segment", choice.segment)?;
        let reduce = time(params, "reduce", 0)?;
        let repeat = count(params, "repeat", 1)?;
        let together = params.get("together", 0..=1)? == Some(1);
        let root = params.get("root", 0..=n - 1)?;
        let all = job.all();
        // Different roots make different schedules; one is enough if there is no root.
        let roots = match root {
            Some(root) => root..root + 1,
            None if collective.rooted() => 0..n.min(repeat),
            None => 0..1,
        };
        let mut program = Program::new(n);
        let (whole, rest) = (repeat / roots.len() as u32, repeat % roots.len() as u32);
        let mut schedules = Vec::new();
        for root in roots {
            let mut script = Script::of_blocks(n);
            let call = Call { root, segment, reduce, ..Call::new(&all, bytes) };
            choice.algorithm.write(&mut script, &call);
            schedules.push(finished(self.name(), script)?);
        }
        let mut round = Program::new(n);
        let add = |program: &mut Program, schedule| {
            if together { program.then_together(schedule, 1) } else { program.then(schedule, 1) }
        };
        for schedule in &schedules {
            add(&mut round, schedule.clone());
        }
        program.then_all(&round, whole.into());
        for schedule in schedules.into_iter().take(rest as usize) {
            add(&mut program, schedule);
        }
        Ok(program)
    }
}

fn one_of(name: &str, names: impl Iterator<Item = &'static str> + Clone) -> String {
    let near = nearest(name, names.clone());
    let all: Vec<&str> = if near.is_empty() { names.collect() } else { near };
    format!("one of {}", all.join(", "))
}
