//! Machines of which some cables are missing.

use crate::{Faults, SpecError, Topology};

/// `full` without `count` cables drawn with `seed`, still connected.
pub(super) fn without(full: &Topology, count: usize, seed: u64) -> Result<Topology, SpecError> {
    let faults = Faults::random_links(&full.fabric, count, seed)?;
    Ok(full.with_faults(&faults).0)
}
