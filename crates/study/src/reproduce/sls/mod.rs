//! De Sensi et al., "An In-Depth Analysis of the Slingshot Interconnect", SC'20.
//!
//! Sections II-A to II-G: what is computed from the text, and what a quiet machine does. Nothing of Rosetta's inside is published
//! beyond that text: docs/slingshot.md says which numbers are printed and which are decisions.

mod distance;
mod headers;
mod isolation;
mod lab;
mod latency;
mod peak;
mod shares;
mod tapered;
mod topology;

pub(super) use distance::Distances;
pub(super) use headers::Headers;
pub(super) use isolation::Isolation;
pub(super) use latency::SwitchLatency;
pub(super) use peak::Peak;
pub(super) use shares::Shares;
pub(super) use topology::Systems;

const PAPER: &str = "De Sensi et al.: An In-Depth Analysis of the Slingshot Interconnect, SC'20";
