//! Smith et al., "Mitigating Inter-Job Interference Using Adaptive Flow-Aware Routing", SC'18.
//!
//! Cab is rebuilt from its totals; the four benchmarks are those of table I, placed at random as theirs were. Tables are those of
//! our `ftree`.

pub(super) mod bottleneck;
mod contest;
pub(super) mod counters;
mod edison;
pub(super) mod eight;
pub(super) mod histogram;
mod lab;
#[cfg(feature = "explain")]
pub(super) mod learned;
pub(super) mod overhead;
pub(super) mod production;
pub(super) mod quiet;
mod records;
pub(super) mod seats;
pub(super) mod sixteen;
pub(super) mod slowdowns;
pub(super) mod update;
pub(super) mod versus;

const PAPER: &str =
    "Smith et al.: Mitigating Inter-Job Interference Using Adaptive Flow-Aware Routing, SC'18";
