//! Who sends to a destination, on which path and in which layers.

use std::ops::Range;

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};
use rayon::prelude::*;

use crate::{DestId, Layers, Routes};

/// Who sends: terminals by switch and path, and the layers they use.
pub(super) struct Sources {
    /// `count[path * switches + s]`: terminals on `s` that use path `path`.
    count: Vec<u32>,
    /// Paths that any source uses.
    pub(super) paths: Vec<usize>,
    /// Every source uses all paths.
    every: bool,
}

impl Sources {
    pub(super) fn new(fabric: &Fabric, routes: &Routes) -> Self {
        let s = fabric.switch_count();
        let mut count = vec![0; routes.paths().max(1) * s];
        for t in 0..fabric.terminal_count() {
            let t = TerminalId::new(t);
            count[routes.path_of(t) * s + fabric.terminal(t).switch.index()] += 1;
        }
        let paths = (0..routes.paths())
            .filter(|p| count[p * s..(p + 1) * s].iter().any(|&c| c > 0))
            .collect();
        Self { count, paths, every: false }
    }

    /// All terminals, each on all paths.
    pub(super) fn on_all_paths(fabric: &Fabric, routes: &Routes) -> Self {
        let on = |s| fabric.terminals_on(SwitchId::new(s)).len() as u32;
        let each: Vec<u32> = (0..fabric.switch_count()).map(on).collect();
        let paths = routes.paths();
        Self { count: each.repeat(paths.max(1)), paths: (0..paths).collect(), every: true }
    }

    /// Whether a terminal uses a path.
    pub(super) fn sends(&self, routes: &Routes, t: TerminalId, path: usize) -> bool {
        self.every || routes.path_of(t) == path
    }

    fn of(&self, path: usize, switches: usize) -> &[u32] {
        &self.count[path * switches..(path + 1) * switches]
    }

    /// All terminals in runs of those that one walk can serve: neighbours in number on one switch,
    /// with common rows on all paths in use.
    pub(super) fn runs(&self, fabric: &Fabric, routes: &Routes) -> Vec<Range<usize>> {
        let row = |d: usize, path: usize| routes.row(DestId::new(d), path);
        let home = |d: usize| fabric.terminal(TerminalId::new(d)).switch;
        let mut runs: Vec<Range<usize>> = Vec::new();
        for d in 0..fabric.terminal_count() {
            match runs.last_mut() {
                Some(run)
                    if home(run.start) == home(d)
                        && self.paths.iter().all(|&p| row(run.start, p) == row(d, p))
                        && !matches!(routes.layers, Layers::ByPair(_)) =>
                {
                    run.end = d + 1;
                }
                _ => runs.push(d..d + 1),
            }
        }
        runs
    }

    /// Pairs from terminals on switch `s` to those of a run on path `path`, by `s`. A terminal sends
    /// nothing to itself.
    pub(super) fn senders<'a>(
        &'a self,
        fabric: &Fabric,
        routes: &Routes,
        run: &Range<usize>,
        path: usize,
    ) -> impl Fn(usize) -> u64 + use<'a> {
        let count = self.of(path, fabric.switch_count());
        let home = fabric.terminal(TerminalId::new(run.start)).switch.index();
        let all = run.len() as u64;
        let itself = run
            .clone()
            .filter(|&d| self.every || routes.path_of(TerminalId::new(d)) == path)
            .count() as u64;
        move |s| u64::from(count[s]) * all - if s == home { itself } else { 0 }
    }

    pub(super) fn layers_in_use(
        &self,
        fabric: &Fabric,
        routes: &Routes,
        runs: &[Range<usize>],
    ) -> u32 {
        if routes.layers == Layers::One {
            return 1;
        }
        runs.into_par_iter()
            .map(|run| {
                let mut mask = 0;
                for &path in &self.paths {
                    let senders = self.senders(fabric, routes, run, path);
                    for s in (0..fabric.switch_count()).filter(|&s| senders(s) > 0) {
                        mask |=
                            self.layer_mask(fabric, routes, s, TerminalId::new(run.start), path);
                    }
                }
                mask
            })
            .reduce(|| 0, |a, b| a | b)
    }

    /// Bit set of the layers that terminals on `s` use towards `dest` on path `path`.
    pub(super) fn layer_mask(
        &self,
        fabric: &Fabric,
        routes: &Routes,
        s: usize,
        dest: TerminalId,
        path: usize,
    ) -> u32 {
        match &routes.layers {
            Layers::One => 1,
            Layers::ByRow(l) => 1 << l[routes.row(DestId(dest.0), path)],
            Layers::BySourceSwitch(l) => {
                1 << l[routes.row(DestId(dest.0), path) * fabric.switch_count() + s]
            }
            Layers::ByPair(_) => fabric
                .terminals_on(SwitchId::new(s))
                .map(TerminalId::new)
                .filter(|&t| t != dest && self.sends(routes, t, path))
                .fold(0, |mask, t| mask | 1 << routes.layer(fabric, t, dest)),
        }
    }
}
