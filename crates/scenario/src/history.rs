//! From a log of jobs to who ran where and when.

use std::collections::BTreeMap;

use darkfiber_fabric::{TerminalId, Topology};
use darkfiber_formats::places::Places;
use darkfiber_traces::jobs::{self, Record, State};
use darkfiber_workload::placement::{ALLOCATORS, Allocator, allocator};
use darkfiber_workload::{History, JobRequest, Machine, StartedJob, backfill, scaled};

use crate::job_log::per_host;
use crate::log_facts::{LogFacts, PlacedFacts};
use crate::logged_jobs::{LoggedJob, requests};
use crate::moment::LogMoment;
use crate::{Error, Files, Listener, aliases, refuse_shared};

/// Allocator of logs that do not say where jobs ran.
pub const USUAL: &str = "first-fit";

/// A log of jobs, and how they come to their hosts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryPart {
    /// Path of the log.
    pub log: String,
    /// A file of other names of hosts.
    pub aliases: Option<String>,
    /// An allocator that replaces all places; `None`: places of the log, or [`USUAL`] if it has none.
    pub place: Option<String>,
    /// Processors of a host, for jobs that are placed; as the log's header says, or 1, without.
    pub processors_per_host: Option<u32>,
    /// Factor on the hosts of jobs that are placed; `None`: the machine's hosts divided by those of the log's header.
    pub scale: Option<f64>,
    /// Whether jobs smaller than a host are left out of those that are placed.
    pub whole: bool,
}

/// Jobs over time, with their places.
pub struct LoadedHistory {
    /// Nodes and times of all jobs.
    pub history: History,
    /// When the first job began, whether it is kept or not.
    pub first: i64,
    /// Facts found in the log.
    pub facts: LogFacts,
}

impl HistoryPart {
    /// Reads the log, and finds or chooses hosts for its jobs. Of jobs that are placed, those in the time that is looked at are kept.
    ///
    /// # Errors
    /// If it is no log, or no job in it says when it ran and where.
    pub fn load(
        &self,
        topology: &Topology,
        window: Window,
        seed: u64,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<LoadedHistory, Error> {
        let place = self.place.as_deref().map(|name| ALLOCATORS.get(name)).transpose()?;
        let path = files.locate(&self.log);
        let name = path.display().to_string();
        let mut log = match place {
            None => {
                let file = self.aliases.as_ref().map(|name| files.locate(name));
                let aliases = aliases(file.as_deref(), &topology.fabric, listener)?;
                Log::on(Places::new(&topology.fabric, aliases))
            }
            Some(_) => Log::default(),
        };
        let (header, found) = jobs::read(&path, &mut |record| log.take(&record))?;
        listener.remarks(&name, &found);
        if let Some(places) = &log.places {
            let unknown = log.facts.unknown_nodes.keys().map(String::as_str);
            refuse_shared(&name, unknown, places)?;
        }
        let loaded = match place.or_else(|| log.says_nothing_of_places().then(usual)) {
            None => {
                self.refuse_placing(&name)?;
                log.placed_by_log()
            }
            Some(by) => {
                if place.is_none() {
                    listener.note(&format!(
                        "{name}: note: it does not say where jobs ran; they are placed by {USUAL} (--place)"
                    ));
                }
                let per_host = self.processors_per_host.or_else(|| per_host(&header)).unwrap_or(1);
                let machine = Machine::new(topology, per_host);
                let scale = match (self.scale, header.max_nodes.filter(|&n| n > 0)) {
                    (Some(scale), _) => scale,
                    (None, Some(hosts)) => machine.len() as f64 / f64::from(hosts),
                    (None, None) => {
                        let what = format!("{name}: it does not say how large its machine is");
                        return Err(Error::input(what).hint(
                            "scale = 1.0 takes its jobs as they are; a log in Standard Workload Format has MaxNodes in its header",
                        ));
                    }
                };
                let mut history = History::default();
                let mut requests = log.requests(&machine, scale, self.whole);
                let first = requests.first().map_or(0, |w| w.start);
                let (from, to) = window.of(first);
                requests.truncate(requests.partition_point(|w| w.start < to));
                let facts = log.placed(&machine, &requests, (by, scale), seed, &mut |job| {
                    if job.start < to && job.end > from {
                        let on = job.hosts.iter().flat_map(|&h| machine.terminals(h)).copied();
                        history.add(job.start, job.end, on.collect());
                    }
                });
                LoadedHistory { history: history.sorted(), first, facts }
            }
        };
        if loaded.facts.used == 0 {
            let reason = if loaded.facts.unknown_nodes.is_empty() {
                "no job in it says when it ran and where".to_owned()
            } else {
                format!("none of its {} nodes is in the fabric", loaded.facts.unknown_nodes.len())
            };
            return Err(Error::input(format!("{name}: {reason}")).hint(
                "--aliases FILE gives other names of hosts; --place ALLOCATOR puts jobs on hosts itself",
            ));
        }
        Ok(loaded)
    }

    /// Refuses what is for jobs that are placed, where the log says where they ran.
    fn refuse_placing(&self, name: &str) -> Result<(), Error> {
        let key = if self.scale.is_some_and(|scale| scale.to_bits() != 1f64.to_bits()) {
            "scale"
        } else if self.processors_per_host.is_some() {
            "processors-per-host"
        } else {
            return Ok(());
        };
        let what = format!("{name} says where jobs ran, and {key} is for jobs that are placed");
        Err(Error::usage(what)
            .hint(format!("leave {key} out, or place all jobs anew, as with --place {USUAL}")))
    }
}

/// The terminals of nodes; unknown names are counted.
pub fn terminals_of(
    nodes: &[String],
    places: &Places,
    unknown: &mut BTreeMap<String, usize>,
) -> Vec<TerminalId> {
    let mut terminals = Vec::new();
    for name in nodes {
        let found = places.of(name);
        if found.is_empty() {
            *unknown.entry(name.clone()).or_default() += 1;
        }
        terminals.extend_from_slice(found);
    }
    terminals
}

/// The time that is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Start of the window; `None`: the first job.
    pub from: Option<LogMoment>,
    /// Seconds of the window; `None`: to the end.
    pub length: Option<i64>,
}

