//! Those who wait: OpenSM for a plan, jobs for their start.

use darkfiber_routing::transition::Rung;

use crate::action::{Action, Level, Task};
use crate::decision::{DecisionOutcome, Trigger};
use crate::input::Ready;
use crate::machine::Machine;
use crate::mode::Mode;
use crate::state::{FreezeReason, Phase, PlanInFlight, Question};
use crate::value::{Digest, Millis, PlanId};

impl Machine {
    /// OpenSM sends a question, and waits until the budget is used up.
    pub(crate) fn begin_question(&mut self, id: u64, fabric: Digest, budget: Millis) {
        let until = self.at.saturating_add(budget);
        self.state.questions.push(Question { id, fabric, until });
    }

    /// OpenSM requests a plan for the fabric that it has swept.
    pub(crate) fn asked(
        &mut self,
        fabric: Digest,
        budget: Millis,
        size: Option<(u32, u32)>,
        tables: Option<Digest>,
        ready: Option<&Ready>,
    ) {
        let state = &self.state;
        let may = state.mode >= Mode::ApplyFaults && !state.paused && state.disk.is_none();
        let is_frozen = matches!(state.phase, Phase::Frozen { .. } | Phase::Starting);
        let is_new = state.fabric != Some(fabric);
        if !may || is_frozen || (is_new && size.is_none()) {
            self.answer_none();
            return;
        }
        if let (true, Some(size)) = (is_new, size) {
            self.swept(fabric, size);
        }
        if let (true, None) = (is_new, tables) {
            self.answer_none();
            self.abandon("the fabric changed");
            return;
        }
        match self.state.phase {
            // OpenSM requests the plan that is being put in place: it was ordered to sweep.
            Phase::Confirming { flight, .. } => {
                self.give(flight.plan, flight.stage);
                return;
            }
            // What is cleared stays so until its packets are gone: counted anew, as this sweep may clear it once more.
            Phase::Draining { flight, .. } => {
                let flight = PlanInFlight { stage: flight.stage - 1, ..flight };
                self.give(flight.plan, flight.stage);
                self.confirming(flight);
                return;
            }
            // The tables in place are being read: it waits for them, at most until its budget is used up.
            Phase::Auditing { flight: None } if tables.is_none() => return,
            // The request to sweep comes behind this.
            Phase::Committing { .. } | Phase::Auditing { flight: Some(_) } => {
                self.answer_none();
                return;
            }
            _ => {}
        }
        if tables.is_some() && self.state.tables != tables {
            (self.state.tables, self.state.measured) = (tables, None);
        }
        if self.state.tables.is_none() {
            self.answer_none();
            return;
        }
        if let Some((plan, stage)) = self.plan_that_stays() {
            self.give(plan, stage);
        } else if let Some(ready) = ready.filter(|ready| self.is_about_this(ready)) {
            self.void("OpenSM asks for a plan");
            let plan = self.begin(Trigger::Question);
            if let Some(decision) = self.decision(plan) {
                decision.candidate = Some(ready.candidate.clone());
                decision.verdict = Some(ready.verdict.clone());
            }
            self.answer(plan);
        } else if let Some(plan) = self.known_plan() {
            self.answer(plan);
        } else if !self.is_being_mended() {
            self.void("OpenSM asks for a plan");
            let plan = self.begin(Trigger::Question);
            let within = budget.min(self.state.policy.work);
            self.work(Task::Mend { plan, restores: false }, within);
        }
    }

    /// Whether a repair is being looked for, and no more than that.
    fn is_being_mended(&self) -> bool {
        let unwell = self.state.unwell;
        matches!(self.state.phase, Phase::Working { task: Task::Mend { restores, .. }, .. } if unwell || !restores)
    }

    /// A question contains another fabric than the known one.
    fn swept(&mut self, fabric: Digest, size: (u32, u32)) {
        self.fabric_is(fabric, size);
        self.state.unwell = true;
        let flight = self.state.phase.flight();
        if let Some(flight) = flight {
            let why = "the fabric changed while it was put in place".to_owned();
            self.end(flight.plan, DecisionOutcome::Dropped { why });
        }
        self.state.phase = Phase::Watching;
        self.state.in_place = None;
    }

    /// OpenSM did not take a plan. The tables in place are read; a plan that it examined and that does not fit is a
    /// mismatch.
    pub(crate) fn refused(&mut self, plan: PlanId, looked: bool, why: &str) {
        let Phase::Confirming { flight, .. } = self.state.phase else { return };
        if flight.plan != plan {
            return;
        }
        self.alarm(Level::Warning, format!("OpenSM did not take plan {plan}: {why}"));
        if looked {
            self.state.mismatches.push(self.at);
        }
        self.abandon(&format!("OpenSM did not take it: {why}"));
        if looked && self.state.mismatches.len() >= 2 {
            self.freeze(FreezeReason::Mismatch);
        }
    }

