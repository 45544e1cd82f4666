//! The type of a fabric.

use std::ops::Range;

use crate::node::{Adapter, Host, Loopback, Role, Switch, Terminal, UnlinkedAdapter};
use crate::{AdapterId, ChannelId, HostId, LinkClass, SwitchId, TerminalId};

/// The element at a switch port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtPort {
    /// No cable, or no such port.
    Nothing,
    /// The egress channel to another switch.
    Switch(ChannelId, SwitchId),
    /// A terminal at the port.
    Terminal(TerminalId),
    /// The other end of a cable from the switch to itself.
    Loopback,
}

/// An interconnection network `I = G(N, C)`: a multigraph of switches and terminals (Domke and
/// Hoefler, "Scheduling-Aware Routing for Supercomputers", SC'16, Definition 1), with the port
/// numbers, GUIDs and names of the real machine.
///
/// Channels are numbered in three contiguous ranges, with `M` directed switch-to-switch channels
/// (the paper's `C*`) and `T` terminals:
///
/// | ids | channel |
/// |---|---|
/// | `0..M` | switch to switch, ordered by (tail switch, tail port) |
/// | `M..M+T` | ejection: switch to terminal `id - M` |
/// | `M+T..M+2T` | injection: terminal `id - M - T` to switch |
///
/// so that an array over `0..M` is indexed by inter-switch channel with no translation.
#[derive(Clone, Debug, PartialEq)]
pub struct Fabric {
    pub(crate) name: String,
    pub(crate) switches: Vec<Switch>,
    pub(crate) adapters: Vec<Adapter>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) terminals: Vec<Terminal>,
    pub(crate) loopbacks: Vec<Loopback>,
    pub(crate) classes: Vec<LinkClass>,
    pub(crate) reserved_lids: Vec<u16>,
    /// `channel_start[s]..channel_start[s+1]`: inter-switch channels that leave `s`.
    pub(crate) channel_start: Vec<u32>,
    pub(crate) tail: Vec<u32>,
    pub(crate) head: Vec<u32>,
    pub(crate) tail_port: Vec<u8>,
    pub(crate) reverse: Vec<u32>,
    pub(crate) class: Vec<u8>,
    /// `terminal_start[s]..terminal_start[s+1]`: terminals on `s`.
    pub(crate) terminal_start: Vec<u32>,
    /// `port_start[s] + p`: slot of port `p` (0 included) of `s`.
    pub(crate) port_start: Vec<u32>,
    /// Per slot the egress channel (inter-switch or ejection), [`NO_CHANNEL`] or [`LOOPBACK`].
    pub(crate) channel_at: Vec<u32>,
}

/// No cable at a port.
pub(crate) const NO_CHANNEL: u32 = u32::MAX;
/// A cable from the switch to itself at a port.
pub(crate) const LOOPBACK: u32 = u32::MAX - 1;

impl Fabric {
    /// A name for people: file stem, preset or generator spec.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same fabric under another name.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// LIDs of ports that are no part of it, such as routers', in ascending order: no port of it may get them.
    pub fn reserved_lids(&self) -> &[u16] {
        &self.reserved_lids
    }

    /// The number of switches.
    #[inline]
    pub fn switch_count(&self) -> usize {
        self.switches.len()
    }

    /// Number of terminals (linked endpoint ports, aggregation adapters included).
    #[inline]
    pub fn terminal_count(&self) -> usize {
        self.terminals.len()
    }

    /// Number of terminals that jobs can use.
    pub fn compute_terminal_count(&self) -> usize {
        self.terminals.iter().filter(|t| t.role == Role::Compute).count()
    }

    /// Number of directed switch-to-switch channels, `|C*|`.
    #[inline]
    pub fn channel_count(&self) -> usize {
        self.head.len()
    }

    /// Number of cables between two different switches.
    pub fn switch_link_count(&self) -> usize {
        self.head.len() / 2
    }

