//! A fabric as flows see it: channels with capacities and latencies, and the paths that routes take over them.

use darkfiber_fabric::{ChannelId, Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Routes, Step, step};
use darkfiber_workload::play::Host;

use crate::Path;

/// A fabric, its routes, and the capacities of its channels.
///
/// Channels are those of [`Fabric`]: switch to switch, ejection, injection.
pub struct Network<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    capacity: Vec<f64>,
    latency: Vec<u64>,
    switch: u64,
    adapters: u64,
    /// Of each terminal, in one place: its switch and its host.
    home: Vec<(u32, u32)>,
    /// Index in `paths` of the path of (row, source switch), 0 until it is needed; empty until enough paths were requested
    /// that it pays.
    known: Vec<u32>,
    /// Paths that were requested without it.
    asked: usize,
    /// Length, latency in two parts, channels between switches.
    paths: Vec<u32>,
    /// Paths that are being followed.
    open: Vec<u32>,
}

/// The table of paths has at most this many entries.
const KEPT: usize = 1 << 27;
/// The index is made once a path was requested for one in this number of entries.
const PAYS: usize = 16;
/// Length and latency before the channels of a path.
const HEAD: usize = 3;

impl<'a> Network<'a> {
    /// A network of hosts of one kind. Capacities are in bytes a picosecond, latencies in picoseconds.
    ///
    /// # Panics
    /// If the routes are of another fabric.
    pub fn new(fabric: &'a Fabric, routes: &'a Routes, host: &Host) -> Self {
        assert_eq!(routes.switch_count(), fabric.switch_count(), "routes of another fabric");
        assert_eq!(routes.terminal_count(), fabric.terminal_count(), "routes of another fabric");
        let (m, t) = (fabric.channel_count(), fabric.terminal_count());
        let rate = |bytes: u64| (bytes.max(1) as f64) * host.efficiency * 1e-12;
        let mut capacity = Vec::with_capacity(m + 2 * t);
        let mut latency = Vec::with_capacity(m + 2 * t);
        for c in (0..m).map(ChannelId::new) {
            let class = fabric.class_of(c);
            capacity.push(rate(class.bytes_per_second));
            latency.push(class.latency_ps);
        }
        // Ejection, then injection.
        for _ in 0..2 {
            for terminal in (0..t).map(TerminalId::new) {
                let class = fabric.terminal_class(terminal);
                capacity
                    .push(rate(class.bytes_per_second).min(host.adapter_bytes_per_second * 1e-12));
                latency.push(class.latency_ps);
            }
        }
        Self {
            fabric,
            routes,
            capacity,
            latency,
            switch: host.switch,
            adapters: host.adapters,
            home: (0..t)
                .map(TerminalId::new)
                .map(|x| (fabric.terminal(x).switch.0, fabric.host_of(x).0))
                .collect(),
            known: Vec::new(),
            asked: 0,
            paths: vec![0],
            open: Vec::new(),
        }
    }

    /// The same network with another capacity for all channels between switches, in bytes a second.
    #[must_use]
    pub fn with_link_rate(mut self, bytes_per_second: f64) -> Self {
        let m = self.fabric.channel_count();
        self.capacity[..m].fill(bytes_per_second * 1e-12);
        self
    }

    /// The same network with other latencies of cables between switches and to hosts, in picoseconds, where they are given.
    #[must_use]
    pub fn with_latencies(mut self, [between, hosts]: [Option<u64>; 2]) -> Self {
        let m = self.fabric.channel_count();
        for (latency, of) in [(between, 0..m), (hosts, m..self.latency.len())] {
            if let Some(latency) = latency {
                self.latency[of].fill(latency);
            }
        }
        self
    }

