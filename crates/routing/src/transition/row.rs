//! One destination LID: where old and new entries together may lead its packets.
//!
//! The graph of both next hops of every switch holds every path that any interleaving of writes can make. If it is
//! acyclic, one order of the switches serves all passes; each pass carries the lanes of connections along the
//! paths of one obligation and records the dependencies that they make. Cost: O(switches) a row.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};

use super::before::Before;
use super::graphs::{Graphs, put};
use super::ranks::Precedence;
use crate::check::dependency::Dependencies;
use crate::check::sources::Sources;
use crate::routes::{DELIVER, NO_ROUTE};
use crate::{DestId, Routes};

pub(super) const NONE: u32 = u32::MAX;
/// A cable from a switch to itself.
const LOOPBACK: u32 = u32::MAX - 1;

/// The old and new tables of a transition.
pub(super) struct Tables<'a> {
    pub(super) in_place: &'a Routes,
    pub(super) new: &'a Routes,
    /// All states that connections may come from, the last in place.
    pub(super) states: Vec<Before<'a>>,
    pub(super) sources: Vec<Sources>,
    pub(super) new_sources: Sources,
    /// Lanes that any state uses.
    pub(super) every: u32,
    /// Whether the service levels of all old states are known.
    pub(super) has_levels: bool,
    /// Whether all old states are known to be free of deadlock, so that none needs to be checked again.
    pub(super) known_free: bool,
}

/// Switches around which packets to a destination may loop.
#[derive(Clone, Debug)]
pub(super) struct Circle {
    pub(super) dest: usize,
    pub(super) path: usize,
    pub(super) switches: Vec<u32>,
}

/// Old and new next channel of every switch towards one LID, [`NONE`] where packets are delivered or dropped.
pub(super) struct Hops {
    pub(super) next: [Vec<u32>; 2],
}

impl Hops {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let none = || vec![NONE; fabric.switch_count()];
        Self { next: [none(), none()] }
    }

    /// Reads the rows of LID `path` of terminal `dest`; whether no entry names a port of a terminal.
    pub(super) fn read(
        &mut self,
        fabric: &Fabric,
        tables: &Tables<'_>,
        dest: usize,
        path: usize,
    ) -> bool {
        let mut common = true;
        for (next, routes) in self.next.iter_mut().zip([tables.in_place, tables.new]) {
            let ports = routes.ports(routes.row(DestId::new(dest), path));
            for (s, (next, &port)) in next.iter_mut().zip(ports).enumerate() {
                *next = match port {
                    NO_ROUTE | DELIVER => NONE,
                    port => match fabric.at_port(SwitchId::new(s), port) {
                        AtPort::Switch(channel, _) => channel.0,
                        AtPort::Terminal(_) => {
                            common = false;
                            NONE
                        }
                        AtPort::Nothing => NONE,
                        AtPort::Loopback => LOOPBACK,
                    },
                };
            }
        }
        common
    }

    #[inline]
    pub(super) fn changed(&self, s: usize) -> bool {
        self.next[0][s] != self.next[1][s]
    }
}

/// Where what is found in rows goes.
#[derive(Clone, Copy)]
pub(super) struct Findings<'a> {
    pub(super) graphs: &'a Graphs,
    pub(super) first: &'a Precedence,
    pub(super) order: Order,
    /// Set where the order asks for more because pairs that work are kept.
    pub(super) asks_more: &'a AtomicBool,
}

/// What the order of switches is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Order {
    /// Whether only rows of which a mix loops rank switches. Of the others all mixes are put into [`Graphs::ordered`].
    pub(super) of_loops_only: bool,
    /// Whether pairs that the tables in place connect stay connected from rank to rank: a switch is written after those on its new
    /// path that lead nowhere as yet.
    pub(super) keeps_pairs: bool,
}

/// Scratch memory of a task for its rows, and its findings.
pub(super) struct Row<'a> {
    fabric: &'a Fabric,
    tables: &'a Tables<'a>,
    paths: Vec<usize>,
    hops: Hops,
    /// Lanes that connections begin in at each switch: old ones, all.
    own: [Vec<u32>; 2],
    /// Lanes that pass each switch on old paths, by old connections and by all; on new paths; on new ends of
    /// old beginnings; on any mix.
    pass: [Vec<u32>; 5],
    /// Switches that the old entries connect with the destination, and those that these send to by new entries.
    works: Vec<bool>,
    needed: Vec<bool>,
    search: Search,
    pub(super) mixed_loop: Option<Circle>,
    pub(super) ordered_loop: Option<Circle>,
}

