//! Relieving the fullest channels of finished tables, one change at a time.
//!
//! A change gives one switch another path to one LID: the paths that pass the switch leave the channels of
//! the old path, a full one among them, for those of the new. It is made if no channel of the new path gets
//! fuller than a target, so that every change is a gain, and the target is found by bisection: down to the
//! minimum load of the channel, or to where some channel has no such change left. From there on some changes
//! may fill other channels, which are relieved in turn.
//!
//! Only the LIDs behind a full channel are examined, which makes this far cheaper than routing all of them
//! again.

use std::cmp::Reverse;

use darkfiber_fabric::{AtPort, Fabric, SwitchId};

use super::guard::Guard;
use super::job_tables::Tables;
use super::phases::Shifts;
use crate::{NO_ROUTE, Routes};

/// Most changes that fill another channel.
const PUSHES: usize = 64;

/// A bound may be reached at once that is at most one in this many away.
const NEAR: u64 = 8;

/// A LID to which paths may be changed.
pub(super) struct Destination<'a> {
    /// Its row of the table.
    pub(super) row: usize,
    /// Hops of every switch to its own.
    pub(super) dist: &'a [u32],
    /// Switches whose paths count, and how many paths each has.
    pub(super) sources: &'a [(u32, u32)],
}

/// A change: a switch sends to another port.
#[derive(Clone, Copy)]
struct Change {
    /// Number of the destination.
    dest: usize,
    switch: u32,
    port: u8,
    /// Paths that pass the switch.
    paths: u64,
}

/// Tables with shortest paths, and the loads of their channels.
#[derive(Clone)]
pub(super) struct Relief<'a> {
    fabric: &'a Fabric,
    dests: &'a [Destination<'a>],
    routes: Routes,
    load: Vec<u64>,
    /// Entries that must stay, where there are such.
    held: Option<&'a Routes>,
    /// Guard against longer shifts, where that matters.
    guard: Option<Guard<'a>>,
    /// Number of times that the paths to a LID may still be followed.
    effort: usize,
    /// Per switch the paths to the LID at hand that pass it.
    through: Vec<u64>,
    /// Per switch the last time that it was looked at, and the time.
    seen: Vec<u32>,
    now: u32,
    /// Changes that undo what was done.
    undo: Vec<Change>,
}

impl<'a> Relief<'a> {
    pub(super) fn new(fabric: &'a Fabric, dests: &'a [Destination<'a>], tables: Tables) -> Self {
        let n = fabric.switch_count();
        let Tables { routes, load } = tables;
        let (through, seen) = (vec![0; n], vec![0; n]);
        Self {
            fabric,
            dests,
            routes,
            load,
            held: None,
            guard: None,
            effort: usize::MAX,
            through,
            seen,
            now: 0,
            undo: Vec::new(),
        }
    }

    /// Ensures that no shift takes longer than by the current tables; `None` if that takes too much
    /// memory.
    pub(super) fn guarded(self, shifts: &'a Shifts<'a>, strict: bool) -> Option<Self> {
        let guard = Guard::new(shifts, &self.routes, strict)?;
        Some(Self { guard: Some(guard), ..self })
    }

    /// From here on shifts may take longer.
    pub(super) fn unguarded(self) -> Self {
        Self { guard: None, ..self }
    }

    /// The tables in their current state.
    pub(super) fn routes(&self) -> &Routes {
        &self.routes
    }

    /// As [`Self::new`], where some entries must stay, and the paths to a LID may be followed only a limited number of times.
    pub(super) fn around(
        fabric: &'a Fabric,
        dests: &'a [Destination<'a>],
        tables: Tables,
        held: &'a Routes,
        effort: usize,
    ) -> Self {
        Self { held: Some(held), effort, ..Self::new(fabric, dests, tables) }
    }

