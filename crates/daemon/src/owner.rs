//! The owner of the state: hears, writes the step down, acts.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use darkfiber_operate::{
    Action, Command, Digest, Input, Level, Millis, Outcome, Phase, PlanId, Source, State, explain,
    step,
};

use crate::config::Config;
use crate::event::{Event, Page, Reply, Request};
use crate::notify;
use crate::poll::Pollers;
use crate::proposal;
use crate::report::{self, Totals};
use crate::silence::Silence;
use crate::store::Store;
use crate::value::{FabricValue, JobsValue, TablesValue};
use crate::voice::Voice;
use crate::work::Values;
use crate::worker::{Order, Queue};

/// Time goes on for the machine this often.
const TICK: Duration = Duration::from_millis(500);

/// The owner of the state.
pub(crate) struct Owner<'a> {
    config: &'a Config,
    voice: &'a dyn Voice,
    store: Store,
    state: State,
    /// When it began: a clock that is set meanwhile changes nothing.
    began: (Millis, Instant),
    fabric: Option<Arc<FabricValue>>,
    tables: Option<Arc<TablesValue>>,
    jobs: Option<Arc<JobsValue>>,
    pollers: Pollers,
    silence: Silence,
    work: Queue,
    totals: Totals,
    /// A step could not be written: nothing is done until one can.
    is_lame: bool,
}