impl<'a> Row<'a> {
    pub(super) fn new(fabric: &'a Fabric, tables: &'a Tables<'a>) -> Self {
        let zeros = || vec![0; fabric.switch_count()];
        Self {
            fabric,
            tables,
            paths: tables.paths(),
            hops: Hops::new(fabric),
            own: [zeros(), zeros()],
            pass: [zeros(), zeros(), zeros(), zeros(), zeros()],
            works: vec![false; fabric.switch_count()],
            needed: vec![false; fabric.switch_count()],
            search: Search::new(fabric.switch_count()),
            mixed_loop: None,
            ordered_loop: None,
        }
    }

    /// Whether rows treat all terminals of a run alike.
    fn treats_alike(&mut self, run: &Range<usize>) -> bool {
        let Self { fabric, tables, paths, hops, .. } = self;
        run.len() == 1 || paths.iter().all(|&p| hops.read(fabric, tables, run.start, p))
    }

    /// Goes through all rows of a run: at once if they treat its terminals alike, else one by one.
    pub(super) fn visit(&mut self, run: &Range<usize>, into: Findings<'_>) {
        let alike = self.treats_alike(run);
        let paths = std::mem::take(&mut self.paths);
        for &path in &paths {
            if alike {
                self.row(run, path, into);
            } else {
                run.clone().for_each(|d| self.row(&(d..d + 1), path, into));
            }
        }
        self.paths = paths;
    }

    /// Calls `made` for each dependency that the new paths of a run make, and its lanes; `false` if they loop.
    pub(super) fn dependencies(
        &mut self,
        run: &Range<usize>,
        mut made: impl FnMut(u32, u32, u32),
    ) -> bool {
        let alike = self.treats_alike(run);
        let paths = std::mem::take(&mut self.paths);
        let runs = if alike { vec![run.clone()] } else { run.clone().map(|d| d..d + 1).collect() };
        let mut all = runs.iter().flat_map(|run| paths.iter().map(move |&path| (run, path)));
        let ends = all.all(|(run, path)| self.dependencies_on(run, path, &mut made));
        self.paths = paths;
        ends
    }

    fn dependencies_on(
        &mut self,
        run: &Range<usize>,
        path: usize,
        made: &mut impl FnMut(u32, u32, u32),
    ) -> bool {
        let fabric = self.fabric;
        self.hops.read(fabric, self.tables, run.start, path);
        let [old, all] = &mut self.own;
        self.tables.masks(fabric, run, path, old, all);
        let (new, lanes) = (&self.hops.next[1], all);
        if self.search.order(fabric, [new, new], |s| lanes[s] != 0).is_err() {
            return false;
        }
        for &s in self.search.order.iter().rev() {
            let (c, mask) = (new[s as usize], lanes[s as usize]);
            if c == NONE || mask == 0 {
                continue;
            }
            let v = fabric.heads()[c as usize] as usize;
            lanes[v] |= mask;
            if new[v] != NONE {
                made(c, new[v], mask);
            }
        }
        true
    }

    fn row(&mut self, run: &Range<usize>, path: usize, into: Findings<'_>) {
        let graphs = into.graphs;
        self.hops.read(self.fabric, self.tables, run.start, path);
        let [old, all] = &mut self.own;
        self.tables.masks(self.fabric, run, path, old, all);
        for pass in &mut self.pass {
            pass.fill(0);
        }
        let circle = |switches| Circle { dest: run.start, path, switches };
        let (fabric, own) = (self.fabric, &self.own[1]);
        let [old, new] = &self.hops.next;
        let starts = |s: usize| own[s] != 0;
        let mixed = self.search.order(fabric, [old, new], starts);
        match mixed {
            Ok(()) => {
                let order = std::mem::take(&mut self.search.order);
                self.find_connected(&order, run.start);
                if into.order.of_loops_only {
                    self.mixed_ways(&order, &graphs.ordered);
                } else {
                    self.old_ways(&order, graphs);
                    self.mixed_ways(&order, &graphs.mixed);
                    self.new_ways(&order, graphs);
                }
                self.order_of_switches(&order, into, !into.order.of_loops_only);
                self.search.order = order;
            }
            Err(switches) => {
                self.mixed_loop.get_or_insert_with(|| circle(switches));
                self.apart(&circle, run.start, into);
            }
        }
    }