    /// As [`Self::new`], where the loads are not known.
    pub(super) fn counted(
        fabric: &'a Fabric,
        dests: &'a [Destination<'a>],
        routes: Routes,
    ) -> Self {
        let load = vec![0; fabric.channel_count()];
        let mut new = Self::new(fabric, dests, Tables { routes, load });
        for dest in dests {
            for &(source, paths) in dest.sources {
                new.pass(dest, source, |_, load| *load += u64::from(paths));
            }
        }
        new
    }

    /// The tables in their current state.
    pub(super) fn into_tables(self) -> Tables {
        Tables { routes: self.routes, load: self.load }
    }

    /// The load of the fullest channel.
    pub(super) fn largest(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Lowers the largest load as far as possible, at most to `bound`.
    ///
    /// Complexity: for each target and full channel O(LIDs), and O(sources x hops + candidates x hops) for
    /// each LID whose paths cross it.
    pub(super) fn run(&mut self, bound: u64) {
        let (mut low, mut high) = (bound, self.largest());
        while low < high {
            let target = low.midpoint(high);
            let done = self.lower(target);
            high = self.largest();
            if !done {
                low = target + 1;
            }
        }
        if high > bound && high - bound <= bound / NEAR {
            self.lower_by_pushing(bound);
        }
    }

    /// Lowers the largest load further, by changes that fill other channels, too.
    pub(super) fn run_on(&mut self, bound: u64) {
        let (mut low, mut high) = (bound, self.largest());
        while low < high {
            let target = low.midpoint(high);
            if self.lower_by_pushing(target) {
                high = self.largest();
            } else {
                low = target + 1;
            }
        }
    }

    /// Brings all loads to `target` at most; whether that works.
    fn lower(&mut self, target: u64) -> bool {
        let mut full: Vec<usize> =
            (0..self.load.len()).filter(|&c| self.load[c] > target).collect();
        full.sort_by_key(|&c| (Reverse(self.load[c]), c));
        full.into_iter().all(|c| self.relieve(c, target))
    }

    /// Brings all loads to `target` also by changes that fill other channels; undoes them if that does not
    /// work, and returns whether it does.
    fn lower_by_pushing(&mut self, target: u64) -> bool {
        self.undo.clear();
        let mut pushed = Vec::new();
        while pushed.len() < PUSHES {
            let fullest = (0..self.load.len()).max_by_key(|&c| (self.load[c], Reverse(c)));
            let Some(c) = fullest.filter(|&c| self.load[c] > target) else { return true };
            if !self.relieve(c, target) && !self.push(c, &mut pushed) {
                break;
            }
        }
        while let Some(change) = self.undo.pop() {
            self.apply(change);
        }
        false
    }

    /// Brings the load of a channel to `target` by changes that bring no other above it.
    fn relieve(&mut self, c: usize, target: u64) -> bool {
        let (s, port) = (self.fabric.tails()[c], self.fabric.tail_ports()[c]);
        let mut switches = Vec::new();
        for (i, dest) in self.dests.iter().enumerate() {
            while self.routes.ports(dest.row)[s as usize] == port {
                let Some(effort) = self.effort.checked_sub(1) else { return false };
                self.effort = effort;
                self.collect(dest, s, &mut switches);
                let change = |&u: &u32| Some(self.best_change(i, s, u, target)?.1);
                let Some(change) = switches.iter().find_map(change) else { break };
                self.make(change);
                if self.load[c] <= target {
                    return true;
                }
            }
        }
        false
    }

    /// Makes the change that relieves a channel and fills others the least; returns whether there is one.
    /// No switch is moved to another path for a LID twice.
    fn push(&mut self, c: usize, pushed: &mut Vec<(usize, u32)>) -> bool {
        let (s, port) = (self.fabric.tails()[c], self.fabric.tail_ports()[c]);
        let mut switches = Vec::new();
        let (mut least, mut best) = (u64::MAX, None);
        for (i, dest) in self.dests.iter().enumerate() {
            if self.routes.ports(dest.row)[s as usize] != port {
                continue;
            }
            let Some(effort) = self.effort.checked_sub(1) else { return false };
            self.effort = effort;
            self.collect(dest, s, &mut switches);
            for &u in switches.iter().filter(|&&u| !pushed.contains(&(i, u))) {
                if let Some((most, change)) = self.best_change(i, s, u, least - 1) {
                    (least, best) = (most, Some(change));
                }
            }
        }
        let Some(change) = best else { return false };
        pushed.push((change.dest, change.switch));
        self.make(change);
        true
    }

    /// Collects the switches whose paths pass `s`, the nearest first, and how many paths pass each.
    fn collect(&mut self, dest: &Destination<'_>, s: u32, switches: &mut Vec<u32>) {
        switches.clear();
        self.now += 1;
        let ports = self.routes.ports(dest.row);
        let near = dest.dist[s as usize];
        for &(source, paths) in dest.sources {
            let mut at = source;
            while dest.dist[at as usize] > near {
                at = next(self.fabric, ports, at).1;
            }
            if at != s {
                continue;
            }
            at = source;
            loop {
                if self.seen[at as usize] != self.now {
                    self.seen[at as usize] = self.now;
                    self.through[at as usize] = 0;
                    switches.push(at);
                }
                self.through[at as usize] += u64::from(paths);
                if at == s {
                    break;
                }
                at = next(self.fabric, ports, at).1;
            }
        }
        switches.sort_unstable_by_key(|&u| (dest.dist[u as usize], u));
    }

    /// The best change by which switch `u`, whose path passes the channel that `s` sends on, takes
    /// another path that does not, and the load of the fullest channel of the new path; `None` if that is
    /// above `target`.
    fn best_change(&mut self, i: usize, s: u32, u: u32, target: u64) -> Option<(u64, Change)> {
        let (fabric, dest) = (self.fabric, &self.dests[i]);
        if self.held.is_some_and(|held| held.ports(dest.row)[u as usize] != NO_ROUTE) {
            return None;
        }
        let ports = self.routes.ports(dest.row);
        let paths = self.through[u as usize];
        let hops = |s: u32| dest.dist[s as usize];
        self.now += 1;
        let mut at = u;
        while hops(at) > 0 {
            at = next(fabric, ports, at).1;
            self.seen[at as usize] = self.now;
        }
        // To follow the pairs takes its time, and most changes fill some channel anyway.
        let mut taken = false;
        let mut best = None;
        let mut target = target;
        for first in fabric.channels_from(SwitchId(u)) {
            let port = fabric.tail_ports()[first];
            let mut at = fabric.heads()[first];
            if port == ports[u as usize] || hops(at) + 1 != hops(u) {
                continue;
            }
            // Where the paths meet, the rest is unchanged.
            let mut most = self.load[first] + paths;
            while self.seen[at as usize] != self.now && most <= target {
                let (c, v) = next(fabric, ports, at);
                most = most.max(self.load[c as usize] + paths);
                at = v;
            }
            let mut fits = most <= target && (u == s || hops(at) < hops(s));
            if fits && let Some(guard) = &mut self.guard {
                if !std::mem::replace(&mut taken, true) {
                    guard.take(dest.row, ports, dest.dist, u);
                }
                fits = guard.allows(first as u32);
                let mut at = fabric.heads()[first];
                while self.seen[at as usize] != self.now && fits {
                    let (c, v) = next(fabric, ports, at);
                    fits = guard.allows(c);
                    at = v;
                }
            }
            if fits {
                best = Some((most, Change { dest: i, switch: u, port, paths }));
                match most.checked_sub(1) {
                    Some(less) => target = less,
                    None => break,
                }
            }
        }
        best
    }

    /// Makes a change that can be taken back.
    fn make(&mut self, change: Change) {
        let port = self.apply(change);
        self.undo.push(Change { port, ..change });
    }

    /// Makes a change; returns the port that was in its place.
    fn apply(&mut self, change: Change) -> u8 {
        let Change { dest, switch, port, paths } = change;
        let dest = &self.dests[dest];
        let mut guard = self.guard.take();
        if let Some(guard) = &mut guard {
            guard.take(dest.row, self.routes.ports(dest.row), dest.dist, switch);
        }
        let mut count = |c: u32, add: bool| {
            if let Some(guard) = &mut guard {
                guard.count(c, add);
            }
        };
        self.pass(dest, switch, |c, load| {
            *load -= paths;
            count(c, false);
        });
        let entry = &mut self.routes.ports_mut(dest.row)[switch as usize];
        let old = std::mem::replace(entry, port);
        self.pass(dest, switch, |c, load| {
            *load += paths;
            count(c, true);
        });
        self.guard = guard;
        old
    }

    /// Calls `change` with every channel on the path from `s` and its load.
    fn pass(&mut self, dest: &Destination<'_>, s: u32, mut change: impl FnMut(u32, &mut u64)) {
        let ports = self.routes.ports(dest.row);
        let mut at = s;
        while dest.dist[at as usize] > 0 {
            let (c, v) = next(self.fabric, ports, at);
            change(c, &mut self.load[c as usize]);
            at = v;
        }
    }
}

/// The channel that a switch sends on, and its head.
#[inline]
fn next(fabric: &Fabric, ports: &[u8], s: u32) -> (u32, u32) {
    match fabric.at_port(SwitchId(s), ports[s as usize]) {
        AtPort::Switch(c, v) => (c.0, v.0),
        _ => unreachable!("a switch at a distance has a way"),
    }
}
