//! Old tables together with what one pass over them gives.

use darkfiber_fabric::{ChannelId, Fabric};

use super::RerouteError;
use super::channel::{NONE, channel};
use super::graph::{Layer, Slots};
use super::labels::{layers, layers_of};
use super::traffic::{Gone, Traffic};
use super::tree::Tree;
use crate::{DELIVER, Demand, NO_ROUTE, Routes};

/// Tables that are ready to be repaired: with the load of every channel, the counted channel
/// dependencies of every layer, and all faults so far.
///
/// Memory: the tables, and 4 bytes a layer for each pair of channels that meet in a switch.
#[derive(Clone)]
pub struct Prepared<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) routes: Routes,
    pub(super) lanes: u8,
    pub(super) gone: Gone,
    pub(super) traffic: Traffic,
    /// Load of each inter-switch channel: ordered pairs of terminals, or what they send.
    pub(super) load: Vec<u64>,
    /// Time of each channel for the same amount, relative to the fastest one; 1 where pairs are counted.
    pub(super) slowness: Vec<f64>,
    pub(super) slots: Slots,
    /// Channel dependencies, by layer.
    pub(super) layers: Vec<Layer>,
    /// Most channels that a path between terminals crosses.
    pub(super) longest: usize,
    /// Rows on which a source did not reach, or that did not lead to a switch from all others with terminals, before any fault.
    pub(super) broken: Vec<usize>,
    /// Rows of switches that some other switch did not reach, as in tables of `updn`.
    pub(super) with_gaps: Vec<usize>,
    /// Rows and switches with an entry that leads into a port without a cable, before any fault: tables of a fabric from before one.
    pub(super) unconnected: Vec<(usize, u32)>,
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
        // Tables are repaired, and groups of ports would name what has failed.
        routes.groups = None;
        routes.condense(fabric);
        let unconnected = routes.unconnected(fabric);
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
            with_gaps: Vec::new(),
            unconnected,
        })
    }

    /// As [`Prepared::new`], but loads are what terminals send to each other instead of counting all pairs alike.
    /// Channels slower than the fastest count by transfer time.
    ///
    /// Complexity: that of [`Prepared::new`], and of sorting the demands.
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

    /// The same tables, whose loads are what terminals send to each other. Dependencies remain those of all pairs: only
    /// loads change from one mix of jobs to the next.
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

    /// Counts the loads of the current tables; dependencies stay.
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

    /// The current tables, in the ids of the original fabric; rows and entries of what has failed are
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
    pub(super) fn count(&mut self) -> usize {
        let fabric = self.fabric;
        self.load = vec![0; fabric.channel_count()];
        self.layers = Vec::new();
        self.broken = Vec::new();
        self.with_gaps = Vec::new();
        let mut longest = 0;
        let mut tree = Tree::new(fabric.switch_count());
        // By layer, the sources whose paths pass each switch, and what they send.
        let mut passing: Vec<Vec<u32>> = Vec::new();
        let mut sent = vec![0u64; fabric.switch_count()];
        for row in 0..self.traffic.rows.len() {
            let home = self.traffic.rows[row].home;
            if !self.traffic.rows[row].live {
                continue;
            }
            let ports = self.routes.ports(row);
            tree.read(fabric, ports, home);
            let broken = self.is_broken(row, |s| tree.hops(s).is_some());
            let all_reach = || (0..fabric.switch_count() as u32).all(|s| tree.hops(s).is_some());
            if self.traffic.is_of_switch(row) && !all_reach() {
                self.with_gaps.push(row);
            }
            let mut masks = 0;
            for (s, _) in self.traffic.sources(row) {
                let mask = layers_of(fabric, &self.routes, row, s);
                while 32 - mask.leading_zeros() as usize > self.layers.len() {
                    self.layers.push(Layer::new(&self.slots));
                    passing.push(vec![0; fabric.switch_count()]);
                }
                let Some(hops) = tree.hops(s) else { continue };
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

    /// Whether the destination of a row does not deliver, or a switch that must reach it does not. Tables without any entry for a switch
    /// have no LID for it.
    pub(super) fn is_broken(&self, row: usize, mut reaches: impl FnMut(u32) -> bool) -> bool {
        let ports = self.routes.ports(row);
        let has_entries = || ports.iter().any(|&port| port != DELIVER && port != NO_ROUTE);
        let to = &self.traffic.rows[row];
        to.live
            && (!self.traffic.is_of_switch(row) || has_entries())
            && (ports[to.home as usize] != DELIVER
                || !self.traffic.must_reach(row).all(&mut reaches))
    }

    pub(super) fn largest_load(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Adds to `way` the channels that a packet of a row crosses from a switch on, failed ones included;
    /// returns whether it arrives.
    pub(super) fn follow(&self, row: usize, from: u32, way: &mut Vec<u32>) -> bool {
        let ports = self.routes.ports(row);
        let home = self.traffic.rows[row].home;
        let mut at = from;
        for _ in 0..ports.len() {
            let c = channel(self.fabric, ports, at);
            if c == NONE {
                return at == home && ports[at as usize] == DELIVER;
            }
            way.push(c);
            at = self.fabric.heads()[c as usize];
        }
        false
    }

    /// Whether a packet can cross a channel.
    #[inline]
    pub(super) fn works(&self, c: u32) -> bool {
        !self.gone.channel[c as usize]
    }
}
