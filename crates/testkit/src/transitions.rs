//! A slow second opinion about transitions: every packet of every pair, path by path.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{AtPort, ChannelId, Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Routes};

/// The old (0) and new (1) tables that a switch may follow.
pub type AllowedTables<'a> = &'a dyn Fn(SwitchId) -> [bool; 2];

/// Dependencies between channels, by lane.
pub type LaneDependencies = BTreeMap<u8, BTreeSet<(ChannelId, ChannelId)>>;

/// The combined dependencies of the paths of all pairs.
#[derive(Debug, Default)]
pub struct CombinedDependencies {
    /// Whether some packet comes to a switch twice.
    pub has_loop: bool,
    /// Dependencies between channels, by lane.
    pub waits: LaneDependencies,
}

impl CombinedDependencies {
    /// Whether some lane has a cycle.
    pub fn is_cyclic(&self) -> bool {
        self.waits.values().any(|waits| {
            let mut left = waits.clone();
            loop {
                let waiting: BTreeSet<ChannelId> = left.iter().map(|w| w.0).collect();
                let before = left.len();
                left.retain(|w| waiting.contains(&w.1));
                if left.len() == before {
                    return !left.is_empty();
                }
            }
        })
    }

    /// Adds all paths of another set.
    pub fn join(&mut self, other: Self) {
        self.has_loop |= other.has_loop;
        for (lane, waits) in other.waits {
            self.waits.entry(lane).or_default().extend(waits);
        }
    }
}

/// Mix of tables that a packet may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableMix {
    /// Each switch as it may.
    Any,
    /// Never an old entry after a new one.
    OldThenNew,
}

/// All paths of all pairs where each switch follows one of the tables that it `may`; connections are in the lanes
/// that the tables of `levels` give.
pub fn combined_dependencies(
    fabric: &Fabric,
    tables: [&Routes; 2],
    levels: &[&Routes],
    may: AllowedTables<'_>,
    mix: TableMix,
) -> CombinedDependencies {
    let mut all = CombinedDependencies::default();
    let terminals = || (0..fabric.terminal_count()).map(TerminalId::new);
    for source in terminals() {
        for dest in terminals().filter(|&d| d != source) {
            for lid in 0..tables[1].paths() {
                let lanes: BTreeSet<u8> = levels
                    .iter()
                    .filter(|r| r.uses(source, lid))
                    .map(|r| r.layer_on(fabric, source, r.row(DestId::terminal(dest), lid)))
                    .collect();
                if lanes.is_empty() {
                    continue;
                }
                let mut walk =
                    PathWalk { fabric, tables, dest, lid, may, mix, waits: BTreeSet::new() };
                let start = fabric.terminal(source).switch;
                all.has_loop |= walk.on(start, 0, None, &mut vec![start]);
                for lane in lanes {
                    all.waits.entry(lane).or_default().extend(&walk.waits);
                }
            }
        }
    }
    all
}

struct PathWalk<'a> {
    fabric: &'a Fabric,
    tables: [&'a Routes; 2],
    dest: TerminalId,
    lid: usize,
    may: AllowedTables<'a>,
    mix: TableMix,
    waits: BTreeSet<(ChannelId, ChannelId)>,
}

impl PathWalk<'_> {
    /// Follows every path onward from switch `at`; returns whether one loops.
    fn on(
        &mut self,
        at: SwitchId,
        met: usize,
        held: Option<ChannelId>,
        seen: &mut Vec<SwitchId>,
    ) -> bool {
        let mut loops = false;
        for which in (0..2).filter(|&k| (self.may)(at)[k]) {
            if self.mix == TableMix::OldThenNew && which < met {
                continue;
            }
            let dest = DestId::terminal(self.dest);
            let Some(port) = self.tables[which].lft_entry(self.fabric, at, dest, self.lid) else {
                continue;
            };
            match self.fabric.at_port(at, port) {
                AtPort::Loopback => loops = true,
                AtPort::Switch(channel, next) => {
                    self.waits.extend(held.map(|held| (held, channel)));
                    if seen.contains(&next) {
                        loops = true;
                        continue;
                    }
                    seen.push(next);
                    loops |= self.on(next, which, Some(channel), seen);
                    seen.pop();
                }
                AtPort::Terminal(_) | AtPort::Nothing => {}
            }
        }
        loops
    }
}
