//! Smith et al., "Mitigating Inter-Job Interference Using Adaptive Flow-Aware Routing", SC'18.
//!
//! Cab is rebuilt from its totals; the four benchmarks are those of table I, placed by lot as theirs were. Tables are those of
//! our `ftree`.

mod histogram;
mod lab;
mod overhead;
mod quiet;
mod update;

pub(super) use histogram::Histogram;
pub(super) use overhead::Overhead;
pub(super) use quiet::Quiet;
pub(super) use update::Update;

const PAPER: &str =
    "Smith et al.: Mitigating Inter-Job Interference Using Adaptive Flow-Aware Routing, SC'18";
