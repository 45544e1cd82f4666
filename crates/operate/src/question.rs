//! Those who wait: OpenSM for a plan, jobs for their start.

use darkfiber_routing::transition::Rung;

use crate::action::{Action, Task};
use crate::decision::{Outcome, Trigger};
use crate::machine::Machine;
use crate::mode::Mode;
use crate::state::{Flight, Phase, Question};
use crate::value::{Digest, Millis, PlanId};

impl Machine {
    /// OpenSM asks for a plan.
    pub(crate) fn asked(&mut self, id: u64, fabric: Digest, budget: Millis) {
        let until = self.at.saturating_add(budget);
        self.state.questions.push(Question { id, fabric, until });
        let state = &self.state;
        let may = state.mode >= Mode::ApplyFaults && !state.paused && state.disk.is_none();
        let busy = state.phase.flight().is_some();
        let is_frozen = matches!(state.phase, Phase::Frozen { .. } | Phase::Starting);
        if !may || busy || is_frozen || state.fabric != Some(fabric) || state.tables.is_none() {
            self.answer_none();
            return;
        }
        if let Some(plan) = self.known_plan() {
            self.answer(plan);
            return;
        }
        if let Phase::Working { task: Task::Mend { .. }, .. } = self.state.phase {
            return;
        }
        self.void("OpenSM asks for a plan");
        let plan = self.begin(Trigger::Question);
        let within = budget.min(self.state.policy.work);
        self.work(Task::Mend { plan }, within);
    }

    /// A plan that is proved for what OpenSM has swept, from the tables that are in place.
    fn known_plan(&self) -> Option<PlanId> {
        let state = &self.state;
        let is_it = |d: &&crate::decision::Decision| {
            let one_sweep = d.candidate.as_ref().is_some_and(|c| c.stages.len() == 1);
            d.verdict.as_ref().is_some_and(|v| {
                let here = Some(v.from) == state.tables || Some(v.to) == state.tables;
                Some(v.fabric) == state.fabric && here && v.rung <= Rung::AnyOrder && one_sweep
            })
        };
        state.decisions.iter().rev().find(is_it).map(|d| d.id)
    }

    /// Answers all questions with a plan, which OpenSM programs then.
    pub(crate) fn answer(&mut self, plan: PlanId) {
        self.void("a plan is given to OpenSM");
        for question in std::mem::take(&mut self.state.questions) {
            self.act(Action::Answer { question: question.id, plan: Some(plan) });
        }
        if let Some(decision) = self.decision(plan) {
            decision.outcome = Outcome::Deploying;
            decision.ended = None;
        }
        self.confirming(Flight { plan, stage: 0, of: 1 });
    }

    /// Answers all questions with none: OpenSM goes on with its next engine.
    pub(crate) fn answer_none(&mut self) {
        for question in std::mem::take(&mut self.state.questions) {
            self.state.excused = true;
            self.act(Action::Answer { question: question.id, plan: None });
        }
    }

    /// Answers what can wait no longer.
    pub(crate) fn questions_late(&mut self) {
        let at = self.at;
        if self.state.questions.iter().any(|q| q.until <= at) {
            self.void("OpenSM waits no longer");
            self.answer_none();
        }
    }

    /// Lets jobs go for whom nothing will be done, or not in time.
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
