//! The owner of the state: hears, writes the step down, acts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use darkfiber_fabric::SwitchId;
use darkfiber_operate::{
    Action, Command, DecisionOutcome, Digest, Input, InputSource, Level, Millis, Mode, Phase,
    PlanId, State, explain, step,
};
use darkfiber_routing::{DestId, Routes};

use crate::config::Config;
use crate::console::Console;
use crate::demands::DemandsValue;
use crate::event::{Event, Form, Page, Reply, Request};
use crate::fabric_guids::TooFewSharedGuids;
use crate::fault_book::Base;
use crate::inputs::{Values, WholeTables};
use crate::notify;
use crate::overdue_inputs::OverdueInputs;
use crate::poll::{Pollers, WakeUp};
use crate::proposal;
use crate::question::{Question, TakenPlan};
use crate::questions::Questions;
use crate::read;
use crate::report::{self, Totals};
use crate::snapshot::{Recent, Snapshot};
use crate::store::Store;
use crate::value::{CountersValue, FabricValue, JobsValue, TablesValue};
use crate::work::Library;
use crate::worker::{Order, Queue};

/// Interval of ticks for the machine.
const TICK: Duration = Duration::from_millis(500);

/// The owner of the state.
pub(crate) struct Owner<'a> {
    config: &'a Config,
    console: &'a dyn Console,
    store: Store,
    state: State,
    /// Start of the program: setting the clock meanwhile changes nothing.
    began: (Millis, Instant),
    fabric: Option<Arc<FabricValue>>,
    tables: Option<Arc<TablesValue>>,
    /// The tables that were complete last, whatever has become of the fabric since.
    whole: Option<WholeTables>,
    jobs: Option<Arc<JobsValue>>,
    counters: Option<Arc<CountersValue>>,
    demands: Option<Arc<DemandsValue>>,
    pollers: Pollers,
    /// Has what OpenSM reads copied to standby subnet managers.
    standby: Option<WakeUp>,
    overdue_inputs: OverdueInputs,
    work: Queue,
    library: Library,
    questions: Questions,
    /// Jobs that wait for their tables.
    held: BTreeMap<u64, (SyncSender<Reply>, Instant)>,
    /// The number of the read-back that is waited for.
    asked: u64,
    /// Tables that were read while a read-back was waited for, and before it.
    unheard: Option<Arc<TablesValue>>,
    /// The plan that was placed for OpenSM, as far as known in this life of the program.
    placed: Option<PlanId>,
    /// A fabric that was refused as that of another cluster.
    stranger: Option<Digest>,
    totals: Totals,
    recent: Recent,
    /// A step could not be written: no action is done until one can.
    is_lame: bool,
}

