//! The questions, a file each.

pub(super) mod faults;
pub(super) mod impact;
pub(in crate::grid) mod latency;
mod packets;
pub(super) mod patterns;
pub(super) mod relief;
pub(super) mod replay;
pub(super) mod routes;
pub(super) mod runs;
pub(super) mod shares;
pub(super) mod sharing;
