//! Tables in place that are proved, of which the transition to others after cables failed is judged by few rows.
//!
//! [`check`](super::check) examines every row, though a cable concerns few: most tables are in place before and after. A
//! [`Baseline`] counts once how many rows make each channel dependency. After a fault the rows that lost a cable, and those
//! that change, are taken out of that count. What is left is made by rows that are alike in old and new tables, which make the
//! same dependencies in all obligations; to these the others add theirs, examined as [`check`](super::check) does. The
//! result is equal to its result.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use darkfiber_fabric::{AtPort, ChannelId, Fabric, Planes, SwitchId, TerminalId};
use rayon::prelude::*;

use super::before::lanes;
use super::row::{Row, Tables};
use super::tasks::tasks;
use super::{Before, Lost, Rows, Transition, check_one, judge_rows};
use crate::check::check_runs;
use crate::check::dependency::Dependencies;
use crate::check::sources::Sources;
use crate::{DestId, Routes};

/// Tables in place, proved complete and free of deadlock, and how many of their rows make each channel dependency.
pub struct Baseline<'a> {
    fabric: &'a Fabric,
    before: Before<'a>,
    planes: Planes,
    runs: Vec<Range<usize>>,
    /// Pairs by run.
    pairs: Vec<u64>,
    /// Lanes that the tables can name, and those in use, as bits.
    every: u32,
    used: u32,
    /// Dependencies with a bit for each lane in which some row makes it.
    made: Dependencies,
    /// By dependency and lane in use, the number of rows that make it.
    rows: Vec<u32>,
    /// The place of each lane among those in use.
    place: [u8; 32],
    width: usize,
}

/// The fabric after cables failed: what the rows that the fault and the new tables leave alone make there.
pub struct AfterFault<'b, 'a> {
    of: &'b Baseline<'a>,
    fabric: &'b Fabric,
    /// The other rows.
    runs: Vec<Range<usize>>,
    /// Pairs of the rows that are left alone.
    pairs: u64,
    alike: Dependencies,
}

impl<'a> Baseline<'a> {
    /// Counts the dependencies of tables in place; `None` if they are not complete or not free of deadlock, if switches
    /// choose lanes, or if there are several lanes and it is not known which connections have.
    ///
    /// Complexity: that of [`crate::check::check`], on one core.
    pub fn new(fabric: &'a Fabric, before: Before<'a>) -> Option<Self> {
        let routes = before.routes;
        let is_of = (routes.switch_count(), routes.terminal_count())
            == (fabric.switch_count(), fabric.terminal_count());
        if !is_of || routes.layers.by_hop().is_some() {
            return None;
        }
        let report = check_one(fabric, routes);
        if !report.complete() || !report.deadlock_free() {
            return None;
        }
        let every = lanes(&routes.layers);
        if !before.has_levels && every.count_ones() > 1 {
            // Old connections may be in any lane, new ones are not: that is two counts.
            return None;
        }
        let tables = Tables::in_lanes(fabric, &[before], routes, every);
        let sources = &tables.new_sources;
        let runs = tables.runs(fabric);
        let used = sources.layers_in_use(fabric, routes, &runs);
        let mut place = [0; 32];
        let mut width = 0;
        for lane in (0..32).filter(|lane| used >> lane & 1 != 0) {
            place[lane] = width;
            width += 1;
        }
        let made = Dependencies::new(fabric);
        let mut base = Self {
            fabric,
            before,
            planes: sources.planes().clone(),
            pairs: Vec::with_capacity(runs.len()),
            runs: Vec::new(),
            every,
            used,
            rows: vec![0; made.len() * usize::from(width)],
            made,
            place,
            width: width.into(),
        };
        let mut row = Row::new(fabric, &tables);
        for run in &runs {
            base.pairs.push(pairs_of(fabric, routes, sources, run));
            let (made, rows) = (&base.made, &mut base.rows);
            let ends = row.dependencies(run, |c, next, mask| {
                let at = made.index(fabric, c as usize, next as usize);
                for lane in bits(mask) {
                    rows[at * base.width + usize::from(base.place[lane])] += 1;
                }
                made.slot(fabric, c as usize, next as usize).fetch_or(mask, Ordering::Relaxed);
            });
            if !ends {
                return None;
            }
        }
        base.runs = runs;
        Some(base)
    }

