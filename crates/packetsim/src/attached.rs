//! Latencies of messages in addition to those of switches: hosts' memory, adapters, and the minimum latency through the
//! network.

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_workload::play::{Delivery, Departure, Host};

use crate::routing::Distances;
use crate::{Net, SwitchModel};

/// Hosts, attached to a network.
pub(crate) struct Attached<'a> {
    net: &'a Net,
    pub(crate) host: &'a Host,
    /// Mean latency of a switch from head to head, in picoseconds.
    pipeline: u64,
    distances: Distances,
    /// By terminal, the host that it is of.
    host_of: Vec<u32>,
}

impl<'a> Attached<'a> {
    pub(crate) fn new(net: &'a Net, model: &SwitchModel, fabric: &Fabric, host: &'a Host) -> Self {
        let all = (0..net.terminal_count()).map(TerminalId::new);
        Self {
            net,
            host,
            pipeline: model.mean_pipeline(),
            distances: Distances::new(net),
            host_of: all.map(|t| fabric.host_of(t).0).collect(),
        }
    }

    /// Minimum delay from a packet's departure at a last switch until any terminal is notified, in picoseconds, if no packet
    /// is shorter than this number of bytes; `None` without terminals.
    pub(crate) fn ahead(&self, shortest: u32) -> Option<u64> {
        let last = |t: u32| {
            let port = self.net.port(self.net.home(t));
            port.long(shortest) + u64::from(port.latency)
        };
        (0..self.net.terminal_count() as u32).map(last).min()
    }

    pub(crate) fn share_a_host(&self, from: TerminalId, to: TerminalId) -> bool {
        self.host_of[from.index()] == self.host_of[to.index()]
    }

    /// The least time from one terminal to another, in picoseconds: that of an empty message over a shortest path.
    pub(crate) fn latency(&self, from: TerminalId, to: TerminalId) -> u64 {
        if self.share_a_host(from, to) {
            return self.host.memory_latency;
        }
        let home = |t: TerminalId| self.net.port(self.net.home(t.0));
        let mut s = home(from).switch;
        let last = home(to).switch;
        let cables = u64::from(home(from).latency + home(to).latency);
        let mut sum = self.host.adapters + cables + self.pipeline;
        while s != last {
            let port = self.net.base(s) + self.distances.first(s, last);
            sum += u64::from(self.net.port(port).latency) + self.pipeline;
            let Some(next) = self.net.next(port) else { break };
            s = next;
        }
        sum
    }

    /// Departure and arrival of a message that stays within a host; `None` if it goes over the network.
    pub(crate) fn through_memory(&self, now: u64, d: &Departure) -> Option<Delivery> {
        if !self.share_a_host(d.from, d.to) {
            return None;
        }
        #[expect(clippy::cast_sign_loss, reason = "neither is below zero")]
        let long = (d.bytes as f64 / (self.host.memory_bytes_per_second * 1e-12)).ceil() as u64;
        let left = now + long;
        Some(Delivery { message: d.message, left, arrives: left + self.host.memory_latency })
    }
}
