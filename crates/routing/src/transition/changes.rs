//! The changes, and the pairs that they affect (O6): pairs whose packets could be reordered, and the pairs to
//! drain.

use std::ops::Range;

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};
use rayon::prelude::*;

use super::row::{Hops, NONE, Tables};
use super::tasks::tasks;
use crate::routes::{DELIVER, NO_ROUTE};
use crate::{DestId, Layers, Routes};

/// The pairs and entries that a transition changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Entries of forwarding tables that differ, those towards switches with them.
    pub entries: u64,
    /// By switch: whether its table differs.
    pub switches: Vec<bool>,
    /// LIDs of terminals with an entry that differs.
    pub lids: u64,
    /// Pairs of a source and a LID that it uses under the tables in place.
    pub pairs: u64,
    /// Of these, those whose path differs.
    pub pairs_path: u64,
    /// Of these, those whose service level is not that of every old state.
    pub pairs_level: u64,
    /// Of these, those of which either differs, or that go to another LID: their connections must be
    /// drained for packets to stay in order.
    pub pairs_changed: u64,
    /// LIDs that some source cannot reach under the tables in place: rows that a fault cut.
    pub lids_cut: u64,
    /// LIDs with changed entries that are not cut.
    pub lids_eased: u64,
    /// By path: whether any of its rows differs.
    pub planes: Vec<bool>,
    /// Of pairs inside of running jobs; `None` if the jobs are not known.
    pub jobs: Option<JobPairs>,
}

/// The pairs that change inside running jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobPairs {
    /// Number of jobs affected.
    pub jobs: usize,
    /// Pairs of a source and a LID inside of a job.
    pub pairs: u64,
    /// Of these, those that change.
    pub changed: u64,
}

impl Changes {
    fn add(&mut self, other: &Self) {
        self.lids += other.lids;
        self.pairs += other.pairs;
        self.pairs_path += other.pairs_path;
        self.pairs_level += other.pairs_level;
        self.pairs_changed += other.pairs_changed;
        self.lids_cut += other.lids_cut;
        self.lids_eased += other.lids_eased;
        if let (Some(jobs), Some(more)) = (&mut self.jobs, other.jobs) {
            jobs.pairs += more.pairs;
            jobs.changed += more.changed;
        }
    }
}

/// Counts the changes of some rows; in all others old and new tables are alike, and these have `pairs` pairs.
pub(super) fn count(
    fabric: &Fabric,
    tables: &Tables<'_>,
    runs: &[Range<usize>],
    pairs: u64,
    jobs: Option<&[Vec<TerminalId>]>,
) -> Changes {
    let mut of_terminal: Vec<Vec<u32>> = vec![Vec::new(); fabric.terminal_count()];
    for (j, job) in jobs.into_iter().flatten().enumerate() {
        for t in job {
            of_terminal[t.index()].push(j as u32);
        }
    }
    let of_job = jobs.map(|jobs| (jobs, of_terminal.as_slice()));
    let parts: Vec<Changes> = runs
        .par_chunks(tasks(runs.len()))
        .map(|runs| {
            let mut counter = Counter::new(fabric, tables, of_job);
            for run in runs {
                counter.visit(run);
            }
            counter.found
        })
        .collect();
    let mut all = Changes {
        pairs,
        jobs: jobs.map(|jobs| JobPairs { jobs: jobs.len(), ..JobPairs::default() }),
        ..Changes::default()
    };
    for part in &parts {
        all.add(part);
    }
    entries(fabric, tables, &mut all);
    all
}

/// Counts entries that differ, LID by LID.
fn entries(fabric: &Fabric, tables: &Tables<'_>, all: &mut Changes) {
    all.switches = vec![false; fabric.switch_count()];
    all.planes = vec![false; tables.new.paths()];
    for d in (0..tables.new.dest_count()).map(DestId::new) {
        let paths = if d.as_terminal(fabric).is_some() { tables.new.paths() } else { 1 };
        for path in 0..paths {
            let ports = |routes: &'_ Routes| routes.row(d, path);
            let (old, new) = (ports(tables.in_place), ports(tables.new));
            let (old, new) = (tables.in_place.ports(old), tables.new.ports(new));
            if old == new {
                continue;
            }
            for s in (0..old.len()).filter(|&s| old[s] != new[s]) {
                let entry = |r: &Routes| r.lft_entry(fabric, SwitchId::new(s), d, path);
                if entry(tables.in_place) != entry(tables.new) {
                    all.entries += 1;
                    all.switches[s] = true;
                    all.planes[path] |= d.as_terminal(fabric).is_some();
                }
            }
        }
    }
}

/// The fate of packets on the old path from a switch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Unseen,
    Open,
    Known { differs: bool, arrives: bool },
}

/// The terminals of each job, and the jobs of each terminal.
type OfJobs<'a> = (&'a [Vec<TerminalId>], &'a [Vec<u32>]);

struct Counter<'a> {
    fabric: &'a Fabric,
    tables: &'a Tables<'a>,
    of_job: Option<OfJobs<'a>>,
    hops: Hops,
    way: Vec<Way>,
    stack: Vec<u32>,
    found: Changes,
}

impl<'a> Counter<'a> {
    fn new(fabric: &'a Fabric, tables: &'a Tables<'a>, of_job: Option<OfJobs<'a>>) -> Self {
        let found = Changes { jobs: of_job.map(|_| JobPairs::default()), ..Changes::default() };
        let way = vec![Way::Unseen; fabric.switch_count()];
        Self { fabric, tables, of_job, hops: Hops::new(fabric), way, stack: Vec::new(), found }
    }

