//! Faults as deltas: a degraded fabric is a new value.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use thiserror::Error;

use crate::{
    Adapter, AdapterId, BuildError, ChannelId, Fabric, FabricBuilder, SwitchId, TerminalId,
};

/// A set of failed cables and switches of one base fabric. Removing an entry is a repair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Failed switch-to-switch cables, each named by either of its channels.
    pub links: Vec<ChannelId>,
    /// Failed switches; their cables and terminals fail with them.
    pub switches: Vec<SwitchId>,
    /// Failed terminal cables.
    pub terminals: Vec<TerminalId>,
}

/// More symbol errors than these at one end make a cable a bad one (Domke et al., HyperX Topology, SC'19, footnote 2: "one filter
/// criterion was >10,000 symbol errors in a short time period").
pub const SYMBOL_ERRORS_OF_A_BAD_CABLE: u64 = 10_000;

/// Map of the ids of a base fabric to those of a fabric made from it, and back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renumbering {
    /// New switch id of each old one, `None` if it failed.
    pub switch: Vec<Option<SwitchId>>,
    /// New terminal id of each old one, `None` if it failed.
    pub terminal: Vec<Option<TerminalId>>,
    /// Old switch id of each new one.
    pub old_switch: Vec<SwitchId>,
    /// Old terminal id of each new one.
    pub old_terminal: Vec<TerminalId>,
}

/// Why faults could not be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FaultError {
    /// More failures were requested than can be taken without splitting the fabric.
    #[error("{wanted} cables cannot fail: the fabric falls apart after {drawn}")]
    WouldSplit {
        /// Number of cables requested.
        wanted: usize,
        /// Cables that could be removed.
        drawn: usize,
    },
}

impl Faults {
    /// Adds the faults of another set.
    pub fn extend(&mut self, others: Self) {
        self.links.extend(others.links);
        self.switches.extend(others.switches);
        self.terminals.extend(others.terminals);
    }

    /// Whether nothing failed.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty() && self.switches.is_empty() && self.terminals.is_empty()
    }

    /// `count` random switch-to-switch cables whose loss does not change the number of components of the fabric.
    /// Equal seeds give equal faults.
    ///
    /// # Errors
    /// If there are fewer than that.
    pub fn random_links(fabric: &Fabric, count: usize, seed: u64) -> Result<Self, FaultError> {
        let mut failed = vec![false; fabric.channel_count()];
        let mut links = Vec::new();
        for channel in shuffled(fabric, seed) {
            if links.len() == count {
                break;
            }
            failed[channel.index()] = true;
            failed[fabric.reverse(channel).index()] = true;
            if still_joined(fabric, &failed, fabric.tail(channel), fabric.head(channel)) {
                links.push(channel);
            } else {
                failed[channel.index()] = false;
                failed[fabric.reverse(channel).index()] = false;
            }
        }
        if links.len() < count {
            return Err(FaultError::WouldSplit { wanted: count, drawn: links.len() });
        }
        links.sort_unstable();
        Ok(Self { links, ..Self::default() })
    }

    /// The switch-to-switch cables with more than `most` symbol errors at one of their ends. A count is that of the port where the
    /// channel starts; ports that were not read have none.
    #[must_use]
    pub fn bad_cables(fabric: &Fabric, counted: &[(ChannelId, u64)], most: u64) -> Self {
        let mut links: Vec<ChannelId> = counted
            .iter()
            .filter(|(_, errors)| *errors > most)
            .map(|&(c, _)| c.min(fabric.reverse(c)))
            .collect();
        links.sort_unstable();
        links.dedup();
        Self { links, ..Self::default() }
    }

    /// `count` random switch-to-switch cables (all, if there are fewer), whether or not their loss splits the fabric.
    /// Of equal seeds a smaller count gives a subset of a larger one: a seed is a history of failures.
    #[must_use]
    pub fn any_links(fabric: &Fabric, count: usize, seed: u64) -> Self {
        let mut links = shuffled(fabric, seed);
        links.truncate(count);
        links.sort_unstable();
        Self { links, ..Self::default() }
    }
}

/// All switch-to-switch cables, each by one of its channels, in random order.
fn shuffled(fabric: &Fabric, seed: u64) -> Vec<ChannelId> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x6c69_6e6b_6661_756c);
    let mut cables: Vec<ChannelId> = (0..fabric.channel_count())
        .map(ChannelId::new)
        .filter(|&c| c < fabric.reverse(c))
        .collect();
    // Fisher-Yates; the modulo bias over at most 2^32 items of a 64-bit draw is below 2^-32.
    for i in (1..cables.len()).rev() {
        cables.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
    }
    cables
}

fn still_joined(fabric: &Fabric, failed: &[bool], a: SwitchId, b: SwitchId) -> bool {
    let mut seen = vec![false; fabric.switch_count()];
    let mut stack = vec![a];
    seen[a.index()] = true;
    while let Some(s) = stack.pop() {
        if s == b {
            return true;
        }
        for c in fabric.channels_from(s) {
            let v = fabric.head(ChannelId::new(c));
            if !failed[c] && !seen[v.index()] {
                seen[v.index()] = true;
                stack.push(v);
            }
        }
    }
    false
}

