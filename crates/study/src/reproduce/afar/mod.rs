//! Smith et al., "Mitigating Inter-Job Interference Using Adaptive Flow-Aware Routing", SC'18.
//!
//! Cab is rebuilt from its totals; the four benchmarks are those of table I, placed at random as theirs were. Tables are those of
//! our `ftree`.

mod bottleneck;
mod contest;
mod counters;
mod edison;
mod eight;
mod histogram;
mod lab;
#[cfg(feature = "explain")]
mod learned;
mod overhead;
mod production;
mod quiet;
mod seats;
mod sixteen;
mod slowdowns;
mod update;
mod versus;

pub(super) use bottleneck::Bottleneck;
pub(super) use counters::Counters;
pub(super) use eight::Eight;
pub(super) use histogram::Histogram;
#[cfg(feature = "explain")]
pub(super) use learned::LearnedSteps;
pub(super) use overhead::Overhead;
pub(super) use production::Production;
pub(super) use quiet::Quiet;
pub(super) use seats::Seats;
pub(super) use sixteen::Sixteen;
pub(super) use slowdowns::{Slowdowns, Variation};
pub(super) use update::Update;
pub(super) use versus::Versus;

const PAPER: &str =
    "Smith et al.: Mitigating Inter-Job Interference Using Adaptive Flow-Aware Routing, SC'18";
