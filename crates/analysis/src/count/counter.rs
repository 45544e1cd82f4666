//! Counting the flows of one pattern.

use darkfiber_fabric::{ChannelId, Fabric, LinkClass, TerminalId};

use super::Paths;
use super::paths::Channels;

/// Time of a flow on each channel, where links differ in speed: the speed of the fastest participant's
/// link divided by the channel's.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Load by switch-to-switch channel.
    pub(super) channel: Vec<f64>,
    /// By participant, both directions.
    pub(super) terminal: Vec<f64>,
}

impl Costs {
    /// The costs of a fabric's links for these participants.
    pub fn by_speed(fabric: &Fabric, who: &[TerminalId]) -> Self {
        let speed = |class: &LinkClass| (class.bytes_per_second as f64).max(1.0);
        let of_terminal = |&t: &TerminalId| speed(fabric.terminal_class(t));
        let fastest = who.iter().map(of_terminal).fold(1.0, f64::max);
        Self {
            channel: (0..fabric.channel_count())
                .map(|c| fastest / speed(fabric.class_of(ChannelId::new(c))))
                .collect(),
            terminal: who.iter().map(|t| fastest / of_terminal(t)).collect(),
        }
    }
}

/// The flows on every channel.
pub(super) struct Counter<'a, C> {
    paths: &'a Paths<'a>,
    channels: &'a C,
    costs: Option<&'a Costs>,
    /// Load by switch-to-switch channel, and one entry for no channel.
    load: Vec<u32>,
    /// By participant. They are not counted where none sends or receives twice.
    sends: Vec<u32>,
    receives: Vec<u32>,
}

impl<'a, C: Channels> Counter<'a, C> {
    pub(super) fn new(paths: &'a Paths<'a>, channels: &'a C, costs: Option<&'a Costs>) -> Self {
        Self {
            paths,
            channels,
            costs,
            load: vec![0; paths.channel_count() + 1],
            sends: vec![0; paths.who.len()],
            receives: vec![0; paths.who.len()],
        }
    }

    /// Counts a pattern. With `once` no participant sends or receives twice.
    pub(super) fn count(&mut self, pairs: &[[u32; 2]], once: bool) {
        let Self { paths, channels, load, .. } = self;
        load.fill(0);
        let load = load.as_mut_slice();
        for &[s, d] in pairs {
            let (source, dest) = (paths.source_of[s as usize], paths.dest_of[d as usize]);
            channels.each(source, dest, |c| load[c] += 1);
        }
        if self.terminals_matter(once) {
            self.sends.fill(0);
            self.receives.fill(0);
            for &[s, d] in pairs {
                self.sends[s as usize] += 1;
                self.receives[d as usize] += 1;
            }
        }
    }

    fn terminals_matter(&self, once: bool) -> bool {
        !once || self.costs.is_some()
    }

    /// Flows on every switch-to-switch channel.
    pub(super) fn load(&self) -> &[u32] {
        &self.load[..self.load.len() - 1]
    }

    /// Most flows on a channel, those of terminals included.
    pub(super) fn most(&self, once: bool) -> u32 {
        let most = |load: &[u32]| load.iter().copied().max().unwrap_or(0);
        let terminals = if self.terminals_matter(once) {
            most(&self.sends).max(most(&self.receives))
        } else {
            1
        };
        most(self.load()).max(terminals)
    }

    /// Times as long as alone that the slowest flow takes if the flows on a channel share it evenly.
    pub(super) fn slowest(&self, most: u32) -> f64 {
        let Some(costs) = self.costs else { return f64::from(most) };
        let slowest = |load: &[u32], cost: &[f64]| {
            load.iter().zip(cost).map(|(&n, cost)| f64::from(n) * cost).fold(0.0, f64::max)
        };
        slowest(self.load(), &costs.channel)
            .max(slowest(&self.sends, &costs.terminal))
            .max(slowest(&self.receives, &costs.terminal))
    }

    /// The mean over the pairs of the share of each on the worst channel of its path, where all flows of a channel
    /// get the same.
    pub(super) fn pair_share(&self, pairs: &[[u32; 2]], once: bool) -> f64 {
        let none = self.load.len() - 1;
        let mut sum = 0.0;
        for &[s, d] in pairs {
            let (source, dest) = (self.paths.source_of[s as usize], self.paths.dest_of[d as usize]);
            let slowest = match self.costs {
                None => {
                    let mut most = 1;
                    self.channels.each(source, dest, |c| {
                        most = most.max(if c == none { 0 } else { self.load[c] });
                    });
                    if !once {
                        most = most.max(self.sends[s as usize]).max(self.receives[d as usize]);
                    }
                    f64::from(most)
                }
                Some(costs) => {
                    let at_ends = |load: &[u32], i: u32| {
                        f64::from(load[i as usize]) * costs.terminal[i as usize]
                    };
                    let mut slowest = at_ends(&self.sends, s).max(at_ends(&self.receives, d));
                    self.channels.each(source, dest, |c| {
                        if c != none {
                            slowest = slowest.max(f64::from(self.load[c]) * costs.channel[c]);
                        }
                    });
                    slowest
                }
            };
            sum += 1.0 / slowest;
        }
        if pairs.is_empty() { 1.0 } else { sum / pairs.len() as f64 }
    }
}
