//! Old tables with what one pass over them gives.

use darkfiber_fabric::{AtPort, ChannelId, Fabric, Faults, SwitchId};

use super::RerouteError;
use super::cut::Cut;
use super::graph::{Layer, Slots};
use super::labels::{condense, layers_of};
use super::mend::layers;
use super::outcome::{Change, Moved, Outcome};
use super::traffic::{Gone, Traffic};
use crate::{DELIVER, Demand, NO_ROUTE, Routes};

/// No channel: a switch delivers, or has no route.
pub(super) const NONE: u32 = u32::MAX;

/// Tables that are ready to be mended: with the load of every channel, the counted channel dependencies
/// of every layer, and what has failed so far.
///
/// Memory: the tables, and 4 bytes a layer for each pair of channels that meet in a switch.
#[derive(Clone)]
pub struct Prepared<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) routes: Routes,
    pub(super) lanes: u8,
    pub(super) gone: Gone,
    pub(super) traffic: Traffic,
    /// What crosses each inter-switch channel: ordered pairs of terminals, or what they send.
    pub(super) load: Vec<u64>,
    /// How much longer each channel takes for the same than the fastest one; 1 where pairs are counted.
    pub(super) slowness: Vec<f64>,
    pub(super) slots: Slots,
    /// Dependencies, by layer.
    pub(super) layers: Vec<Layer>,
    /// Most channels that a path between terminals crosses.
    pub(super) longest: usize,
    /// Rows on which a source did not reach, before any fault.
    pub(super) broken: Vec<usize>,
}

impl<'a> Prepared<'a> {
    /// Prepares `routes` of `fabric`. New paths may use `lanes` virtual layers (those that the routes
    /// have already are not taken away).
    ///
    /// Complexity: O(LIDs x switches with terminals x hops).
    ///
    /// # Errors
    /// [`RerouteError::OtherFabric`] and [`RerouteError::MixedRow`].
    pub fn new(fabric: &'a Fabric, routes: &Routes, lanes: u8) -> Result<Self, RerouteError> {
        let (switches, terminals) = (routes.switch_count(), routes.terminal_count());
        if (switches, terminals) != (fabric.switch_count(), fabric.terminal_count()) {
            return Err(RerouteError::OtherFabric { switches, terminals });
        }
        let gone = Gone::nothing(fabric);
        let traffic = Traffic::new(fabric, routes, &gone)?;
        let mut routes = routes.clone();
        condense(fabric, &mut routes);
        let mut prepared = Self {
            fabric,
            routes,
            lanes,
            gone,
            traffic,
            load: Vec::new(),
            slowness: vec![1.0; fabric.channel_count()],
            slots: Slots::new(fabric),
            layers: Vec::new(),
            longest: 0,
            broken: Vec::new(),
        };
        prepared.longest = prepared.count();
        Ok(prepared)
    }

    /// The same, but loads are what terminals send to each other instead of counting all pairs alike. Channels of
    /// other speed than the fastest count by the time that they take.
    ///
    /// Complexity: O(demands x hops), and sorting them.
    #[must_use]
    pub fn with_demands(mut self, demands: &[Demand]) -> Self {
        let fabric = self.fabric;
        self.traffic = self.traffic.with_amounts(fabric, &self.routes, demands);
        let speed = |c| fabric.class_of(ChannelId::new(c)).bytes_per_second.max(1) as f64;
        let fastest = (0..fabric.channel_count()).map(speed).fold(1.0, f64::max);
        self.slowness = (0..fabric.channel_count()).map(|c| fastest / speed(c)).collect();
        self.count_loads();
        self
    }

