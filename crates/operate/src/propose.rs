//! The search for better tables, and the treatment of those that are found.

use darkfiber_routing::transition::Rung;

use crate::action::{Action, Level, Task};
use crate::decision::{Candidate, DecisionOutcome, Trigger, Verdict};
use crate::input::WorkResult;
use crate::machine::Machine;
use crate::mode::Mode;
use crate::state::{Measured, Phase};
use crate::value::{Digest, InputSource, Millis, PlanId};

/// A share for people.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

impl Machine {
    /// Starts what is due, if nothing else is in progress.
    pub(crate) fn consider(&mut self) {
        let state = &self.state;
        if state.phase != Phase::Watching || state.disk.is_some() {
            return;
        }
        let within = state.policy.work;
        let mends = state.mode >= Mode::ApplyFaults && !state.paused;
        let is_due = state.unwell || state.looks_back;
        if is_due && mends && self.is_fresh(&[InputSource::Fabric, InputSource::Tables]) {
            self.state.looks_back = false;
            let plan = self.begin(Trigger::Fault);
            self.work(Task::Mend { plan, restores: true }, within);
            return;
        }
        let has_demands = !state.policy.demands || self.is_fresh(&[InputSource::Demands]);
        if !self.is_fresh(&InputSource::ALL) || !has_demands {
            return;
        }
        if state.mode == Mode::Observe {
            if state.wanted || state.asked_by_hand {
                (self.state.wanted, self.state.asked_by_hand) = (false, false);
                self.work(Task::Measure, within);
            }
            return;
        }
        if state.asked_by_hand {
            self.state.asked_by_hand = false;
            self.ease(Trigger::Operator, within);
        } else if state.wanted && !state.paused && self.may_change_again() {
            self.ease(Trigger::Jobs, within);
        } else if state.too_hot && !state.paused && self.may_change_again() {
            // If it stays hot it is looked at again after as long a time.
            (self.state.too_hot, self.state.hot_since) = (false, None);
            let plan = self.begin(Trigger::Counters);
            self.work(Task::Relieve { plan }, within);
        }
    }

    /// Handles a reading of port counters: only persistent load leads to an action.
    pub(crate) fn counters(&mut self, fullest: f64) {
        let state = &mut self.state;
        state.fresh.insert(InputSource::Counters);
        if fullest <= state.policy.hot || state.mode < Mode::Advise {
            (state.hot_since, state.too_hot) = (None, false);
            return;
        }
        let since = *state.hot_since.get_or_insert(self.at);
        state.too_hot |= self.at.saturating_sub(since) >= state.policy.hot_for;
    }

    /// Handles a reading of what hosts send to each other: tables for other demands are out of date.
    pub(crate) fn demands(&mut self, digest: Digest) {
        let state = &mut self.state;
        state.fresh.insert(InputSource::Demands);
        if state.demands.replace(digest) == Some(digest) {
            return;
        }
        state.measured = None;
        state.wanted = true;
        self.inputs_changed("other demands were read");
    }

    fn ease(&mut self, trigger: Trigger, within: Millis) {
        (self.state.wanted, self.state.may_improve) = (false, false);
        let plan = self.begin(trigger);
        self.work(Task::Ease { plan }, within);
    }

    fn may_change_again(&self) -> bool {
        let (state, policy) = (&self.state, &self.state.policy);
        let last = state.changes.last();
        let cooled = last.is_none_or(|&t| self.at.saturating_sub(t) >= policy.cooldown);
        cooled && state.changes.len() < policy.max_per_hour as usize
    }

    /// Jobs started, or what they send is another: tables for those before them are out of date.
    pub(crate) fn inputs_changed(&mut self, why: &str) {
        let Phase::Working { task, .. } = self.state.phase else { return };
        let serves_jobs = match task {
            Task::Measure | Task::Ease { .. } | Task::Route { .. } | Task::Relieve { .. } => true,
            Task::Mend { .. } | Task::Recall { .. } => false,
            Task::Prove { plan } => {
                let trigger = self.state.decision(plan).map(|d| d.trigger);
                matches!(trigger, Some(Trigger::Jobs | Trigger::Operator | Trigger::Counters))
            }
        };
        if serves_jobs {
            self.void(why);
        }
    }

