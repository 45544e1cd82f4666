//! The shifts of a job, and how long tables make them take.
//!
//! In the `k`-th shift each rank sends to the one `k` further on: the phases of an Alltoall by pairwise exchange,
//! among others. A phase takes as long as its fullest channel, so the sum of these over all shifts is the time
//! that tables cost a job, whereas the number of its routes on a channel (the effective EFI) does not reflect
//! which of them are in use together.

use std::collections::BTreeMap;

use darkfiber_fabric::{AtPort, Fabric, TerminalId};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

use crate::{DestId, Routes};

/// Orders of ranks that are drawn for each job, for programs that number their ranks otherwise.
const DRAWN: usize = 4;
/// Larger jobs have none: their shifts differ little between orders.
const MOST_DRAWN: usize = 512;
/// In drawn orders shifts may take longer by one in this many.
const SLACK: u64 = 20;

/// The orders in which the ranks of a job that crosses switches might be numbered.
pub(super) struct Orders {
    /// Terminals by rank: by rising terminal, as batch systems do, and as the job lists them.
    pub(super) known: Vec<Vec<u32>>,
    /// Orders of ranks that were drawn.
    drawn: Vec<Vec<u32>>,
}

/// The shifts of all jobs.
pub(super) struct Shifts<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) jobs: Vec<Orders>,
    /// Per terminal the jobs that it is in.
    pub(super) jobs_of: BTreeMap<u32, Vec<u32>>,
}

/// Duration of the shifts of a job: in each known order, and in all drawn ones together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Length {
    known: Vec<u64>,
    drawn: u64,
}

impl Length {
    /// Whether shifts take no longer than these, in drawn orders hardly longer.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let known = self.known.iter().zip(&other.known).all(|(ours, theirs)| ours <= theirs);
        known && self.drawn <= other.drawn + other.drawn / SLACK
    }
}

impl<'a> Shifts<'a> {
    pub(super) fn new(fabric: &'a Fabric, jobs: &[Vec<TerminalId>]) -> Self {
        let mut shifts = Self { fabric, jobs: Vec::new(), jobs_of: BTreeMap::new() };
        let mut seen = vec![usize::MAX; fabric.terminal_count()];
        for (j, job) in jobs.iter().enumerate() {
            let is_first = |t: &&TerminalId| std::mem::replace(&mut seen[t.index()], j) != j;
            let listed: Vec<u32> = job.iter().filter(is_first).map(|t| t.0).collect();
            let switches = job.iter().map(|&t| fabric.terminal(t).switch);
            if switches.clone().max() == switches.min() {
                continue;
            }
            for &t in &listed {
                shifts.jobs_of.entry(t).or_default().push(shifts.jobs.len() as u32);
            }
            shifts.jobs.push(Orders::new(listed));
        }
        shifts
    }

    /// Duration of the shifts of each job with these tables.
    pub(super) fn lengths(&self, routes: &Routes) -> Vec<Length> {
        let length = |orders: &Orders| Length {
            known: orders.known.iter().map(|order| self.length(routes, order)).collect(),
            drawn: orders.drawn.iter().map(|order| self.length(routes, order)).sum(),
        };
        self.jobs.par_iter().map(length).collect()
    }

    /// The sum over all shifts of the load of the fullest channel.
    fn length(&self, routes: &Routes, order: &[u32]) -> u64 {
        let load = || vec![0u16; self.fabric.channel_count()];
        let fullest = |load: &mut Vec<u16>, k| u64::from(self.fullest(routes, order, k, load));
        (1..order.len()).into_par_iter().map_init(load, fullest).sum()
    }

    /// The load of the fullest channel in the `k`-th shift; `load` is zero before and after.
    fn fullest(&self, routes: &Routes, order: &[u32], k: usize, load: &mut [u16]) -> u16 {
        let mut most = 0;
        let shifted = order.iter().cycle().skip(k);
        for (&source, &dest) in order.iter().zip(shifted.clone()) {
            self.follow(routes, source, dest, |c| {
                load[c] += 1;
                most = most.max(load[c]);
            });
        }
        for (&source, &dest) in order.iter().zip(shifted) {
            self.follow(routes, source, dest, |c| load[c] = 0);
        }
        most
    }

    /// Calls `f` with each channel on the path of a pair of terminals.
    pub(super) fn follow(&self, routes: &Routes, source: u32, dest: u32, mut f: impl FnMut(usize)) {
        let ports = routes.ports(routes.row(DestId(dest), 0));
        let mut at = self.fabric.terminal(TerminalId(source)).switch;
        while let AtPort::Switch(c, head) = self.fabric.at_port(at, ports[at.index()]) {
            f(c.index());
            at = head;
        }
    }
}

impl Orders {
    fn new(listed: Vec<u32>) -> Self {
        let mut sorted = listed.clone();
        sorted.sort_unstable();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(sorted.len() as u64);
        let mut draw = |_| {
            let mut order = sorted.clone();
            for i in (1..order.len()).rev() {
                order.swap(i, (random.next_u64() % (i as u64 + 1)) as usize);
            }
            order
        };
        let drawn = if sorted.len() <= MOST_DRAWN { DRAWN } else { 0 };
        let drawn = (0..drawn).map(&mut draw).collect();
        let known = if sorted == listed { vec![sorted] } else { vec![sorted, listed] };
        Self { known, drawn }
    }
}
