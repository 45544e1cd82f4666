//! In which lanes connections go: those of every state that they may have been made in.

use std::ops::Range;

use darkfiber_fabric::{Fabric, TerminalId};

use super::before::{Before, lanes};
use super::row::Tables;
use super::verdict::Generation;
use crate::check::sources::{Sources, layer_mask};
use crate::{DestId, Routes};

impl<'a> Tables<'a> {
    pub(super) fn new(fabric: &Fabric, before: &[Before<'a>], new: &'a Routes) -> Self {
        let all = before.iter().map(|b| b.routes).chain([new]);
        let every = all.fold(0, |mask, routes| mask | lanes(&routes.layers));
        Self::in_lanes(fabric, before, new, every)
    }

    /// As [`Self::new`], where it is known which lanes any of them uses.
    pub(super) fn in_lanes(
        fabric: &Fabric,
        before: &[Before<'a>],
        new: &'a Routes,
        every: u32,
    ) -> Self {
        let states: Vec<Before<'a>> = before.to_vec();
        let sources = states.iter().map(|b| Sources::new(fabric, b.routes)).collect();
        let in_place = states[states.len() - 1].routes;
        Self {
            in_place,
            new,
            states,
            sources,
            new_sources: Sources::new(fabric, new),
            every,
            has_levels: before.iter().all(|b| b.has_levels),
            known_free: false,
        }
    }

    /// Paths (LIDs of a destination) that are used in any state.
    pub(super) fn paths(&self) -> Vec<usize> {
        let mut all: Vec<usize> =
            self.sources.iter().chain([&self.new_sources]).flat_map(|s| s.paths.clone()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Destinations in runs of neighbours on one switch that share all their rows in old and new tables.
    pub(super) fn runs(&self, fabric: &Fabric) -> Vec<Range<usize>> {
        let home = |d: usize| fabric.terminal(TerminalId::new(d)).switch;
        let same = |a: usize, b: usize| {
            home(a) == home(b)
                && self.states.iter().map(|s| s.routes).chain([self.new]).all(|routes| {
                    (0..routes.paths())
                        .all(|p| routes.row(DestId::new(a), p) == routes.row(DestId::new(b), p))
                })
        };
        let mut runs: Vec<Range<usize>> = Vec::new();
        for d in 0..fabric.terminal_count() {
            match runs.last_mut() {
                Some(run) if same(run.start, d) => run.end = d + 1,
                _ => runs.push(d..d + 1),
            }
        }
        runs
    }

    /// Writes the lanes of old connections, and of old and new ones, from each switch to a run on a path.
    pub(super) fn masks(
        &self,
        fabric: &Fabric,
        run: &Range<usize>,
        path: usize,
        old: &mut [u32],
        all: &mut [u32],
    ) {
        old.fill(0);
        let is_one = self.every.is_power_of_two();
        for (state, sources) in self.states.iter().zip(&self.sources) {
            if !sources.paths.contains(&path) {
                continue;
            }
            let senders = sources.senders(fabric, state.routes, run, path);
            for (s, mask) in old.iter_mut().enumerate().filter(|&(s, _)| senders(s) > 0) {
                *mask |= if state.has_levels && !is_one {
                    layer_mask(fabric, state.routes, s, run, path)
                } else {
                    self.every
                };
            }
        }
        all.copy_from_slice(old);
        if self.new_sources.paths.contains(&path) {
            let senders = self.new_sources.senders(fabric, self.new, run, path);
            for (s, mask) in all.iter_mut().enumerate().filter(|&(s, _)| senders(s) > 0) {
                *mask |=
                    if is_one { self.every } else { layer_mask(fabric, self.new, s, run, path) };
            }
        }
    }

    /// The generation that gives `source` service level `lane` towards LID `path` of `dest`: the old one if both.
    pub(super) fn gives(
        &self,
        fabric: &Fabric,
        source: TerminalId,
        dest: usize,
        path: usize,
        lane: u8,
    ) -> Option<Generation> {
        if source.index() == dest {
            return None;
        }
        let gives = |routes: &Routes, has_levels: bool| {
            routes.uses(source, path)
                && if has_levels {
                    routes.layer_on(fabric, source, routes.row(DestId::new(dest), path)) == lane
                } else {
                    self.every & (1 << lane) != 0
                }
        };
        if self.states.iter().any(|s| gives(s.routes, s.has_levels)) {
            Some(Generation::Old)
        } else {
            gives(self.new, true).then_some(Generation::New)
        }
    }
}
