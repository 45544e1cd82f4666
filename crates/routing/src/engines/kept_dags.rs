//! Divided candidate graphs of many switches, kept from one pass to the next where they are few.

use darkfiber_fabric::SwitchId;
use rayon::prelude::*;

use super::dag::{Dag, for_each_dag};
use super::divided::DividedDag;

/// Most bytes of graphs that are kept for a further pass.
const KEPT: usize = 64 << 20;

/// The graphs of many switches, for several passes: kept while they are few, else made again.
pub(super) struct Dags<'a, T, M> {
    pub(super) homes: &'a [(SwitchId, T)],
    make: M,
    kept: Vec<DividedDag>,
    bytes: usize,
}

impl<'a, T: Sync, M: Fn(&mut Dag, SwitchId) + Sync> Dags<'a, T, M> {
    /// A cache of the results of `make` for the switches `homes`.
    pub(super) fn new(homes: &'a [(SwitchId, T)], make: M) -> Self {
        Self { homes, make, kept: Vec::new(), bytes: 0 }
    }

    /// Calls `consume` with the graph of every switch, as [`for_each_dag`] does.
    pub(super) fn each(&mut self, mut consume: impl FnMut(&(SwitchId, T), &DividedDag) + Send) {
        if self.kept.len() == self.homes.len() {
            for (item, dag) in self.homes.iter().zip(&self.kept) {
                consume(item, dag);
            }
            return;
        }
        let (kept, bytes) = (&mut self.kept, &mut self.bytes);
        let make = |dag: &mut DividedDag, home| dag.make(home, &self.make);
        for_each_dag(self.homes, make, |item, dag| {
            consume(item, dag);
            *bytes += dag.bytes();
            if *bytes <= KEPT {
                kept.push(dag.clone());
            } else {
                *kept = Vec::new();
            }
        });
    }

    /// Makes all graphs at once, if they are few enough to be kept.
    pub(super) fn keep_all(&mut self) {
        let Some((home, _)) = self.homes.first().filter(|_| self.kept.is_empty()) else { return };
        let mut first = DividedDag::default();
        first.make(*home, &self.make);
        if first.bytes() * self.homes.len() <= KEPT {
            self.kept.resize_with(self.homes.len(), DividedDag::default);
            let kept = self.kept.par_iter_mut().zip(self.homes);
            kept.for_each(|(dag, (home, _))| dag.make(*home, &self.make));
        }
    }

    /// The graph of the switch with this number, made in `scratch` if it is not stored.
    pub(super) fn get<'d>(&'d self, number: usize, scratch: &'d mut DividedDag) -> &'d DividedDag {
        if let Some(kept) = self.kept.get(number) {
            return kept;
        }
        scratch.make(self.homes[number].0, &self.make);
        scratch
    }
}