/// Milliseconds since 1970.
fn wall() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl<'a> Owner<'a> {
    pub(crate) fn new(
        config: &'a Config,
        voice: &'a dyn Voice,
        store: Store,
        state: State,
        pollers: Pollers,
        work: Queue,
    ) -> Self {
        let now = Instant::now();
        Self {
            config,
            voice,
            store,
            state,
            began: (wall(), now),
            fabric: None,
            tables: None,
            jobs: None,
            pollers,
            silence: Silence::new(config, now),
            work,
            totals: Totals::default(),
            is_lame: false,
        }
    }

    fn now(&self) -> Millis {
        let gone = u64::try_from(self.began.1.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.began.0.saturating_add(gone)
    }

    /// The program began, or can write its journal again.
    pub(crate) fn start(&mut self) {
        let (mode, policy) = (self.config.mode, self.config.policy.clone());
        self.hear(&Input::Started { mode, policy, engines: Vec::new() });
    }

    /// Takes events until one asks it to stop.
    pub(crate) fn listen(&mut self, heard: &Receiver<Event>) {
        let mut ticked = Instant::now();
        loop {
            match heard.recv_timeout(TICK.saturating_sub(ticked.elapsed())) {
                Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                if self.is_lame {
                    self.recover();
                }
                for (source, what) in self.silence.broken(ticked) {
                    self.hear(&Input::Bad { source, what });
                }
                self.hear(&Input::Tick);
                notify::notify("WATCHDOG=1");
            }
        }
    }

    /// After steps that could not be written: as after a kill, once a step can be written again.
    fn recover(&mut self) {
        self.is_lame = false;
        self.start();
        if self.is_lame {
            return;
        }
        let (fabric, tables, jobs) = (self.fabric.take(), self.tables.take(), self.jobs.take());
        if let Some(value) = fabric {
            self.take_fabric(value);
        }
        if let Some(value) = tables {
            self.take_tables(value);
        }
        if let Some(value) = jobs {
            self.take_jobs(value);
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Fabric(value) => {
                self.heard(Source::Fabric);
                self.take_fabric(value);
            }
            Event::Tables(value) => {
                self.heard(Source::Tables);
                self.take_tables(value);
            }
            Event::Jobs(value) => {
                self.heard(Source::Jobs);
                self.take_jobs(value);
            }
            Event::Same(source) => {
                self.heard(source);
                self.hear(&Input::Good { source });
                // Whoever waits for the tables in place hears that they are as they were.
                if source == Source::Tables
                    && let Phase::Auditing { .. } = self.state.phase
                    && let Some(value) = self.tables.take()
                {
                    self.take_tables(value);
                }
            }
            Event::Bad(source, what) => {
                self.heard(source);
                self.hear(&Input::Bad { source, what });
            }
            Event::Done { work, generation, result } => {
                self.hear(&Input::Done { work, generation, result });
            }
            Event::Written { plan, result } => self.written(plan, result),
            Event::Asked { request, who, reply } => {
                let answer = self.asked(request, who);
                let _nobody_may_wait = reply.try_send(answer);
            }
            Event::Page { page, reply } => {
                let _nobody_may_wait = reply.try_send(self.page(page));
            }
            Event::Stop => {}
        }
    }

    fn heard(&mut self, source: Source) {
        self.silence.heard(source, Instant::now());
        self.totals.heard.insert(source, wall());
    }

    fn take_fabric(&mut self, value: Arc<FabricValue>) {
        let fabric = value.fabric();
        let input = Input::Fabric {
            digest: value.digest,
            switches: fabric.switch_count() as u32,
            terminals: fabric.terminal_count() as u32,
        };
        self.fabric = Some(value);
        self.hear(&Input::Good { source: Source::Fabric });
        self.hear(&input);
        // Whom tables and jobs are of is read anew.
        for hurry in [&self.pollers.tables, &self.pollers.jobs] {
            let _it_hurries_already = hurry.try_send(());
        }
    }

    fn take_tables(&mut self, value: Arc<TablesValue>) {
        if self.is_of_another_fabric(value.fabric) {
            return;
        }
        let input = Input::Tables { digest: value.digest, between: false };
        self.tables = Some(value);
        self.hear(&Input::Good { source: Source::Tables });
        self.hear(&input);
    }

    fn take_jobs(&mut self, value: Arc<JobsValue>) {
        if self.is_of_another_fabric(value.fabric) {
            return;
        }
        let none = BTreeSet::new();
        let before = self.jobs.as_ref().map_or(&none, |j| &j.ids);
        let input = Input::Jobs {
            digest: value.digest,
            running: value.places.len() as u32,
            started: value.ids.difference(before).count() as u32,
            ended: before.difference(&value.ids).count() as u32,
        };
        self.jobs = Some(value);
        self.hear(&Input::Good { source: Source::Jobs });
        self.hear(&input);
    }

    fn is_of_another_fabric(&self, digest: Digest) -> bool {
        self.fabric.as_ref().is_none_or(|f| f.digest != digest)
    }

    fn written(&mut self, plan: PlanId, result: Result<(), String>) {
        if let Err(e) = result {
            self.voice.note(&format!("warning: proposal {plan} was not written: {e}"));
            return;
        }
        if let Some(decision) = self.state.decision(plan) {
            self.voice.proposal(&proposal::line(decision));
        }
    }

    fn page(&self, page: Page) -> Reply {
        match page {
            Page::Status => {
                Ok(report::status_json(&self.state, &self.config.site, self.store.bytes()))
            }
            Page::Metrics => Ok(report::metrics(&self.state, self.store.bytes(), &self.totals)),
            Page::Plan(plan) => {
                let decision = self.state.decision(plan);
                let decision = decision.ok_or_else(|| unknown(&self.state, plan))?;
                serde_json::to_string(decision).map_err(|e| e.to_string())
            }
        }
    }

    /// What somebody on the socket wants; who that is stands in the journal with what changes anything.
    fn asked(&mut self, request: Request, who: String) -> Reply {
        let command = match request {
            Request::Status => return Ok(report::status(&self.state, &self.config.site)),
            Request::Explain(plan) => {
                let decision = self.state.decision(plan);
                let decision = decision.ok_or_else(|| unknown(&self.state, plan))?;
                let mut text = explain(decision);
                if decision.outcome == Outcome::Proposed {
                    text.push_str(&proposal::commands(self.config, decision));
                }
                return Ok(text);
            }
            Request::Pause => Command::Pause,
            Request::Resume => Command::Resume,
            Request::Propose => Command::Propose,
        };
        self.voice.note(&format!("{who}: {command:?}").to_lowercase());
        self.hear(&Input::Operator { who, command });
        if self.is_lame {
            return Err("the journal cannot be written".to_owned());
        }
        Ok(report::status(&self.state, &self.config.site))
    }

    /// One step: computed, written down, and then acted upon.
    fn hear(&mut self, input: &Input) {
        if self.is_lame {
            return;
        }
        let at = self.now();
        let (state, actions) = step(&self.state, at, input);
        if state == self.state && actions.is_empty() {
            return;
        }
        if let Err(e) = self.store.append(at, input, &actions) {
            self.totals.unwritten += 1;
            self.is_lame = true;
            self.voice
                .note(&format!("critical: the journal cannot be written, nothing is done: {e}"));
            return;
        }
        self.totals.steps += 1;
        self.totals.count(&self.state, &state);
        self.state = state;
        for action in &actions {
            self.act(action);
        }
        if let Err(e) = self.store.rotate(&self.state) {
            self.voice.note(&format!("warning: the journal could not be begun anew: {e}"));
        }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Work { work, generation, task } => {
                self.work.wanted.store(*work, Ordering::SeqCst);
                let values = (self.fabric.clone(), self.tables.clone(), self.jobs.clone());
                if let (Some(fabric), Some(tables), Some(jobs)) = values {
                    let values = Values { fabric, tables, jobs };
                    let (work, generation, task) = (*work, *generation, *task);
                    // If nobody takes it, it is given up in time.
                    let order = Order::Work { work, generation, task, values };
                    let _full = self.work.orders.try_send(order);
                }
            }
            Action::Forget { .. } => self.work.wanted.store(0, Ordering::SeqCst),
            Action::ReadBack { .. } => {
                let all = [&self.pollers.fabric, &self.pollers.tables, &self.pollers.jobs];
                for hurry in all {
                    let _it_hurries_already = hurry.try_send(());
                }
            }
            Action::Propose { plan } => {
                if let Some(decision) = self.state.decision(*plan) {
                    let order = Order::Write(Box::new(decision.clone()));
                    let _full = self.work.orders.try_send(order);
                }
            }
            Action::Alarm { level, text } => {
                self.totals.alarms += u64::from(*level >= Level::Warning);
                self.voice.note(&format!("{}: {text}", level.name()));
            }
            // Nobody waits for an answer, and nothing is changed, in the modes that this program has.
            Action::Commit { .. }
            | Action::Sweep
            | Action::Answer { .. }
            | Action::Release { .. } => {}
        }
    }
}

fn unknown(state: &State, plan: PlanId) -> String {
    match (state.decisions.front(), state.decisions.back()) {
        (Some(first), Some(last)) => {
            format!("no decision {plan} is remembered; there are {} to {}", first.id, last.id)
        }
        _ => format!("no decision {plan}: none was made yet"),
    }
}
