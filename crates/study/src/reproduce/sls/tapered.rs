//! Malbec with few cables between groups, and jobs of 64 nodes on it: section III-B.

use darkfiber_fabric::{Shape, TerminalId};
use darkfiber_scenario::Case;

use crate::reproduce::machine;

/// Nodes of each of two jobs.
pub(super) const NODES: u32 = 64;
/// Processes of each node.
pub(super) const PER_NODE: u32 = 16;

/// A machine whose cut is what two jobs compete for.
pub(super) struct Tapered(pub(super) Case);

impl Tapered {
    /// One cable between any two groups, a quarter of what the nodes of a job, half of them to the other half, inject: another
    /// reading of `taper to 25 % of the available bandwidth`, which stands beside the one of section III-B.
    pub(super) fn thin() -> Self {
        Self::of("@malbec:per_pair=1")
    }

    /// A quarter of all cables between groups, as section III-B says.
    pub(super) fn quarter() -> Self {
        Self::of("@malbec:taper=25")
    }

    fn of(fabric: &str) -> Self {
        Self(machine::dragonfly(fabric, ["slingshot", "rosetta"], 4096))
    }

    /// Terminals of the ranks of two jobs, which have every other one of hosts that are spread evenly over each group: so half of a
    /// job is in two groups, and the other half in the other two.
    pub(super) fn seats(&self) -> [Vec<TerminalId>; 2] {
        let topology = self.0.topology();
        let Some(Shape::Dragonfly(shape)) = &topology.shape else { unreachable!("it is one") };
        let fabric = &topology.fabric;
        let mut members: Vec<Vec<TerminalId>> = Vec::new();
        for t in (0..fabric.terminal_count()).map(TerminalId::new) {
            let group = shape.group[fabric.terminal(t).switch.index()] as usize;
            members.resize_with(members.len().max(group + 1), Vec::new);
            members[group].push(t);
        }
        let each = 2 * NODES as usize / members.len();
        let of = |job: usize| {
            let one = |all: &Vec<TerminalId>| -> Vec<TerminalId> {
                (0..each).filter(|k| k % 2 == job).map(|k| all[k * all.len() / each]).collect()
            };
            let hosts = members.iter().flat_map(one);
            hosts.flat_map(|t| std::iter::repeat_n(t, PER_NODE as usize)).collect()
        };
        [of(0), of(1)]
    }
}