    fn visit(&mut self, run: &Range<usize>) {
        for path in 0..self.tables.new.paths() {
            if self.hops.read(self.fabric, self.tables, run.start, path) || run.len() == 1 {
                self.row(run, path);
            } else {
                for d in run.clone() {
                    self.row(&(d..d + 1), path);
                }
            }
        }
    }

    fn row(&mut self, run: &Range<usize>, path: usize) {
        self.hops.read(self.fabric, self.tables, run.start, path);
        self.way.fill(Way::Unseen);
        let changed = (0..self.way.len()).any(|s| self.hops.changed(s));
        let width = run.len() as u64;
        self.found.lids += u64::from(changed) * width;
        let place = &self.tables.sources[self.tables.sources.len() - 1];
        let mut cut = false;
        if place.paths.contains(&path) {
            let senders = place.senders(self.fabric, self.tables.in_place, run, path);
            for s in 0..self.way.len() {
                let pairs = senders(s);
                if pairs == 0 {
                    continue;
                }
                let (differs, arrives) = self.follow(s, run.start, path);
                cut |= !arrives;
                self.found.pairs += pairs;
                self.found.pairs_path += u64::from(differs) * pairs;
                self.count(s, pairs, differs, run, path);
            }
        }
        self.found.lids_cut += u64::from(cut) * width;
        self.found.lids_eased += u64::from(changed && !cut) * width;
        self.inside_of_jobs(run, path);
    }

    /// Adds the pairs from switch `s` by service level and LID.
    fn count(&mut self, s: usize, pairs: u64, differs: bool, run: &Range<usize>, path: usize) {
        let tables = self.tables;
        let one_by_one = tables.new.source_chooses()
            || tables.in_place.source_chooses()
            || tables.states.iter().map(|b| b.routes).chain([tables.new]).any(by_terminal);
        if !one_by_one {
            let Some(t) = self.fabric.terminals_on(SwitchId::new(s)).next() else { return };
            let level = level_differs(self.fabric, tables, TerminalId::new(t), run.start, path);
            self.found.pairs_level += u64::from(level) * pairs;
            self.found.pairs_changed += u64::from(level || differs) * pairs;
            return;
        }
        for t in self.fabric.terminals_on(SwitchId::new(s)).map(TerminalId::new) {
            if !tables.in_place.uses(t, path) {
                continue;
            }
            let pairs = (run.len() - usize::from(run.contains(&t.index()))) as u64;
            let level = level_differs(self.fabric, tables, t, run.start, path);
            let moves = !tables.new.uses(t, path);
            self.found.pairs_level += u64::from(level) * pairs;
            self.found.pairs_changed += u64::from(level || differs || moves) * pairs;
        }
    }

    fn inside_of_jobs(&mut self, run: &Range<usize>, path: usize) {
        let Some((jobs, of_terminal)) = self.of_job else { return };
        let mut inside = self.found.jobs.unwrap_or_default();
        for d in run.clone() {
            for &j in &of_terminal[d] {
                for &t in jobs[j as usize].iter().filter(|t| t.index() != d) {
                    // A connection of any old state may still be open on this LID.
                    if !self.tables.states.iter().any(|b| b.routes.uses(t, path)) {
                        continue;
                    }
                    let (differs, _) = self.follow(self.fabric.terminal(t).switch.index(), d, path);
                    let level = level_differs(self.fabric, self.tables, t, d, path);
                    let moves = !self.tables.new.uses(t, path);
                    inside.pairs += 1;
                    inside.changed += u64::from(differs || level || moves);
                }
            }
        }
        self.found.jobs = Some(inside);
    }

    /// Whether the old path from `start` meets a changed entry, and whether it arrives.
    fn follow(&mut self, start: usize, dest: usize, path: usize) -> (bool, bool) {
        let mut s = start;
        let (mut differs, arrives) = loop {
            match self.way[s] {
                Way::Known { differs, arrives } => break (differs, arrives),
                Way::Open => break (true, false),
                Way::Unseen => {}
            }
            self.way[s] = Way::Open;
            self.stack.push(s as u32);
            match self.hops.next[0][s] {
                NONE => break (false, self.delivers(s, dest, path)),
                // A cable from a switch to itself.
                c if c as usize >= self.fabric.channel_count() => break (true, false),
                c => s = self.fabric.heads()[c as usize] as usize,
            }
        };
        while let Some(v) = self.stack.pop() {
            differs |= self.hops.changed(v as usize);
            self.way[v as usize] = Way::Known { differs, arrives };
        }
        (differs, arrives)
    }

    fn delivers(&self, s: usize, dest: usize, path: usize) -> bool {
        let routes = self.tables.in_place;
        match routes.ports(routes.row(DestId::new(dest), path))[s] {
            NO_ROUTE => false,
            DELIVER => self.fabric.terminal(TerminalId::new(dest)).switch.index() == s,
            port => {
                self.fabric.at_port(SwitchId::new(s), port)
                    == AtPort::Terminal(TerminalId::new(dest))
            }
        }
    }
}

fn by_terminal(routes: &Routes) -> bool {
    matches!(routes.layers, Layers::BySource(_))
}

/// Whether some old state gave this pair another service level than the new tables do.
fn level_differs(
    fabric: &Fabric,
    tables: &Tables<'_>,
    source: TerminalId,
    dest: usize,
    path: usize,
) -> bool {
    if tables.every.is_power_of_two() {
        return false;
    }
    let level = |r: &Routes| r.layer_on(fabric, source, r.row(DestId::new(dest), path));
    let new = level(tables.new);
    tables.states.iter().any(|b| {
        if b.has_levels {
            b.routes.uses(source, path) && level(b.routes) != new
        } else {
            tables.every.count_ones() > 1
        }
    })
}
