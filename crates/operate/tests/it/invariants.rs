//! What must hold in the world at any time, and after the last fault.

use darkfiber_operate::{DecisionOutcome, FreezeReason, InputSource, Phase, Trigger};

use crate::network::{lost, mix_is_unsafe};
use crate::world::World;

impl World {
    /// After the last fault and a sweep, every pair that has a path is connected, and nothing can deadlock.
    pub(crate) fn all_is_well(&mut self, at_rest: bool) {
        assert!(!mix_is_unsafe(self.net, &[&self.sm.tables]), "a circle");
        if self.sm.is_stock && !self.is_mended() {
            return;
        }
        // A signal or a reading was lost between two stages: the next one is still to come.
        let life = self.life.as_ref();
        if !at_rest && life.is_some_and(|l| l.state.phase.flight().is_some_and(|f| f.of > 1)) {
            return;
        }
        let lost = lost(self.net, &self.sm.tables);
        assert!(lost.is_empty(), "pairs with a path are lost: {lost:?}");
        self.count("mended at rest");
    }

    /// Whether the daemon, if there is one that watches, has read the tables in place.
    pub(crate) fn knows_tables(&self) -> bool {
        self.life.as_ref().is_none_or(|l| {
            l.state.phase != Phase::Watching || l.tables.as_ref() == Some(&self.sm.tables)
        })
    }

    /// Whether a stock OpenSM, which repairs nothing, is repaired by the daemon on the same host: one that has read what is in place,
    /// can write its plans, and is neither paused nor has raised the alarm that no safe transition was found.
    fn is_mended(&self) -> bool {
        let Some(state) = self.life.as_ref().map(|l| &l.state) else { return false };
        let last = state.decisions.iter().rev().find(|d| d.trigger == Trigger::Fault);
        let gave_up = last.is_some_and(|d| {
            let here = Some(d.fabric) == state.fabric;
            here && matches!(d.outcome, DecisionOutcome::Kept { .. })
                && d.candidate.as_ref().is_none_or(|c| c.entries > 0)
        });
        state.phase == Phase::Watching
            && self.knows_tables()
            && !state.paused
            && state.disk.is_none()
            && state.fabric == Some(self.net.digest())
            && !gave_up
    }

    /// Checks the invariants that hold at any time.
    pub(crate) fn check(&self) {
        if self.sm.is_stock {
            assert!(!mix_is_unsafe(self.net, &[&self.sm.tables]), "tables in place have a circle");
        }
        let Some(life) = &self.life else { return };
        let state = &life.state;
        let frozen = |why| state.phase == Phase::Frozen { why };
        assert!(
            state.foreign.len() < 2
                || frozen(FreezeReason::Foreign)
                || frozen(FreezeReason::Mismatch),
            "S6: foreign"
        );
        assert!(state.decisions.len() <= 50 && state.changes.len() <= 200, "bounded");
        assert!(state.fresh.len() <= InputSource::ALL.len() + 2);
    }
}