    /// Number of all cables: between switches, to terminals, and from a switch to itself.
    pub fn link_count(&self) -> usize {
        self.switch_link_count() + self.terminals.len() + self.loopbacks.len()
    }

    /// All switches, indexed by [`SwitchId`].
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// The switch with this id.
    pub fn switch(&self, s: SwitchId) -> &Switch {
        &self.switches[s.index()]
    }

    /// All adapters, indexed by [`AdapterId`]; those without any link are there too.
    pub fn adapters(&self) -> &[Adapter] {
        &self.adapters
    }

    /// The adapter with this id.
    pub fn adapter(&self, a: AdapterId) -> &Adapter {
        &self.adapters[a.index()]
    }

    /// All hosts, indexed by [`HostId`].
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Number of hosts, not counting aggregation pseudo-adapters.
    pub fn host_count(&self) -> usize {
        let mut aggregates = vec![false; self.hosts.len()];
        for t in &self.terminals {
            let host = self.adapters[t.adapter.index()].host;
            aggregates[host.index()] |= t.role == Role::Aggregation;
        }
        aggregates.iter().filter(|&&a| !a).count()
    }

    /// The host with this id.
    pub fn host(&self, h: HostId) -> &Host {
        &self.hosts[h.index()]
    }

    /// All terminals, indexed by [`TerminalId`].
    pub fn terminals(&self) -> &[Terminal] {
        &self.terminals
    }

    /// The terminal with this id.
    pub fn terminal(&self, t: TerminalId) -> &Terminal {
        &self.terminals[t.index()]
    }

    /// Cables from a switch to itself.
    pub fn loopbacks(&self) -> &[Loopback] {
        &self.loopbacks
    }

    /// The link classes that occur.
    pub fn classes(&self) -> &[LinkClass] {
        &self.classes
    }

    /// The host of a terminal.
    pub fn host_of(&self, t: TerminalId) -> HostId {
        self.adapter(self.terminal(t).adapter).host
    }

    /// Adapters with no link to any switch.
    pub fn unlinked_adapters(&self) -> Vec<UnlinkedAdapter> {
        let mut linked = vec![false; self.adapters.len()];
        for t in &self.terminals {
            linked[t.adapter.index()] = true;
        }
        (0..linked.len()).filter(|&a| !linked[a]).map(AdapterId::new).collect()
    }

    /// Inter-switch channels that leave `s`, by rising port number.
    #[inline]
    pub fn channels_from(&self, s: SwitchId) -> Range<usize> {
        self.channel_start[s.index()] as usize..self.channel_start[s.index() + 1] as usize
    }

    /// Terminals on `s`, by rising port number.
    #[inline]
    pub fn terminals_on(&self, s: SwitchId) -> Range<usize> {
        self.terminal_start[s.index()] as usize..self.terminal_start[s.index() + 1] as usize
    }

    /// The switch that inter-switch channel `c` leaves.
    #[inline]
    pub fn tail(&self, c: ChannelId) -> SwitchId {
        SwitchId(self.tail[c.index()])
    }

    /// The switch that inter-switch channel `c` enters.
    #[inline]
    pub fn head(&self, c: ChannelId) -> SwitchId {
        SwitchId(self.head[c.index()])
    }

    /// The egress port of inter-switch channel `c` at its tail.
    #[inline]
    pub fn tail_port(&self, c: ChannelId) -> u8 {
        self.tail_port[c.index()]
    }

    /// The ingress port of inter-switch channel `c` at its head.
    #[inline]
    pub fn head_port(&self, c: ChannelId) -> u8 {
        self.tail_port[self.reverse[c.index()] as usize]
    }

    /// The opposite channel of the same cable.
    #[inline]
    pub fn reverse(&self, c: ChannelId) -> ChannelId {
        ChannelId(self.reverse[c.index()])
    }

    /// The link class of inter-switch channel `c`.
    pub fn class_of(&self, c: ChannelId) -> &LinkClass {
        &self.classes[self.class[c.index()] as usize]
    }

