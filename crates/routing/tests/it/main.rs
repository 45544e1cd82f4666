//! Engines and checker against independent oracles.

mod checker;
mod engines;
mod families;
mod lanes;
mod lattice;
mod reroute;
