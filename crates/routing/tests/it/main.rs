//! Engines and checker against independent oracles.

mod adaptive;
mod by_hop;
mod by_source;
mod checker;
mod conformance;
mod directors;
mod easing;
mod engines;
mod families;
mod lanes;
mod lattice;
mod offsets;
mod opt;
mod parx;
mod parx_law;
mod planes;
mod rails;
mod relieve;
mod reroute;
mod reroute_quality;
mod rungs;
mod rungs_of_transitions;
mod sar;
mod threads;
mod towards;
mod transition;
