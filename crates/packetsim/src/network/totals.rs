//! Counts over all parts of a network, and the check for deadlock; with several processes over those of all of them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Agent, Network, Worker};
use crate::deadlock::Look;
use crate::routing::Routing;

impl<R: Routing, A: Agent> Network<'_, R, A> {
    /// The sum over all processes of a number of this one.
    pub(crate) fn sum(&self, here: u64) -> u64 {
        self.remote.as_ref().map_or(here, |remote| remote.processes().sum(here))
    }

    /// The values of all processes, in the order of their parts.
    pub(crate) fn all_of<T: Serialize + DeserializeOwned>(&self, here: Vec<T>) -> Vec<T> {
        self.by_process(here).into_iter().flatten().collect()
    }

    /// A value of each process, by rank.
    pub(crate) fn by_process<T: Serialize + DeserializeOwned>(&self, here: T) -> Vec<T> {
        match &self.remote {
            None => vec![here],
            Some(remote) => remote.gather(&here),
        }
    }

    /// Time between two checks for deadlock.
    pub(crate) fn patience(&self) -> u64 {
        self.watch.patience()
    }

    /// Whether packets wait for each other for ever. Between two runs, at a time.
    #[inline(never)]
    pub(crate) fn look_for_deadlock(&mut self, now: u64) -> Look {
        let mut waits = Vec::new();
        self.workers.iter().for_each(|w| w.part.waits(&mut waits));
        if let Some(remote) = &self.remote {
            waits = remote.gather(&waits).concat();
        }
        self.watch.look(now, self.packets(), &waits)
    }

    /// Packets in the network.
    #[inline(never)]
    pub(crate) fn packets(&self) -> usize {
        let under_way = |w: &Worker<'_, R, A>| {
            let mail = if w.part.counts_between() { &w.mail[..] } else { &[] };
            mail.iter().map(|m| m.packets.len().cast_signed()).sum::<isize>()
        };
        let here: isize = self.workers.iter().map(|w| w.part.packets() + under_way(w)).sum();
        // With flits a process may have fewer than none.
        let all = self.sum((here as i64).cast_unsigned()).cast_signed();
        usize::try_from(all).unwrap_or(0)
    }

    /// Number of events so far.
    pub(crate) fn event_count(&self) -> u64 {
        self.sum(self.event_count_here())
    }

    /// Packets times switches that they crossed.
    pub(crate) fn crossed(&self) -> u64 {
        self.sum(self.workers.iter().map(|w| w.part.switches().crossed).sum())
    }

    /// Packets that switches dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.sum(self.workers.iter().map(|w| w.part.switches().dropped).sum())
    }

    /// Packets that were sent again because of wrong bits.
    pub(crate) fn again(&self) -> u64 {
        self.sum(self.workers.iter().map(|w| w.part.switches().again).sum())
    }
}
