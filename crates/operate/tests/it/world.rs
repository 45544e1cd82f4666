//! The world around the machine: it is started and killed, its journal is written and read, its actions are done late or
//! not at all.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_operate::journal::{self, FORMAT, JournalHeader, Step};
use darkfiber_operate::{
    Action, Candidate, Digest, FullRoute, Input, Measure, Millis, Mode, Phase, PlanId, Policy,
    Rung, State, Task, Verdict, WorkResult, step,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::network::{CABLES, Net, SWITCHES, Tables, below, judge, lost, mix_is_unsafe};
use crate::opensm::{OpenSm, PlanFile};

/// Time that OpenSM waits for an answer.
const BUDGET: Millis = 2_000;
/// Steps after which the journal is restarted with the state.
const ROTATE: usize = 150;

/// A future event of the simulation.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// The machine of this life hears something.
    Hears(u64, Input),
    /// It reads the current fabric.
    Sees(u64),
    /// It reads back the tables in place.
    Reads(u64),
    /// It polls the tables in place.
    Polls(u64),
    /// Work of it is done.
    Works { life: u64, work: u64, generation: u64, task: Task, net: Net, tables: Option<Tables> },
    /// OpenSM makes a sweep.
    Sweeps,
    /// OpenSM waits no longer.
    Gives(u64),
}

/// The machine while it runs: all of this is lost at a kill.
pub(crate) struct Life {
    pub(crate) number: u64,
    pub(crate) state: State,
    /// The fabric and tables that were read last; tables are unknown after a start.
    net: Net,
    pub(crate) tables: Option<Tables>,
    /// Tables of the plans.
    plans: BTreeMap<PlanId, Vec<Tables>>,
    /// Jobs that wait, since when.
    held: BTreeMap<u64, Millis>,
    /// Work that was requested and is not done.
    under_way: BTreeSet<u64>,
}

pub(crate) struct World {
    pub(crate) random: Xoshiro256PlusPlus,
    pub(crate) now: Millis,
    pub(crate) net: Net,
    pub(crate) sm: OpenSm,
    pub(crate) life: Option<Life>,
    pub(crate) lives: u64,
    queue: BTreeMap<(Millis, u64), Event>,
    queued: u64,
    /// Journal on disk.
    journal: Vec<u8>,
    steps: usize,
    next_step: u64,
    /// The state according to the journal.
    synced: State,
    pub(crate) disk_full: bool,
    pub(crate) policy: Policy,
    pub(crate) mode: Mode,
    pub(crate) engines: Vec<String>,
    /// Running jobs.
    pub(crate) jobs: BTreeSet<u64>,
    pub(crate) next_job: u64,
    /// Plans that were proposed, and that nobody has deployed.
    proposed: BTreeSet<PlanId>,
    /// Verdicts that were delivered and are in the journal, by plan.
    proved: BTreeMap<PlanId, Verdict>,
    /// Known tables by digest.
    known: BTreeMap<Digest, Tables>,
    /// Log of events, for the analysis of failures.
    pub(crate) log: Vec<String>,
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

impl World {
    pub(crate) fn new(seed: u64, mode: Mode) -> Self {
        let begin = JournalHeader {
            format: FORMAT,
            site: "model".to_owned(),
            first: 1,
            state: State::default(),
        };
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            now: 1_700_000_000_000,
            net: Net::WHOLE,
            sm: OpenSm::new(),
            life: None,
            lives: 0,
            queue: BTreeMap::new(),
            queued: 0,
            journal: journal::line(&begin).into_bytes(),
            steps: 0,
            next_step: 1,
            synced: State::default(),
            disk_full: false,
            policy: Policy {
                max_stages: 2,
                max_per_hour: 100,
                cooldown: 10_000,
                // One that is often better than few entries, and often refused.
                route: (seed % 2 == 1).then(|| FullRoute {
                    engine: "sar".to_owned(),
                    beyond: 0.0,
                    max_blocks: 12,
                    max_stages: 2,
                }),
                ..Policy::default()
            },
            mode,
            engines: ["darkfiber", "nue", "no_fallback"].map(str::to_owned).to_vec(),
            jobs: BTreeSet::new(),
            next_job: 1,
            proved: BTreeMap::new(),
            proposed: BTreeSet::new(),
            known: BTreeMap::new(),
            log: Vec::new(),
            counts: BTreeMap::new(),
        }
    }

