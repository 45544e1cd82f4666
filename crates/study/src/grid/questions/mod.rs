//! The questions, a file each.

pub(super) mod patterns;
pub(super) mod routes;
pub(super) mod runs;
pub(super) mod sharing;
