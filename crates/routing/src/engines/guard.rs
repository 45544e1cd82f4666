//! Watching the shifts of jobs while tables are changed.

use darkfiber_fabric::{AtPort, SwitchId, TerminalId};
use rayon::prelude::*;

use super::phases::{Orders, Shifts};
use crate::Routes;

/// Loads of single phases are kept while they are this many at most.
const KEPT: usize = 1 << 26;

/// Ensures that no shift of any job takes longer than at first.
#[derive(Clone)]
pub(super) struct Guard<'a> {
    shifts: &'a Shifts<'a>,
    /// LIDs a terminal has; messages go to the first.
    paths: usize,
    jobs: Vec<Watch>,
    /// The pairs at hand by job: the destination and its sources.
    moved: Vec<(u32, u32, Vec<u32>)>,
}

/// The state that is watched for a job.
#[derive(Clone)]
struct Watch {
    /// Known orders of its ranks.
    orders: Vec<Phases>,
    /// Who meets on each channel, where that matters.
    ends: Option<Ends>,
}

/// The loads of all phases in one order.
#[derive(Clone)]
struct Phases {
    /// Rank of each terminal of the job, by place in the first order.
    ranks: Vec<u32>,
    /// By phase and channel.
    load: Vec<u16>,
    /// Limit of the fullest channel in each phase.
    most: Vec<u16>,
}

/// The different sources and destinations of a job on each channel. The smaller of the two numbers is the
/// number of its pairs that may meet there, whatever the order of ranks.
#[derive(Clone)]
struct Ends {
    /// Pairs by source and channel, by destination and channel.
    from: Vec<u16>,
    to: Vec<u16>,
    /// Per channel how many different ones there are.
    sources: Vec<u16>,
    dests: Vec<u16>,
    /// How many may meet.
    most: Vec<u16>,
}

impl<'a> Guard<'a> {
    /// A guard over these tables: no shift in a known order may take longer than now. A `strict` one also
    /// prevents that more pairs of a job can meet on any channel. `None` if it takes too much memory.
    pub(super) fn new(shifts: &'a Shifts<'a>, routes: &Routes, strict: bool) -> Option<Self> {
        let cells = |orders: &Orders| orders.known.iter().map(Vec::len).sum::<usize>();
        let ranks: usize = shifts.jobs.iter().map(cells).sum();
        if ranks * shifts.fabric.channel_count() > KEPT {
            return None;
        }
        let watch = |orders: &Orders| {
            let first = &orders.known[0];
            let phases = |order: &Vec<u32>| Phases::new(shifts, routes, first, order);
            Watch {
                orders: orders.known.iter().map(phases).collect(),
                ends: strict.then(|| Ends::new(shifts, routes, first)),
            }
        };
        let jobs = shifts.jobs.par_iter().map(watch).collect();
        Some(Self { shifts, paths: routes.paths(), jobs, moved: Vec::new() })
    }

    /// Takes as the pairs at hand those of jobs to a LID that pass a switch.
    pub(super) fn take(&mut self, row: usize, ports: &[u8], dist: &[u32], s: u32) {
        self.moved.clear();
        let (fabric, dest) = (self.shifts.fabric, (row / self.paths) as u32);
        if !row.is_multiple_of(self.paths) {
            return;
        }
        let passes = |source: u32| {
            let mut at = fabric.terminal(TerminalId(source)).switch;
            while dist[at.index()] > dist[s as usize] {
                match fabric.at_port(at, ports[at.index()]) {
                    AtPort::Switch(_, head) => at = head,
                    _ => return false,
                }
            }
            at == SwitchId(s)
        };
        for &j in self.shifts.jobs_of.get(&dest).into_iter().flatten() {
            let terminals = (0..).zip(&self.shifts.jobs[j as usize].known[0]);
            let (mut to, mut from) = (0, Vec::new());
            for (place, &t) in terminals {
                if t == dest {
                    to = place;
                } else if passes(t) {
                    from.push(place);
                }
            }
            self.moved.push((j, to, from));
        }
    }

    /// Whether the pairs at hand may cross this channel, too.
    pub(super) fn allows(&self, c: u32) -> bool {
        self.moved.iter().all(|(j, to, from)| {
            let job = &self.jobs[*j as usize];
            job.orders.iter().all(|phases| phases.allows(self.shifts, c, *to, from))
                && job.ends.as_ref().is_none_or(|ends| ends.allows(c as usize, *to, from))
        })
    }

