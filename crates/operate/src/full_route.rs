//! Tables of a routing engine for the jobs that run, where few entries leave too much load.
//!
//! Few entries come first: a full route is tried where the load that they leave is far above the bound of all tables, and is taken
//! only if it gains more than they do and a way to it is proved. Otherwise the few entries go on as if nothing had been tried.

use crate::action::Task;
use crate::decision::{Candidate, DecisionOutcome, Trigger};
use crate::machine::Machine;
use crate::propose::percent;
use crate::value::PlanId;

impl Machine {
    /// Whether a full route is tried in addition to few entries that were found.
    pub(crate) fn tries_full_route(&self, plan: PlanId, few: &Candidate) -> bool {
        let Some(route) = &self.state.policy.route else { return false };
        match self.state.decision(plan).map(|d| d.trigger) {
            // An operator wants to see what there is.
            Some(Trigger::Operator) => true,
            Some(Trigger::Jobs) => {
                let left = self.left_by(few);
                let is_far = |bound| left as f64 > (1.0 + route.beyond) * bound as f64;
                left > 0 && few.bound.is_none_or(is_far)
            }
            // Estimates from counters are too rough for all entries.
            _ => false,
        }
    }

    /// The measure with the few entries, if they are changed.
    fn left_by(&self, few: &Candidate) -> u64 {
        if self.refusal_of_few_entries(few).is_none() { few.proposed } else { few.kept }
    }

    /// Sets few entries aside, and routes anew.
    pub(crate) fn route_anew(&mut self, few: PlanId) {
        let trigger = self.state.decision(few).map_or(Trigger::Jobs, |d| d.trigger);
        let plan = self.begin(trigger);
        if let Some(decision) = self.decision(plan) {
            decision.instead_of = Some(few);
        }
        self.work(Task::Route { plan }, self.state.policy.work);
    }

    /// A routing engine has made tables.
    pub(crate) fn routed_anew(&mut self, plan: PlanId, candidate: &Candidate) {
        if let Some(decision) = self.decision(plan) {
            decision.candidate = Some(candidate.clone());
        }
        match self.refusal_of_full_route(plan, candidate) {
            Some(why) => self.keep_or_few_entries(plan, why),
            None => self.work(Task::Prove { plan }, self.state.policy.work),
        }
    }

    fn refusal_of_full_route(&self, plan: PlanId, c: &Candidate) -> Option<String> {
        let Some(route) = &self.state.policy.route else {
            return Some("no engine is given for that".to_owned());
        };
        let (min_gain, stages) = (self.state.policy.min_gain, c.stages.len());
        let few = self.state.decision(plan).and_then(|d| self.state.decision(d.instead_of?));
        let left = few.and_then(|d| d.candidate.as_ref()).map_or(c.kept, |few| self.left_by(few));
        // Where nothing is left, nothing is gained.
        let more = if left == 0 { 0.0 } else { 1.0 - c.proposed as f64 / left as f64 };
        if c.entries == 0 {
            Some(format!("{} makes the tables in place", route.engine))
        } else if more <= 0.0 || more < min_gain {
            let least = percent(min_gain);
            Some(format!(
                "{} leaves {}, few entries {left}: that is not less by min_gain, {least}",
                route.engine, c.proposed
            ))
        } else if c.blocks > route.max_blocks {
            Some(format!(
                "{} blocks change, more than max_blocks of [policy.route], {}",
                c.blocks, route.max_blocks
            ))
        } else if stages > route.max_stages as usize {
            Some(format!("it would take {stages} stages, more than {}", route.max_stages))
        } else {
            None
        }
    }

    /// Keeps the tables in place; or, if few entries were set aside for this decision, resumes these.
    pub(crate) fn keep_or_few_entries(&mut self, plan: PlanId, why: String) {
        let few = self.state.decision(plan).and_then(|d| d.instead_of);
        self.keep(plan, why);
        let is_open = |few: &PlanId| {
            self.state.decision(*few).is_some_and(|d| d.outcome == DecisionOutcome::Open)
        };
        if let Some(few) = few.filter(is_open) {
            self.change_few_entries(few);
        }
    }

    /// A full route is proved, and takes the place of few entries.
    pub(crate) fn set_few_entries_aside(&mut self, plan: PlanId) {
        let few = self.state.decision(plan).and_then(|d| d.instead_of);
        if let Some(few) = few {
            let why = format!("plan {plan}, made anew, leaves less");
            self.end(few, DecisionOutcome::Kept { why });
        }
    }
}
