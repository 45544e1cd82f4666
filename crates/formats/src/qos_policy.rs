//! OpenSM's QoS policy: service levels by source and destination, where an engine gives none (`file`).
//!
//! Rules name groups of ports by GUID. For each destination and service level the sources that use it are a set; destinations
//! with equal sets share a rule, so that a few hundred rules express the levels that an engine gives to all pairs. The first
//! rule that matches counts; pairs without a match have level 0.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_routing::{DestId, Routes};
use thiserror::Error;

/// OpenSM looks through the rules for every query: with more of them a query takes milliseconds of its time.
pub const MOST_RULES: usize = 300;

/// Why service levels cannot be given by a policy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyRefused {
    /// A rule names ports, not LIDs.
    #[error("LIDs of one port have different service levels, which rules for ports cannot say")]
    LevelsByLid,
    /// Lanes are chosen by switches.
    #[error("switches choose lanes by input and output port, which is no service level")]
    LanesByHop,
    /// Too many rules would be needed.
    #[error(
        "{rules} rules would be needed, and OpenSM looks through all of them for every query: at most {MOST_RULES} are written"
    )]
    TooMany {
        /// Number of rules.
        rules: usize,
    },
}

/// Terminals, one bit each.
type Set = Vec<u64>;

/// Service levels by groups of sources and destinations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    levels: u8,
    /// Level, sources (`None` for all), destinations.
    rules: Vec<(u8, Option<Set>, Vec<TerminalId>)>,
}

impl Policy {
    /// The rules that give each pair of terminals the level that it has in `routes`.
    ///
    /// Complexity: O(terminals squared).
    ///
    /// # Errors
    /// If rules cannot say it, or more than [`MOST_RULES`] were needed.
    pub fn of(fabric: &Fabric, routes: &Routes) -> Result<Self, PolicyRefused> {
        if routes.layers.by_hop().is_some() {
            return Err(PolicyRefused::LanesByHop);
        }
        let count = fabric.terminal_count();
        let all = || (0..count).map(TerminalId::new);
        let mut by_set: BTreeMap<(u8, Set), Vec<TerminalId>> = BTreeMap::new();
        let mut levels = 1;
        for to in all() {
            let mut sets: BTreeMap<u8, Set> = BTreeMap::new();
            for from in all().filter(|&from| from != to) {
                let level = level(fabric, routes, from, to)?;
                levels = levels.max(level + 1);
                if level > 0 {
                    let set = sets.entry(level).or_insert_with(|| vec![0; count.div_ceil(64)]);
                    set[from.index() / 64] |= 1 << (from.index() % 64);
                }
            }
            for (level, mut set) in sets {
                // No terminal queries a path to itself; including it where its neighbors are makes sets equal.
                let near = fabric.terminals_on(fabric.terminal(to).switch);
                let has = |set: &Set, t: usize| set[t / 64] >> (t % 64) & 1 == 1;
                let neighbors = near.clone().filter(|&t| t != to.index());
                let others = (0..count).filter(|&t| t != to.index());
                let is_in = if neighbors.clone().next().is_some() {
                    neighbors.clone().all(|t| has(&set, t))
                } else {
                    others.clone().all(|t| has(&set, t))
                };
                if is_in {
                    set[to.index() / 64] |= 1 << (to.index() % 64);
                }
                by_set.entry((level, set)).or_default().push(to);
            }
        }
        let is_all =
            |set: &Set| set.iter().map(|w| w.count_ones() as usize).sum::<usize>() == count;
        let rules: Vec<_> = by_set
            .into_iter()
            .map(|((level, set), to)| (level, (!is_all(&set)).then_some(set), to))
            .collect();
        if rules.len() > MOST_RULES {
            return Err(PolicyRefused::TooMany { rules: rules.len() });
        }
        Ok(Self { levels, rules })
    }

    /// Number of rules of the policy.
    pub fn rules(&self) -> usize {
        self.rules.len()
    }

    /// The level of a pair, as OpenSM finds it: that of the first rule that matches.
    pub fn level(&self, from: TerminalId, to: TerminalId) -> u8 {
        let is_from = |set: &Set| set[from.index() / 64] >> (from.index() % 64) & 1 == 1;
        let matches = |rule: &&(u8, Option<Set>, Vec<TerminalId>)| {
            rule.2.binary_search(&to).is_ok() && rule.1.as_ref().is_none_or(is_from)
        };
        self.rules.iter().find(matches).map_or(0, |rule| rule.0)
    }

    /// The policy in its full form, which OpenSM reads again at every heavy sweep.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn io::Write, fabric: &Fabric) -> io::Result<()> {
        let mut text = String::from("port-groups\n");
        let mut group = |name: &str, of: &mut dyn Iterator<Item = TerminalId>| {
            let _infallible = writeln!(text, "  port-group\n    name: {name}");
            for t in of {
                let _infallible = writeln!(text, "    port-guid: {}", fabric.terminal(t).guid);
            }
            text.push_str("  end-port-group\n");
        };
        for (n, (_, from, to)) in self.rules.iter().enumerate() {
            if let Some(set) = from {
                let has = |t: &usize| set[t / 64] >> (t % 64) & 1 == 1;
                let mut members = (0..fabric.terminal_count()).filter(has).map(TerminalId::new);
                group(&format!("from{n}"), &mut members);
            }
            group(&format!("to{n}"), &mut to.iter().copied());
        }
        text.push_str("end-port-groups\nqos-levels\n");
        for level in 0..self.levels {
            let name = if level == 0 { "DEFAULT".to_owned() } else { format!("SL{level}") };
            let _infallible =
                writeln!(text, "  qos-level\n    name: {name}\n    sl: {level}\n  end-qos-level");
        }
        text.push_str("end-qos-levels\nqos-match-rules\n");
        for (n, (level, from, _)) in self.rules.iter().enumerate() {
            text.push_str("  qos-match-rule\n");
            if from.is_some() {
                let _infallible = writeln!(text, "    source: from{n}");
            }
            let _infallible = writeln!(
                text,
                "    destination: to{n}\n    qos-level-name: SL{level}\n  end-qos-match-rule"
            );
        }
        text.push_str("end-qos-match-rules\n");
        out.write_all(text.as_bytes())
    }
}

/// The level of a pair, which must be one for all LIDs of the destination.
fn level(
    fabric: &Fabric,
    routes: &Routes,
    from: TerminalId,
    to: TerminalId,
) -> Result<u8, PolicyRefused> {
    let of = |path: usize| routes.layer_on(fabric, from, routes.row(DestId::terminal(to), path));
    let first = of(0);
    if (1..routes.paths()).any(|path| of(path) != first) {
        return Err(PolicyRefused::LevelsByLid);
    }
    Ok(first)
}