    /// The passes of a row in which a mix loops: each set of paths in its own order.
    fn apart(&mut self, circle: &dyn Fn(Vec<u32>) -> Circle, dest: usize, into: Findings<'_>) {
        let graphs = into.graphs;
        let fabric = self.fabric;
        let own = &self.own[1];
        let [old, new] = &self.hops.next;
        if let Err(switches) = self.search.order(fabric, [old, old], |s| own[s] != 0) {
            self.ordered_loop.get_or_insert_with(|| circle(switches));
            // The new paths alone are still to be judged.
            let own = &self.own[1];
            if self.search.order(fabric, [new, new], |s| own[s] != 0).is_ok() {
                let order = std::mem::take(&mut self.search.order);
                self.new_ways(&order, graphs);
                self.search.order = order;
            }
            return;
        }
        let order = std::mem::take(&mut self.search.order);
        self.find_connected(&order, dest);
        self.old_ways(&order, graphs);
        let (own, old) = (&self.own[1], &self.pass[1]);
        let met = |s: usize| own[s] | old[s] != 0;
        let new = &self.hops.next[1];
        let found = self.search.order(fabric, [new, new], met);
        match found {
            Ok(()) => {
                let order = std::mem::take(&mut self.search.order);
                self.new_ways(&order, graphs);
                self.order_of_switches(&order, into, true);
                self.search.order = order;
            }
            Err(switches) => {
                self.ordered_loop.get_or_insert_with(|| circle(switches));
                let (own, new) = (&self.own[1], &self.hops.next[1]);
                if self.search.order(fabric, [new, new], |s| own[s] != 0).is_ok() {
                    let order = std::mem::take(&mut self.search.order);
                    self.new_ways(&order, graphs);
                    self.search.order = order;
                }
            }
        }
    }

    /// Old paths: in flight (O3), and as beginnings (O5).
    fn old_ways(&mut self, downstream_first: &[u32], graphs: &Graphs) {
        let [old, new] = &self.hops.next;
        let [flight, begun, ..] = &mut self.pass;
        for &s in downstream_first.iter().rev() {
            let s = s as usize;
            flight[s] |= self.own[0][s];
            begun[s] |= self.own[1][s];
            let c = old[s];
            if c == NONE || begun[s] == 0 {
                continue;
            }
            let (f, b) = (flight[s], begun[s]);
            let v = self.fabric.heads()[c as usize] as usize;
            flight[v] |= f;
            begun[v] |= b;
            if old[v] != NONE {
                put(&graphs.flight, self.fabric, c, old[v], f);
                put(&graphs.ordered, self.fabric, c, old[v], b);
            }
            if new[v] < LOOPBACK && new[v] != old[v] {
                put(&graphs.ordered, self.fabric, c, new[v], b);
            }
        }
    }

    /// New paths: in the end (O2), in flight (O3), and after old beginnings (O5).
    fn new_ways(&mut self, downstream_first: &[u32], graphs: &Graphs) {
        let new = &self.hops.next[1];
        let [_, begun, steady, ended, _] = &mut self.pass;
        for &s in downstream_first.iter().rev() {
            let s = s as usize;
            steady[s] |= self.own[1][s];
            ended[s] |= self.own[1][s] | begun[s];
            let c = new[s];
            if c == NONE || ended[s] == 0 {
                continue;
            }
            let (a, e) = (steady[s], ended[s]);
            let v = self.fabric.heads()[c as usize] as usize;
            steady[v] |= a;
            ended[v] |= e;
            if new[v] != NONE {
                put(&graphs.steady, self.fabric, c, new[v], a);
                put(&graphs.flight, self.fabric, c, new[v], a);
                put(&graphs.ordered, self.fabric, c, new[v], e);
            }
        }
    }