impl Fabric {
    /// The fabric that is left when `faults` are taken away. GUIDs, port numbers and LIDs stay; ids
    /// are dense again, and the [`Renumbering`] maps them.
    ///
    /// # Panics
    /// If a fault names an id that this fabric does not have.
    pub fn with_faults(&self, faults: &Faults) -> (Self, Renumbering) {
        let mut gone_switch = vec![false; self.switch_count()];
        for s in &faults.switches {
            gone_switch[s.index()] = true;
        }
        let mut gone_terminal = vec![false; self.terminal_count()];
        for t in &faults.terminals {
            gone_terminal[t.index()] = true;
        }
        let mut gone_channel = vec![false; self.channel_count()];
        for &c in &faults.links {
            gone_channel[c.index()] = true;
            gone_channel[self.reverse(c).index()] = true;
        }
        let gone_adapter = vec![false; self.adapters.len()];
        self.rebuild(&gone_switch, &gone_terminal, &gone_channel, &gone_adapter)
            .expect("a part of a valid fabric is valid")
    }

    /// This fabric without adapters that have no link, and without hosts that have no others. Ids of adapters and hosts change, all
    /// others stay.
    ///
    /// # Panics
    /// If one of them has a link.
    pub(crate) fn without_unlinked(&self, adapters: &[AdapterId]) -> Self {
        let mut gone_adapter = vec![false; self.adapters.len()];
        for a in adapters {
            gone_adapter[a.index()] = true;
        }
        let none = [self.switch_count(), self.terminal_count(), self.channel_count()];
        let [switch, terminal, channel] = none.map(|count| vec![false; count]);
        let left = self.rebuild(&switch, &terminal, &channel, &gone_adapter);
        left.expect("adapters without links are no part of anything").0
    }

    fn rebuild(
        &self,
        gone_switch: &[bool],
        gone_terminal: &[bool],
        gone_channel: &[bool],
        gone_adapter: &[bool],
    ) -> Result<(Self, Renumbering), BuildError> {
        let mut b = FabricBuilder::new(self.name.clone());
        for class in &self.classes {
            b.class(class.clone());
        }
        b.reserve_lids(self.reserved_lids.iter().copied());
        let mut map = Renumbering {
            switch: vec![None; self.switch_count()],
            terminal: vec![None; self.terminal_count()],
            old_switch: Vec::new(),
            old_terminal: Vec::new(),
        };
        for (i, switch) in self.switches.iter().enumerate() {
            if !gone_switch[i] {
                map.switch[i] = Some(b.add_switch(switch.clone()));
                map.old_switch.push(SwitchId::new(i));
            }
        }
        // A host whose adapters all go goes along.
        let mut host_goes = vec![false; self.hosts.len()];
        let adapters = || self.adapters.iter().zip(gone_adapter);
        for (adapter, _) in adapters().filter(|(_, goes)| **goes) {
            host_goes[adapter.host.index()] = true;
        }
        for (adapter, _) in adapters().filter(|(_, goes)| !**goes) {
            host_goes[adapter.host.index()] = false;
        }
        let mut hosts = Vec::with_capacity(self.hosts.len());
        for (host, goes) in self.hosts.iter().zip(&host_goes) {
            hosts.push((!goes).then(|| b.add_host(host.name.clone())));
        }
        let mut new_adapters = Vec::with_capacity(self.adapters.len());
        for (adapter, goes) in adapters() {
            let host = hosts[adapter.host.index()].filter(|_| !goes);
            new_adapters.push(host.map(|host| b.add_adapter(Adapter { host, ..adapter.clone() })));
        }
        for (i, terminal) in self.terminals.iter().enumerate() {
            let Some(switch) = map.switch[terminal.switch.index()] else {
                continue;
            };
            if gone_terminal[i] {
                continue;
            }
            map.terminal[i] = Some(TerminalId::new(map.old_terminal.len()));
            map.old_terminal.push(TerminalId::new(i));
            let adapter = new_adapters[terminal.adapter.index()].expect("it has a link");
            b.link_terminal(crate::Terminal { adapter, switch, ..terminal.clone() })?;
        }
        for c in (0..self.channel_count()).map(ChannelId::new) {
            let r = self.reverse(c);
            if c > r || gone_channel[c.index()] {
                continue;
            }
            let (Some(s), Some(t)) =
                (map.switch[self.tail(c).index()], map.switch[self.head(c).index()])
            else {
                continue;
            };
            let class = self.class[c.index()];
            b.link_switches((s, self.tail_port(c)), (t, self.head_port(c)), class)?;
        }
        for l in &self.loopbacks {
            if let Some(s) = map.switch[l.switch.index()] {
                b.link_switches((s, l.ports.0), (s, l.ports.1), l.class)?;
            }
        }
        Ok((b.finish()?, map))
    }
}