/// The current time in milliseconds since 1970.
fn wall() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl<'a> Owner<'a> {
    #[expect(clippy::too_many_arguments, reason = "each is a part of the program, made once")]
    pub(crate) fn new(
        config: &'a Config,
        console: &'a dyn Console,
        store: Store,
        state: State,
        pollers: Pollers,
        standby: Option<WakeUp>,
        work: Queue,
        library: Library,
        questions: Questions,
    ) -> Self {
        let now = Instant::now();
        Self {
            config,
            console,
            store,
            state,
            began: (wall(), now),
            fabric: None,
            tables: None,
            whole: None,
            jobs: None,
            counters: None,
            demands: None,
            pollers,
            standby,
            overdue_inputs: OverdueInputs::new(config, now),
            work,
            library,
            questions,
            held: BTreeMap::new(),
            asked: 0,
            unheard: None,
            placed: None,
            stranger: None,
            totals: Totals::default(),
            recent: Recent::default(),
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
        let engines = self.config.manager.as_ref().map_or_else(Vec::new, |m| m.engines.clone());
        self.hear(&Input::Started { mode, policy, engines });
        if self.standby.is_none() {
            // None is known of, any more.
            self.hear(&Input::Standby { has_plan: true, why: String::new() });
        }
    }

    /// Takes events until one requests a stop.
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
                for (source, what) in self.overdue_inputs.broken(ticked) {
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
        let demands = self.demands.take();
        if let Some(value) = fabric {
            self.take_fabric(value);
        }
        if let Some(value) = tables {
            self.hear_tables(value);
        }
        if let Some(value) = jobs {
            self.take_jobs(value);
        }
        if let Some(value) = demands {
            self.take_demands(value);
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Fabric(value) => {
                self.reading_arrived(InputSource::Fabric);
                self.stranger = None;
                self.take_fabric(value);
            }
            Event::Stranger(digest, strange, name) => {
                self.reading_arrived(InputSource::Fabric);
                self.stranger = Some(digest);
                let TooFewSharedGuids { shared, known } = strange;
                let what = format!(
                    "{name}: it shares {shared} of {known} known GUIDs: another cluster? `darkfiber operate accept` takes it"
                );
                self.hear(&Input::Bad { source: InputSource::Fabric, what });
                self.hear(&Input::Stranger { digest, shared, known });
            }
            Event::Tables(value, answers) => {
                self.reading_arrived(InputSource::Tables);
                self.take_tables(value, answers);
            }
            Event::Unread(answers, why) => {
                self.reading_arrived(InputSource::Tables);
                self.hear(&Input::Bad { source: InputSource::Tables, what: why.clone() });
                if answers == self.asked && self.waits() {
                    self.hear(&Input::Unread { why });
                }
            }
            Event::Jobs(value) => {
                self.reading_arrived(InputSource::Jobs);
                self.take_jobs(value);
            }
            Event::Demands(value) => {
                self.reading_arrived(InputSource::Demands);
                self.take_demands(value);
            }
            Event::Same(source) => {
                self.reading_arrived(source);
                self.hear(&Input::Good { source });
            }
            Event::Counters(value) => {
                self.reading_arrived(InputSource::Counters);
                if !self.is_of_another_fabric(value.fabric) {
                    let input = Input::Counters { digest: value.digest, fullest: value.fullest };
                    self.recent.count(wall(), value.clone());
                    self.counters = Some(value);
                    self.hear(&Input::Good { source: InputSource::Counters });
                    self.hear(&input);
                }
            }
            Event::Bad(source, what) => {
                self.reading_arrived(source);
                self.hear(&Input::Bad { source, what });
            }
            Event::Done { work, generation, result } => {
                self.hear(&Input::Done { work, generation, result });
            }
            Event::Written { plan, result } => self.written(plan, result),
            Event::Placed { plan, stage, result: Ok(()) } => {
                self.placed = Some(plan);
                if let Some(standby) = &self.standby {
                    let _it_hurries_already = standby.try_send(());
                }
                self.hear(&Input::Committed { plan, stage });
            }
            Event::Placed { plan, stage, result: Err(why) } => {
                self.hear(&Input::Unplaced { plan, stage, why });
            }
            Event::Signaled(Err(why)) => {
                self.totals.alarms += 1;
                self.console.note(&format!(
                    "warning: OpenSM could not be asked to sweep: {why}; [opensm] sweep is the command, and this program must \
                     be allowed to signal OpenSM"
                ));
            }
            Event::InSwitches(tables) => self.hear_tables(tables),
            Event::LeftToOpenSm(plan, why) => {
                self.totals.alarms += 1;
                self.console.note(&format!(
                    "warning: plan {plan} is left to OpenSM, as its blocks could not be written: {why}"
                ));
            }
            Event::Swept(engine, plan) => self.swept(&engine, plan),
            Event::Question(question) => self.question(question),
            Event::Taken(taken, millis, from_book) => self.taken(taken, millis, from_book),
            Event::Refused(plan, looked, why) => {
                // Sweeps of OpenSM are read once they are complete.
                self.questions.forget();
                self.hear(&Input::Refused { plan, looked, why });
            }
            Event::Unanswered(why) => {
                self.totals.alarms += 1;
                self.console.note(&format!("warning: {why}"));
                let _it_hurries_already = self.pollers.fabric.try_send(());
            }
            Event::Standby(copied) => {
                let (has_plan, why) = (copied.is_ok(), copied.err().unwrap_or_default());
                self.hear(&Input::Standby { has_plan, why });
            }
            Event::Book(tally) => self.console.note(&tally.line()),
            Event::Asked { request: Request::Hold { job, nodes }, reply, .. } => {
                self.hold(job, &nodes, reply);
            }
            Event::Asked { request, who, reply } => {
                let answer = self.asked(&request, who);
                let _nobody_may_wait = reply.try_send(answer);
            }
            Event::Page { page, reply } => {
                let _nobody_may_wait = reply.try_send(self.page(page));
            }
            Event::Snapshot { reply } => {
                let (site, values) = (&self.config.site, self.values());
                let snapshot = Snapshot::new(site, &self.state, wall(), values, &self.recent);
                let _nobody_may_wait = reply.try_send(snapshot);
            }
            Event::Signaled(Ok(())) | Event::Stop => {}
        }
        let waits = self.waits();
        if let Some(value) = self.unheard.take_if(|_| !waits) {
            self.hear_tables(value);
        }
    }

    /// Whether a read-back is pending, or will be. A program that changes nothing accepts any reading.
    fn waits(&self) -> bool {
        self.state.mode >= Mode::ApplyFaults
            && matches!(
                self.state.phase,
                Phase::Auditing { .. } | Phase::Committing { .. } | Phase::Confirming { .. }
            )
    }

    /// OpenSM has finished a sweep.
    fn swept(&mut self, engine: &str, taken: Option<PlanId>) {
        // The sweep may have found another fabric than the known one.
        let _it_hurries_already = self.pollers.fabric.try_send(());
        match (engine, self.placed) {
            // With its own tables in that file, or those of an earlier life.
            ("file", None) => {
                let _it_hurries_already = self.pollers.tables.try_send(());
            }
            ("file", plan) => self.hear(&Input::Routed { plan }),
            ("dfosm", _) => self.hear(&Input::Routed { plan: taken }),
            _ => self.hear(&Input::Routed { plan: None }),
        }
        if self.questions.are_lost() {
            self.read_back();
        }
    }

    /// OpenSM requests tables for the fabric that it has swept.
    fn question(&mut self, question: Question) {
        let fabric = question.fabric.clone();
        let is_new = self.fabric.as_ref().is_none_or(|known| known.digest != fabric.digest);
        // Where the fabric was read before the question came, its tables may not have been yet.
        let are_old = self.tables.as_ref().is_none_or(|tables| tables.fabric != fabric.digest);
        if is_new || are_old && question.tables.is_some() {
            // Tables of the fault book are known once they are taken.
            self.tables.clone_from(&question.tables);
        }
        if is_new {
            self.pollers.known.set(fabric.clone());
            (self.fabric, self.unheard) = (Some(fabric), None);
        }
        let input = self.questions.take(question);
        self.hear(&input);
        if self.is_lame {
            self.questions.refuse();
        }
    }

    /// A job is about to start: its nodes are known before the list of jobs has them.
    fn hold(&mut self, job: u64, nodes: &str, reply: SyncSender<Reply>) {
        let began = Instant::now();
        let refused = |why: &str| {
            let _nobody_may_wait = reply.try_send(Err(why.to_owned()));
        };
        let Some(fabric) = self.fabric.clone() else {
            return refused("the fabric is not known yet");
        };
        let text = format!("JOBID ST NODELIST\n{job} R {nodes}\n");
        let value = match read::jobs(text.as_bytes(), &fabric, &self.config.jobs) {
            Ok(value) => value,
            Err(why) => return refused(&why),
        };
        let known = self.jobs.as_ref().filter(|jobs| jobs.fabric == fabric.digest);
        let all = known.map_or_else(|| value.with(&value), |known| known.with(&value));
        self.take_jobs(Arc::new(all));
        self.held.insert(job, (reply, began));
        self.hear(&Input::Starting { job });
        if self.is_lame {
            self.release(job);
        }
    }

    fn release(&mut self, job: u64) {
        let Some((reply, began)) = self.held.remove(&job) else { return };
        let seconds = began.elapsed().as_secs_f64();
        let last = self.state.decisions.back();
        let what =
            last.map_or_else(String::new, |d| format!(", decision {} {}", d.id, d.outcome.name()));
        let _nobody_may_wait = reply.try_send(Ok(format!("released after {seconds:.3} s{what}\n")));
    }

    /// OpenSM took a plan, and programs it now.
    fn taken(&mut self, taken: TakenPlan, millis: f64, from_book: bool) {
        let TakenPlan { plan, base } = taken;
        let book = if from_book { ", from the fault book" } else { "" };
        self.console
            .note(&format!("notice: OpenSM took plan {plan}, {millis:.1} ms after it asked{book}"));
        let is_kept = self.placed == Some(plan);
        self.placed = Some(plan);
        if !self.is_of_another_fabric(base.fabric.digest) {
            self.tables = Some(base.tables.clone());
            self.questions.base(base, false);
        }
        if let (false, Some(decision)) = (is_kept, self.state.decision(plan)) {
            let _full = self.work.orders.try_send(Order::Keep(Box::new(decision.clone())));
        }
    }

    /// The fault book is about tables that were read back and that stay.
    fn renew_book(&self) {
        if !self.questions.are_asked() || self.state.phase != Phase::Watching {
            return;
        }
        let (Some(fabric), Some(tables)) = (&self.fabric, &self.tables) else { return };
        let is_settled = self.state.tables == Some(tables.digest)
            && self.state.fabric == Some(fabric.digest)
            && tables.fabric == fabric.digest
            && tables.is_whole;
        if is_settled {
            let (fabric, tables) = (fabric.clone(), tables.clone());
            self.questions.base(Base { fabric, tables }, true);
        }
    }

    fn reading_arrived(&mut self, source: InputSource) {
        self.overdue_inputs.reading_arrived(source, Instant::now());
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
        self.hear(&Input::Good { source: InputSource::Fabric });
        self.hear(&input);
        // The mapping of tables, jobs and demands is read again.
        let pollers = [&self.pollers.tables, &self.pollers.jobs];
        for hurry in pollers.into_iter().chain(&self.pollers.demands) {
            let _it_hurries_already = hurry.try_send(());
        }
    }

    /// Tables were read. A pending read-back accepts only what was read for it: an earlier reading may be from the middle
    /// of the sweep.
    fn take_tables(&mut self, value: Arc<TablesValue>, answers: u64) {
        if self.is_of_another_fabric(value.fabric) {
            if answers == self.asked {
                self.read_back();
            }
            return;
        }
        let waits = self.waits();
        if waits && answers != self.asked {
            self.unheard = Some(value);
            return;
        }
        self.unheard = None;
        self.hear_tables(value);
    }

    fn read_back(&mut self) {
        self.asked = self.pollers.read_backs.ask();
        let _it_hurries_already = self.pollers.tables.try_send(());
    }

    /// Whether every entry is that of the current plan or of the tables before it.
    fn is_between(&self, value: &TablesValue) -> bool {
        let Some(fabric) = &self.fabric else { return false };
        let flight = self.state.phase.flight();
        let Some(plan) = flight.and_then(|f| self.library.plan(f.plan)) else { return false };
        let (of, before) = (fabric.fabric(), &plan.values.tables);
        if plan.values.fabric.digest != fabric.digest || before.lids != value.lids {
            return false;
        }
        let mut switches = (0..of.switch_count()).map(SwitchId::new);
        switches.all(|s| {
            (0..value.routes.dest_count()).map(DestId::new).all(|d| {
                let paths = d.as_terminal(of).map_or(1, |_| value.routes.paths());
                (0..paths).all(|path| {
                    let entry = |routes: &Routes| routes.lft_entry(of, s, d, path);
                    let found = entry(&value.routes);
                    found == entry(&plan.routes) || found == entry(&before.routes)
                })
            })
        })
    }

    fn hear_tables(&mut self, value: Arc<TablesValue>) {
        if self.is_of_another_fabric(value.fabric) {
            return;
        }
        let between = self.is_between(&value);
        let input = Input::Tables { digest: value.digest, between };
        if let Some(fabric) = self.fabric.clone() {
            self.questions.base(Base { fabric, tables: value.clone() }, false);
        }
        if let Some(fabric) = self.fabric.clone().filter(|_| value.is_whole) {
            self.whole = Some(WholeTables { fabric, tables: value.clone() });
        }
        self.tables = Some(value);
        self.hear(&Input::Good { source: InputSource::Tables });
        self.hear(&input);
    }

    /// The state in a few lines.
    fn status(&self) -> String {
        let unknown = self.jobs.as_ref().and_then(|jobs| jobs.unknown.words());
        report::status(&self.state, &self.config.site, unknown, self.is_lame)
    }

    fn take_jobs(&mut self, value: Arc<JobsValue>) {
        if self.is_of_another_fabric(value.fabric) {
            return;
        }
        let known = self.jobs.as_ref().map(|jobs| &jobs.unknown);
        if known.is_none_or(|known| *known != value.unknown)
            && let Some(words) = value.unknown.words()
        {
            self.console.note(&format!("warning: {words}: they are left aside"));
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
        // What they send may have come with them.
        if let Some(hurry) = &self.pollers.demands {
            let _it_hurries_already = hurry.try_send(());
        }
        self.hear(&Input::Good { source: InputSource::Jobs });
        self.hear(&input);
    }

    fn take_demands(&mut self, value: Arc<DemandsValue>) {
        if self.is_of_another_fabric(value.fabric) {
            return;
        }
        // Jobs that end take their profiles away: that is no reason to look again.
        let is_known = self.demands.as_ref().is_some_and(|known| value.is_among(known));
        let input = Input::Demands { digest: value.digest, pairs: value.pairs() };
        self.demands = Some(value);
        self.hear(&Input::Good { source: InputSource::Demands });
        if is_known {
            return;
        }
        self.hear(&input);
    }

    fn is_of_another_fabric(&self, digest: Digest) -> bool {
        self.fabric.as_ref().is_none_or(|f| f.digest != digest)
    }

    fn written(&mut self, plan: PlanId, result: Result<(), String>) {
        if let Err(e) = result {
            self.console.note(&format!("warning: proposal {plan} was not written: {e}"));
            return;
        }
        if let Some(decision) = self.state.decision(plan) {
            self.console.proposal(&proposal::line(decision));
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

    /// A request on the socket; the journal records its sender if it changes anything.
    fn asked(&mut self, request: &Request, who: String) -> Reply {
        let command = match request {
            Request::Status(Form::Text) => {
                return Ok(self.status());
            }
            Request::Status(Form::Json) => return self.page(Page::Status).map(|text| text + "\n"),
            Request::Explain(plan, Form::Json) => {
                return self.page(Page::Plan(*plan)).map(|text| text + "\n");
            }
            Request::Explain(plan, Form::Text) => {
                let decision = self.state.decision(*plan);
                let decision = decision.ok_or_else(|| unknown(&self.state, *plan))?;
                let mut text = explain(decision);
                if decision.outcome == DecisionOutcome::Proposed {
                    text.push_str(&proposal::commands(self.config, decision));
                }
                return Ok(text);
            }
            Request::Pause => Command::Pause,
            Request::Resume => Command::Resume,
            Request::Propose => Command::Propose,
            Request::Deploy(plan) => Command::Deploy { plan: *plan },
            Request::Rollback => Command::Rollback,
            Request::Accept => Command::Accept,
            Request::Hold { .. } => return Err("it waits already".to_owned()),
        };
        if let Some(why) = self.state.refusal(command) {
            return Err(why);
        }
        if let (Command::Accept, Some(digest)) = (command, self.stranger.take()) {
            self.pollers.known_guids.allow(digest);
            let _it_hurries_already = self.pollers.fabric.try_send(());
        }
        self.console.note(&format!("{who}: {command:?}").to_lowercase());
        self.hear(&Input::Operator { who, command });
        if self.is_lame {
            return Err("the journal cannot be written".to_owned());
        }
        Ok(self.status())
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
            self.console
                .note(&format!("critical: the journal cannot be written, nothing is done: {e}"));
            return;
        }
        self.totals.steps += 1;
        self.totals.count(&self.state, &state);
        let before = std::mem::replace(&mut self.state, state);
        self.report_changes(&before);
        for action in &actions {
            self.act(action);
        }
        self.renew_book();
        if let Err(e) = self.store.rotate(&self.state) {
            self.console.note(&format!("warning: the journal could not be begun anew: {e}"));
        }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Work { work, generation, task } => {
                self.work.wanted.store(*work, Ordering::SeqCst);
                if let Some(values) = self.values() {
                    let (work, generation, task) = (*work, *generation, *task);
                    // If the work is not taken, it times out.
                    let order = Order::Work { work, generation, task, values };
                    let _full = self.work.orders.try_send(order);
                } else {
                    // Nor does OpenSM wait for it.
                    self.questions.refuse();
                }
            }
            Action::Forget { .. } => self.work.wanted.store(0, Ordering::SeqCst),
            Action::ReadBack { .. } => {
                for hurry in [&self.pollers.fabric, &self.pollers.jobs] {
                    let _it_hurries_already = hurry.try_send(());
                }
                self.read_back();
            }
            Action::Propose { plan } => {
                if let Some(decision) = self.state.decision(*plan) {
                    let order = Order::Write(Box::new(decision.clone()));
                    let _full = self.work.orders.try_send(order);
                }
            }
            Action::Alarm { level, text } => {
                self.totals.alarms += u64::from(*level >= Level::Warning);
                self.recent.alarm(wall(), level.name(), text);
                self.console.note(&format!("{}: {text}", level.name()));
            }
            Action::Commit { plan, stage } => {
                let values = self.values();
                if let Some(decision) = self.state.decision(*plan) {
                    let (decision, stage) = (Box::new(decision.clone()), *stage);
                    let _full =
                        self.work.orders.try_send(Order::Commit { decision, stage, values });
                }
            }
            Action::Sweep => {
                let _full = self.work.orders.try_send(Order::Sweep);
            }
            Action::Answer { plan: None, .. } => self.questions.refuse(),
            Action::Answer { question, plan: Some(plan), stage } => {
                let (state, tables) = (&self.state, self.tables.as_deref());
                let of = (*plan, *stage);
                if !self.questions.answer(*question, of, state, &self.library, tables) {
                    let (plan, why) = (*plan, "its tables are gone".to_owned());
                    self.hear(&Input::Refused { plan, looked: false, why });
                }
            }
            Action::Release { job } => self.release(*job),
        }
    }

    /// Inputs of the work, all of one fabric. Faults are repaired even if no jobs are known yet.
    fn values(&self) -> Option<Values> {
        let fabric = self.fabric.clone()?;
        let tables = self.tables.clone().filter(|tables| tables.fabric == fabric.digest)?;
        let none = || Arc::new(JobsValue { fabric: fabric.digest, ..JobsValue::default() });
        let jobs = self.jobs.clone().filter(|jobs| jobs.fabric == fabric.digest);
        let counters = self.counters.clone().filter(|c| c.fabric == fabric.digest);
        let demands = self.demands.clone().filter(|d| d.fabric == fabric.digest);
        let (jobs, whole) = (jobs.unwrap_or_else(none), self.whole.clone());
        Some(Values { fabric, tables, jobs, counters, demands, whole })
    }

    /// Reports the outcomes of plans that were put in place.
    fn report_changes(&self, before: &State) {
        for decision in &self.state.decisions {
            let was = before.decision(decision.id).map(|d| &d.outcome);
            let is_new = was != Some(&decision.outcome);
            if is_new
                && matches!(decision.outcome, DecisionOutcome::Confirmed | DecisionOutcome::Failed)
            {
                self.console.proposal(&proposal::outcome(decision));
            }
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
