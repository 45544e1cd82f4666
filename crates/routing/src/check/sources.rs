//! The senders of a destination, by path and layer.
//!
//! No terminal sends to one of another plane: planes share hosts, so a host has a terminal in each.

use std::ops::Range;

use darkfiber_fabric::{Fabric, Planes, SwitchId, TerminalId};
use rayon::prelude::*;

use crate::stop::unwind_if_asked;
use crate::{DestId, Layers, Routes};

/// Sending terminals by switch and path, and the layers they use.
pub(crate) struct Sources {
    /// `count[path * switches + s]`: terminals on `s` that may use path `path`.
    count: Vec<u32>,
    /// Paths that any source may use.
    pub(crate) paths: Vec<usize>,
    planes: Planes,
}

impl Sources {
    pub(crate) fn new(fabric: &Fabric, routes: &Routes) -> Self {
        let s = fabric.switch_count();
        let mut count = vec![0; routes.paths().max(1) * s];
        for t in (0..fabric.terminal_count()).map(TerminalId::new) {
            for path in (0..routes.paths()).filter(|&path| routes.uses(t, path)) {
                count[path * s + fabric.terminal(t).switch.index()] += 1;
            }
        }
        let paths = (0..routes.paths())
            .filter(|p| count[p * s..(p + 1) * s].iter().any(|&c| c > 0))
            .collect();
        Self { count, paths, planes: Planes::of(fabric) }
    }

    /// The planes within which terminals send.
    pub(crate) fn planes(&self) -> &Planes {
        &self.planes
    }

    fn of(&self, path: usize, switches: usize) -> &[u32] {
        &self.count[path * switches..(path + 1) * switches]
    }

    /// All terminals in runs of those that one walk can serve: neighbours in number on one switch,
    /// with common rows on all paths in use.
    pub(crate) fn runs(&self, fabric: &Fabric, routes: &Routes) -> Vec<Range<usize>> {
        let row = |d: usize, path: usize| routes.row(DestId::new(d), path);
        let home = |d: usize| fabric.terminal(TerminalId::new(d)).switch;
        let mut runs: Vec<Range<usize>> = Vec::new();
        for d in 0..fabric.terminal_count() {
            match runs.last_mut() {
                Some(run)
                    if home(run.start) == home(d)
                        && self.paths.iter().all(|&p| row(run.start, p) == row(d, p)) =>
                {
                    run.end = d + 1;
                }
                _ => runs.push(d..d + 1),
            }
        }
        runs
    }

    /// Pairs from terminals on switch `s` to those of a run on path `path`, by `s`. A terminal sends
    /// nothing to itself, and nothing to another plane.
    pub(crate) fn senders<'a>(
        &'a self,
        fabric: &Fabric,
        routes: &Routes,
        run: &Range<usize>,
        path: usize,
    ) -> impl Fn(usize) -> u64 + use<'a> {
        let count = self.of(path, fabric.switch_count());
        let home = fabric.terminal(TerminalId::new(run.start)).switch;
        let plane = self.planes.of_switch(home);
        let home = home.index();
        let all = run.len() as u64;
        let itself = run.clone().filter(|&d| routes.uses(TerminalId::new(d), path)).count() as u64;
        move |s| {
            if self.planes.of_switch(SwitchId::new(s)) != plane {
                return 0;
            }
            u64::from(count[s]) * all - if s == home { itself } else { 0 }
        }
    }

    pub(crate) fn layers_in_use(
        &self,
        fabric: &Fabric,
        routes: &Routes,
        runs: &[Range<usize>],
    ) -> u32 {
        if *routes.layers.levels() == Layers::One {
            return 1;
        }
        runs.into_par_iter()
            .map(|run| {
                unwind_if_asked();
                let mut mask = 0;
                for &path in &self.paths {
                    let senders = self.senders(fabric, routes, run, path);
                    for s in (0..fabric.switch_count()).filter(|&s| senders(s) > 0) {
                        mask |= layer_mask(fabric, routes, s, run, path);
                    }
                }
                mask
            })
            .reduce(|| 0, |a, b| a | b)
    }
}

/// Bit set of the layers that terminals on `s` use towards a run on path `path`.
pub(crate) fn layer_mask(
    fabric: &Fabric,
    routes: &Routes,
    s: usize,
    run: &Range<usize>,
    path: usize,
) -> u32 {
    let row = routes.row(DestId::new(run.start), path);
    // Where switches choose lanes, service levels are meant.
    match routes.layers.levels() {
        Layers::One | Layers::ByHop(_) => 1,
        Layers::ByRow(l) => 1 << l[row],
        Layers::BySourceSwitch(l) => 1 << l[row * fabric.switch_count() + s],
        Layers::BySource(_) => fabric
            .terminals_on(SwitchId::new(s))
            // One that is alone in the run does not send to itself.
            .filter(|&t| *run != (t..t + 1))
            .map(TerminalId::new)
            .filter(|&t| routes.uses(t, path))
            .fold(0, |mask, t| mask | 1 << routes.layer_on(fabric, t, row)),
    }
}
