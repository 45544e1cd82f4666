//! De Sensi et al., "An In-Depth Analysis of the Slingshot Interconnect", SC'20.
//!
//! Sections II-A to II-G: what is computed from the text, and what a quiet machine does; section III: victims
//! beside aggressors. Nothing of Rosetta's inside is published
//! beyond that text: docs/slingshot.md says which numbers are printed and which are decisions.

mod bursty;
mod distance;
mod distribution;
mod gpcnet;
mod headers;
mod impacts;
mod isolation;
mod lab;
mod latency;
mod peak;
mod processes;
mod services;
mod shares;
mod software;
mod tapered;
mod topology;
mod whole;

pub(super) use bursty::Bursty;
pub(super) use distance::Distances;
pub(super) use distribution::{Allocations, FewerNodes, PerNode};
pub(super) use headers::Headers;
pub(super) use impacts::Impacts;
pub(super) use isolation::Isolation;
pub(super) use latency::SwitchLatency;
pub(super) use peak::Peak;
pub(super) use services::Services;
pub(super) use shares::Shares;
pub(super) use software::Layers;
pub(super) use topology::Systems;
pub(super) use whole::Whole;

const PAPER: &str = "De Sensi et al.: An In-Depth Analysis of the Slingshot Interconnect, SC'20";