    /// Work is done, unless it was given up meanwhile.
    pub(crate) fn done(&mut self, work: u64, generation: u64, result: &WorkResult) {
        let Phase::Working { work: expected, task, .. } = self.state.phase else { return };
        if work != expected || generation != self.state.generation {
            return;
        }
        self.state.phase = Phase::Watching;
        match (task, result) {
            (Task::Measure, WorkResult::Measured { measure, efi, bound }) => {
                let (measure, efi, bound) = (*measure, *efi, *bound);
                self.state.measured = Some(Measured { measure, efi, bound });
            }
            (Task::Ease { plan }, WorkResult::Found { candidate }) => {
                let (measure, efi, bound) = (candidate.measure, candidate.kept, candidate.bound);
                self.state.measured = Some(Measured { measure, efi, bound });
                self.eased(plan, candidate);
            }
            (Task::Relieve { plan }, WorkResult::Found { candidate }) => {
                self.eased(plan, candidate);
            }
            (Task::Route { plan }, WorkResult::Found { candidate }) => {
                self.routed_anew(plan, candidate);
            }
            (Task::Mend { plan, .. }, WorkResult::Found { candidate }) => {
                self.mended(plan, candidate);
            }
            (Task::Recall { plan, .. }, WorkResult::Found { candidate }) => {
                self.recalled(plan, candidate);
            }
            (Task::Prove { plan }, WorkResult::Proved { verdict }) => self.proved(plan, verdict),
            (task, result) => self.failed(task, result),
        }
    }

    fn failed(&mut self, task: Task, result: &WorkResult) {
        let why = match result {
            WorkResult::Failed { why } => why.clone(),
            _ => "the result is not what was asked for".to_owned(),
        };
        // Insufficient counters are not a fault, nor is a fabric that an engine does not route.
        let level = match task {
            Task::Relieve { .. } | Task::Route { .. } => Level::Notice,
            Task::Mend { plan, .. } if self.is_repair(plan) => Level::Critical,
            _ => Level::Warning,
        };
        self.alarm(level, format!("{} failed: {why}", task.name()));
        if let Some(plan) = task.plan() {
            let is_repair = self.is_repair(plan);
            self.state.unwell &= !is_repair;
            self.state.damaged |= is_repair;
            self.keep_or_few_entries(plan, why);
            self.answer_none();
        }
    }

    fn eased(&mut self, plan: PlanId, candidate: &Candidate) {
        if let Some(decision) = self.decision(plan) {
            decision.candidate = Some(candidate.clone());
        }
        if self.tries_full_route(plan, candidate) {
            self.route_anew(plan);
        } else {
            self.change_few_entries(plan);
        }
    }

    /// Has few entries proved that were found, if they are worth it.
    pub(crate) fn change_few_entries(&mut self, plan: PlanId) {
        let found = self.state.decision(plan).and_then(|d| d.candidate.as_ref());
        match found.and_then(|c| self.refusal_of_few_entries(c)) {
            Some(why) => self.keep(plan, why),
            None => self.work(Task::Prove { plan }, self.state.policy.work),
        }
    }

    /// Why few entries are not changed, if so.
    pub(crate) fn refusal_of_few_entries(&self, c: &Candidate) -> Option<String> {
        let policy = &self.state.policy;
        let gain = c.gain();
        if c.entries == 0 {
            Some("no entry cools down the hottest channel".to_owned())
        } else if gain < policy.min_gain {
            let least = percent(policy.min_gain);
            Some(format!("the gain of {} is less than min_gain, {least}", percent(gain)))
        } else if c.blocks > policy.max_blocks {
            Some(format!("{} blocks change, more than max_blocks, {}", c.blocks, policy.max_blocks))
        } else if c.stages.len() > policy.max_stages as usize {
            Some(format!(
                "it would take {} stages, more than {}",
                c.stages.len(),
                policy.max_stages
            ))
        } else {
            None
        }
    }

