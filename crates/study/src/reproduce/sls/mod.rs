//! De Sensi et al., "An In-Depth Analysis of the Slingshot Interconnect", SC'20.
//!
//! Sections II-A to II-G: numbers computed from the text, and measurements on a quiet machine; section III: victims
//! with aggressors. Nothing of Rosetta's internals is published beyond that text: docs/slingshot.md lists which
//! numbers are printed and which are decisions.

pub(super) mod bursty;
pub(super) mod distance;
pub(super) mod distribution;
mod gpcnet;
pub(super) mod headers;
pub(super) mod impacts;
pub(super) mod isolation;
mod lab;
pub(super) mod latency;
pub(super) mod peak;
mod processes;
mod records;
pub(super) mod services;
pub(super) mod shares;
pub(super) mod software;
mod tapered;
pub(super) mod topology;
pub(super) mod whole;

const PAPER: &str = "De Sensi et al.: An In-Depth Analysis of the Slingshot Interconnect, SC'20";