    /// The tables in place.
    pub fn before(&self) -> Before<'a> {
        self.before
    }

    /// Prepares for judging `tables`, on what is left of the fabric after cables failed. `None` if more than cables
    /// between switches failed, if the fabric falls apart, or if the tables differ from those in place in more than their
    /// entries.
    ///
    /// Complexity: O(rows x switches) bytes are compared; O(switches) for each row that lost a cable or changes, and
    /// O(dependencies).
    pub fn after<'b>(
        &'b self,
        damaged: &'b Fabric,
        tables: &[&Routes],
    ) -> Option<AfterFault<'b, 'a>> {
        let (fabric, routes) = (self.fabric, self.before.routes);
        let now = self.channels_in(damaged)?;
        if Planes::of(damaged) != self.planes || !tables.iter().all(|t| routes.names_as(t)) {
            return None;
        }
        // A row is concerned if it leads over a dead cable from any switch, or changes anywhere.
        let dead: Vec<(usize, u8)> = (0..now.len())
            .filter(|&c| now[c].is_none())
            .map(|c| (fabric.tails()[c] as usize, fabric.tail_ports()[c]))
            .collect();
        let is_concerned = |row: usize| {
            let ports = routes.ports(row);
            dead.iter().any(|&(s, port)| ports[s] == port)
                || tables.iter().any(|t| t.ports(row) != ports)
        };
        let of_run = |d: usize| (0..routes.paths()).map(move |p| routes.row(DestId::new(d), p));
        let (mut runs, mut pairs) = (Vec::new(), 0);
        for (run, of) in self.runs.iter().zip(&self.pairs) {
            if of_run(run.start).any(is_concerned) {
                runs.push(run.clone());
            } else {
                pairs += of;
            }
        }
        let alike = self.without(&runs, damaged, &now);
        Some(AfterFault { of: self, fabric: damaged, runs, pairs, alike })
    }

    /// By channel, the same one in a fabric that has lost cables; `None` if that has lost or won anything else.
    fn channels_in(&self, damaged: &Fabric) -> Option<Vec<Option<u32>>> {
        let fabric = self.fabric;
        if (fabric.switch_count(), fabric.terminal_count())
            != (damaged.switch_count(), damaged.terminal_count())
        {
            return None;
        }
        let place = |of: &Fabric, t: usize| {
            let t = of.terminal(TerminalId::new(t));
            (t.guid, t.switch, t.switch_port)
        };
        let mut all = (0..fabric.terminal_count()).map(|t| (place(fabric, t), place(damaged, t)));
        let guid = |of: &Fabric, s: usize| of.switch(SwitchId::new(s)).guid;
        let mut switches = (0..fabric.switch_count()).map(|s| (guid(fabric, s), guid(damaged, s)));
        if !all.all(|(a, b)| a == b) || !switches.all(|(a, b)| a == b) {
            return None;
        }
        let mut found = 0;
        let mut now = Vec::with_capacity(fabric.channel_count());
        for c in (0..fabric.channel_count()).map(ChannelId::new) {
            now.push(match damaged.at_port(fabric.tail(c), fabric.tail_port(c)) {
                AtPort::Nothing => None,
                AtPort::Switch(there, head) if head == fabric.head(c) => Some(there.0),
                _ => return None,
            });
            found += usize::from(now[c.index()].is_some());
        }
        (found == damaged.channel_count()).then_some(now)
    }

    /// The dependencies that all but some runs make, by the channels of the damaged fabric.
    fn without(
        &self,
        runs: &[Range<usize>],
        damaged: &Fabric,
        now: &[Option<u32>],
    ) -> Dependencies {
        let fabric = self.fabric;
        let tables = Tables::in_lanes(fabric, &[self.before], self.before.routes, self.every);
        // By dependency and lane, how many of these runs make it.
        let mut less = Vec::new();
        less.resize_with(self.rows.len(), || AtomicU32::new(0));
        runs.par_chunks(tasks(runs.len())).for_each(|runs| {
            let mut row = Row::new(fabric, &tables);
            for run in runs {
                row.dependencies(run, |c, next, mask| {
                    let at = self.made.index(fabric, c as usize, next as usize) * self.width;
                    for lane in bits(mask) {
                        less[at + usize::from(self.place[lane])].fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let left = Dependencies::new(damaged);
        for c in 0..now.len() {
            let Some(there) = now[c] else { continue };
            for next in fabric.channels_from(SwitchId(fabric.heads()[c])) {
                let of = self.made.index(fabric, c, next);
                let mask = self.made.slot(fabric, c, next).load(Ordering::Relaxed);
                let (Some(after), true) = (now[next], mask != 0) else { continue };
                // A dependency stays unless these runs are all that make it.
                let stays = |lane: &usize| {
                    let at = of * self.width + usize::from(self.place[*lane]);
                    less[at].load(Ordering::Relaxed) < self.rows[at]
                };
                let mask = bits(mask).filter(stays).fold(0, |mask, lane| mask | 1 << lane);
                let slot = left.slot(damaged, there as usize, after as usize);
                slot.store(mask, Ordering::Relaxed);
            }
        }
        left
    }
}

impl AfterFault<'_, '_> {
    /// Judges the transition from the last of `before` to `new`, as [`check`](super::check) does for the damaged fabric;
    /// where `lost` allows it, tables may lose pairs. `None` if one of them changes rows that it was not prepared for.
    pub fn check(&self, before: &[Before<'_>], new: &Routes, lost: Lost) -> Option<Transition> {
        let (base, fabric) = (self.of, self.fabric);
        let all = || before.iter().map(|b| b.routes).chain([new]);
        if before.is_empty() || !all().all(|routes| self.leaves_alone(routes)) {
            return None;
        }
        if base.every.count_ones() > 1 && !before.iter().all(|b| b.has_levels) {
            return None;
        }
        let sources = Sources::new(fabric, new);
        let target = {
            // Lanes in use: those of the tables in place, which give the same service levels.
            let deps = self.alike.clone();
            check_runs(fabric, new, &sources, &self.runs, std::slice::from_ref(&deps), base.used)
        };
        let mut tables = Tables::in_lanes(fabric, before, new, base.every);
        tables.known_free = std::ptr::eq(before[0].routes, base.before.routes) && before.len() == 1;
        let rows = Rows { runs: &self.runs, alike: Some(&self.alike), pairs: self.pairs };
        Some(judge_rows(fabric, &tables, rows, &target, lost, None))
    }

    /// Whether tables are those in place but for rows that are examined.
    fn leaves_alone(&self, routes: &Routes) -> bool {
        let before = self.of.before.routes;
        if !before.names_as(routes) {
            return false;
        }
        let mut is_examined = vec![false; before.row_count()];
        for run in &self.runs {
            for path in 0..before.paths() {
                is_examined[before.row(DestId::new(run.start), path)] = true;
            }
        }
        let terminals = self.of.fabric.terminal_count();
        let mut rows = (0..terminals)
            .flat_map(|d| (0..before.paths()).map(move |p| before.row(DestId::new(d), p)));
        rows.all(|row| is_examined[row] || before.ports(row) == routes.ports(row))
    }
}

/// Pairs of a source and a LID of a run.
fn pairs_of(fabric: &Fabric, routes: &Routes, sources: &Sources, run: &Range<usize>) -> u64 {
    let on = |&path: &usize| {
        let senders = sources.senders(fabric, routes, run, path);
        (0..fabric.switch_count()).map(senders).sum::<u64>()
    };
    sources.paths.iter().map(on).sum()
}

/// The bits of a mask that are set.
fn bits(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |bit| mask >> bit & 1 != 0)
}