    /// The fabric that the tables were made for.
    pub fn fabric(&self) -> &'a Fabric {
        self.fabric
    }

    /// The tables as they are now, in the ids of that fabric; rows and entries of what has failed are
    /// still there.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The same, as they leave it.
    pub fn into_routes(self) -> Routes {
        self.routes
    }

    /// Counts loads and dependencies of all paths between terminals that have not failed; returns the
    /// channels of the longest.
    fn count(&mut self) -> usize {
        let fabric = self.fabric;
        self.load = vec![0; fabric.channel_count()];
        self.layers = Vec::new();
        self.broken = Vec::new();
        let mut longest = 0;
        let mut tree = Tree::new(fabric.switch_count());
        // By layer, the sources whose paths pass each switch; what they send.
        let mut passing: Vec<Vec<u32>> = Vec::new();
        let mut sent = vec![0u64; fabric.switch_count()];
        for row in 0..self.traffic.rows.len() {
            let home = self.traffic.rows[row].home;
            if !self.traffic.rows[row].live {
                continue;
            }
            let ports = self.routes.ports(row);
            tree.read(fabric, ports, home);
            let mut broken = ports[home as usize] != DELIVER;
            let mut masks = 0;
            for (s, pairs) in self.traffic.sources(row) {
                let mask = layers_of(fabric, &self.routes, row, home, s);
                while 32 - mask.leading_zeros() as usize > self.layers.len() {
                    self.layers.push(Layer::new(&self.slots));
                    passing.push(vec![0; fabric.switch_count()]);
                }
                let Some(hops) = tree.hops(s) else {
                    broken = true;
                    continue;
                };
                longest = longest.max(hops);
                sent[s as usize] = pairs;
                masks |= mask;
                for layer in layers(mask) {
                    passing[usize::from(layer)][s as usize] = 1;
                }
            }
            for &s in &tree.order {
                let pairs = std::mem::take(&mut sent[s as usize]);
                let c = tree.next[s as usize];
                if c == NONE {
                    continue;
                }
                let head = fabric.heads()[c as usize] as usize;
                if !self.traffic.has_amounts() {
                    self.load[c as usize] += pairs;
                }
                sent[head] += pairs;
                let d = tree.next[head];
                for layer in layers(masks) {
                    let passing = &mut passing[usize::from(layer)];
                    let paths = std::mem::take(&mut passing[s as usize]);
                    passing[head] += paths;
                    if d != NONE && paths > 0 {
                        self.layers[usize::from(layer)].count(&self.slots, fabric, c, d, paths);
                    }
                }
            }
            for layer in layers(masks) {
                passing[usize::from(layer)][home as usize] = 0;
            }
            if broken {
                self.broken.push(row);
            }
        }
        for layer in &mut self.layers {
            layer.sort(&self.slots, fabric);
        }
        if self.traffic.has_amounts() {
            self.count_loads();
        }
        longest
    }

    /// Counts loads from what is sent.
    fn count_loads(&mut self) {
        self.load = vec![0; self.fabric.channel_count()];
        let mut way = Vec::new();
        for row in (0..self.traffic.rows.len()).filter(|&row| self.traffic.rows[row].live) {
            for &(s, amount) in self.traffic.amounts(row) {
                way.clear();
                if self.traffic.pairs(row, s) > 0 && self.follow(row, s, &mut way) {
                    for &c in &way {
                        self.load[c as usize] += amount;
                    }
                }
            }
        }
    }

    /// Mends the tables for faults that come on top of those so far (and for whatever did not reach
    /// before), and stays at the new tables.
    ///
    /// Complexity: O(rows + channels + cut-off switches x ports x hops) and the searches of paths that
    /// do not follow the order; faults that include switches or terminals count all paths anew.
    ///
    /// # Errors
    /// [`RerouteError::CutOff`], [`RerouteError::Lanes`]; nothing has changed then.
    ///
    /// # Panics
    /// If a fault names an id that the fabric does not have.
    pub fn reroute(&mut self, faults: &Faults) -> Result<Outcome, RerouteError> {
        let load_before = self.largest_load();
        let live_before = self.traffic.rows.iter().filter(|row| row.live).count();
        let undo = self.take_away(faults);
        let live = self.traffic.rows.iter().filter(|row| row.live).count();
        let mut cuts = self.cuts(&undo.channels);
        let rows = cuts.len();
        match self.mend(&mut cuts, load_before) {
            Ok(mended) => {
                self.broken.clear();
                let coexistence = self.coexistence(&cuts, &mended.moved);
                self.release(mended.held);
                Ok(Outcome {
                    rows,
                    rows_eased: cuts[rows..].iter().filter(|cut| self.differs(cut)).count(),
                    rows_lost: live_before - live,
                    changes: self.changes(&cuts),
                    moved: mended.moved,
                    dead_ends: mended.dead_ends,
                    load_before,
                    load_after: self.largest_load(),
                    coexistence,
                })
            }
            Err((error, moved)) => {
                for cut in &cuts {
                    for node in &cut.nodes {
                        self.routes.ports_mut(cut.row)[node.switch as usize] = node.old;
                    }
                }
                self.bring_back(&undo, &moved);
                Err(error)
            }
        }
    }

    fn largest_load(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    fn differs(&self, cut: &Cut) -> bool {
        let ports = self.routes.ports(cut.row);
        cut.nodes.iter().any(|node| ports[node.switch as usize] != node.old)
    }

    pub(super) fn changes(&self, cuts: &[Cut]) -> Vec<Change> {
        let mut changes = Vec::new();
        for cut in cuts {
            let ports = self.routes.ports(cut.row);
            for node in &cut.nodes {
                let new = ports[node.switch as usize];
                if new != node.old {
                    let switch = SwitchId(node.switch);
                    changes.push(Change { switch, row: cut.row as u32, old: node.old, new });
                }
            }
        }
        changes.sort_unstable();
        changes
    }

    /// Marks what fails, and counts anew if senders or destinations are among it.
    fn take_away(&mut self, faults: &Faults) -> Undo {
        let fabric = self.fabric;
        let mut undo = Undo::default();
        let mut links: Vec<u32> = faults.links.iter().map(|c| c.0).collect();
        for &s in &faults.switches {
            links.extend(fabric.channels_from(s).map(|c| c as u32));
            undo.terminals.extend(fabric.terminals_on(s));
            if !std::mem::replace(&mut self.gone.switch[s.index()], true) {
                undo.switches.push(s.index());
            }
        }
        for c in links {
            for c in [c, fabric.reverses()[c as usize]] {
                if !std::mem::replace(&mut self.gone.channel[c as usize], true) {
                    undo.channels.push(c);
                }
            }
        }
        undo.terminals.extend(faults.terminals.iter().map(|t| t.index()));
        undo.terminals.retain(|&t| !std::mem::replace(&mut self.gone.terminal[t], true));
        if !undo.switches.is_empty() || !undo.terminals.is_empty() {
            self.read_traffic();
            self.count();
        }
        undo
    }

    fn read_traffic(&mut self) {
        let read = Traffic::new(self.fabric, &self.routes, &self.gone);
        let before =
            std::mem::replace(&mut self.traffic, read.expect("these rows were read before"));
        self.traffic.take_amounts_of(before);
    }

    fn bring_back(&mut self, undo: &Undo, moved: &[Moved]) {
        for &c in &undo.channels {
            self.gone.channel[c as usize] = false;
        }
        for &s in &undo.switches {
            self.gone.switch[s] = false;
        }
        for &t in &undo.terminals {
            self.gone.terminal[t] = false;
        }
        for m in moved.iter().rev() {
            self.relabel(m.row as usize, m.source.0, m.new, m.old);
        }
        self.read_traffic();
        self.count();
    }
}