    pub(crate) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn note(&mut self, text: impl FnOnce() -> String) {
        if self.log.len() > 400 {
            self.log.drain(..200);
        }
        let text = text();
        self.log.push(format!("{} {text}", self.now));
    }

    pub(crate) fn percent(&mut self, share: usize) -> bool {
        below(&mut self.random, 100) < share
    }

    pub(crate) fn later(&mut self, within: u64, event: Event) {
        self.after(0, within, event);
    }

    /// As [`Self::later`], but not before some time has passed.
    fn after(&mut self, least: u64, within: u64, event: Event) {
        let at = self.now + least + 1 + self.random.next_u64() % within;
        self.queued += 1;
        self.queue.insert((at, self.queued), event);
    }

    /// Processes the next event; returns false if there is none.
    pub(crate) fn next(&mut self, before: Millis) -> bool {
        let Some(entry) = self.queue.first_entry() else { return false };
        if entry.key().0 > before {
            return false;
        }
        let ((at, _), event) = entry.remove_entry();
        self.now = self.now.max(at);
        self.happen(event);
        true
    }

    fn is_alive(&self, life: u64) -> bool {
        self.life.as_ref().is_some_and(|l| l.number == life)
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Hears(life, input) if self.is_alive(life) => self.hear(&input),
            Event::Sees(life) if self.is_alive(life) => self.see(),
            Event::Reads(life) if self.is_alive(life) => self.read(),
            Event::Polls(life) if self.is_alive(life) => {
                // A reading that is not the expected read-back is ignored.
                let phase = self.life.as_ref().map(|l| l.state.phase.clone());
                if let Some(Phase::Watching | Phase::Working { .. }) = phase {
                    self.read();
                }
            }
            Event::Works { life, work, generation, task, net, tables } if self.is_alive(life) => {
                self.work(work, generation, task, net, tables.as_ref());
            }
            Event::Sweeps => self.sweep(),
            Event::Gives(question) if self.sm.waits.is_some_and(|(q, ..)| q == question) => {
                self.count("OpenSM gave up waiting");
                self.answer(question, None, 0);
            }
            // Of a life that has ended.
            _ => {}
        }
    }

    // ---- the program around the machine

    pub(crate) fn start(&mut self) {
        if self.life.is_some() {
            return;
        }
        self.lives += 1;
        // A partial line as after a kill.
        if self.percent(30) {
            self.journal.extend_from_slice(b"{\"step\":7,\"at\":17000");
        }
        let read = journal::read(&self.journal).expect("a journal that only a kill has torn");
        self.journal.truncate(read.whole);
        let state = read.state();
        assert_eq!(state, self.synced, "the state is what the journal says");
        assert_eq!(read.next(), self.next_step);
        self.life = Some(Life {
            number: self.lives,
            state,
            net: self.net,
            tables: None,
            plans: BTreeMap::new(),
            held: BTreeMap::new(),
            under_way: BTreeSet::new(),
        });
        self.note(|| "starts".to_owned());
        let (mode, policy, engines) = (self.mode, self.policy.clone(), self.engines.clone());
        self.hear(&Input::Started { mode, policy, engines });
        self.later(500, Event::Sees(self.lives));
        let jobs = self.jobs_input(self.jobs.len() as u32, 0);
        self.later(500, Event::Hears(self.lives, jobs));
        self.later(1_000, Event::Hears(self.lives, Input::Tick));
    }

    pub(crate) fn kill(&mut self) {
        if self.life.take().is_some() {
            self.note(|| "is killed".to_owned());
            self.count("kills");
        }
    }

    /// It is killed with the machine that it runs on, whose disk had acknowledged writes that it lost: the last steps are
    /// missing in the journal, though they were acted upon.
    pub(crate) fn lose_power(&mut self) {
        self.kill();
        let gone = 1 + below(&mut self.random, 3);
        for _ in 0..gone.min(self.steps) {
            let text = &self.journal[..self.journal.len() - 1];
            let end = text.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
            self.journal.truncate(end);
            self.steps -= 1;
            self.next_step -= 1;
        }
        self.synced = journal::read(&self.journal).expect("whole lines").state();
        let last = self.synced.next_plan;
        self.proved.retain(|&plan, _| plan <= last);
        let kept: BTreeSet<PlanId> =
            self.synced.decisions.iter().filter(|d| d.verdict.is_some()).map(|d| d.id).collect();
        self.proved.retain(|plan, _| kept.contains(plan));
        self.note(|| format!("{gone} steps are lost with the power"));
        self.count("power losses");
    }

    pub(crate) fn jobs_input(&self, started: u32, ended: u32) -> Input {
        let digest = self.jobs.iter().fold(0x10b5, |d: u64, j| d.wrapping_mul(31).wrapping_add(*j));
        Input::Jobs { digest: Digest(digest), running: self.jobs.len() as u32, started, ended }
    }

    /// The machine hears something: its step is written, then its actions are done.
    pub(crate) fn hear(&mut self, input: &Input) {
        let Some(life) = &self.life else { return };
        let (state, actions) = step(&life.state, self.now, input);
        if let Input::Tick = input {
            let number = life.number;
            self.later(2_000, Event::Hears(number, Input::Tick));
            if self.sm.is_stock && self.percent(20) {
                self.later(2_000, Event::Polls(number));
            }
        }
        let Some(life) = &self.life else { return };
        if state == life.state && actions.is_empty() {
            return;
        }
        if self.disk_full {
            // No action is allowed that is not in the journal; the program restarts once it can write.
            self.count("steps that could not be written");
            self.kill();
            if let Input::Asked { question, .. } = input {
                self.answer(*question, None, 0);
            }
            return;
        }
        let record = Step {
            step: self.next_step,
            at: self.now,
            input: input.clone(),
            actions: actions.clone(),
        };
        self.journal.extend_from_slice(journal::line(&record).as_bytes());
        self.next_step += 1;
        self.steps += 1;
        self.synced = state.clone();
        if let Input::Done { result: WorkResult::Proved { verdict }, .. } = input {
            for d in state.decisions.iter().filter(|d| d.verdict.as_ref() == Some(verdict)) {
                self.proved.insert(d.id, verdict.clone());
            }
        }
        self.note(|| format!("{input:?} -> {:?} {actions:?}", state.phase));
        if let Some(life) = &mut self.life {
            life.state = state;
        }
        self.count("steps");
        if self.steps >= ROTATE {
            self.replay();
            let begin = JournalHeader {
                format: FORMAT,
                site: "model".to_owned(),
                first: self.next_step,
                state: self.synced.clone(),
            };
            self.journal = journal::line(&begin).into_bytes();
            self.steps = 0;
        }
        let life = self.lives;
        for action in &actions {
            // A kill between the record and its actions, or between two of them.
            if below(&mut self.random, 400) == 0 {
                self.kill();
            }
            if !self.is_alive(life) {
                return;
            }
            self.act(action);
        }
    }

    /// The journal gives the same actions again, byte for byte.
    fn replay(&self) {
        let read = journal::read(&self.journal).expect("a journal");
        let (again, differ) = journal::replay(&read);
        assert!(differ.is_empty(), "steps that differ when done again: {differ:?}");
        assert_eq!(again, read.steps);
    }

    fn act(&mut self, action: &Action) {
        let life = self.lives;
        match action {
            Action::Work { work, generation, task } => {
                let Some(l) = &mut self.life else { return };
                l.under_way.insert(*work);
                assert!(l.under_way.len() == 1, "two pieces of work at once: {:?}", l.under_way);
                let (net, tables) = (l.net, l.tables.clone());
                let (work, generation, task) = (*work, *generation, *task);
                let event = Event::Works { life, work, generation, task, net, tables };
                // Most is quick, some takes longer than it may.
                let within = if self.percent(2) { 120_000 } else { 400 };
                self.later(within, event);
            }
            Action::Forget { work } => {
                if let Some(l) = &mut self.life {
                    l.under_way.remove(work);
                }
            }
            Action::ReadBack { .. } => self.later(300, Event::Reads(life)),
            Action::Commit { plan, stage } => self.commit(*plan, *stage),
            Action::Sweep => {
                // A signal may be lost.
                if !self.percent(5) {
                    self.later(500, Event::Sweeps);
                }
            }
            Action::Answer { question, plan, stage } => {
                self.count(if plan.is_some() { "answers with a plan" } else { "answers without" });
                self.answer(*question, *plan, *stage);
            }
            Action::Release { job } => {
                let Some(l) = &mut self.life else { return };
                let since = l.held.remove(job).expect("a job that waits is released once");
                assert!(self.now - since <= self.policy.hold + 2_001, "a job waited too long");
            }
            Action::Propose { plan } => {
                self.count("proposals");
                self.proposed.insert(*plan);
            }
            Action::Alarm { .. } => self.count("alarms"),
        }
    }

    fn decided(&self, plan: PlanId) -> Option<(Verdict, Rung)> {
        self.proved.get(&plan).map(|v| (v.clone(), v.rung))
    }

    fn commit(&mut self, plan: PlanId, stage: u32) {
        let (verdict, rung) =
            self.decided(plan).expect("S1: a plan is proved before it is committed");
        assert!(rung <= Rung::Stages || rung == Rung::DropDrain, "S1: the way is safe");
        let of = self
            .life
            .as_ref()
            .and_then(|l| l.state.decision(plan))
            .map_or(0, |d| d.candidate.as_ref().map_or(0, |c| c.stages.len()));
        assert!(rung <= Rung::AnyOrder || of > 1, "S1: an order of switches for one sweep");
        let decision = self.life.as_ref().and_then(|l| l.state.decision(plan)).cloned();
        if let Some(d) = &decision {
            let repairs = d.trigger.is_damage();
            assert!(repairs || rung != Rung::DropDrain, "packets are dropped for a job");
            if d.instead_of.is_some() {
                self.count("commits of full routes");
            }
        }
        let Some(life) = &self.life else { return };
        let state = &life.state;
        let is_cleared = rung == Rung::DropDrain && stage == 1;
        let may = state.mode >= Mode::ApplyFaults && (!state.paused || is_cleared);
        assert!(may, "nothing may be changed");
        assert_eq!(Some(verdict.fabric), state.fabric, "S2: the fabric of the proof");
        assert_eq!(verdict.fabric, life.net.digest(), "S2: and the one that was read last");
        let decision = state.decision(plan).expect("a decision");
        let stages = decision.candidate.as_ref().expect("a candidate").stages.clone();
        let is_back = matches!(state.phase, Phase::Frozen { .. });
        if is_back {
            assert_eq!(state.in_place, Some(plan), "back to what was there");
        } else {
            let flight = state.phase.flight().expect("S3: one plan is in flight");
            assert_eq!((flight.plan, flight.stage), (plan, stage), "S3: this one");
        }
        let before = if stage == 0 { verdict.from } else { stages[stage as usize - 1] };
        if !is_back {
            assert_eq!(state.tables, Some(before), "S2: the tables of the proof");
        }
        let tables = self.known[&stages[stage as usize]].clone();
        let read = || life.tables.clone().expect("tables that were read");
        let from = if is_back { read() } else { self.known[&before].clone() };
        // If it is full, the plan is not there, and that is heard.
        if self.percent(3) {
            let problem = Some("no space left".to_owned());
            self.count("plans that could not be written");
            self.later(50, Event::Hears(self.lives, Input::Disk { problem }));
            // That it works again is heard after that it does not.
            self.after(50, 9_000, Event::Hears(self.lives, Input::Disk { problem: None }));
            return;
        }
        self.count("commits");
        self.proposed.remove(&plan);
        let is_stage = stage as usize + 1 < stages.len();
        self.sm.file = Some(PlanFile { plan, fabric: verdict.fabric, tables, from, is_stage });
        self.sm.written_by = self.lives;
        self.later(50, Event::Hears(self.lives, Input::Committed { plan, stage }));
    }

    fn see(&mut self) {
        let net = self.net;
        let Some(life) = &mut self.life else { return };
        let is_new = std::mem::replace(&mut life.net, net) != net;
        if is_new && self.mode < Mode::ApplyFaults {
            // A daemon that only reads reads everything again.
            self.later(500, Event::Reads(self.lives));
            let jobs = self.jobs_input(0, 0);
            self.later(500, Event::Hears(self.lives, jobs));
        }
        let size = (SWITCHES as u32, SWITCHES as u32);
        self.hear(&Input::Fabric { digest: net.digest(), switches: size.0, terminals: size.1 });
    }

    fn read(&mut self) {
        if self.percent(8) {
            self.count("tables that could not be read");
            self.hear(&Input::Unread { why: "no free client".to_owned() });
            return;
        }
        let tables = self.sm.tables.clone();
        self.known.insert(tables.digest(), tables.clone());
        let Some(life) = &mut self.life else { return };
        life.tables = Some(tables.clone());
        let flight = life.state.phase.flight().and_then(|f| life.state.decision(f.plan));
        let ends = flight.and_then(|d| {
            let to = self.known.get(&d.candidate.as_ref()?.tables)?;
            Some((self.known.get(&d.verdict.as_ref()?.from)?, to))
        });
        let between = ends.is_some_and(|(from, to)| {
            let mut all = (0..SWITCHES).flat_map(|d| (0..SWITCHES).map(move |s| (d, s)));
            all.all(|(d, s)| {
                let entry = tables.0[d][s];
                entry == from.0[d][s] || entry == to.0[d][s]
            })
        });
        self.hear(&Input::Tables { digest: tables.digest(), between });
    }

    fn work(&mut self, work: u64, generation: u64, task: Task, net: Net, tables: Option<&Tables>) {
        let Some(life) = &mut self.life else { return };
        life.under_way.remove(&work);
        let result = if self.percent(2) {
            WorkResult::Failed { why: "out of memory".to_owned() }
        } else if let Some(tables) = tables {
            match task {
                Task::Measure => {
                    WorkResult::Measured { measure: Measure::EffectiveEfi, efi: 10, bound: Some(5) }
                }
                Task::Ease { plan }
                | Task::Route { plan }
                | Task::Mend { plan, .. }
                | Task::Relieve { plan } => self.search(task, plan, net, tables),
                Task::Recall { plan, of, before } => self.recall(plan, of, before, net, tables),
                Task::Prove { plan } => self.prove(plan, net, tables),
            }
        } else {
            WorkResult::Failed { why: "the tables in place are not known".to_owned() }
        };
        // Late results of work that was given up arrive, too.
        self.hear(&Input::Done { work, generation, result });
    }

    /// Finds tables; one time in ten they are unsound, as if the search had a bug.
    fn search(&mut self, task: Task, plan: PlanId, net: Net, tables: &Tables) -> WorkResult {
        let mends = matches!(task, Task::Mend { .. });
        match task {
            Task::Relieve { .. } => self.count("hot channels looked at"),
            Task::Route { .. } => self.count("full routes"),
            _ => {}
        }
        let is_whole = lost(net, tables).is_empty() && !mix_is_unsafe(net, &[tables]);
        let root = if self.percent(70) { 5 } else { 0 };
        let salt = self.random.next_u64();
        // What comes back may be used again.
        let restores = matches!(task, Task::Mend { restores: true, .. }) && self.percent(30);
        let stays = mends && is_whole && !restores;
        if mends && is_whole && restores {
            self.count("restored");
        }
        let mut new = if stays { tables.clone() } else { Tables::up_down(net, root, salt) };
        if self.percent(10) && new != *tables {
            let (d, s) = (below(&mut self.random, SWITCHES), below(&mut self.random, SWITCHES));
            new.0[d][s] = Some(below(&mut self.random, CABLES.len()) as u8);
            self.count("unsound candidates");
        }
        new.clear_unconnected(net);
        let differ = tables.differ(&new);
        let mut stages = vec![new.clone()];
        if mends && !lost(net, tables).is_empty() && self.percent(40) {
            let mut clear = tables.clone();
            for &(d, s) in &differ {
                clear.0[d][s] = None;
            }
            stages.insert(0, clear);
        } else if differ.len() > 3 && self.percent(30) {
            let mut half = tables.clone();
            for &(d, s) in &differ[..differ.len() / 2] {
                half.0[d][s] = new.0[d][s];
            }
            stages.insert(0, half);
        }
        for stage in &mut stages {
            stage.clear_unconnected(net);
        }
        for t in &stages {
            self.known.insert(t.digest(), t.clone());
        }
        let candidate = Candidate {
            tables: new.digest(),
            stages: stages.iter().map(Tables::digest).collect(),
            measure: Measure::EffectiveEfi,
            kept: 100,
            proposed: 100 - below(&mut self.random, 20) as u64,
            bound: None,
            entries: differ.len() as u64,
            blocks: differ.len() as u64,
            withheld: 0,
        };
        if let Some(life) = &mut self.life {
            life.plans.insert(plan, stages);
        }
        WorkResult::Found { candidate }
    }

    /// Tables of an earlier plan, or those before it, as far as they are still known.
    fn recall(
        &mut self,
        plan: PlanId,
        of: PlanId,
        before: bool,
        net: Net,
        tables: &Tables,
    ) -> WorkResult {
        let earlier = if before {
            self.proved.get(&of).map(|v| v.from)
        } else {
            let state = self.life.as_ref().map(|l| &l.state);
            let decision = state.and_then(|s| s.decision(of));
            decision.and_then(|d| d.candidate.as_ref()).map(|c| c.tables)
        };
        let Some(mut new) = earlier.and_then(|digest| self.known.get(&digest)).cloned() else {
            return WorkResult::Failed { why: "they are not kept".to_owned() };
        };
        new.clear_unconnected(net);
        self.known.insert(new.digest(), new.clone());
        self.count("tables of an earlier time");
        let differ = tables.differ(&new).len() as u64;
        let candidate = Candidate {
            tables: new.digest(),
            stages: vec![new.digest()],
            measure: Measure::EffectiveEfi,
            kept: 100,
            proposed: 100,
            bound: None,
            entries: differ,
            blocks: differ,
            withheld: 0,
        };
        if let Some(life) = &mut self.life {
            life.plans.insert(plan, vec![new]);
        }
        WorkResult::Found { candidate }
    }

    fn prove(&mut self, plan: PlanId, net: Net, tables: &Tables) -> WorkResult {
        let stages = self.life.as_ref().and_then(|l| l.plans.get(&plan));
        let Some(stages) = stages else {
            return WorkResult::Failed { why: "no such plan".to_owned() };
        };
        let all: Vec<&Tables> = stages.iter().collect();
        let (rung, why) = judge(net, tables, &all);
        let to = all.last().map_or(Digest(0), |t| t.digest());
        WorkResult::Proved {
            verdict: Verdict {
                fabric: net.digest(),
                from: tables.digest(),
                to,
                rung,
                obligations: vec![why],
                pairs_changed: 0,
            },
        }
    }

    pub(crate) fn hold(&mut self, job: u64) {
        let now = self.now;
        let Some(life) = &mut self.life else { return };
        life.held.insert(job, now);
        self.hear(&Input::Starting { job });
    }

    // ---- OpenSM

    pub(crate) fn sweep(&mut self) {
        if self.sm.waits.is_some() {
            return;
        }
        if self.sm.is_stock {
            self.program_file();
            return;
        }
        if let Some(file) = self.sm.fitting(self.net).cloned() {
            self.program(Some(&file));
            return;
        }
        if self.sm.alone || self.life.is_none() {
            self.program(None);
            return;
        }
        self.sm.questions += 1;
        let question = self.sm.questions;
        self.sm.waits = Some((question, self.now, self.net));
        // A little longer than the budget: the answer takes some time.
        self.queued += 1;
        self.queue.insert((self.now + BUDGET + 2_500, self.queued), Event::Gives(question));
        // The question contains the fabric.
        let life = self.lives;
        self.see();
        if self.is_alive(life) {
            let fabric = self.net.digest();
            let (size, tables, ready) = (None, None, None);
            self.hear(&Input::Asked { question, fabric, budget: BUDGET, size, tables, ready });
        }
    }

    /// A stock OpenSM writes the content of its file, or uses another engine if it is configured so.
    fn program_file(&mut self) {
        if self.sm.alone {
            self.program(None);
            return;
        }
        let file = self.sm.file.clone();
        let fits = file.as_ref().is_some_and(|f| f.fabric == self.net.digest());
        if fits {
            self.program(file.as_ref());
            return;
        }
        // It does not look whether the tables are those of the fabric.
        self.count("sweeps with tables of another fabric");
        let (new, old) = (self.sm.in_file(), self.sm.tables.clone());
        for (d, s) in old.differ(&new) {
            self.sm.tables.0[d][s] = new.0[d][s];
        }
        // The program recognizes the plan in the file if it wrote it since its start.
        let plan = file.filter(|_| self.sm.written_by == self.lives).map(|f| f.plan);
        if plan.is_some() && !self.percent(3) {
            self.later(200, Event::Hears(self.lives, Input::Routed { plan }));
        }
    }

    fn answer(&mut self, question: u64, plan: Option<PlanId>, stage: u32) {
        let Some((waits, since, net)) = self.sm.waits else { return };
        if waits != question {
            return;
        }
        assert!(self.now.saturating_sub(since) <= BUDGET + 2_501, "S5: a question waited too long");
        self.sm.waits = None;
        let given = plan.map(|plan| {
            let (verdict, rung) = self.decided(plan).expect("S1: an answer is proved");
            assert!(!self.proposed.contains(&plan), "a proposal that nobody deployed");
            let life = self.life.as_ref().and_then(|l| l.state.decision(plan));
            let candidate = life.and_then(|d| d.candidate.clone()).expect("S1: a candidate");
            let stages = candidate.stages;
            assert!(verdict.allows(stages.len()), "S1: in one sweep for each stage: {rung:?}");
            let before = if stage == 0 { verdict.from } else { stages[stage as usize - 1] };
            let (from, tables) = (&self.known[&before], &self.known[&stages[stage as usize]]);
            let (from, tables) = (from.clone(), tables.clone());
            let is_stage = stage as usize + 1 < stages.len();
            PlanFile { plan, fabric: verdict.fabric, tables, from, is_stage }
        });
        // The plugin takes a plan only if it fits what was swept, and sweeps anew if that has changed meanwhile.
        let given = given.filter(|f| f.fabric == net.digest());
        if given.is_some() {
            self.sm.file.clone_from(&given);
        }
        if self.net != net {
            self.later(200, Event::Sweeps);
        }
        let file = given.or_else(|| self.sm.fitting(net).cloned());
        self.program(file.as_ref());
    }

    /// Writes tables entry by entry, in any order.
    fn program(&mut self, file: Option<&PlanFile>) {
        let old = self.sm.tables.clone();
        let new = file.map_or_else(|| OpenSm::engine(self.net), |f| f.tables.clone());
        // The proof is about the transition from the tables of the proof, or from a mix of them and the plan.
        let is_proved = file.is_some_and(|f| {
            f.fabric == self.net.digest()
                && old.differ(&new).iter().all(|&(d, s)| old.0[d][s] == f.from.0[d][s])
        });
        let mut differ = old.differ(&new);
        let is_there = differ.is_empty();
        while !differ.is_empty() {
            let (d, s) = differ.swap_remove(below(&mut self.random, differ.len()));
            self.sm.tables.0[d][s] = new.0[d][s];
            if is_proved {
                let now = &self.sm.tables;
                assert!(!mix_is_unsafe(self.net, &[now]), "a proved plan made a circle on its way");
            }
        }
        if is_proved {
            assert!(!mix_is_unsafe(self.net, &[&old, &new]), "packets of both generations");
            self.count("proved plans programmed");
        } else if file.is_some() {
            self.count("plans programmed over other tables");
        } else {
            self.count("sweeps by OpenSM's own engine");
        }
        let plan = file.map(|f| f.plan);
        let drains = plan.and_then(|p| self.decided(p)).is_some_and(|(v, _)| v.drains());
        match file {
            Some(f) if f.is_stage => {
                if !is_there {
                    self.sm.staged = self.now;
                }
                self.count(if drains { "entries cleared" } else { "stages" });
            }
            Some(f) if f.fabric == self.net.digest() => {
                assert!(lost(self.net, &new).is_empty(), "a plan that fits loses pairs");
                if drains && !is_there {
                    let since = self.now - self.sm.staged;
                    assert!(since >= self.policy.drain, "packets of cleared entries: {since} ms");
                    self.count("drained plans programmed");
                }
            }
            _ => {}
        }
        if self.mode < Mode::ApplyFaults {
            self.later(2_000, Event::Reads(self.lives));
        }
        let is_unknown = self.sm.is_stock && plan.is_some() && self.sm.written_by != self.lives;
        // An event may be lost.
        if !is_unknown && !self.percent(3) {
            self.later(200, Event::Hears(self.lives, Input::Routed { plan }));
        }
    }
}
