//! A step in progress: the new state so far, and the actions so far.

use crate::action::{Action, Level, Task};
use crate::decision::{Decision, DecisionOutcome, Trigger};
use crate::state::{FreezeReason, Phase, REMEMBERED, State};
use crate::value::{InputSource, Millis, PlanId};

/// A step in progress.
pub(crate) struct Machine {
    pub(crate) state: State,
    pub(crate) at: Millis,
    pub(crate) actions: Vec<Action>,
}

impl Machine {
    pub(crate) fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    pub(crate) fn alarm(&mut self, level: Level, text: impl Into<String>) {
        self.act(Action::Alarm { level, text: text.into() });
    }

    /// Requests work and sets the phase.
    pub(crate) fn work(&mut self, task: Task, within: Millis) {
        let state = &mut self.state;
        state.next_work += 1;
        let work = state.next_work;
        let generation = state.generation;
        state.phase = Phase::Working { work, task, until: self.at.saturating_add(within) };
        self.act(Action::Work { work, generation, task });
    }

    /// Starts a new decision.
    pub(crate) fn begin(&mut self, trigger: Trigger) -> PlanId {
        let state = &mut self.state;
        state.next_plan += 1;
        let id = state.next_plan;
        state.decisions.push_back(Decision {
            id,
            at: self.at,
            trigger,
            fabric: state.fabric.unwrap_or_default(),
            from: state.tables.unwrap_or_default(),
            jobs: state.jobs,
            running: state.running,
            demands: state.demands,
            instead_of: None,
            candidate: None,
            verdict: None,
            outcome: DecisionOutcome::Open,
            ended: None,
        });
        // The tables in place stay known.
        let in_place = state.in_place;
        while state.decisions.len() > REMEMBERED {
            let oldest = state.decisions.iter().position(|d| Some(d.id) != in_place);
            state.decisions.remove(oldest.unwrap_or(0));
        }
        id
    }

    pub(crate) fn decision(&mut self, id: PlanId) -> Option<&mut Decision> {
        self.state.decisions.iter_mut().find(|d| d.id == id)
    }

    /// Records the outcome of a decision.
    pub(crate) fn end(&mut self, id: PlanId, outcome: DecisionOutcome) {
        let at = self.at;
        let Some(decision) = self.decision(id) else { return };
        decision.outcome = outcome.clone();
        decision.ended = Some(at);
        // What was set aside for it has the same inputs.
        if let (DecisionOutcome::Dropped { .. }, Some(few)) = (&outcome, decision.instead_of)
            && self.state.decision(few).is_some_and(|d| d.outcome == DecisionOutcome::Open)
        {
            self.end(few, outcome);
        }
    }

    /// Ends a decision without a change of tables.
    pub(crate) fn keep(&mut self, id: PlanId, why: impl Into<String>) {
        self.end(id, DecisionOutcome::Kept { why: why.into() });
        self.state.phase = Phase::Watching;
    }

    /// Cancels running work, as its input has changed.
    pub(crate) fn void(&mut self, why: &str) {
        self.state.generation += 1;
        let Phase::Working { work, task, .. } = self.state.phase else { return };
        self.act(Action::Forget { work });
        if let Some(plan) = task.plan() {
            self.end(plan, DecisionOutcome::Dropped { why: why.to_owned() });
        }
        self.state.phase = Phase::Watching;
    }

    /// Reads back the tables in place.
    pub(crate) fn audit(&mut self, whole: bool) {
        self.state.audited = self.at;
        self.state.phase = Phase::Auditing { flight: None };
        let expect = self.state.in_place;
        self.act(Action::ReadBack { expect, whole });
    }

    /// Changes nothing any more until an operator allows it.
    pub(crate) fn freeze(&mut self, why: FreezeReason) {
        let text = match why {
            FreezeReason::Mismatch => {
                "frozen: tables that were put in place were not found there; look at OpenSM's log and at who else writes \
                 tables, then say `darkfiber operate resume`"
            }
            FreezeReason::Foreign => {
                "frozen: OpenSM used another engine twice within ten minutes; look at its log, then say `darkfiber operate \
                 resume`"
            }
            FreezeReason::Engines => {
                "frozen: the engine list of OpenSM ends in minhop; change routing_engine, and start again"
            }
        };
        self.void("nothing is changed any more");
        self.state.phase = Phase::Frozen { why };
        self.alarm(Level::Critical, text);
    }

    pub(crate) fn is_fresh(&self, sources: &[InputSource]) -> bool {
        sources.iter().all(|s| self.state.fresh.contains(s))
    }
}
