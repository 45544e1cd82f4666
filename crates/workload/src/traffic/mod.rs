//! Traffic: the communication of benchmarks and applications, as programs.
//!
//! A kind of traffic is one file, a [`Traffic`] that reads its parameters and makes a [`Program`] for a number of ranks, and
//! a line in [`TRAFFICS`]. Sizes in specs are bytes with or without a unit (`64`, `64KiB`, `0.5GiB`), times have a unit
//! (`1us`, `0.1s`).
//!
//! ```
//! use darkfiber_workload::traffic::{Ranks, traffic};
//!
//! let program = traffic("mpigraph:bytes=1MiB", &Ranks::new(28))?;
//! assert_eq!(program.epochs(), 27);
//! assert_eq!(program.messages(), 27 * 28);
//! # Ok::<(), darkfiber_workload::traffic::TrafficError>(())
//! ```

mod afar;
mod apps;
mod bisection;
mod body;
mod bursts;
mod deep;
mod ebb;
mod ember;
mod error;
mod gpcnet;
mod grid;
mod imb;
mod incasts;
mod mpigraph;
mod muppp;
mod nccl;
mod pattern;
mod ranks;
mod registry;
mod service;
mod timed;
mod train;
mod values;

pub use error::TrafficError;
pub use ranks::Ranks;
pub use registry::{TRAFFICS, Traffic, kind, traffic};
pub use timed::Timed;

use std::sync::Arc;

use crate::schedule::{Block, Program, Script};

/// The block of a script, to be repeated.
fn finished(traffic: &'static str, script: Script) -> Result<Arc<Block>, TrafficError> {
    let ranks = script.ranks();
    match script.finish_block() {
        Ok(block) => Ok(Arc::new(block)),
        Err(fault) => Err(TrafficError::TooLarge { traffic, ranks, fault }),
    }
}

/// At least two ranks.
fn several(traffic: &'static str, job: &Ranks) -> Result<u32, TrafficError> {
    if job.ranks >= 2 {
        return Ok(job.ranks);
    }
    Err(TrafficError::Ranks {
        traffic,
        needs: "two ranks or more",
        ranks: job.ranks,
        hint: "a single rank has no destination".to_owned(),
    })
}

/// An even number of ranks.
fn even(traffic: &'static str, job: &Ranks) -> Result<u32, TrafficError> {
    let ranks = several(traffic, job)?;
    if ranks.is_multiple_of(2) {
        return Ok(ranks);
    }
    Err(TrafficError::Ranks {
        traffic,
        needs: "an even number of ranks",
        ranks,
        hint: format!("take {} or {}", ranks - 1, ranks + 1),
    })
}

/// The advice to take a multiple of a number near this one: the next below and above.
fn multiples_near(ranks: u32, of: u32) -> String {
    match ranks / of {
        0 => format!("take {of}"),
        below => format!("take {} or {}", below * of, (below + 1) * of),
    }
}

/// Every rank computes for so long.
fn computing(traffic: &'static str, ranks: u32, time: u64) -> Result<Arc<Block>, TrafficError> {
    let mut script = Script::new(ranks);
    (0..ranks).for_each(|rank| script.compute(rank, time));
    finished(traffic, script)
}

/// One program, this many times.
fn repeated(inner: &Program, times: u64) -> Program {
    let mut all = Program::new(inner.ranks());
    all.then_all(inner, times);
    all
}
