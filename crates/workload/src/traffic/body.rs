//! One iteration of an application.

use super::Ranks;
use super::grid::Grid;
use crate::collective::{Call, Choice, Collective};
use crate::schedule::Script;

/// One iteration of an application, or several that are done as one.
pub(super) struct Body<'a> {
    pub(super) script: Script,
    pub(super) job: &'a Ranks,
    all: Vec<u32>,
    /// Iterations that are done as one: all sizes are this many times as large.
    group: u64,
    /// Picoseconds of a computation of weight 1.
    unit: f64,
    /// Weights of all computations so far.
    pub(super) weights: f64,
}

impl<'a> Body<'a> {
    pub(super) fn new(job: &'a Ranks, group: u64, unit: f64) -> Self {
        let script = Script::of_blocks(job.ranks);
        Self { script, job, all: job.all(), group, unit, weights: 0.0 }
    }

    pub(super) fn n(&self) -> u32 {
        self.job.ranks
    }

    /// All ranks compute; how long depends on the communication of the iteration, and on this weight among others.
    #[expect(clippy::cast_sign_loss, reason = "weights are not below zero")]
    pub(super) fn work(&mut self, weight: f64) {
        self.weights += weight;
        let time = (weight * self.unit) as u64;
        for &rank in &self.all {
            self.script.wait(rank);
            self.script.compute(rank, time);
            self.script.wait(rank);
        }
    }

    /// A message that both ends post now.
    pub(super) fn message(&mut self, from: u32, to: u32, bytes: u64) {
        self.script.message(from, to, bytes.saturating_mul(self.group), 0);
    }

    /// All ranks wait for their operations.
    pub(super) fn wait(&mut self) {
        self.script.wait_all(&self.all);
    }

    /// Every rank with its neighbours at these steps, all at once; sizes by step.
    pub(super) fn halo(&mut self, grid: &Grid, steps: &[Vec<i32>], bytes: impl Fn(&[i32]) -> u64) {
        for step in steps {
            let size = bytes(step);
            for rank in 0..self.n() {
                if let Some(to) = grid.on(rank, step) {
                    self.message(rank, to, size);
                }
            }
        }
        self.wait();
    }

    /// Faces of a box of this many cells a side with 26 neighbours: side squared, side, or one cell.
    pub(super) fn halo26(&mut self, grid: &Grid, side: u64, cell: u64) {
        self.halo(grid, &super::grid::touching(), |step| {
            let along = step.iter().filter(|&&by| by == 0).count();
            side.pow(along as u32) * cell
        });
    }

    /// A collective of all.
    pub(super) fn collective(&mut self, collective: Collective, bytes: u64) {
        let all = std::mem::take(&mut self.all);
        self.among(collective, &all, bytes);
        self.all = all;
    }

    /// A collective of some ranks. The algorithm is the library's choice for the size of one iteration.
    pub(super) fn among(&mut self, collective: Collective, comm: &[u32], bytes: u64) {
        self.rooted(collective, comm, 0, bytes);
    }

    /// The same with a root.
    pub(super) fn rooted(&mut self, collective: Collective, comm: &[u32], root: u32, bytes: u64) {
        let (choice, call) = self.call(collective, comm, bytes);
        choice.algorithm.write(&mut self.script, &Call { root, ..call });
    }

    /// A collective by the algorithm of that name.
    pub(super) fn with(&mut self, name: &str, of: Collective, comm: &[u32], bytes: u64) {
        let (choice, call) = self.call(of, comm, bytes);
        let named = of.algorithm(name).unwrap_or(choice.algorithm);
        named.write(&mut self.script, &call);
    }

    fn call<'c>(&self, of: Collective, comm: &'c [u32], bytes: u64) -> (Choice, Call<'c>) {
        let choice = self.job.library.choose(of, comm.len() as u32, bytes);
        let segment = choice.segment.saturating_mul(self.group);
        let bytes = bytes.saturating_mul(self.group);
        (choice, Call { segment, ..Call::new(comm, bytes) })
    }

    /// A collective of all while all compute.
    pub(super) fn beside_work(&mut self, collective: Collective, bytes: u64, weight: f64) {
        let all = std::mem::take(&mut self.all);
        let (choice, call) = self.call(collective, &all, bytes);
        self.weights += weight;
        #[expect(clippy::cast_sign_loss, reason = "weights are not below zero")]
        let time = (weight * self.unit) as u64;
        self.script.fork(
            &all,
            |script| choice.algorithm.write(script, &call),
            |script| all.iter().for_each(|&rank| script.compute(rank, time)),
        );
        self.all = all;
    }
}
