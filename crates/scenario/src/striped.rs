//! Messages that are divided over the planes of a fabric.

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_workload::play::{Delivery, Departure, NetworkModel};
use serde::{Deserialize, Serialize};

use crate::planes::{Rails, part};

/// A [`NetworkModel`] that divides the messages of some jobs into equal parts, one for each plane of the fabric. A message has left, and
/// arrived, when its last part has. Messages within a host, and those of fewer bytes than there are planes, are not divided.
pub(crate) struct Striped<'a, W> {
    pub(crate) inner: W,
    fabric: &'a Fabric,
    rails: Rails,
    /// Whether messages of each job are divided.
    is_divided: Vec<bool>,
    /// By message, its parts in flight, and when the last one left and arrived.
    pub(crate) parts: Vec<(u32, u64, u64)>,
    departures: Vec<Departure>,
    delivered: Vec<Delivery>,
}

/// The state that changes during simulation.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StripedState<S> {
    pub(crate) inner: S,
    pub(crate) parts: Vec<(u32, u64, u64)>,
}

impl<'a, W: NetworkModel> Striped<'a, W> {
    /// Divides the messages of those jobs that are `striped`, by their numbers.
    pub(crate) fn new(inner: W, fabric: &'a Fabric, striped: Vec<bool>) -> Self {
        let rails = Rails::new(fabric);
        let (parts, departures, delivered) = (Vec::new(), Vec::new(), Vec::new());
        Self { inner, fabric, rails, is_divided: striped, parts, departures, delivered }
    }

    /// Number of planes of the fabric.
    pub(crate) fn planes(&self) -> usize {
        self.rails.count()
    }

    /// Combines the deliveries of parts.
    fn join(&mut self, delivered: &mut Vec<Delivery>) {
        let planes = self.rails.count() as u32;
        for d in self.delivered.drain(..) {
            let message = d.message / planes;
            let (open, left, arrives) = &mut self.parts[message as usize];
            *open -= 1;
            *left = d.left.max(*left);
            *arrives = d.arrives.max(*arrives);
            if *open == 0 {
                delivered.push(Delivery { message, left: *left, arrives: *arrives });
            }
        }
    }
}

impl<W: NetworkModel> NetworkModel for Striped<'_, W> {
    fn latency(&self, from: TerminalId, to: TerminalId) -> u64 {
        self.inner.latency(from, to)
    }

    fn is_within_host(&self, from: TerminalId, to: TerminalId) -> bool {
        self.inner.is_within_host(from, to)
    }

    fn depart(&mut self, now: u64, departures: &[Departure], delivered: &mut Vec<Delivery>) {
        let planes = self.rails.count();
        for d in departures {
            let place = d.message as usize;
            if self.parts.len() <= place {
                self.parts.resize(place + 1, (0, 0, 0));
            }
            let is_whole = !self.is_divided[d.job as usize]
                || d.bytes < planes as u64
                || self.fabric.host_of(d.from) == self.fabric.host_of(d.to);
            let count = if is_whole { 1 } else { planes };
            self.parts[place] = (count as u32, 0, 0);
            for i in 0..count {
                let end = |t: TerminalId| if is_whole { t } else { self.rails.peers(t)[i] };
                self.departures.push(Departure {
                    message: d.message * planes as u32 + i as u32,
                    from: end(d.from),
                    to: end(d.to),
                    bytes: part(d.bytes, i, count),
                    ..*d
                });
            }
        }
        self.inner.depart(now, &self.departures, &mut self.delivered);
        self.departures.clear();
        self.join(delivered);
    }

    fn upcoming(&mut self) -> Option<u64> {
        self.inner.upcoming()
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        self.inner.advance(now, &mut self.delivered);
        self.join(delivered);
    }
}
