//! Putting a plan in place, stage by stage, and finding it there.

use darkfiber_routing::transition::Rung;

use crate::action::{Action, Level};
use crate::decision::{DecisionOutcome, Trigger, Verdict};
use crate::machine::Machine;
use crate::state::{FreezeReason, Phase, PlanInFlight};
use crate::value::{Digest, Millis, PlanId};

/// A repair that could not be written is tried again after this time: its folder may be there, or have room, by then.
const RETRY: Millis = 60_000;

impl Machine {
    /// Begins to put a proved plan in place.
    pub(crate) fn deploy(&mut self, plan: PlanId) {
        let stages = self.state.decision(plan).and_then(|d| d.candidate.as_ref());
        let of = stages.map_or(0, |c| c.stages.len() as u32);
        if of == 0 {
            self.keep(plan, "there are no tables");
            return;
        }
        if let Some(decision) = self.decision(plan) {
            decision.outcome = DecisionOutcome::Deploying;
        }
        self.commit(PlanInFlight { plan, stage: 0, of });
    }

    /// Writes a stage.
    pub(crate) fn commit(&mut self, flight: PlanInFlight) {
        // Between two stages nothing can deadlock, and no pair is lost that a fault has not cut. Where entries were cleared more pairs
        // are, so that only a state folder that fails keeps the rest of such a plan back.
        let is_cleared = flight.stage > 0 && self.drains(flight.plan);
        if (self.state.paused && !is_cleared) || self.state.disk.is_some() {
            let why = "nothing may be changed now".to_owned();
            self.end(flight.plan, DecisionOutcome::Dropped { why });
            if flight.stage > 0 {
                self.state.in_place = None;
                self.state.unwell = true;
            }
            self.state.phase = Phase::Watching;
            return;
        }
        self.state.phase = Phase::Committing { flight };
        self.act(Action::Commit { plan: flight.plan, stage: flight.stage });
    }

    /// Whether entries are cleared first, and packets have to be gone before the others are written.
    fn drains(&self, plan: PlanId) -> bool {
        let verdict = self.state.decision(plan).and_then(|d| d.verdict.as_ref());
        verdict.is_some_and(Verdict::drains)
    }

    /// A stage was placed for OpenSM.
    pub(crate) fn committed(&mut self, plan: PlanId, stage: u32) {
        let Phase::Committing { flight } = self.state.phase else { return };
        if (flight.plan, flight.stage) != (plan, stage) {
            return;
        }
        self.confirming(flight);
        self.act(Action::Sweep);
    }

    /// A stage could not be placed for OpenSM. The previous tables are complete, so nothing is undone.
    pub(crate) fn unplaced(&mut self, plan: PlanId, stage: u32, why: &str) {
        let is_repair = self.is_repair(plan);
        let about = self.state.fabric.zip(self.state.tables);
        // A repair is tried again and again; one alarm is enough.
        if !is_repair || self.state.alarmed_for != about {
            let level = if is_repair { Level::Critical } else { Level::Warning };
            self.alarm(level, format!("plan {plan} was not put in place: {why}"));
        }
        let Phase::Committing { flight } = self.state.phase else { return };
        if (flight.plan, flight.stage) != (plan, stage) {
            return;
        }
        if stage > 0 {
            self.state.in_place = None;
        }
        if is_repair {
            (self.state.unwell, self.state.damaged) = (false, true);
            self.state.alarmed_for = about;
            self.state.retry = Some(self.at.saturating_add(RETRY));
        }
        self.keep(plan, why);
    }

    /// Waits until OpenSM has programmed a stage.
    pub(crate) fn confirming(&mut self, flight: PlanInFlight) {
        let until = self.at.saturating_add(self.state.policy.confirm);
        self.state.phase = Phase::Confirming { flight, until, again: false };
    }

    /// The tables that a stage ends with.
    fn aim(&self, flight: PlanInFlight) -> Option<Digest> {
        let candidate = self.state.decision(flight.plan)?.candidate.as_ref()?;
        candidate.stages.get(flight.stage as usize).copied()
    }

    /// Tables were read back while a plan is put in place.
    pub(crate) fn found(
        &mut self,
        flight: PlanInFlight,
        again: bool,
        digest: Digest,
        between: bool,
    ) {
        if self.aim(flight) == Some(digest) {
            self.stage_is_there(flight, digest);
        } else if again {
            self.mismatch(flight, digest, between);
        } else {
            let until = self.at.saturating_add(self.state.policy.confirm);
            self.state.phase = Phase::Confirming { flight, until, again: true };
            self.act(Action::Sweep);
        }
    }