    /// Whether the entry of the fault book applies to the fabric and the tables in place.
    fn is_about_this(&self, ready: &Ready) -> bool {
        let (candidate, v) = (&ready.candidate, &ready.verdict);
        Some(v.fabric) == self.state.fabric
            && Some(v.from) == self.state.tables
            && v.to == candidate.tables
            && candidate.stages.last() == Some(&candidate.tables)
            && v.allows(candidate.stages.len())
    }

    /// The plan in place and its last stage, if it applies to the fabric that OpenSM has swept: it stays.
    fn plan_that_stays(&self) -> Option<(PlanId, u32)> {
        let state = &self.state;
        let decision = state.decision(state.in_place?)?;
        let is_about_this = decision.verdict.as_ref().map(|v| v.fabric) == state.fabric;
        let candidate = decision.candidate.as_ref()?;
        let is_there = Some(candidate.tables) == state.tables;
        let last = candidate.stages.len().saturating_sub(1) as u32;
        (is_about_this && is_there).then_some((decision.id, last))
    }

    /// A plan that is proved for the fabric that OpenSM has swept, from the tables in place. Proposals stay proposals.
    fn known_plan(&self) -> Option<PlanId> {
        let state = &self.state;
        let is_it = |d: &&crate::decision::Decision| {
            if !d.trigger.is_damage()
                && !matches!(d.outcome, DecisionOutcome::Deploying | DecisionOutcome::Confirmed)
            {
                return false;
            }
            let one_sweep = d.candidate.as_ref().is_some_and(|c| c.stages.len() == 1);
            d.verdict.as_ref().is_some_and(|v| {
                let here = Some(v.from) == state.tables || Some(v.to) == state.tables;
                Some(v.fabric) == state.fabric && here && v.rung <= Rung::AnyOrder && one_sweep
            })
        };
        state.decisions.iter().rev().find(is_it).map(|d| d.id)
    }

    /// Answers all questions with a stage of a plan.
    fn give(&mut self, plan: PlanId, stage: u32) {
        for question in std::mem::take(&mut self.state.questions) {
            self.act(Action::Answer { question: question.id, plan: Some(plan), stage });
        }
    }

    /// Answers all questions with a plan, whose first stage OpenSM then programs.
    pub(crate) fn answer(&mut self, plan: PlanId) {
        self.void("a plan is given to OpenSM");
        self.give(plan, 0);
        let Some(decision) = self.decision(plan) else { return };
        decision.outcome = DecisionOutcome::Deploying;
        decision.ended = None;
        let of = decision.candidate.as_ref().map_or(1, |c| c.stages.len() as u32);
        self.confirming(PlanInFlight { plan, stage: 0, of });
    }

    /// Answers all questions with none: OpenSM continues with its next engine.
    pub(crate) fn answer_none(&mut self) {
        for question in std::mem::take(&mut self.state.questions) {
            self.state.excused = true;
            self.act(Action::Answer { question: question.id, plan: None, stage: 0 });
        }
    }

    /// Answers questions about other fabrics than this with none: no plan is found for them any more.
    pub(crate) fn answer_none_about_others(&mut self, fabric: Digest) {
        let all = std::mem::take(&mut self.state.questions);
        let (about_this, others): (Vec<Question>, Vec<Question>) =
            all.into_iter().partition(|q| q.fabric == fabric);
        self.state.questions = others;
        self.answer_none();
        self.state.questions = about_this;
    }

    /// Answers questions whose budget is used up.
    pub(crate) fn questions_late(&mut self) {
        let at = self.at;
        if self.state.questions.iter().any(|q| q.until <= at) {
            self.void("OpenSM waits no longer");
            self.answer_none();
        }
    }

    /// Releases jobs for which nothing will be done, or not in time.
    pub(crate) fn release(&mut self) {
        let at = self.at;
        let state = &self.state;
        let nothing_comes = state.mode < Mode::Apply
            || state.paused
            || matches!(state.phase, Phase::Frozen { .. } | Phase::Watching | Phase::Starting);
        let due = |until: Millis| nothing_comes || until <= at;
        let free: Vec<u64> =
            state.held.iter().filter(|(_, until)| due(**until)).map(|(job, _)| *job).collect();
        for job in free {
            self.state.held.remove(&job);
            self.act(Action::Release { job });
        }
    }
}
