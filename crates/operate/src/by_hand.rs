//! Plans that an operator wants in place.

use crate::action::Task;
use crate::decision::{Candidate, DecisionOutcome, Trigger};
use crate::input::Command;
use crate::machine::Machine;
use crate::mode::Mode;
use crate::state::{Phase, State};
use crate::value::PlanId;

impl State {
    /// Why a command would do nothing now; `None` if it has an effect.
    pub fn refusal(&self, command: Command) -> Option<String> {
        let of = match command {
            Command::Deploy { plan } => Some(plan),
            Command::Rollback => None,
            Command::Accept => {
                let why = "no fabric is refused as that of another cluster";
                return self.stranger.is_none().then(|| why.to_owned());
            }
            Command::Pause | Command::Resume | Command::Propose => return None,
        };
        if self.mode < Mode::ApplyFaults {
            let mode = self.mode.name();
            return Some(format!(
                "mode {mode} changes nothing; `darkfiber operate explain N` has the commands to run"
            ));
        }
        if self.paused {
            return Some("paused: `darkfiber operate resume` comes first".to_owned());
        }
        if let Some(what) = &self.disk {
            return Some(format!("the state folder cannot be written: {what}"));
        }
        match self.phase {
            Phase::Watching | Phase::Working { .. } => {}
            Phase::Frozen { .. } => {
                return Some("frozen: `darkfiber operate resume` comes first".to_owned());
            }
            _ => return Some(format!("busy ({}): ask again in a moment", self.phase.name())),
        }
        if self.fabric.is_none() || self.tables.is_none() {
            return Some("the fabric and the tables in place are not known yet".to_owned());
        }
        match of {
            None if self.in_place.is_none() => Some(
                "no plan of this program is in place, so nothing is known to go back to".to_owned(),
            ),
            None => None,
            Some(plan) if self.in_place == Some(plan) => Some(format!("plan {plan} is in place")),
            Some(plan) => match self.decision(plan) {
                None => Some(format!("no decision {plan} is remembered")),
                Some(d) if d.candidate.is_none() => {
                    Some(format!("decision {plan} found no tables"))
                }
                Some(_) => None,
            },
        }
    }
}

impl Machine {
    /// An operator wants tables in place.
    pub(crate) fn by_hand(&mut self, command: Command) {
        if self.state.refusal(command).is_some() {
            return;
        }
        let (of, before) = match (command, self.state.in_place) {
            (Command::Deploy { plan }, _) => (plan, false),
            (Command::Rollback, Some(plan)) => (plan, true),
            _ => return,
        };
        self.void("an operator wants other tables");
        if !before && self.is_ready(of) {
            self.deploy(of);
            return;
        }
        let plan = self.begin(Trigger::Recall);
        let within = self.state.policy.work;
        self.work(Task::Recall { plan, of, before }, within);
    }

    /// Whether the proof of a proposal applies to the current fabric and tables.
    fn is_ready(&self, plan: PlanId) -> bool {
        let Some(d) = self.state.decision(plan) else { return false };
        let (Some(candidate), Some(v)) = (&d.candidate, &d.verdict) else { return false };
        d.outcome == DecisionOutcome::Proposed
            && Some(v.fabric) == self.state.fabric
            && Some(v.from) == self.state.tables
            && v.to == candidate.tables
            && v.allows(candidate.stages.len())
    }

    /// Tables of an earlier time are at hand.
    pub(crate) fn recalled(&mut self, plan: PlanId, candidate: &Candidate) {
        if let Some(decision) = self.decision(plan) {
            decision.candidate = Some(candidate.clone());
        }
        if candidate.entries == 0 {
            self.keep(plan, "these tables are in place");
            return;
        }
        let within = self.state.policy.work;
        self.work(Task::Prove { plan }, within);
    }
}
