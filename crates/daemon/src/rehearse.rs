//! The effect of a configuration on the jobs of a log: the state machine in virtual time, with the current fabric and tables.
//!
//! Each proposal is put in place immediately and takes no time; neither does the work. Nothing is written.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use darkfiber_fabric::{Digest as Words, TerminalId, Topology};
use darkfiber_operate::{
    Action, DecisionOutcome, Digest, Input, Millis, Mode, PlanId, Policy, State, step,
};
use darkfiber_scenario::Error;
use darkfiber_workload::History;

use crate::children::Children;
use crate::config::{Config, Watched};
use crate::fetch::fetch;
use crate::inputs::Values;
use crate::read;
use crate::tables_input::{TablesStamp, locate};
use crate::value::{FabricValue, JobsValue, TablesValue};
use crate::work::{Library, Workshop};

const DAY: Millis = 86_400_000;
const HOUR: Millis = 3_600_000;

/// Events of a day.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DayEvents {
    /// Number of jobs that started.
    pub started: u64,
    /// Times that tables were measured or better ones looked for.
    pub looked: u64,
    /// Proposals, each put in place.
    pub changes: u64,
    /// Entries that they changed.
    pub entries: u64,
    /// Blocks of 64 LIDs that they changed.
    pub blocks: u64,
    /// Sum over proposals of the share by which the maximum effective EFI fell.
    pub gain: f64,
    /// Number of candidates whose transition was refused.
    pub refused: u64,
    /// Highest maximum effective EFI that jobs met.
    pub worst: u64,
}

/// The fabric and the tables of a configuration.
pub struct Rehearsal<'a> {
    config: &'a Config,
    fabric: Arc<FabricValue>,
    tables: Arc<TablesValue>,
}

impl<'a> Rehearsal<'a> {
    /// Reads the fabric and the tables, once.
    ///
    /// # Errors
    /// If they cannot be used.
    pub fn new(config: &'a Config) -> Result<Self, Error> {
        let children = Children::default();
        let bytes = |watched: &Watched| fetch(watched, &children);
        let of = |what: &str| {
            let what = what.to_owned();
            move |e: String| Error::input(format!("[{what}]: {e}"))
        };
        let watched = &config.fabric;
        let fabric =
            bytes(watched).and_then(|b| read::fabric(&b, watched)).map_err(of("fabric"))?;
        let copy = std::env::temp_dir().join(format!("darkfiber-tables-{}", std::process::id()));
        let files = locate(&config.tables, &copy, &fabric, &children, None::<&TablesStamp>);
        let tables = files.and_then(|files| match files {
            Some((files, _)) => read::tables(&files, &fabric, false),
            None => Err("there are none".to_owned()),
        });
        let _there_may_be_none = std::fs::remove_file(&copy);
        let tables = tables.map_err(of("tables"))?;
        Ok(Self { config, fabric: Arc::new(fabric), tables: Arc::new(tables) })
    }

    /// The fabric, for the reader of the log.
    pub fn topology(&self) -> &Topology {
        &self.fabric.loaded.topology
    }

    /// Goes through a history from one second to another; a row for each day.
    pub fn run(self, history: &History, from: i64, to: i64) -> Vec<DayEvents> {
        let mut times: Vec<i64> = history.stays().iter().flat_map(|s| [s.start, s.end]).collect();
        times.retain(|t| (from..to).contains(t));
        times.sort_unstable();
        times.dedup();
        let mut clock = Clock::new(self, from);
        let mut walk = history.walk();
        for (i, &time) in times.iter().enumerate() {
            walk.to(time);
            let on = |place: u32| history.places()[place as usize].to_vec();
            let running = walk.running();
            let places = running.flat_map(|(p, n)| std::iter::repeat_n(on(p), n as usize));
            let first = history.stays().partition_point(|s| s.start < time);
            let begin = history.stays()[first..].iter().take_while(|s| s.start == time);
            clock.jobs(time, places.collect(), begin.count() as u32);
            clock.until(times.get(i + 1).map_or(to.min(time + 3600), |&next| next));
        }
        clock.days
    }
}

/// The machine in virtual time.
struct Clock<'a> {
    config: &'a Config,
    from: i64,
    /// The time of the last step.
    at: Millis,
    state: State,
    workshop: Workshop,
    fabric: Arc<FabricValue>,
    tables: Arc<TablesValue>,
    jobs: Option<Arc<JobsValue>>,
    days: Vec<DayEvents>,
}

fn millis(seconds: i64) -> Millis {
    u64::try_from(seconds).unwrap_or(0).saturating_mul(1000)
}

