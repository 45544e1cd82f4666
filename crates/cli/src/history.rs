//! From a log of jobs to who ran where and when.

use darkfiber_fabric::{TerminalId, Topology};
use darkfiber_formats::jobs::{Record, State};
use darkfiber_formats::places::Places;
use darkfiber_report::replay::{LogFacts, PlacedFacts};
use darkfiber_scenario::job_log::{Wanted, per_host, wishes};
use darkfiber_workload::placement::{ALLOCATORS, Allocator, allocator};
use darkfiber_workload::{Begun, History, Machine, Wish, backfill, scaled};

use crate::failure::Failure;
use crate::moment::When;
use crate::options::{Common, HistoryArgs};
use crate::{job_log, jobs, out};

/// Allocator of logs that do not say where jobs ran.
const USUAL: &str = "first-fit";

/// Jobs over time.
pub(crate) struct LoadedHistory {
    pub(crate) history: History,
    /// When the first job began, whether it is kept or not.
    pub(crate) first: i64,
    pub(crate) facts: LogFacts,
}

impl HistoryArgs {
    /// Reads the log, finds or chooses hosts for its jobs, and says what was odd. Of jobs that are placed, those in
    /// the time that is looked at are kept.
    pub(crate) fn load(
        &self,
        topology: &Topology,
        window: Window,
        common: &Common,
    ) -> Result<LoadedHistory, Failure> {
        let place = self.place.as_deref().map(known_allocator).transpose()?;
        let aliases = jobs::aliases(self.aliases.as_deref(), &topology.fabric, common)?;
        let path = &self.jobs;
        let mut log = match place {
            None => Log::on(Places::new(&topology.fabric, aliases)),
            Some(_) => Log::default(),
        };
        let header = job_log::read(path, common, &mut |record| log.take(&record))?;
        if let Some(places) = &log.places {
            let unknown = log.facts.unknown_nodes.keys().map(String::as_str);
            jobs::refuse_shared(&path.display().to_string(), unknown, places)?;
        }
        let told = match place.or_else(|| log.says_nothing_of_places().then(usual)) {
            None => log.where_told(),
            Some(by) => {
                if place.is_none() && !common.quiet {
                    out::tell(&format!(
                        "{}: note: it does not say where jobs ran; they are placed by {USUAL} (--place)",
                        path.display()
                    ));
                }
                let per_host = self.processors_per_host.or_else(|| per_host(&header)).unwrap_or(1);
                let machine = Machine::new(topology, per_host);
                let mut history = History::default();
                let wishes = log.wishes(&machine, self.scale);
                let first = wishes.first().map_or(0, |w| w.start);
                let (from, to) = window.of(first);
                let wishes = &wishes[..wishes.partition_point(|w| w.start < to)];
                let facts = log.placed(&machine, wishes, (by, self.scale), common, &mut |job| {
                    if job.start < to && job.end > from {
                        let on = job.hosts.iter().flat_map(|&h| machine.terminals(h)).copied();
                        history.add(job.start, job.end, on.collect());
                    }
                });
                LoadedHistory { history: history.sorted(), first, facts }
            }
        };
        let name = path.display();
        if !common.quiet {
            for remark in told.facts.remarks() {
                out::tell(&format!("{name}: note: {remark}"));
            }
            jobs::tell_unknown(&name.to_string(), &told.facts.unknown_nodes, common);
        }
        if told.facts.used == 0 {
            let reason = if told.facts.unknown_nodes.is_empty() {
                "no job in it says when it ran and where".to_owned()
            } else {
                format!("none of its {} nodes is in the fabric", told.facts.unknown_nodes.len())
            };
            return Err(Failure::input(format!("{name}: {reason}")).hint(
                "--aliases FILE tells other names of hosts; --place ALLOCATOR puts jobs on hosts itself",
            ));
        }
        Ok(told)
    }
}

/// The time that is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// `None`: from the first job on.
    pub(crate) from: Option<When>,
    /// Seconds. `None`: to the end.
    pub(crate) length: Option<i64>,
}

impl Window {
    /// Begin and end in a log whose first job began then.
    pub(crate) fn of(self, first: i64) -> (i64, i64) {
        let from = self.from.map_or(first, |when| when.of(first));
        (from, self.length.map_or(i64::MAX, |seconds| from.saturating_add(seconds)))
    }
}

/// The allocator of a name that the user typed.
pub(crate) fn known_allocator(name: &str) -> Result<&'static Allocator, Failure> {
    Ok(ALLOCATORS.get(name)?)
}

fn usual() -> &'static Allocator {
    allocator(USUAL).expect("it is registered")
}

/// A log while it is read.
#[derive(Default)]
pub(crate) struct Log {
    /// `None`: it does not matter where they ran.
    places: Option<Places>,
    /// Jobs that ran somewhere and ended.
    ran: History,
    /// Begin and terminals of jobs that still run.
    runs: Vec<(i64, Vec<TerminalId>)>,
    /// Jobs to be placed.
    wanted: Vec<Wanted>,
    facts: LogFacts,
    last_submit: Option<i64>,
    /// The latest time that is known.
    newest: i64,
}

impl Log {
    /// A log of jobs that ran somewhere.
    fn on(places: Places) -> Self {
        Self { places: Some(places), ..Self::default() }
    }

    pub(crate) fn take(&mut self, record: &Record) {
        let facts = &mut self.facts;
        facts.jobs += 1;
        if let Some(submit) = record.submit {
            facts.out_of_order += usize::from(self.last_submit.is_some_and(|last| submit < last));
            self.last_submit = self.last_submit.max(Some(submit));
        }
        let told = [record.submit, record.start, record.end];
        self.newest = told.into_iter().flatten().fold(self.newest, i64::max);
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
            let terminals = jobs::terminals_of(nodes, places, &mut facts.unknown_nodes);
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
            self.wanted.push(Wanted { start, end: record.end, hosts, processors });
        }
    }

    /// Whether no job in it can be placed.
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Whether there are jobs, and none says where it ran.
    fn says_nothing_of_places(&self) -> bool {
        self.ran.stays().is_empty()
            && self.runs.is_empty()
            && self.facts.unknown_nodes.is_empty()
            && !self.wanted.is_empty()
    }

    /// Jobs where they were.
    fn where_told(mut self) -> LoadedHistory {
        self.facts.nowhere += self.wanted.len();
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
    pub(crate) fn placed(
        mut self,
        machine: &Machine,
        wishes: &[Wish],
        (by, scale): (&Allocator, f64),
        common: &Common,
        each: &mut dyn FnMut(Begun<'_>),
    ) -> LogFacts {
        let mut used = 0;
        let done = backfill(machine, wishes, by, common.seed(), &mut |job| {
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

    /// What its jobs, which are gone then, want of a machine that is `scale` times as large as theirs.
    pub(crate) fn wishes(&mut self, machine: &Machine, scale: f64) -> Vec<Wish> {
        let wanted = std::mem::take(&mut self.wanted);
        let per_host = machine.processors();
        scaled(&wishes(wanted, per_host, self.newest), per_host, scale)
    }
}