impl Window {
    /// Start and end in a log whose first job started at `first`.
    pub fn of(self, first: i64) -> (i64, i64) {
        let from = self.from.map_or(first, |when| when.of(first));
        (from, self.length.map_or(i64::MAX, |seconds| from.saturating_add(seconds)))
    }
}

fn usual() -> &'static Allocator {
    allocator(USUAL).expect("it is registered")
}

/// A log while it is read.
#[derive(Default)]
pub struct Log {
    /// Map of names; `None`: places are not needed.
    places: Option<Places>,
    /// Jobs that ran somewhere and ended.
    ran: History,
    /// Begin and terminals of jobs that still run.
    runs: Vec<(i64, Vec<TerminalId>)>,
    /// Jobs to be placed.
    logged_jobs: Vec<LoggedJob>,
    facts: LogFacts,
    last_submit: Option<i64>,
    /// Latest time of the log.
    newest: i64,
}

impl Log {
    /// A log of jobs that ran somewhere.
    fn on(places: Places) -> Self {
        Self { places: Some(places), ..Self::default() }
    }

    /// Takes a job in.
    pub fn take(&mut self, record: &Record) {
        let facts = &mut self.facts;
        facts.jobs += 1;
        if let Some(submit) = record.submit {
            facts.out_of_order += usize::from(self.last_submit.is_some_and(|last| submit < last));
            self.last_submit = self.last_submit.max(Some(submit));
        }
        let times = [record.submit, record.start, record.end];
        self.newest = times.into_iter().flatten().fold(self.newest, i64::max);
        let Some(start) = record.start else {
            let waits = record.state == State::Pending || record.end.is_some();
            let count = if waits { &mut facts.not_run } else { &mut facts.without_times };
            *count += 1;
            return;
        };
        match record.end {
            None if record.state == State::Running => facts.still_running += 1,
            None => {
                facts.without_times += 1;
                return;
            }
            Some(end) if end <= start => {
                facts.without_duration += 1;
                return;
            }
            Some(_) => {}
        }
        let nodes = record.nodes.as_deref().filter(|nodes| !nodes.is_empty());
        if let (Some(places), Some(nodes)) = (&self.places, nodes) {
            let terminals = terminals_of(nodes, places, &mut facts.unknown_nodes);
            facts.misplaced += usize::from(nodes.iter().any(|n| places.of(n).is_empty()));
            match record.end {
                Some(end) => facts.used += usize::from(self.ran.add(start, end, terminals)),
                None => self.runs.push((start, terminals)),
            }
            return;
        }
        let hosts = nodes.map(|n| n.len() as u32).or(record.node_count).unwrap_or(0);
        let processors = record.processors.unwrap_or(0);
        if hosts == 0 && processors == 0 {
            facts.nowhere += 1;
        } else {
            self.logged_jobs.push(LoggedJob { start, end: record.end, hosts, processors });
        }
    }

    /// Whether no job in it can be placed.
    pub fn is_empty(&self) -> bool {
        self.logged_jobs.is_empty()
    }

    /// Whether there are jobs, and none has a place.
    fn says_nothing_of_places(&self) -> bool {
        self.ran.stays().is_empty()
            && self.runs.is_empty()
            && self.facts.unknown_nodes.is_empty()
            && !self.logged_jobs.is_empty()
    }

    /// Jobs where they were.
    fn placed_by_log(mut self) -> LoadedHistory {
        self.facts.nowhere += self.logged_jobs.len();
        for (start, terminals) in self.runs {
            let end = self.newest.max(start.saturating_add(1));
            self.facts.used += usize::from(self.ran.add(start, end, terminals));
        }
        let history = self.ran.sorted();
        self.facts.overlapping = history.overlapping();
        let first = history.span().map_or(0, |s| s.0);
        LoadedHistory { history, first, facts: self.facts }
    }

    /// Jobs where an allocator puts them; `each` gets them as they begin.
    pub fn placed(
        mut self,
        machine: &Machine,
        requests: &[JobRequest],
        (by, scale): (&Allocator, f64),
        seed: u64,
        each: &mut dyn FnMut(StartedJob<'_>),
    ) -> LogFacts {
        let mut used = 0;
        let done = backfill(machine, requests, by, seed, &mut |job| {
            used += 1;
            each(job);
        });
        self.facts.used = used;
        self.facts.placed = Some(PlacedFacts {
            by: by.name.to_owned(),
            hosts: machine.len(),
            processors_per_host: machine.processors(),
            scale,
            too_large: done.too_large,
            late: done.late,
            latest_seconds: done.latest,
        });
        self.facts
    }

    /// Takes its jobs as requests for a machine that is `scale` times as large as theirs; only those that have `whole` hosts, if
    /// requested.
    pub fn requests(&mut self, machine: &Machine, scale: f64, whole: bool) -> Vec<JobRequest> {
        let logged_jobs = std::mem::take(&mut self.logged_jobs);
        let per_host = machine.processors();
        let mut requests = requests(logged_jobs, per_host, self.newest);
        requests.retain(|w| !whole || w.processors >= per_host);
        scaled(&requests, per_host, scale)
    }
}
