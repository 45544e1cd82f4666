//! The network as the simulator walks it: ports in one row, switch by switch.

use std::collections::BTreeMap;
use std::ops::Range;

use darkfiber_fabric::{ChannelId, Fabric, SwitchId, TerminalId};

use crate::SwitchModel;
use crate::switch_model::slower;

/// The other end of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A port of a switch.
    Port(u32),
    /// Number of a terminal.
    Terminal(u32),
}

/// A port of a switch, and the cable behind it.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// The peer at its other end: a port, or a terminal behind [`TERMINAL`].
    peer: u32,
    /// The switch that it is of.
    pub switch: u32,
    /// Its number among those of the switch.
    pub local: u32,
    /// Latency of the cable, in picoseconds.
    pub latency: u32,
    /// Its number on the switch, from 1.
    pub number: u8,
    /// Bytes in flight if the channel is always busy and nothing waits: on the cable, through the next switch, and as
    /// returning credits.
    pub in_flight_bytes: u32,
    /// Picoseconds that 2^16 bytes take.
    pub pace: u64,
}

/// Marks terminals in [`Port::peer`].
const TERMINAL: u32 = 1 << 31;

impl Port {
    /// The peer at its other end.
    #[inline]
    pub fn peer(&self) -> Peer {
        if self.peer & TERMINAL == 0 {
            Peer::Port(self.peer)
        } else {
            Peer::Terminal(self.peer & !TERMINAL)
        }
    }

    /// Serialization time of `bytes`, in picoseconds.
    #[inline]
    pub fn long(&self, bytes: u32) -> u64 {
        (u64::from(bytes) * self.pace) >> 16
    }
}

/// Consecutive switches, their ports, and the seats of their terminals.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) switches: Range<u32>,
    pub(crate) ports: Range<u32>,
    pub(crate) seats: Range<u32>,
}

/// All ports: those of a switch are adjacent, first those to other switches by rising channel, then those to terminals.
#[derive(Clone, Debug)]
pub struct Net {
    /// By switch, its first port; and the number of ports.
    base: Vec<u32>,
    ports: Vec<Port>,
    /// By terminal, the port that it is at, its switch, and its number among terminals by those ports.
    home: Vec<u32>,
    switch: Vec<u32>,
    seat: Vec<u32>,
    /// Words of a set of ports of one switch.
    words: usize,
    /// By port and time, paces from that time on, where lanes stop working.
    later: BTreeMap<(u32, u64), u64>,
}

impl Net {
    /// The network of a fabric, with the latencies and rates that a microarchitecture says, or else those of its cables.
    pub fn new(fabric: &Fabric, micro: &SwitchModel) -> Self {
        let (n, m) = (fabric.switch_count(), fabric.channel_count());
        let mut base = Vec::with_capacity(n + 1);
        let mut count = 0u32;
        let mut of_channel = vec![0u32; m];
        let mut home = vec![0u32; fabric.terminal_count()];
        for s in (0..n).map(SwitchId::new) {
            base.push(count);
            for c in fabric.channels_from(s) {
                of_channel[c] = count;
                count += 1;
            }
            for t in fabric.terminals_on(s) {
                home[t] = count;
                count += 1;
            }
        }
        base.push(count);
        let mut ports = Vec::with_capacity(count as usize);
        for s in (0..n).map(SwitchId::new) {
            let mut push = |peer, number, latency, pace: u64| {
                let local = ports.len() as u32 - base[s.index()];
                let back = 2 * u64::from(latency) + micro.mean_pipeline() + micro.credit;
                let in_flight_bytes = u32::try_from((back << 16) / pace.max(1)).unwrap_or(u32::MAX);
                let switch = s.index() as u32;
                ports.push(Port { peer, switch, local, latency, number, in_flight_bytes, pace });
            };
            for c in fabric.channels_from(s).map(ChannelId::new) {
                let peer = of_channel[fabric.reverse(c).index()];
                let (latency, pace) = micro.link(fabric, c);
                push(peer, fabric.tail_port(c), latency, pace);
            }
            for t in fabric.terminals_on(s).map(TerminalId::new) {
                let (latency, pace) = micro.host_link(fabric, t);
                let number = fabric.terminal(t).switch_port;
                push(TERMINAL | t.index() as u32, number, latency, pace);
            }
        }
        let most = base.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        let switch = home.iter().map(|&port| ports[port as usize].switch).collect();
        let mut seat = vec![0u32; home.len()];
        let terminals = ports.iter().filter(|p| p.peer & TERMINAL != 0);
        for (i, p) in terminals.enumerate() {
            seat[(p.peer & !TERMINAL) as usize] = i as u32;
        }
        let later = micro.lane_faults.iter().map(|fault| {
            let port = of_channel[fault.channel.index()];
            // Of all its lanes, also of a cable that lacked some from the start.
            ((port, fault.at), slower(micro.whole_link(fabric, fault.channel).1, fault.part))
        });
        let (later, words) = (later.collect(), (most as usize).div_ceil(64).max(1));
        Self { base, ports, home, switch, seat, words, later }
    }

