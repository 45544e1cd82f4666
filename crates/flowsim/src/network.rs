//! A fabric as flows see it: channels with capacities and latencies, and the paths that routes take over them.

use darkfiber_fabric::{ChannelId, Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Routes, Step, step};
use darkfiber_workload::play::Host;
use thiserror::Error;

/// A message between terminals without a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no route from terminal {} to terminal {}", from.0, to.0)]
pub struct NoRoute {
    /// Where it would come from.
    pub from: TerminalId,
    /// Where it would go.
    pub to: TerminalId,
}

/// A fabric, its routes, and what its channels can carry.
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
    /// Where the path of (row, source switch) begins in `paths`, 0 until it is asked for; empty until so many paths were
    /// asked for that it pays.
    known: Vec<u32>,
    /// Paths that were asked for without it.
    asked: usize,
    /// Length, latency in two parts, channels.
    paths: Vec<u32>,
}

/// The table of paths has at most so many entries.
const KEPT: usize = 1 << 27;
/// It is made once a path was asked for as often as one in so many entries.
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
        }
    }

    /// The same network with another capacity for all channels between switches, in bytes a second.
    #[must_use]
    pub fn with_link_rate(mut self, bytes_per_second: f64) -> Self {
        let m = self.fabric.channel_count();
        self.capacity[..m].fill(bytes_per_second * 1e-12);
        self
    }

    /// The fabric.
    pub fn fabric(&self) -> &'a Fabric {
        self.fabric
    }

    /// The routes.
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

    /// What each channel carries, in bytes a picosecond.
    pub fn capacities(&self) -> &[f64] {
        &self.capacity
    }

    /// The channels of a path, from injection to ejection, into `channels`; returns its latency in picoseconds, adapters
    /// included.
    ///
    /// # Errors
    /// If there is no route.
    pub fn path(
        &mut self,
        from: TerminalId,
        to: TerminalId,
        path: usize,
        channels: &mut Vec<u32>,
    ) -> Result<u64, NoRoute> {
        let (m, t) = (self.fabric.channel_count(), self.fabric.terminal_count());
        channels.clear();
        channels.push((m + t + from.index()) as u32);
        let ends =
            self.adapters + self.latency[m + to.index()] + self.latency[m + t + from.index()];
        let row = self.routes.row(DestId::terminal(to), path);
        let source = self.switch_of(from);
        if self.known.is_empty() {
            self.asked += 1;
            let entries = self.routes.row_count() * self.fabric.switch_count();
            if self.asked * PAYS > entries && entries <= KEPT {
                self.known = vec![0; entries];
            }
        }
        let inner = if self.known.is_empty() {
            self.follow(from, to, row, channels)?
        } else {
            // A row that terminals share delivers at their switch: their paths are the same up to there.
            let slot = row * self.fabric.switch_count() + source.index();
            if self.known[slot] == 0 {
                let latency = self.follow(from, to, row, channels)?;
                self.known[slot] = self.paths.len() as u32;
                self.paths.push(channels.len() as u32 - 1);
                self.paths.extend([latency as u32, (latency >> 32) as u32]);
                self.paths.extend_from_slice(&channels[1..]);
                latency
            } else {
                let at = self.known[slot] as usize;
                let length = self.paths[at] as usize;
                channels.extend_from_slice(&self.paths[at + HEAD..at + HEAD + length]);
                u64::from(self.paths[at + 1]) | u64::from(self.paths[at + 2]) << 32
            }
        };
        channels.push((m + to.index()) as u32);
        Ok(ends + inner)
    }

    /// The latency of an empty message on the path that the routes state, in picoseconds; 0 without a route.
    pub fn latency(&self, from: TerminalId, to: TerminalId) -> u64 {
        let (m, t) = (self.fabric.channel_count(), self.fabric.terminal_count());
        let row = self.routes.row(DestId::terminal(to), self.routes.path_of(from));
        let slot = row * self.fabric.switch_count() + self.switch_of(from).index();
        let inner = match self.known.get(slot) {
            Some(&at) if at != 0 => {
                let at = at as usize;
                u64::from(self.paths[at + 1]) | u64::from(self.paths[at + 2]) << 32
            }
            _ => self.follow(from, to, row, &mut Vec::new()).unwrap_or(0),
        };
        self.adapters + self.latency[m + to.index()] + self.latency[m + t + from.index()] + inner
    }

    /// Follows the tables; returns the latency of switches and of cables between them.
    fn follow(
        &self,
        from: TerminalId,
        to: TerminalId,
        row: usize,
        channels: &mut Vec<u32>,
    ) -> Result<u64, NoRoute> {
        let ports = self.routes.ports(row);
        let mut at = self.switch_of(from);
        let mut latency = self.switch;
        for _ in 0..=self.fabric.switch_count() {
            match step(self.fabric, ports, to, at) {
                Step::Delivers => return Ok(latency),
                Step::Drops => break,
                Step::To(c) => {
                    channels.push(c.0);
                    latency += self.latency[c.index()] + self.switch;
                    at = self.fabric.head(c);
                }
            }
        }
        Err(NoRoute { from, to })
    }
}