/// What a change of the faults changed.
#[derive(Default)]
struct Undo {
    channels: Vec<u32>,
    switches: Vec<usize>,
    terminals: Vec<usize>,
}

/// The inter-switch channel that `s` sends on.
#[inline]
pub(super) fn channel(fabric: &Fabric, ports: &[u8], s: u32) -> u32 {
    channel_at(fabric, s, ports[s as usize])
}

/// The inter-switch channel behind a table entry of `s`.
#[inline]
pub(super) fn channel_at(fabric: &Fabric, s: u32, entry: u8) -> u32 {
    match entry {
        DELIVER | NO_ROUTE => NONE,
        port => match fabric.at_port(SwitchId(s), port) {
            AtPort::Switch(c, _) => c.0,
            _ => NONE,
        },
    }
}

/// The way of a row from all switches.
struct Tree {
    /// The channel that each switch sends on.
    next: Vec<u32>,
    /// The switches, each before the one that it sends to; those that send round in circles are left out.
    order: Vec<u32>,
    /// Channels to the destination, [`NONE`] if packets get lost.
    hops: Vec<u32>,
    waits: Vec<u32>,
}

impl Tree {
    fn new(switches: usize) -> Self {
        let none = || vec![NONE; switches];
        Self { next: none(), order: Vec::new(), hops: none(), waits: vec![0; switches] }
    }

    fn read(&mut self, fabric: &Fabric, ports: &[u8], home: u32) {
        let heads = fabric.heads();
        for s in 0..self.next.len() {
            self.next[s] = channel(fabric, ports, s as u32);
            if self.next[s] != NONE {
                self.waits[heads[self.next[s] as usize] as usize] += 1;
            }
        }
        self.order.clear();
        self.order.extend((0..self.next.len() as u32).filter(|&s| self.waits[s as usize] == 0));
        let mut done = 0;
        while let Some(&s) = self.order.get(done) {
            done += 1;
            let c = self.next[s as usize];
            if c != NONE {
                let head = heads[c as usize];
                self.waits[head as usize] -= 1;
                if self.waits[head as usize] == 0 {
                    self.order.push(head);
                }
            }
        }
        // Whoever waits still is in a circle.
        self.waits.fill(0);
        self.hops.fill(NONE);
        if ports[home as usize] == DELIVER {
            self.hops[home as usize] = 0;
        }
        for &s in self.order.iter().rev() {
            let c = self.next[s as usize];
            if c != NONE {
                let behind = self.hops[heads[c as usize] as usize];
                self.hops[s as usize] = if behind == NONE { NONE } else { behind + 1 };
            }
        }
    }

    fn hops(&self, s: u32) -> Option<usize> {
        let hops = self.hops[s as usize];
        (hops != NONE).then_some(hops as usize)
    }
}