    fn stage_is_there(&mut self, flight: PlanInFlight, digest: Digest) {
        self.state.tables = Some(digest);
        if flight.stage + 1 < flight.of {
            let flight = PlanInFlight { stage: flight.stage + 1, ..flight };
            if self.drains(flight.plan) {
                let until = self.at.saturating_add(self.state.policy.drain);
                self.state.phase = Phase::Draining { flight, until };
            } else {
                self.commit(flight);
            }
            return;
        }
        self.state.in_place = Some(flight.plan);
        (self.state.unwell, self.state.damaged) = (false, false);
        (self.state.alarmed_for, self.state.retry) = (None, None);
        let trigger = self.state.decision(flight.plan).map(|d| d.trigger);
        self.state.looks_back = trigger == Some(Trigger::Question);
        self.state.measured = None;
        self.state.generation += 1;
        self.state.phase = Phase::Watching;
        self.end(flight.plan, DecisionOutcome::Confirmed);
    }

    /// A plan was twice not found in place.
    fn mismatch(&mut self, flight: PlanInFlight, digest: Digest, between: bool) {
        let before = self.state.in_place;
        self.state.tables = Some(digest);
        self.state.mismatches.push(self.at);
        self.end(flight.plan, DecisionOutcome::Failed);
        self.freeze(FreezeReason::Mismatch);
        // Any mix of the plan and the previous tables was proved, so the transition back is, too; nothing else is.
        let judged = self.state.decision(flight.plan).and_then(|d| d.verdict.as_ref());
        let back = judged.filter(|v| {
            between
                && flight.of == 1
                && v.rung <= Rung::AnyOrder
                && self.state.fabric == Some(v.fabric)
        });
        if self.state.paused || self.state.disk.is_some() {
            return;
        }
        let Some((old, from)) = before.zip(back.map(|v| v.from)) else { return };
        // A plan that outlived a change of the fabric was proved for another one.
        let fabric = self.state.fabric;
        let last = self.state.decision(old);
        let last = last.filter(|d| d.verdict.as_ref().map(|v| v.fabric) == fabric);
        if let Some(c) = last.and_then(|d| d.candidate.as_ref()).filter(|c| c.tables == from) {
            let stage = c.stages.len() as u32 - 1;
            self.act(Action::Commit { plan: old, stage });
            self.act(Action::Sweep);
        }
    }

    /// Handles the first reading after a start, if a plan was being put in place when the program ended.
    pub(crate) fn resume_flight(&mut self, flight: PlanInFlight, digest: Digest) {
        if self.aim(flight) == Some(digest) {
            self.stage_is_there(flight, digest);
            return;
        }
        let decision = self.state.decision(flight.plan);
        // The condition that allowed it once must hold now, whichever version of this program wrote the journal.
        let begins_here = decision.and_then(|d| d.verdict.as_ref()).is_some_and(|v| {
            // Tables between two stages are not stored: such a plan is recomputed.
            flight.of == 1
                && flight.stage == 0
                && v.from == digest
                && self.state.fabric == Some(v.fabric)
                && v.allows(flight.of as usize)
        });
        self.state.tables = Some(digest);
        if begins_here {
            self.commit(flight);
            return;
        }
        let why =
            "the program ended while it was put in place, and other tables were found".to_owned();
        self.end(flight.plan, DecisionOutcome::Dropped { why });
        self.state.in_place = None;
        self.state.unwell = true;
        self.state.phase = Phase::Watching;
    }

    /// Abandons the plan that was being put in place, if there is one; the tables in place are read.
    pub(crate) fn abandon(&mut self, why: &str) {
        if let Some(flight) = self.state.phase.flight() {
            self.end(flight.plan, DecisionOutcome::Dropped { why: why.to_owned() });
        }
        self.state.in_place = None;
        self.state.unwell = true;
        self.audit(true);
    }

    /// Tables could not be read back: that is no mismatch, and nothing is rolled back.
    pub(crate) fn unread(&mut self, why: &str) {
        match self.state.phase {
            Phase::Confirming { flight, again, .. } => {
                let until = self.at.saturating_add(self.state.policy.confirm);
                self.state.phase = Phase::Confirming { flight, until, again };
                self.alarm(Level::Warning, format!("the tables in place could not be read: {why}"));
            }
            Phase::Auditing { .. } => {
                self.alarm(Level::Warning, format!("the tables in place could not be read: {why}"));
            }
            _ => {}
        }
    }

    /// The state folder fails, or works again.
    pub(crate) fn disk(&mut self) {
        if self.state.disk.is_some() {
            self.void("the state folder cannot be written");
            if let Phase::Committing { .. } = self.state.phase {
                self.abandon("the state folder cannot be written");
            }
        }
    }
}