    /// Serialization time on the cable of a port of `bytes` that leave at `when`, in picoseconds.
    #[inline]
    pub(crate) fn long_at(&self, port: u32, bytes: u32, when: u64) -> u64 {
        if self.is_steady() {
            self.port(port).long(bytes)
        } else {
            self.long_then(port, bytes, when)
        }
    }

    /// Mean rate of a port from the beginning until a time, in bytes a picosecond: lanes may stop working in between.
    pub fn mean_rate(&self, port: u32, until: u64) -> f64 {
        let rate = |pace: u64| 65536.0 / pace as f64;
        let (mut could, mut since, mut now) = (0.0, 0, rate(self.port(port).pace));
        if !self.is_steady() && until > 0 {
            for (&(_, at), &pace) in self.later.range((port, 0)..(port, until)) {
                could += now * (at - since) as f64;
                (since, now) = (at, rate(pace));
            }
            could += now * (until - since) as f64;
            return could / until as f64;
        }
        now
    }

    /// Whether every cable has one rate all the time.
    #[inline]
    pub(crate) fn is_steady(&self) -> bool {
        self.later.is_empty()
    }

    #[cold]
    fn long_then(&self, port: u32, bytes: u32, when: u64) -> u64 {
        let last = self.later.range((port, 0)..=(port, when)).next_back();
        last.map_or_else(
            || self.port(port).long(bytes),
            |(_, pace)| (u64::from(bytes) * pace) >> 16,
        )
    }

    /// The number of switches.
    pub fn switch_count(&self) -> usize {
        self.base.len() - 1
    }

    /// The number of terminals.
    pub fn terminal_count(&self) -> usize {
        self.home.len()
    }

    /// The number of ports.
    pub fn port_count(&self) -> usize {
        self.ports.len()
    }

    /// Words of a set of ports of one switch.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The first port of a switch; of the number of switches, the number of ports.
    #[inline]
    pub fn base(&self, s: u32) -> u32 {
        self.base[s as usize]
    }

    /// Number of ports of a switch.
    #[inline]
    pub fn radix(&self, s: u32) -> u32 {
        self.base[s as usize + 1] - self.base[s as usize]
    }

    /// The port of this number.
    #[inline]
    pub fn port(&self, p: u32) -> &Port {
        &self.ports[p as usize]
    }

    /// The longest that this many bytes take from any port to the other end, in picoseconds.
    pub fn slowest(&self, bytes: u32) -> u64 {
        let later = |(&(port, _), pace): (&(u32, u64), &u64)| {
            ((u64::from(bytes) * pace) >> 16) + u64::from(self.port(port).latency)
        };
        let first = self.ports.iter().map(|p| p.long(bytes) + u64::from(p.latency));
        first.chain(self.later.iter().map(later)).max().unwrap_or(0)
    }

    /// Picoseconds that 2^16 bytes take on the slowest channel at its slowest time.
    pub(crate) fn slowest_pace(&self) -> u64 {
        let all = self.ports.iter().map(|p| p.pace).chain(self.later.values().copied());
        all.max().unwrap_or(0)
    }

    /// The longest that this many bytes wait for their last one where the fastest channel follows the slowest, in picoseconds.
    pub(crate) fn longest_wait(&self, bytes: u32) -> u64 {
        let longest = self.ports.iter().map(|p| p.long(bytes)).max().unwrap_or(0);
        longest - self.quickest(bytes)
    }

    /// The least time that this many bytes take to pass any port, in picoseconds.
    pub fn quickest(&self, bytes: u32) -> u64 {
        self.ports.iter().map(|p| p.long(bytes)).min().unwrap_or(0)
    }

    /// The port that a terminal is at.
    #[inline]
    pub fn home(&self, terminal: u32) -> u32 {
        self.home[terminal as usize]
    }

    /// Index of a terminal in the order of ports: those of a switch are adjacent.
    #[inline]
    pub(crate) fn seat(&self, terminal: u32) -> u32 {
        self.seat[terminal as usize]
    }

    /// Some consecutive switches, with their ports and seats.
    pub(crate) fn span(&self, switches: Range<u32>) -> Span {
        let ports = self.base(switches.start)..self.base(switches.end);
        let terminals = |ports: Range<u32>| {
            let ports = &self.ports[ports.start as usize..ports.end as usize];
            ports.iter().filter(|p| p.peer & TERMINAL != 0).count() as u32
        };
        let first = terminals(0..ports.start);
        let seats = first..first + terminals(ports.clone());
        Span { switches, ports, seats }
    }

    /// Terminals of some ports.
    pub(crate) fn terminals_at(&self, ports: Range<u32>) -> impl Iterator<Item = u32> {
        let ports = &self.ports[ports.start as usize..ports.end as usize];
        ports.iter().filter(|p| p.peer & TERMINAL != 0).map(|p| p.peer & !TERMINAL)
    }

    /// The switch that a terminal is at.
    #[inline]
    pub fn switch_of(&self, terminal: u32) -> u32 {
        self.switch[terminal as usize]
    }

    /// The switch behind a port, if there is one.
    #[inline]
    pub fn next(&self, p: u32) -> Option<u32> {
        match self.port(p).peer() {
            Peer::Port(q) => Some(self.port(q).switch),
            Peer::Terminal(_) => None,
        }
    }
}
