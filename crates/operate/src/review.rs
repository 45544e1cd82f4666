//! What a journal shows: the advice that was given, what became of it, and how long each part of a decision took.

use std::collections::BTreeMap;

use crate::action::{Action, Task};
use crate::decision::{Decision, DecisionOutcome};
use crate::input::Input;
use crate::journal::Journal;
use crate::state::{Phase, State};
use crate::step::step;
use crate::value::{Millis, PlanId};

/// A decision as its journal shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewedDecision {
    /// The decision, with its outcome at the end of the journal.
    pub decision: Decision,
    /// When it was shown as a proposal.
    pub shown: Option<Millis>,
    /// When its tables were found in place, by whomever they were put there.
    pub in_place: Option<Millis>,
    /// When what it rested on was no longer so: other jobs or demands, another fabric, or other tables.
    pub over: Option<Millis>,
    /// Times of its parts.
    pub parts: DecisionParts,
}

/// Times of the parts of a decision, in ms; `None` where there was no such part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecisionParts {
    /// Looking for its tables: few entries, a repair, or a routing engine.
    pub route: Option<Millis>,
    /// Proving the transition to them.
    pub prove: Option<Millis>,
    /// Writing them where OpenSM finds them.
    pub place: Option<Millis>,
    /// From then until OpenSM reports that they are programmed, all stages together.
    pub program: Option<Millis>,
    /// From then until they were read back.
    pub read_back: Option<Millis>,
}

impl DecisionParts {
    /// Their names, and their times.
    pub fn named(&self) -> [(&'static str, Option<Millis>); 5] {
        [
            ("route", self.route),
            ("prove", self.prove),
            ("place", self.place),
            ("program", self.program),
            ("read back", self.read_back),
        ]
    }
}

/// A journal that is followed step by step.
#[derive(Default)]
struct Review {
    decisions: BTreeMap<PlanId, ReviewedDecision>,
    /// Work that was requested, since when, and for what.
    work: BTreeMap<u64, (Millis, Task)>,
    /// Since when the current part of putting a plan in place lasts.
    since: Millis,
}

/// Follows a journal. Decisions before its first step are not in the result; those that were under way at its end have an open outcome.
pub fn review(journal: &Journal) -> Vec<ReviewedDecision> {
    let mut review = Review::default();
    let mut state = journal.beginning.state.clone();
    let first = state.next_plan;
    for record in &journal.steps {
        let (next, actions) = step(&state, record.at, &record.input);
        review.hears(record.at, &record.input, &state);
        review.follows(record.at, &state, &next, &actions);
        state = next;
    }
    review.decisions.into_values().filter(|d| d.decision.id > first).collect()
}

fn add(part: &mut Option<Millis>, time: Millis) {
    *part = Some(part.unwrap_or(0) + time);
}

impl Review {
    fn parts(&mut self, plan: PlanId) -> Option<&mut DecisionParts> {
        self.decisions.get_mut(&plan).map(|d| &mut d.parts)
    }

    /// An input ends a part.
    fn hears(&mut self, at: Millis, input: &Input, before: &State) {
        let took = at.saturating_sub(self.since);
        match (input, &before.phase) {
            (Input::Done { work, .. }, _) => {
                let Some((since, task)) = self.work.remove(work) else { return };
                let took = at.saturating_sub(since);
                let Some(parts) = task.plan().and_then(|plan| self.parts(plan)) else { return };
                let part = if matches!(task, Task::Prove { .. }) {
                    &mut parts.prove
                } else {
                    &mut parts.route
                };
                add(part, took);
            }
            (Input::Committed { plan, .. }, Phase::Committing { .. }) => {
                if let Some(parts) = self.parts(*plan) {
                    add(&mut parts.place, took);
                    self.since = at;
                }
            }
            (Input::Routed { .. }, Phase::Confirming { flight, .. }) => {
                if let Some(parts) = self.parts(flight.plan) {
                    add(&mut parts.program, took);
                    self.since = at;
                }
            }
            (Input::Tables { .. }, Phase::Confirming { flight, .. }) => {
                if let Some(parts) = self.parts(flight.plan) {
                    add(&mut parts.read_back, took);
                    self.since = at;
                }
            }
            _ => {}
        }
    }

    /// A step begins parts, and changes decisions.
    fn follows(&mut self, at: Millis, before: &State, next: &State, actions: &[Action]) {
        for action in actions {
            match action {
                Action::Work { work, task, .. } => drop(self.work.insert(*work, (at, *task))),
                Action::Commit { .. } | Action::Answer { plan: Some(_), .. } => self.since = at,
                _ => {}
            }
        }
        let rests_on = |s: &State| (s.fabric, s.jobs, s.demands);
        let is_other = rests_on(before) != rests_on(next);
        for decision in self.decisions.values_mut() {
            let waits = decision.decision.outcome == DecisionOutcome::Proposed;
            if waits && (is_other || before.tables != next.tables) {
                decision.over.get_or_insert(at);
            }
        }
        for decision in &next.decisions {
            let known = self.decisions.entry(decision.id).or_insert_with(|| ReviewedDecision {
                decision: decision.clone(),
                shown: None,
                in_place: None,
                over: None,
                parts: DecisionParts::default(),
            });
            known.decision.clone_from(decision);
            match decision.outcome {
                DecisionOutcome::Proposed => drop(known.shown.get_or_insert(at)),
                DecisionOutcome::Taken | DecisionOutcome::Confirmed => {
                    known.in_place.get_or_insert(at);
                }
                _ => {}
            }
        }
    }
}
