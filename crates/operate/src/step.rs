//! One step: an input, the change of the state, and the actions.

use crate::action::{Action, Level, Task};
use crate::decision::DecisionOutcome;
use crate::engines::engines_allowed;
use crate::input::{Command, Input};
use crate::machine::Machine;
use crate::mode::{Mode, Policy};
use crate::state::{FreezeReason, Phase, State};
use crate::value::{InputSource, Millis};

/// Bad input in a row that raises an alarm.
const BAD_IN_A_ROW: u32 = 3;
/// Period over which changes are counted.
const HOUR: Millis = 3_600_000;
/// Period over which mismatches and foreign sweeps are counted.
const TEN_MINUTES: Millis = 600_000;

/// The state after an input, and the actions to do once the step is in the journal.
///
/// An input that changes nothing and has no actions (most ticks) need not be in the journal.
pub fn step(state: &State, at: Millis, input: &Input) -> (State, Vec<Action>) {
    let mut machine = Machine { state: state.clone(), at, actions: Vec::new() };
    machine.take(input);
    machine.consider();
    machine.release();
    (machine.state, machine.actions)
}

impl Machine {
    fn take(&mut self, input: &Input) {
        match input {
            Input::Started { mode, policy, engines } => self.started(*mode, policy, engines),
            Input::Fabric { digest, switches, terminals } => {
                self.fabric(*digest, (*switches, *terminals));
            }
            Input::Stranger { digest, shared, known } => self.stranger(*digest, *shared, *known),
            Input::Tables { digest, between } => self.tables(*digest, *between),
            Input::Unread { why } => self.unread(why),
            Input::Jobs { digest, running, started, ended } => {
                let state = &mut self.state;
                let known = state.jobs == Some(*digest);
                state.fresh.insert(InputSource::Jobs);
                (state.jobs, state.running) = (Some(*digest), *running);
                if known {
                    return;
                }
                state.measured = None;
                state.may_improve |= *ended > 0;
                if *started > 0 {
                    state.wanted = true;
                    self.inputs_changed("other jobs started");
                } else if state.mode == Mode::Observe {
                    state.wanted = true;
                }
            }
            Input::Counters { fullest, .. } => self.counters(*fullest),
            Input::Demands { digest, .. } => self.demands(*digest),
            Input::Starting { job } => {
                let until = self.at.saturating_add(self.state.policy.hold);
                self.state.held.insert(*job, until);
            }
            Input::Asked { question, fabric, budget, size, tables, ready } => {
                self.begin_question(*question, *fabric, *budget);
                self.asked(*fabric, *budget, *size, *tables, ready.as_deref());
            }
            Input::Refused { plan, looked, why } => self.refused(*plan, *looked, why),
            Input::Routed { plan } => self.routed(*plan),
            Input::Standby { has_plan, why } => {
                match (self.state.standby, has_plan) {
                    (true, false) => {
                        let why = if why.is_empty() { why.clone() } else { format!(" ({why})") };
                        let text = format!(
                            "a standby subnet manager lacks the plan{why}: it would route anew if it took over"
                        );
                        self.alarm(Level::Warning, text);
                    }
                    (false, true) => {
                        self.alarm(Level::Notice, "standby subnet managers have the plan again");
                    }
                    _ => {}
                }
                self.state.standby = *has_plan;
            }
            Input::Done { work, generation, result } => self.done(*work, *generation, result),
            Input::Committed { plan, stage } => self.committed(*plan, *stage),
            Input::Unplaced { plan, stage, why } => self.unplaced(*plan, *stage, why),
            Input::Disk { problem } => {
                if let Some(what) = problem
                    && self.state.disk.is_none()
                {
                    self.alarm(
                        Level::Critical,
                        format!("the state folder cannot be written: {what}"),
                    );
                }
                self.state.disk.clone_from(problem);
                self.disk();
            }
            Input::Bad { source, what } => self.bad(*source, what),
            Input::Good { source } => self.good(*source),
            Input::Operator { command, .. } => self.command(*command),
            Input::Tick => self.tick(),
        }
    }