    fn mended(&mut self, plan: PlanId, candidate: &Candidate) {
        if let Some(decision) = self.decision(plan) {
            decision.candidate = Some(candidate.clone());
        }
        if candidate.entries == 0 && self.state.questions.is_empty() {
            (self.state.unwell, self.state.damaged) = (false, false);
            (self.state.alarmed_for, self.state.retry) = (None, None);
            self.keep(plan, "the tables in place are whole: nothing to mend");
            return;
        }
        let within = self.state.policy.work;
        self.work(Task::Prove { plan }, within);
    }

    fn proved(&mut self, plan: PlanId, verdict: &Verdict) {
        let (fabric, tables) = (self.state.fabric, self.state.tables);
        let Some(decision) = self.decision(plan) else { return };
        decision.verdict = Some(verdict.clone());
        let trigger = decision.trigger;
        let candidate = decision.candidate.clone();
        let stages = candidate.as_ref().map_or(0, |c| c.stages.len());
        let is_about_this = fabric == Some(verdict.fabric)
            && tables == Some(verdict.from)
            && candidate.is_some_and(|c| c.tables == verdict.to);
        if !is_about_this {
            let why = "the verdict is about other tables or another fabric".to_owned();
            self.end(plan, DecisionOutcome::Dropped { why });
            return;
        }
        // Packets are dropped only where pairs are lost anyway.
        let may_drain = self.is_repair(plan);
        if !verdict.allows(stages) || (verdict.drains() && !may_drain) {
            if may_drain {
                (self.state.unwell, self.state.damaged) = (false, true);
                let what =
                    "the tables in place are damaged, and no safe way to mended ones is proved";
                let then = if self.state.questions.is_empty() {
                    format!(
                        "pairs stay lost; `darkfiber operate explain {plan}` has what can be done"
                    )
                } else {
                    "OpenSM goes on with its next engine".to_owned()
                };
                let about = fabric.zip(tables);
                if self.state.alarmed_for != about {
                    self.state.alarmed_for = about;
                    self.alarm(Level::Critical, format!("{what}: {then}"));
                }
            }
            let why = match verdict.rung {
                Rung::Stages => {
                    "only an order of switches is proved, and a sweep has none".to_owned()
                }
                rung => format!("no safe way is proved: {}", rung.name()),
            };
            self.keep_or_few_entries(plan, why);
            self.answer_none();
            return;
        }
        self.set_few_entries_aside(plan);
        if !self.state.questions.is_empty() {
            // OpenSM takes the first stage in the sweep in which it waits; each other stage is a separate sweep.
            self.answer(plan);
            return;
        }
        match trigger {
            Trigger::Fault | Trigger::Question | Trigger::Recall => self.deploy(plan),
            Trigger::Jobs | Trigger::Counters if self.state.mode == Mode::Apply => {
                if !self.state.standby && !self.state.policy.alone {
                    self.keep(plan, "a standby subnet manager lacks the plan");
                    return;
                }
                self.state.changes.push(self.at);
                self.deploy(plan);
            }
            Trigger::Jobs | Trigger::Operator | Trigger::Counters => self.propose(plan),
        }
    }

    /// Whether a plan repairs damaged tables: whatever becomes of others, these are still to be repaired.
    pub(crate) fn is_repair(&self, plan: PlanId) -> bool {
        self.state.decision(plan).is_some_and(|d| d.trigger.is_damage())
    }

    fn propose(&mut self, plan: PlanId) {
        for decision in &mut self.state.decisions {
            if decision.outcome == DecisionOutcome::Proposed {
                let why = format!("proposal {plan} takes its place");
                decision.outcome = DecisionOutcome::Dropped { why };
                decision.ended = Some(self.at);
            }
        }
        self.end(plan, DecisionOutcome::Proposed);
        self.state.changes.push(self.at);
        self.state.phase = Phase::Watching;
        self.act(Action::Propose { plan });
    }
}
