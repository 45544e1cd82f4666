//! Engines and checker against independent oracles.

mod checker;
mod conformance;
mod engines;
mod families;
mod lanes;
mod lattice;
mod opt;
mod reroute;
mod reroute_quality;
mod sar;