    /// Fabric of the network.
    pub fn fabric(&self) -> &'a Fabric {
        self.fabric
    }

    /// Routes of the network.
    pub fn routes(&self) -> &'a Routes {
        self.routes
    }

    #[inline]
    fn switch_of(&self, terminal: TerminalId) -> SwitchId {
        SwitchId(self.home[terminal.index()].0)
    }

    /// The host of a terminal.
    #[inline]
    pub(crate) fn host_of(&self, terminal: TerminalId) -> u32 {
        self.home[terminal.index()].1
    }

    /// The channel from a terminal to its switch.
    pub(crate) fn injection(&self, terminal: TerminalId) -> u32 {
        let before = self.fabric.channel_count() + self.fabric.terminal_count();
        (before + terminal.index()) as u32
    }

    /// Capacity of each channel, in bytes a picosecond.
    pub fn capacities(&self) -> &[f64] {
        &self.capacity
    }

    /// Follows paths through the tables.
    ///
    /// They advance together, each a step at a time: a step mostly waits for memory, so the waits overlap.
    pub fn follow(&mut self, paths: &mut [Path]) {
        let (m, t) = (self.fabric.channel_count(), self.fabric.terminal_count());
        let mut open = std::mem::take(&mut self.open);
        open.clear();
        for (i, p) in (0..).zip(&mut *paths) {
            p.channels.clear();
            p.channels.push((m + t + p.from.index()) as u32);
            p.row = self.routes.row(DestId::terminal(p.to), p.number);
            p.at = self.switch_of(p.from);
            p.latency = Some(self.latency[m + t + p.from.index()]);
            if self.routes.hashed.is_some() {
                self.follow_hashes(p);
            } else if !self.recall(p) {
                open.push(i);
            }
        }
        while !open.is_empty() {
            open.retain(|&i| self.go_on(&mut paths[i as usize]));
        }
        self.open = open;
    }

    /// Follows a path whose switches pick next hops by hashes.
    fn follow_hashes(&self, p: &mut Path) {
        if !self.routes.flow_path(self.fabric, p.from, p.to, p.number, &mut p.channels) {
            p.latency = None;
            return;
        }
        let cables = p.channels[1..].iter().map(|&c| self.latency[c as usize] + self.switch);
        let latency = self.switch + cables.sum::<u64>();
        self.arrive(p, latency);
    }

    /// Ends a path as it was followed before, if it was.
    fn recall(&mut self, p: &mut Path) -> bool {
        if self.known.is_empty() {
            self.asked += 1;
            let entries = self.routes.row_count() * self.fabric.switch_count();
            if self.asked * PAYS > entries && entries <= KEPT {
                self.known = vec![0; entries];
            }
            return false;
        }
        let at = self.known[p.row * self.fabric.switch_count() + p.at.index()] as usize;
        if at == 0 {
            return false;
        }
        let length = self.paths[at] as usize;
        p.channels.extend_from_slice(&self.paths[at + HEAD..at + HEAD + length]);
        self.arrive(p, self.known_latency(at));
        true
    }

    /// The latency of a path that begins at this place of [`Self::paths`].
    fn known_latency(&self, at: usize) -> u64 {
        u64::from(self.paths[at + 1]) | u64::from(self.paths[at + 2]) << 32
    }

    /// One step; whether there are more.
    #[inline]
    fn go_on(&mut self, p: &mut Path) -> bool {
        match step(self.fabric, self.routes.ports(p.row), p.to, p.at) {
            Step::To(c) if p.channels.len() <= self.fabric.switch_count() => {
                p.channels.push(c.0);
                p.at = self.fabric.head(c);
                true
            }
            Step::To(_) | Step::Drops => {
                p.latency = None;
                false
            }
            Step::Delivers => {
                // A row that terminals share delivers at their switch: their paths are the same up to there.
                let inner = &p.channels[1..];
                let cables = inner.iter().map(|&c| self.latency[c as usize] + self.switch);
                let latency = self.switch + cables.sum::<u64>();
                if !self.known.is_empty() {
                    let source = self.switch_of(p.from).index();
                    let slot = p.row * self.fabric.switch_count() + source;
                    self.known[slot] = self.paths.len() as u32;
                    self.paths.push(inner.len() as u32);
                    self.paths.extend([latency as u32, (latency >> 32) as u32]);
                    self.paths.extend_from_slice(inner);
                }
                self.arrive(p, latency);
                false
            }
        }
    }

    /// Puts the end to a path; `latency` is that between the two cables of terminals.
    fn arrive(&self, p: &mut Path, latency: u64) {
        let last = self.fabric.channel_count() + p.to.index();
        p.channels.push(last as u32);
        p.latency = p.latency.map(|first| self.adapters + first + latency + self.latency[last]);
    }

    /// The latency of an empty message on the path that the routes state, in picoseconds; 0 without a route.
    pub fn latency(&self, from: TerminalId, to: TerminalId) -> u64 {
        let (m, t) = (self.fabric.channel_count(), self.fabric.terminal_count());
        if self.routes.hashed.is_some() {
            let mut path = Path::new(from, to, 0);
            path.channels.push((m + t + from.index()) as u32);
            path.latency = Some(self.latency[m + t + from.index()]);
            self.follow_hashes(&mut path);
            return path.latency.unwrap_or(0);
        }
        let row = self.routes.row(DestId::terminal(to), self.routes.path_of(from));
        let source = self.switch_of(from);
        let slot = row * self.fabric.switch_count() + source.index();
        let inner = match self.known.get(slot) {
            Some(&at) if at != 0 => self.known_latency(at as usize),
            _ => self.inner_latency(source, to, row).unwrap_or(0),
        };
        self.adapters + self.latency[m + to.index()] + self.latency[m + t + from.index()] + inner
    }

    /// The latency of switches and of cables between them.
    fn inner_latency(&self, source: SwitchId, to: TerminalId, row: usize) -> Option<u64> {
        let ports = self.routes.ports(row);
        let (mut at, mut latency) = (source, self.switch);
        for _ in 0..=self.fabric.switch_count() {
            match step(self.fabric, ports, to, at) {
                Step::Delivers => return Some(latency),
                Step::Drops => break,
                Step::To(c) => {
                    latency += self.latency[c.index()] + self.switch;
                    at = self.fabric.head(c);
                }
            }
        }
        None
    }
}
