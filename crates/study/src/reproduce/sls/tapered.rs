//! Malbec with few cables between groups, and jobs of 64 nodes on it: section III-B.

use darkfiber_scenario::Case;

use crate::reproduce::machine;

/// Nodes of each of two jobs.
pub(super) const NODES: u32 = 64;
/// Processes of each node.
pub(super) const PER_NODE: u32 = 16;

/// A machine for whose cut two jobs compete.
pub(super) struct Tapered(pub(super) Case);

impl Tapered {
    /// One cable between any two groups, a quarter of the injection rate of a job's nodes, half of them to the other half:
    /// another reading of `taper to 25 % of the available bandwidth`, in addition to that of section III-B.
    pub(super) fn thin() -> Self {
        Self::of("@malbec:per_pair=1")
    }

    /// A quarter of all cables between groups, as in section III-B.
    pub(super) fn quarter() -> Self {
        Self::of("@malbec:taper=25")
    }

    fn of(fabric: &str) -> Self {
        Self(machine::dragonfly(fabric, ["slingshot", "rosetta"], 4096))
    }
}
