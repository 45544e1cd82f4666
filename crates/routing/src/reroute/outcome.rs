//! The result of a change of routes.

use std::collections::BTreeMap;

use darkfiber_fabric::SwitchId;
use thiserror::Error;

/// A table entry that changed. Ids are those of the fabric that the old tables were made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Switch whose entry changes.
    pub switch: SwitchId,
    /// The table row, see [`crate::Routes::row`].
    pub row: u32,
    /// Egress port before the change ([`crate::NO_ROUTE`] if there was none).
    pub old: u8,
    /// Egress port after the change.
    pub new: u8,
}

/// Paths from the terminals of one switch on one row that had to go to another virtual layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The switch of the sources.
    pub source: SwitchId,
    /// Row of the table.
    pub row: u32,
    /// Layer before the change.
    pub old: u8,
    /// Layer after the change.
    pub new: u8,
}

/// Whether switches may be updated one by one while packets are under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coexistence {
    /// In any order: no mix of old and new entries makes a packet loop or gives a layer a cycle of
    /// channel dependencies.
    AnyOrder,
    /// In the order of these ranks, by switch; those of one rank in any order. `None`: the switch does
    /// not change. A rank starts when the previous one is complete.
    Order(Vec<Option<u32>>),
    /// In the order of these ranks, by switch and row: no order of whole switches suits all rows, but each row has one.
    /// A switch may take part in several steps.
    OrderOfEntries(BTreeMap<(SwitchId, u32), u32>),
    /// Not at all: what changes must be free of packets during the update.
    Drain(Drain),
}

/// Why old and new tables may not coexist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// Every order has a moment at which packets loop.
    Loop,
    /// Old and new paths together have a cycle of channel dependencies in this layer.
    Cycle {
        /// Number of the layer.
        layer: u8,
    },
}

/// New tables as their difference from the old ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RerouteOutcome {
    /// Rows with a switch that was cut off, of destinations that are still there.
    pub rows: usize,
    /// Other rows that were moved where a channel would have been far above the old loads.
    pub rows_eased: usize,
    /// Rows whose destinations have failed.
    pub rows_lost: usize,
    /// Changed entries, by (switch, row).
    pub changes: Vec<Change>,
    /// Paths that changed their layer, by (row, source).
    pub moved: Vec<Moved>,
    /// Entries of switches without a path to the destination although no terminal needs one.
    pub dead_ends: usize,
    /// Largest load of a switch-to-switch channel before the fault: the edge forwarding index, or where sources may use
    /// any LID of a port, the sum over all LIDs.
    pub load_before: u64,
    /// The largest load with the new tables.
    pub load_after: u64,
    /// Whether old and new may coexist. Layers that had a cycle before are left out of this.
    pub coexistence: Coexistence,
    /// A layer that gets a cycle of channel dependencies if connections continue with their current service levels on
    /// the new paths; `None` if they may. Only paths in [`Self::moved`] can cause one.
    pub old_levels: Option<u8>,
}

impl RerouteOutcome {
    /// Number of rows with a changed entry.
    pub fn rows_changed(&self) -> usize {
        let mut rows: Vec<u32> = self.changes.iter().map(|c| c.row).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.len()
    }
}

/// Why tables could not be repaired. [`Prepared`](super::Prepared) is then in its previous state.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RerouteError {
    /// Tables of a fabric of another size.
    #[error("the tables are of another fabric: {switches} switches and {terminals} terminals")]
    OtherFabric {
        /// Switches that the tables have entries of.
        switches: usize,
        /// Terminals that they lead to.
        terminals: usize,
    },
    /// Lanes that switches choose by their ports.
    #[error(
        "switches choose lanes by input and output port here (sl2vl): such tables are not mended yet; route the damaged \
         fabric anew with --layer-by hop"
    )]
    LanesByHop,
    /// One row leads to different switches or serves different paths.
    #[error("a table row is shared by destinations of two switches or by two paths")]
    MixedRow,
    /// The faults split the fabric.
    #[error("terminals on switch {source_switch} have no way left to switch {home}")]
    CutOff {
        /// A switch with terminals that is cut off.
        source_switch: u32,
        /// From the switch of these destinations.
        home: u32,
    },
    /// Some path fits only into another virtual layer than its own.
    #[error(
        "no way fits into the service levels that paths have; without keeping them some paths would move to others"
    )]
    Levels,
    /// No virtual layer takes some path.
    #[error("a mended path fits into none of {lanes} virtual layers; re-route from scratch")]
    Lanes {
        /// Layers that may be used.
        lanes: u8,
    },
}

impl Coexistence {
    /// Steps that the update takes: 1 in any order, the number of ranks, `None` if it must drain.
    pub fn steps(&self) -> Option<usize> {
        match self {
            Self::AnyOrder => Some(1),
            Self::Order(rank) => {
                Some(rank.iter().flatten().max().map_or(1, |&last| last as usize + 1))
            }
            Self::OrderOfEntries(rank) => {
                Some(rank.values().max().map_or(1, |&last| last as usize + 1))
            }
            Self::Drain(_) => None,
        }
    }

    /// The changed entries of each step; `None` if the update must drain.
    pub fn by_step(&self, changes: &[Change]) -> Option<Vec<Vec<Change>>> {
        let mut steps = vec![Vec::new(); self.steps()?];
        for &change in changes {
            let step = match self {
                Self::Order(rank) => rank[change.switch.index()].unwrap_or(0),
                Self::OrderOfEntries(rank) => {
                    rank.get(&(change.switch, change.row)).copied().unwrap_or(0)
                }
                Self::AnyOrder | Self::Drain(_) => 0,
            };
            steps[step as usize].push(change);
        }
        steps.retain(|step: &Vec<Change>| !step.is_empty());
        Some(steps)
    }
}