    /// Adds the pairs at hand to the loads of a channel, or takes them out.
    pub(super) fn count(&mut self, c: u32, add: bool) {
        for (j, to, from) in &self.moved {
            let job = &mut self.jobs[*j as usize];
            for phases in &mut job.orders {
                for &source in from {
                    let cell = phases.cell(self.shifts, c, *to, source).1;
                    let load = &mut phases.load[cell];
                    *load = if add { *load + 1 } else { *load - 1 };
                }
            }
            if let Some(ends) = &mut job.ends {
                for &source in from {
                    ends.count(c as usize, *to as usize, source as usize, add);
                }
            }
        }
    }
}

impl Phases {
    fn new(shifts: &Shifts<'_>, routes: &Routes, first: &[u32], order: &[u32]) -> Self {
        let channels = shifts.fabric.channel_count();
        let mut load = vec![0u16; order.len() * channels];
        load.par_chunks_mut(channels.max(1)).enumerate().skip(1).for_each(|(k, load)| {
            for (&source, &dest) in order.iter().zip(order.iter().cycle().skip(k)) {
                shifts.follow(routes, source, dest, |c| load[c] += 1);
            }
        });
        let most = load.chunks(channels.max(1));
        let most = most.map(|load| load.iter().copied().max().unwrap_or(0)).collect();
        let mut ranks = vec![0; order.len()];
        for (rank, t) in (0..).zip(order) {
            if let Ok(place) = first.binary_search(t) {
                ranks[place] = rank;
            }
        }
        Self { ranks, load, most }
    }

    /// The phase of a pair, given by places in the first order, and where its load on a channel is.
    #[inline]
    fn cell(&self, shifts: &Shifts<'_>, c: u32, to: u32, from: u32) -> (usize, usize) {
        let n = self.ranks.len() as u32;
        let phase = ((self.ranks[to as usize] + n - self.ranks[from as usize]) % n) as usize;
        (phase, phase * shifts.fabric.channel_count() + c as usize)
    }

    /// Whether pairs to one destination, each of which is in a separate phase, may cross a channel.
    fn allows(&self, shifts: &Shifts<'_>, c: u32, to: u32, from: &[u32]) -> bool {
        from.iter().all(|&source| {
            let (phase, cell) = self.cell(shifts, c, to, source);
            self.load[cell] < self.most[phase]
        })
    }
}

impl Ends {
    fn new(shifts: &Shifts<'_>, routes: &Routes, terminals: &[u32]) -> Self {
        let channels = shifts.fabric.channel_count();
        let none = vec![0u16; terminals.len() * channels];
        let zero = vec![0; channels];
        let (sources, dests, most) = (zero.clone(), zero.clone(), zero);
        let mut ends = Self { from: none.clone(), to: none, sources, dests, most };
        for (to, &dest) in terminals.iter().enumerate() {
            for (from, &source) in terminals.iter().enumerate().filter(|&(from, _)| from != to) {
                shifts.follow(routes, source, dest, |c| ends.count(c, to, from, true));
            }
        }
        ends.most = (0..channels).map(|c| ends.sources[c].min(ends.dests[c]).max(1)).collect();
        ends
    }

    /// Adds a pair to a channel, or takes it out.
    fn count(&mut self, c: usize, to: usize, from: usize, add: bool) {
        let channels = self.sources.len();
        let sides = [
            (&mut self.from[from * channels + c], &mut self.sources[c]),
            (&mut self.to[to * channels + c], &mut self.dests[c]),
        ];
        for (pairs, different) in sides {
            if add {
                *different += u16::from(*pairs == 0);
                *pairs += 1;
            } else {
                *pairs -= 1;
                *different -= u16::from(*pairs == 0);
            }
        }
    }

    /// Whether pairs to one destination may cross a channel.
    fn allows(&self, c: usize, to: u32, from: &[u32]) -> bool {
        let channels = self.sources.len();
        let is_new =
            |pairs: &[u16], place: u32| u16::from(pairs[place as usize * channels + c] == 0);
        let sources: u16 = from.iter().map(|&source| is_new(&self.from, source)).sum();
        let dests = if from.is_empty() { 0 } else { is_new(&self.to, to) };
        (self.sources[c] + sources).min(self.dests[c] + dests) <= self.most[c]
    }
}