impl<'a> Clock<'a> {
    fn new(rehearsal: Rehearsal<'a>, from: i64) -> Self {
        let Rehearsal { config, fabric, tables } = rehearsal;
        let at = millis(from);
        let mut clock = Self {
            config,
            from,
            at,
            state: State::default(),
            workshop: Workshop::new(config.moves, PathBuf::new(), Library::default())
                .with_router(config.router),
            fabric,
            tables,
            jobs: None,
            days: Vec::new(),
        };
        // A log has no demands: its jobs are served without.
        let (mode, policy) = (config.mode, Policy { demands: false, ..config.policy.clone() });
        clock.hear(at, Input::Started { mode, policy, engines: Vec::new() });
        let of = clock.fabric.fabric();
        let (switches, terminals) = (of.switch_count() as u32, of.terminal_count() as u32);
        let digest = clock.fabric.digest;
        clock.hear(at, Input::Fabric { digest, switches, terminals });
        let digest = clock.tables.digest;
        clock.hear(at, Input::Tables { digest, between: false });
        clock
    }

    fn day(&mut self, at: Millis) -> &mut DayEvents {
        let day = (at.saturating_sub(millis(self.from)) / DAY) as usize;
        if self.days.len() <= day {
            self.days.resize_with(day + 1, DayEvents::default);
        }
        &mut self.days[day]
    }

    fn jobs(&mut self, time: i64, places: Vec<Vec<TerminalId>>, started: u32) {
        let at = millis(time);
        let mut words = Words::default();
        for place in &places {
            words.add(place.len() as u64);
            for t in place {
                words.add(u64::from(t.0));
            }
        }
        let before = self.jobs.as_ref().map_or(0, |jobs| jobs.places.len() as u32);
        let running = places.len() as u32;
        let digest = Digest(words.value());
        let fabric = self.fabric.digest;
        self.jobs = Some(Arc::new(JobsValue { places, digest, fabric, ..JobsValue::default() }));
        self.day(at).started += u64::from(started);
        let ended = (before + started).saturating_sub(running);
        self.hear(at, Input::Jobs { digest, running, started, ended });
    }

    /// Advances time as long as the machine waits for it.
    fn until(&mut self, next: i64) {
        loop {
            let (state, policy) = (&self.state, &self.state.policy);
            let cooled = state.changes.last().map_or(0, |t| t.saturating_add(policy.cooldown));
            let is_full = state.changes.len() >= policy.max_per_hour as usize;
            let hour = state.changes.first().filter(|_| is_full);
            let due = cooled.max(hour.map_or(0, |t| t.saturating_add(HOUR)));
            if !state.wanted || due <= self.at || due >= millis(next) {
                return;
            }
            self.hear(due, Input::Tick);
        }
    }

    /// A step, and all that follows from it at the same time.
    fn hear(&mut self, at: Millis, input: Input) {
        self.at = at;
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let (state, actions) = step(&self.state, at, &input);
            self.state = state;
            for action in actions {
                match action {
                    Action::Work { work, generation, task } => {
                        let Some(jobs) = self.jobs.clone() else { continue };
                        let (fabric, tables) = (self.fabric.clone(), self.tables.clone());
                        let values = Values {
                            fabric,
                            tables,
                            jobs,
                            counters: None,
                            demands: None,
                            whole: None,
                        };
                        let result = self.workshop.work(task, &values);
                        inputs.push_back(Input::Done { work, generation, result });
                    }
                    Action::Propose { plan } => inputs.extend(self.put(at, plan)),
                    _ => {}
                }
            }
            self.count(at, &input);
        }
    }

    /// A proposal is put in place.
    fn put(&mut self, at: Millis, plan: PlanId) -> Option<Input> {
        let decision = self.state.decision(plan)?;
        let candidate = decision.candidate.clone()?;
        let routes = self.workshop.plan(plan)?.routes.as_ref().clone();
        let day = self.day(at);
        day.changes += 1;
        day.entries += candidate.entries;
        day.blocks += candidate.blocks;
        day.gain += candidate.gain();
        self.tables = Arc::new(TablesValue {
            routes,
            lids: self.tables.lids.clone(),
            has_levels: self.tables.has_levels,
            is_whole: true,
            digest: candidate.tables,
            fabric: self.fabric.digest,
        });
        Some(Input::Tables { digest: candidate.tables, between: false })
    }

    fn count(&mut self, at: Millis, input: &Input) {
        let Input::Done { .. } = input else { return };
        let measured = self.state.measured.map_or(0, |m| m.efi);
        let last = self.state.decisions.back();
        let is_new = |d: &&darkfiber_operate::Decision| d.ended == Some(at);
        let refused = last.filter(is_new).is_some_and(|d| {
            let is_kept = matches!(d.outcome, DecisionOutcome::Kept { .. });
            is_kept && d.verdict.is_some()
        });
        let looked = match self.config.mode {
            Mode::Observe => true,
            // Proofs belong to the search before.
            _ => last.is_some_and(|d| d.verdict.is_none()),
        };
        let day = self.day(at);
        day.worst = day.worst.max(measured);
        day.looked += u64::from(looked);
        day.refused += u64::from(refused);
    }
}
