//! Changes of the fabric and its tables that the machine did not make.

use crate::action::{Action, Level};
use crate::decision::DecisionOutcome;
use crate::machine::Machine;
use crate::mode::Mode;
use crate::state::{FreezeReason, Phase};
use crate::value::{Digest, InputSource, PlanId};

impl Machine {
    /// A fabric that may be that of another cluster: reported once, and rejected.
    pub(crate) fn stranger(&mut self, digest: Digest, shared: u32, known: u32) {
        if self.state.stranger == Some(digest) {
            return;
        }
        self.state.stranger = Some(digest);
        let text = format!(
            "fabric: it shares {shared} GUIDs with the one that is known, which has {known}: is it another cluster's? It is \
             refused; if it is this one, say `darkfiber operate accept`"
        );
        self.alarm(Level::Critical, text);
    }

    /// Handles the current fabric.
    pub(crate) fn fabric(&mut self, digest: Digest, size: (u32, u32)) {
        self.state.fresh.insert(InputSource::Fabric);
        self.state.stranger = None;
        if self.state.fabric == Some(digest) {
            return;
        }
        self.fabric_is(digest, size);
        if self.state.mode < Mode::ApplyFaults {
            self.state.fresh.remove(&InputSource::Tables);
            return;
        }
        self.state.unwell = true;
        match self.state.phase {
            Phase::Committing { .. }
            | Phase::Confirming { .. }
            | Phase::Draining { .. }
            | Phase::Auditing { flight: Some(_) } => {
                self.abandon("the fabric changed while it was put in place");
            }
            Phase::Watching => self.audit(false),
            _ => {}
        }
    }

    /// Replaces the fabric: nothing that depends on the previous one continues.
    pub(crate) fn fabric_is(&mut self, digest: Digest, size: (u32, u32)) {
        self.state.fabric = Some(digest);
        self.state.size = size;
        self.state.measured = None;
        (self.state.damaged, self.state.retry) = (false, None);
        // Those that are known have hosts of the fabric before. A fault is repaired without them; nothing is done for them until they are
        // read again.
        for read_for_it in [InputSource::Jobs, InputSource::Demands] {
            self.state.fresh.remove(&read_for_it);
        }
        self.answer_none_about_others(digest);
        self.void("the fabric changed");
        self.drop_proposals("the fabric changed");
        // The mapping of jobs and tables to it is read again.
        self.state.wanted |= self.state.running > 0;
    }

    /// The tables in place, as read.
    pub(crate) fn tables(&mut self, digest: Digest, between: bool) {
        self.state.fresh.insert(InputSource::Tables);
        match self.state.phase {
            Phase::Confirming { flight, again, .. } => self.found(flight, again, digest, between),
            Phase::Auditing { flight: Some(flight) } => {
                self.state.audited = self.at;
                // A plan for another fabric must not continue; if that is not known yet, tables are read again.
                if self.is_fresh(&[InputSource::Fabric]) {
                    self.resume_flight(flight, digest);
                }
            }
            Phase::Auditing { flight: None } => {
                self.state.audited = self.at;
                self.state.phase = Phase::Watching;
                self.changed(digest);
            }
            // Tables read while a plan is written belong to no definite state.
            Phase::Committing { .. } => {}
            Phase::Draining { .. } => {
                if self.state.tables != Some(digest) {
                    self.abandon("other tables are in place");
                }
            }
            _ => self.changed(digest),
        }
    }

    /// Other tables may be in place.
    fn changed(&mut self, digest: Digest) {
        let in_place = self.state.in_place.and_then(|p| self.state.decision(p));
        let is_plan =
            in_place.and_then(|d| d.candidate.as_ref()).is_some_and(|c| c.tables == digest);
        let mut is_foreign = false;
        if !is_plan {
            // After a change of the fabric other tables are no wonder.
            is_foreign = self.state.mode >= Mode::ApplyFaults
                && in_place.and_then(|d| d.verdict.as_ref()).map(|v| v.fabric) == self.state.fabric
                && self.state.in_place.is_some();
            self.state.in_place = None;
        }
        if self.state.tables == Some(digest) {
            return;
        }
        self.state.tables = Some(digest);
        self.state.measured = None;
        (self.state.damaged, self.state.retry) = (false, None);
        self.void("the tables in place changed");
        let at = self.at;
        let taken = self.state.decisions.iter_mut().find(|d| {
            d.outcome == DecisionOutcome::Proposed
                && d.candidate.as_ref().is_some_and(|c| c.tables == digest)
        });
        match taken {
            Some(decision) => {
                decision.outcome = DecisionOutcome::Taken;
                decision.ended = Some(at);
            }
            None => self.state.wanted |= self.state.running > 0,
        }
        self.drop_proposals("the tables in place changed");
        self.state.unwell |= self.state.mode >= Mode::ApplyFaults;
        if is_foreign && !matches!(self.state.phase, Phase::Frozen { .. }) {
            self.state.mismatches.push(self.at);
            if self.state.mismatches.len() >= 2 {
                self.freeze(FreezeReason::Mismatch);
            } else {
                let text = "the tables in place are not those of the plan any more, though the fabric is the same: who else \
                            writes tables?";
                self.alarm(Level::Warning, text);
            }
        }
    }

    fn drop_proposals(&mut self, why: &str) {
        for decision in
            self.state.decisions.iter_mut().filter(|d| d.outcome == DecisionOutcome::Proposed)
        {
            decision.outcome = DecisionOutcome::Dropped { why: why.to_owned() };
            decision.ended = Some(self.at);
        }
    }

    /// OpenSM has finished a sweep, with a plan or with one of its own engines.
    pub(crate) fn routed(&mut self, plan: Option<PlanId>) {
        if self.state.mode < Mode::ApplyFaults {
            return;
        }
        let excused = std::mem::take(&mut self.state.excused);
        if plan.is_some() {
            match self.state.phase {
                Phase::Confirming { flight, .. } if plan == Some(flight.plan) => {
                    self.act(Action::ReadBack { expect: plan, whole: false });
                }
                Phase::Watching | Phase::Working { .. } if plan != self.state.in_place => {
                    self.void("OpenSM used another plan");
                    self.audit(true);
                }
                _ => {}
            }
            return;
        }
        if !excused {
            self.state.foreign.push(self.at);
        }
        if let Phase::Frozen { .. } = self.state.phase {
            return;
        }
        self.void("OpenSM used another engine");
        self.abandon("OpenSM used another engine");
        if self.state.foreign.len() >= 2 {
            self.freeze(FreezeReason::Foreign);
        }
    }
}