    /// Any mix of old and new entries (O4).
    fn mixed_ways(&mut self, downstream_first: &[u32], graph: &Dependencies) {
        let next = &self.hops.next;
        let mixed = &mut self.pass[4];
        for &s in downstream_first.iter().rev() {
            let s = s as usize;
            mixed[s] |= self.own[1][s];
            let mask = mixed[s];
            for k in 0..2 {
                let c = next[k][s];
                if c == NONE || mask == 0 || k == 1 && c == next[0][s] {
                    continue;
                }
                let v = self.fabric.heads()[c as usize] as usize;
                mixed[v] |= mask;
                for (j, d) in [next[0][v], next[1][v]].into_iter().enumerate() {
                    if d != NONE && (j == 0 || d != next[0][v]) {
                        put(graph, self.fabric, c, d, mask);
                    }
                }
            }
        }
    }

    /// Finds the switches that old entries connect with terminal `dest`.
    fn find_connected(&mut self, downstream_first: &[u32], dest: usize) {
        let home = self.fabric.terminal(TerminalId::new(dest)).switch.0;
        self.works.fill(false);
        for &s in downstream_first {
            let c = self.hops.next[0][s as usize];
            let leads_on = || c < LOOPBACK && self.works[self.fabric.heads()[c as usize] as usize];
            self.works[s as usize] = s == home || leads_on();
        }
    }

    /// Every switch comes after the next changed one on its new path, if the old entry of that one
    /// leads on, where `all`; and, where pairs are kept, if it leads nowhere that switches which are connected can need.
    fn order_of_switches(&mut self, downstream_first: &[u32], into: Findings<'_>, all: bool) {
        let hops = &self.hops;
        self.needed.clone_from(&self.works);
        for &s in downstream_first.iter().rev() {
            let c = hops.next[1][s as usize];
            if c < LOOPBACK && self.needed[s as usize] {
                self.needed[self.fabric.heads()[c as usize] as usize] = true;
            }
        }
        // The pass of mixes is done with; its place serves to remember the next changed switch.
        let following = &mut self.pass[4];
        for &s in downstream_first {
            let i = s as usize;
            let at = match hops.next[1][i] {
                NONE => NONE,
                c => {
                    let v = self.fabric.heads()[c as usize] as usize;
                    if hops.changed(v) { v as u32 } else { following[v] }
                }
            };
            following[i] = at;
            if !hops.changed(i) || at == NONE {
                continue;
            }
            let leads_on = hops.next[0][at as usize] != NONE;
            let is_lost = into.order.keeps_pairs && self.needed[i] && !self.works[at as usize];
            if all && leads_on || is_lost {
                into.first.put(at, s);
                if !(all && leads_on) {
                    into.asks_more.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}

/// A depth-first search through the next hops of one row.
struct Search {
    /// Switches that were reached, downstream before upstream.
    order: Vec<u32>,
    mark: Vec<u8>,
    stack: Vec<(u32, u8)>,
}

const UNSEEN: u8 = 0;
const OPEN: u8 = 1;
const DONE: u8 = 2;

impl Search {
    fn new(switches: usize) -> Self {
        Self {
            order: Vec::with_capacity(switches),
            mark: vec![UNSEEN; switches],
            stack: Vec::new(),
        }
    }

    /// Orders the nodes that `starts` reach over either of two next hops; returns a cycle if they
    /// loop.
    fn order(
        &mut self,
        fabric: &Fabric,
        next: [&Vec<u32>; 2],
        starts: impl Fn(usize) -> bool,
    ) -> Result<(), Vec<u32>> {
        self.order.clear();
        self.mark.fill(UNSEEN);
        self.stack.clear();
        for start in 0..self.mark.len() {
            if self.mark[start] != UNSEEN || !starts(start) {
                continue;
            }
            self.mark[start] = OPEN;
            self.stack.push((start as u32, 0));
            while let Some(&mut (s, ref mut k)) = self.stack.last_mut() {
                let i = s as usize;
                if *k == 2 {
                    self.stack.pop();
                    self.mark[i] = DONE;
                    self.order.push(s);
                    continue;
                }
                let c = next[*k as usize][i];
                let again = *k == 1 && c == next[0][i];
                *k += 1;
                if c == NONE || again {
                    continue;
                }
                if c == LOOPBACK {
                    return Err(vec![s]);
                }
                let v = fabric.heads()[c as usize];
                match self.mark[v as usize] {
                    UNSEEN => {
                        self.mark[v as usize] = OPEN;
                        self.stack.push((v, 0));
                    }
                    OPEN => {
                        let from = self.stack.iter().position(|&(s, _)| s == v).unwrap_or(0);
                        return Err(self.stack[from..].iter().map(|&(s, _)| s).collect());
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}
