//! Old tables with what one pass over them gives.

use darkfiber_fabric::{AtPort, ChannelId, Fabric, Faults, SwitchId};

use super::RerouteError;
use super::cut::{Cut, Cuts};
use super::graph::{Layer, Slots};
use super::labels::layers_of;
use super::mend::{Freedom, layers};
use super::outcome::{Change, Moved, Outcome};
use super::traffic::{Gone, Traffic};
use super::tree::Tree;
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
    /// [`RerouteError::OtherFabric`], [`RerouteError::LanesByHop`] and [`RerouteError::MixedRow`].
    pub fn new(fabric: &'a Fabric, routes: &Routes, lanes: u8) -> Result<Self, RerouteError> {
        let mut prepared = Self::read(fabric, routes, lanes)?;
        prepared.longest = prepared.count();
        Ok(prepared)
    }

    /// Tables whose loads and dependencies are not counted yet.
    fn read(fabric: &'a Fabric, routes: &Routes, lanes: u8) -> Result<Self, RerouteError> {
        let (switches, terminals) = (routes.switch_count(), routes.terminal_count());
        if (switches, terminals) != (fabric.switch_count(), fabric.terminal_count()) {
            return Err(RerouteError::OtherFabric { switches, terminals });
        }
        if routes.layers.by_hop().is_some() {
            return Err(RerouteError::LanesByHop);
        }
        let gone = Gone::nothing(fabric);
        let traffic = Traffic::new(fabric, routes, &gone)?;
        let mut routes = routes.clone();
        routes.condense(fabric);
        Ok(Self {
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
        })
    }

    /// The same, but loads are what terminals send to each other instead of counting all pairs alike. Channels of
    /// other speed than the fastest count by the time that they take.
    ///
    /// Complexity: beside that of [`Prepared::new`], of sorting the demands.
    ///
    /// # Errors
    /// Those of [`Prepared::new`].
    pub fn with_demands(
        fabric: &'a Fabric,
        routes: &Routes,
        lanes: u8,
        demands: &[Demand],
    ) -> Result<Self, RerouteError> {
        Ok(Self::new(fabric, routes, lanes)?.serving(demands))
    }

    /// The same tables, whose loads are what terminals send to each other. Dependencies are those of all pairs, as they
    /// were: this is what changes from one mix of jobs to the next.
    ///
    /// Complexity: O(demands x hops), and sorting them.
    #[must_use]
    pub fn serving(mut self, demands: &[Demand]) -> Self {
        let fabric = self.fabric;
        self.traffic = self.traffic.with_amounts(fabric, &self.routes, demands);
        let speed = |c| fabric.class_of(ChannelId::new(c)).bytes_per_second.max(1) as f64;
        let fastest = (0..fabric.channel_count()).map(speed).fold(1.0, f64::max);
        self.slowness = (0..fabric.channel_count()).map(|c| fastest / speed(c)).collect();
        self.count_loads();
        self
    }

    /// Counts the loads of the tables as they are now; dependencies stay.
    pub(super) fn count_loads(&mut self) {
        self.load = vec![0; self.fabric.channel_count()];
        let mut way = Vec::new();
        for row in (0..self.traffic.rows.len()).filter(|&row| self.traffic.rows[row].live) {
            for (from, amount) in self.traffic.amounts(row) {
                way.clear();
                if self.follow(row, from, &mut way) {
                    for &c in &way {
                        self.load[c as usize] += amount;
                    }
                }
            }
        }
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
            for (s, _) in self.traffic.sources(row) {
                let mask = layers_of(fabric, &self.routes, row, s);
                while 32 - mask.leading_zeros() as usize > self.layers.len() {
                    self.layers.push(Layer::new(&self.slots));
                    passing.push(vec![0; fabric.switch_count()]);
                }
                let Some(hops) = tree.hops(s) else {
                    broken = true;
                    continue;
                };
                longest = longest.max(hops);
                masks |= mask;
                for layer in layers(mask) {
                    passing[usize::from(layer)][s as usize] = 1;
                }
            }
            for (s, amount) in self.traffic.amounts(row) {
                if tree.hops(s).is_some() {
                    sent[s as usize] = amount;
                }
            }
            for &s in &tree.order {
                let amount = std::mem::take(&mut sent[s as usize]);
                let c = tree.next[s as usize];
                if c == NONE {
                    continue;
                }
                let head = fabric.heads()[c as usize] as usize;
                self.load[c as usize] += amount;
                sent[head] += amount;
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
        longest
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
        self.reroute_with(faults, Freedom::ALL)
    }

    /// The same with as much freedom as is given.
    pub(super) fn reroute_with(
        &mut self,
        faults: &Faults,
        freedom: Freedom,
    ) -> Result<Outcome, RerouteError> {
        let load_before = self.largest_load();
        let live_before = self.traffic.rows.iter().filter(|row| row.live).count();
        let undo = self.take_away(faults);
        let live = self.traffic.rows.iter().filter(|row| row.live).count();
        let mut cuts = Cuts::new(self.cuts(&undo.channels));
        let rows = cuts.all.len();
        match self.mend(&mut cuts, load_before, freedom) {
            Ok(mended) => {
                self.broken.clear();
                let coexistence = self.coexistence(&cuts.all, &mended.moved);
                self.release(mended.held);
                let old_levels = self.cycle_of_old_levels(&mended.moved);
                Ok(Outcome {
                    rows,
                    rows_eased: cuts.all[rows..].iter().filter(|cut| self.differs(cut)).count(),
                    rows_lost: live_before - live,
                    changes: self.changes(&cuts.all),
                    moved: mended.moved,
                    dead_ends: mended.dead_ends,
                    load_before,
                    load_after: self.largest_load(),
                    coexistence,
                    old_levels,
                })
            }
            Err((error, moved)) => {
                for cut in &cuts.all {
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