    /// The link class of a terminal's cable.
    pub fn terminal_class(&self, t: TerminalId) -> &LinkClass {
        &self.classes[self.terminal(t).class as usize]
    }

    /// `heads()[c]` is the head switch of inter-switch channel `c`; for hot loops.
    #[inline]
    pub fn heads(&self) -> &[u32] {
        &self.head
    }

    /// `tails()[c]` is the tail switch of inter-switch channel `c`; for hot loops.
    #[inline]
    pub fn tails(&self) -> &[u32] {
        &self.tail
    }

    /// `tail_ports()[c]` is the egress port of inter-switch channel `c`; for hot loops.
    #[inline]
    pub fn tail_ports(&self) -> &[u8] {
        &self.tail_port
    }

    /// `reverses()[c]` is the opposite channel of `c`; for hot loops.
    #[inline]
    pub fn reverses(&self) -> &[u32] {
        &self.reverse
    }

    /// Row starts of the inter-switch channels: those of switch `s` are
    /// `starts()[s]..starts()[s + 1]`; for hot loops.
    #[inline]
    pub fn channel_starts(&self) -> &[u32] {
        &self.channel_start
    }

    /// The element at port `port` of switch `s`.
    #[inline]
    pub fn at_port(&self, s: SwitchId, port: u8) -> AtPort {
        let m = self.head.len() as u32;
        match self.slot(s, port) {
            NO_CHANNEL => AtPort::Nothing,
            LOOPBACK => AtPort::Loopback,
            c if c < m => AtPort::Switch(ChannelId(c), SwitchId(self.head[c as usize])),
            c => AtPort::Terminal(TerminalId(c - m)),
        }
    }

    /// The channel to another switch at port `port` of switch `s`, if there is one; for hot loops.
    #[inline]
    pub fn channel_at(&self, s: SwitchId, port: u8) -> Option<ChannelId> {
        let c = self.slot(s, port);
        ((c as usize) < self.head.len()).then_some(ChannelId(c))
    }

    /// What [`Self::channel_at`](field@Self::channel_at) says of a port, and [`NO_CHANNEL`] beyond the last one.
    #[inline]
    fn slot(&self, s: SwitchId, port: u8) -> u32 {
        // Slots lie together, descriptions of switches do not.
        let [start, end] = [s.index(), s.index() + 1].map(|i| self.port_start[i] as usize);
        let slot = start + usize::from(port);
        if slot < end { self.channel_at[slot] } else { NO_CHANNEL }
    }

    /// Sizes of the connected components in switches, largest first. Hosts without a switch are not
    /// counted.
    pub fn components(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = Vec::new();
        for &label in &self.component_labels() {
            let label = label as usize;
            if label == sizes.len() {
                sizes.push(0);
            }
            sizes[label] += 1;
        }
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes
    }

    /// For every switch the number of its connected component, in order of first appearance.
    pub fn component_labels(&self) -> Vec<u32> {
        let mut label = vec![u32::MAX; self.switches.len()];
        let mut count = 0;
        let mut stack = Vec::new();
        for start in 0..label.len() {
            if label[start] != u32::MAX {
                continue;
            }
            label[start] = count;
            stack.push(start);
            while let Some(s) = stack.pop() {
                for c in self.channels_from(SwitchId::new(s)) {
                    let n = self.head[c] as usize;
                    if label[n] == u32::MAX {
                        label[n] = count;
                        stack.push(n);
                    }
                }
            }
            count += 1;
        }
        label
    }

    /// The same fabric with the roles of its terminals set by `role`.
    #[must_use]
    pub fn with_roles(mut self, role: impl Fn(TerminalId, &Terminal) -> Role) -> Self {
        for i in 0..self.terminals.len() {
            self.terminals[i].role = role(TerminalId::new(i), &self.terminals[i]);
        }
        self
    }
}