    fn started(&mut self, mode: Mode, policy: &Policy, engines: &[String]) {
        let flight = self.state.phase.flight();
        self.void("the program was restarted");
        let at = self.at;
        let state = &mut self.state;
        if state.boots == 0 {
            state.standby = true;
        }
        state.boots += 1;
        state.mode = mode;
        state.policy = policy.clone();
        state.fresh.clear();
        state.questions.clear();
        state.held.clear();
        state.disk = None;
        state.asked_by_hand = false;
        state.excused = true;
        // A clock that was ahead must not make a cooldown last for ever.
        for times in [&mut state.changes, &mut state.mismatches, &mut state.foreign] {
            for t in times.iter_mut() {
                *t = (*t).min(at);
            }
        }
        let may_change = mode >= Mode::ApplyFaults;
        let is_frozen = matches!(state.phase, Phase::Frozen { .. });
        if may_change && engines_allowed(engines).is_err() {
            if let Some(flight) = flight {
                let why = "the engine list of OpenSM ends in minhop".to_owned();
                self.end(flight.plan, DecisionOutcome::Dropped { why });
            }
            self.freeze(FreezeReason::Engines);
        } else if !is_frozen || state.phase == (Phase::Frozen { why: FreezeReason::Engines }) {
            self.state.unwell = may_change;
            self.audit(true);
            self.state.phase = Phase::Auditing { flight: flight.filter(|_| may_change) };
        }
    }

    fn bad(&mut self, source: InputSource, what: &str) {
        let count = self.state.bad.entry(source).or_default();
        count.in_a_row = count.in_a_row.saturating_add(1);
        count.total += 1;
        what.clone_into(&mut count.what);
        if count.in_a_row == BAD_IN_A_ROW {
            let name = source.name();
            let text = format!(
                "{name}: could not be used {BAD_IN_A_ROW} times in a row, what was known stays: {what}"
            );
            self.alarm(Level::Warning, text);
        }
    }

    fn good(&mut self, source: InputSource) {
        let Some(count) = self.state.bad.get_mut(&source) else { return };
        let was_alarmed = count.in_a_row >= BAD_IN_A_ROW;
        count.in_a_row = 0;
        if was_alarmed {
            self.alarm(Level::Notice, format!("{}: can be used again", source.name()));
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Pause => {
                self.state.paused = true;
                self.void("paused");
            }
            Command::Resume => {
                self.state.paused = false;
                match self.state.phase {
                    Phase::Frozen { why: FreezeReason::Engines } => self.alarm(
                        Level::Warning,
                        "still frozen: the engine list of OpenSM ends in minhop; change it, and start again",
                    ),
                    Phase::Frozen { .. } => {
                        self.state.mismatches.clear();
                        self.state.foreign.clear();
                        self.state.unwell = self.state.mode >= Mode::ApplyFaults;
                        self.audit(true);
                    }
                    _ => {}
                }
            }
            Command::Propose => self.state.asked_by_hand = true,
            Command::Deploy { .. } | Command::Rollback => self.by_hand(command),
            Command::Accept => self.state.stranger = None,
        }
    }

    fn tick(&mut self) {
        let at = self.at;
        let state = &mut self.state;
        state.changes.retain(|t| at.saturating_sub(*t) < HOUR);
        state.mismatches.retain(|t| at.saturating_sub(*t) < TEN_MINUTES);
        state.foreign.retain(|t| at.saturating_sub(*t) < TEN_MINUTES);
        self.questions_late();
        match self.state.phase {
            Phase::Working { work, until, task } if until <= at => {
                if let Task::Route { plan } = task {
                    self.state.generation += 1;
                    self.act(Action::Forget { work });
                    self.keep_or_few_entries(plan, "it took too long".to_owned());
                } else {
                    self.void("it took too long");
                }
                let what = task.name();
                self.alarm(Level::Warning, format!("{what} took too long and was given up"));
            }
            Phase::Confirming { flight, until, again } if until <= at => {
                let until = at.saturating_add(self.state.policy.confirm);
                self.state.phase = Phase::Confirming { flight, until, again };
                self.act(Action::ReadBack { expect: Some(flight.plan), whole: false });
            }
            Phase::Draining { flight, until } if until <= at => self.commit(flight),
            Phase::Auditing { flight }
                if at.saturating_sub(self.state.audited) >= self.state.policy.confirm =>
            {
                self.audit(true);
                self.state.phase = Phase::Auditing { flight };
            }
            Phase::Watching if self.state.retry.is_some_and(|retry| retry <= at) => {
                self.state.retry = None;
                self.state.unwell = self.state.mode >= Mode::ApplyFaults;
            }
            Phase::Watching
                if self.state.mode >= Mode::ApplyFaults
                    && at.saturating_sub(self.state.audited) >= self.state.policy.audit =>
            {
                self.state.unwell |= self.state.in_place.is_none();
                self.audit(true);
            }
            _ => {}
        }
    }
}
