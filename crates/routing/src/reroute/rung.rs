//! Repairs that keep service levels as long as they can, and state how the new tables may be put in
//! place.
//!
//! A running connection keeps its service level, whatever the subnet manager would return now. So a repair that gives a
//! pair another one leaves old connections on new paths in a lane that was not proved for them. There are eight attempts,
//! each only if the previous one fails:
//!
//! 1. service levels stay, new paths are compatible with old ones, and rows that the fault did not touch may be moved
//!    because of load;
//! 2. the same without touching such rows;
//! 3. each row takes the detour that [`Prepared::protected`] reserved;
//! 4. each row takes the detour that adds the fewest channel dependencies;
//! 5. as few entries change as possible, whatever the loads of channels;
//! 6. switches that no path between terminals passes any more are left without an entry;
//! 7. service levels stay, but old and new paths may not be in use together: entries that change drop packets until those
//!    under way are gone;
//! 8. paths move to other service levels: connections must be re-established where that closes a cycle.

use darkfiber_fabric::Faults;

use super::RerouteError;
use super::freedom::{ChoiceBy, Freedom};
use super::outcome::{Coexistence, RerouteOutcome};
use super::prepared::Prepared;
use super::trial::Trial;

/// Level of the ladder at which a repair may be put in place; the first that holds, from least to most disturbance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// Switches in any order; running connections keep their service levels.
    AnyOrder,
    /// In this many steps, each complete before the next; running connections keep their service levels.
    Steps(u32),
    /// Running connections keep their service levels, but packets of old and new paths may not meet: entries that change are
    /// first set to no route, then one packet lifetime passes, then the new ones are written.
    DropDrain,
    /// Paths move to other service levels, and those of running connections on the new paths could deadlock: these
    /// connections must be re-established.
    Reconnect,
}

impl Rung {
    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::AnyOrder => "any-order",
            Self::Steps(_) => "steps",
            Self::DropDrain => "drop-drain",
            Self::Reconnect => "reconnect",
        }
    }

    /// The level that tables after a fault allow; `None` where rows other than those of the fault changed that may not be
    /// dropped.
    fn of(outcome: &RerouteOutcome) -> Option<Self> {
        if outcome.old_levels.is_some() {
            return Some(Self::Reconnect);
        }
        match outcome.coexistence {
            Coexistence::AnyOrder => Some(Self::AnyOrder),
            Coexistence::Order(_) | Coexistence::OrderOfEntries(_) => {
                let steps = outcome.coexistence.steps().unwrap_or(1);
                Some(Self::Steps(u32::try_from(steps).unwrap_or(u32::MAX)))
            }
            Coexistence::Drain(_) if outcome.rows_eased == 0 => Some(Self::DropDrain),
            Coexistence::Drain(_) => None,
        }
    }
}

/// Attempts that keep all service levels, the one with the least disturbance first.
const KEPT: [Freedom; 7] = [
    Freedom { ease: true, ..KEEP },
    KEEP,
    Freedom { choice: ChoiceBy::Plan, ..KEEP },
    Freedom { choice: ChoiceBy::Fit, ..KEEP },
    Freedom { choice: ChoiceBy::Entries, ..KEEP },
    Freedom { close: true, ..KEEP },
    Freedom { apart: true, ..KEEP },
];

/// Service levels stay, and new paths are compatible with old ones.
const KEEP: Freedom =
    Freedom { levels: false, apart: false, ease: false, close: false, choice: ChoiceBy::Load };

impl Prepared<'_> {
    /// Repairs the tables for faults in addition to those so far as drop-drain needs it: all service levels stay, no row
    /// is moved because of load, and new paths need not be compatible with old ones. Besides entries of switches that the faults
    /// cut off, others change only on rows that have no path in their layers otherwise.
    ///
    /// Complexity: that of [`Prepared::reroute`].
    ///
    /// # Errors
    /// Those of [`Prepared::reroute`], and [`RerouteError::Levels`]; the tables are unchanged then.
    pub fn reroute_by_drop_drain(
        &mut self,
        faults: &Faults,
    ) -> Result<RerouteOutcome, RerouteError> {
        self.reroute_with(faults, Freedom { apart: true, ..KEEP })
    }

    /// Repairs the tables for faults in addition to those so far with the least disturbing method found, and keeps the
    /// new tables. All service levels stay, with longer paths and new entries of switches next to the fault if necessary,
    /// unless the result is [`Rung::Reconnect`].
    ///
    /// Complexity: at most that of nine times [`Prepared::reroute`], and a copy.
    ///
    /// # Errors
    /// Those of [`Prepared::reroute`]; the tables are unchanged then.
    pub fn reroute_on_lowest_rung(
        &mut self,
        faults: &Faults,
    ) -> Result<(RerouteOutcome, Rung), RerouteError> {
        let mut trial = Trial::new(self);
        let found = trial.reroute_on_lowest_rung(faults)?;
        *self = trial.into_tables();
        Ok(found)
    }
}

impl Trial<'_, '_> {
    /// Repairs the original tables as [`Prepared::reroute_on_lowest_rung`] does.
    ///
    /// Complexity: at most that of nine times [`Prepared::reroute`].
    ///
    /// # Errors
    /// Those of [`Prepared::reroute`].
    pub fn reroute_on_lowest_rung(
        &mut self,
        faults: &Faults,
    ) -> Result<(RerouteOutcome, Rung), RerouteError> {
        let mut best: Option<(Freedom, RerouteOutcome, Rung)> = None;
        for freedom in KEPT {
            let outcome = match self.reroute_with(faults, freedom) {
                Ok(outcome) => outcome,
                Err(RerouteError::Levels) => continue,
                Err(error) => return Err(error),
            };
            let Some(rung) = Rung::of(&outcome) else { continue };
            if rung < Rung::DropDrain {
                return Ok((outcome, rung));
            }
            if best.as_ref().is_none_or(|(_, _, lowest)| rung < *lowest) {
                best = Some((freedom, outcome, rung));
            }
        }
        if let Some((freedom, _, rung)) = best {
            return Ok((self.reroute_with(faults, freedom)?, rung));
        }
        let outcome = self.reroute_with(faults, Freedom { ease: false, ..Freedom::ALL })?;
        let rung = Rung::of(&outcome).unwrap_or(Rung::Reconnect);
        Ok((outcome, rung))
    }
}
