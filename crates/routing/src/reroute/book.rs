//! The fault book: repairs for every single cable and every switch, computed in advance.
//!
//! Before operators deploy tables they need the faults that these tolerate: after which faults running connections
//! continue, and after which some must be re-established. Each fault is repaired in isolation, starting from the tables as they
//! are.

use std::collections::BTreeSet;

use darkfiber_fabric::{ChannelId, Fabric, Faults, SwitchId};
use rayon::prelude::*;

use super::RerouteError;
use super::outcome::RerouteOutcome;
use super::prepared::Prepared;
use super::rung::Rung;
use super::trial::Trial;
use super::trials::Trials;
use crate::DestId;
use crate::check::check;

/// A single fault of the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A cable between switches, by the lower of its two channels.
    Cable(ChannelId),
    /// A switch with all of its cables; its terminals are lost.
    Switch(SwitchId),
}

impl Fault {
    /// All cables of a fabric, in the order of their channels.
    pub fn cables(fabric: &Fabric) -> Vec<Self> {
        let all = (0..fabric.channel_count()).map(ChannelId::new);
        all.filter(|&c| c < fabric.reverse(c)).map(Self::Cable).collect()
    }

    /// All switches of a fabric.
    pub fn switches(fabric: &Fabric) -> Vec<Self> {
        (0..fabric.switch_count()).map(SwitchId::new).map(Self::Switch).collect()
    }

    /// The elements that fail.
    pub fn faults(self) -> Faults {
        match self {
            Self::Cable(c) => Faults { links: vec![c], ..Faults::default() },
            Self::Switch(s) => Faults { switches: vec![s], ..Faults::default() },
        }
    }
}

/// The result of repairing one fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The tables were repaired.
    Mended {
        /// Level of the ladder at which the new tables may be put in place.
        rung: Rung,
        /// Switches whose tables change.
        switches: usize,
        /// Changed entries, one for each LID.
        entries: usize,
        /// (Source switch, row) pairs whose paths move to other service levels.
        moved: usize,
        /// Largest load of a switch-to-switch channel afterwards (edge forwarding index).
        load: u64,
    },
    /// The fault splits the fabric.
    Splits,
    /// Paths fit into none of the lanes: the fabric must be re-routed from scratch.
    Anew,
}

/// One fault and its repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The fault of this page.
    pub fault: Fault,
    /// The repair of the fault.
    pub repair: Repair,
}

/// Number of faults for each kind of repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Book {
    /// Number of faults.
    pub faults: usize,
    /// New tables in any order.
    pub any_order: usize,
    /// Repairs that are put in place in steps.
    pub steps: usize,
    /// With entries that drop packets for one packet lifetime.
    pub drop_drain: usize,
    /// Running connections must be re-established.
    pub reconnect: usize,
    /// The fabric must be re-routed from scratch.
    pub anew: usize,
    /// The fabric falls apart.
    pub splits: usize,
    /// Largest load of a channel after any of them (edge forwarding index).
    pub load: u64,
}

impl Book {
    /// Counts pages.
    pub fn of<'p>(pages: impl IntoIterator<Item = &'p Page>) -> Self {
        let mut book = Self::default();
        for page in pages {
            book.faults += 1;
            match page.repair {
                Repair::Splits => book.splits += 1,
                Repair::Anew => book.anew += 1,
                Repair::Mended { rung, load, .. } => {
                    book.load = book.load.max(load);
                    match rung {
                        Rung::AnyOrder => book.any_order += 1,
                        Rung::Steps(_) => book.steps += 1,
                        Rung::DropDrain => book.drop_drain += 1,
                        Rung::Reconnect => book.reconnect += 1,
                    }
                }
            }
        }
        book
    }

    /// Faults after which running connections continue without losing a packet that did not have to cross what failed,
    /// in percent of the faults that leave the fabric connected, if there are any.
    pub fn untouched_percent(&self) -> Option<f64> {
        let all = self.faults - self.splits;
        (all > 0).then(|| (self.any_order + self.steps) as f64 * 100.0 / all as f64)
    }
}

impl Prepared<'_> {
    /// Repairs each of `faults` in isolation, from the current tables, on all cores of the caller's pool; the pages
    /// are in the order of the faults and the same for any number of threads. `done` is called after every page.
    ///
    /// Complexity: that of [`Prepared::reroute_on_lowest_rung`] for each; a copy of the tables for each thread.
    pub fn book(&self, faults: &[Fault], done: impl Fn() + Sync) -> Vec<Page> {
        let lids = self.lids_of_rows();
        let trials = Trials::new(self);
        faults
            .par_iter()
            .map(|&fault| {
                let repaired = trials.with(|t| {
                    let (outcome, rung) = t.reroute_on_lowest_rung(&fault.faults())?;
                    let load = self.load_of_pairs(t, fault, &outcome);
                    Ok((outcome, rung, load))
                });
                let repair = match repaired {
                    Ok((outcome, rung, load)) => {
                        let of_switch: BTreeSet<SwitchId> =
                            outcome.changes.iter().map(|change| change.switch).collect();
                        Repair::Mended {
                            rung,
                            switches: of_switch.len(),
                            entries: outcome.changes.iter().map(|c| lids[c.row as usize]).sum(),
                            moved: outcome.moved.len(),
                            load,
                        }
                    }
                    Err(RerouteError::CutOff { .. }) => Repair::Splits,
                    Err(_) => Repair::Anew,
                };
                done();
                Page { fault, repair }
            })
            .collect()
    }

    /// Largest load of a channel by pairs of terminals that are left. A repair counts all LIDs of a port.
    fn load_of_pairs(
        &self,
        repaired: &Trial<'_, '_>,
        fault: Fault,
        outcome: &RerouteOutcome,
    ) -> u64 {
        if self.routes.paths() == 1 {
            return outcome.load_after;
        }
        let (damaged, map) = self.fabric.with_faults(&fault.faults());
        let load = check(&damaged, &repaired.tables(&damaged, &map)).load;
        load.into_iter().max().unwrap_or(0)
    }

    /// Number of LIDs that each row serves.
    fn lids_of_rows(&self) -> Vec<usize> {
        let mut lids = vec![0; self.routes.row_count()];
        for d in (0..self.routes.dest_count()).map(DestId::new) {
            let paths = d.as_terminal(self.fabric).map_or(1, |_| self.routes.paths());
            for path in 0..paths {
                lids[self.routes.row(d, path)] += 1;
            }
        }
        lids
    }
}
