//! Missing parts of a damaged fabric, and their description.

use crate::{AtPort, ChannelId, Fabric, SwitchId};

/// Maximum number of cables or places that a line names.
const NAMED: usize = 10;

/// A part of the undamaged structure that is missing in the fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Cables between two switches that are there.
    Cables {
        /// Switches at the ends.
        ends: (SwitchId, SwitchId),
        /// Number of missing cables.
        count: u32,
    },
    /// Cables between two groups, whose remaining cables do not determine which switches they joined.
    Between {
        /// The groups, by their number in the shape.
        groups: (u32, u32),
        /// Number of missing cables.
        count: u32,
    },
    /// Cables of which only the ends are known: switches with fewer cables than the others.
    Somewhere {
        /// These switches, and how many cables each lacks.
        ends: Vec<(SwitchId, u32)>,
    },
    /// A switch, and with it all of its cables.
    Switch {
        /// Its place in the structure.
        place: String,
    },
}

impl Missing {
    /// Number of cables that it stands for; those of a missing switch do not count.
    pub fn cables(&self) -> u32 {
        match self {
            Self::Cables { count, .. } | Self::Between { count, .. } => *count,
            // Of an odd number of ends one may be left over.
            Self::Somewhere { ends } => {
                (ends.iter().map(|(_, count)| count).sum::<u32>() / 2).max(1)
            }
            Self::Switch { .. } => 0,
        }
    }

    /// In words: the two ends with the ports, where a switch has just one free; or the place.
    pub fn describe(&self, fabric: &Fabric) -> String {
        match self {
            Self::Cables { ends: (a, b), count } => {
                let times = if *count > 1 { format!("{count} x ") } else { String::new() };
                format!("{times}{} - {}", free_end(fabric, *a), free_end(fabric, *b))
            }
            Self::Between { groups: (a, b), count } => {
                let cables = plural(u64::from(*count), "cable", "cables");
                format!("{cables} between groups {a} and {b}")
            }
            Self::Somewhere { ends } => {
                let end = |(s, count): &(SwitchId, u32)| match count {
                    1 => name(fabric, *s),
                    more => format!("{more} x {}", name(fabric, *s)),
                };
                let ends: Vec<String> = ends.iter().map(end).collect();
                let cables = plural(u64::from(self.cables()), "cable", "cables");
                format!("{cables} with ends at {}", first_ten(&ends))
            }
            Self::Switch { place } => place.clone(),
        }
    }
}

/// The name of a switch, and its only free port if it has just one.
fn free_end(fabric: &Fabric, s: SwitchId) -> String {
    let mut free =
        (1..=fabric.switch(s).ports).filter(|&p| fabric.at_port(s, p) == AtPort::Nothing);
    match (free.next(), free.next()) {
        (Some(port), None) => format!("{} port {port}", name(fabric, s)),
        _ => name(fabric, s),
    }
}

fn name(fabric: &Fabric, s: SwitchId) -> String {
    let switch = fabric.switch(s);
    if switch.description.is_empty() {
        switch.guid.to_string()
    } else {
        format!("\"{}\"", switch.description)
    }
}

/// A cable by its ends.
pub(super) fn cable(fabric: &Fabric, c: ChannelId) -> String {
    format!(
        "{} port {} - {} port {}",
        name(fabric, fabric.tail(c)),
        fabric.tail_port(c),
        name(fabric, fabric.head(c)),
        fabric.head_port(c)
    )
}

/// Description of missing parts: one phrase for the cables and one for the switches.
pub(super) fn list(fabric: &Fabric, missing: &[Missing]) -> Vec<String> {
    let (switches, cables): (Vec<_>, Vec<_>) =
        missing.iter().partition(|m| matches!(m, Missing::Switch { .. }));
    let count = cables.iter().map(|m| u64::from(m.cables())).sum();
    [
        (cables, count, "cable", "cables"),
        (switches.clone(), switches.len() as u64, "switch", "switches"),
    ]
    .into_iter()
    .filter(|(.., count, _, _)| *count > 0)
    .map(|(all, count, one, many)| {
        let all: Vec<String> = all.iter().map(|m| m.describe(fabric)).collect();
        format!("{} missing: {}", plural(count, one, many), first_ten(&all))
    })
    .collect()
}

/// The first ten of a list, and how many more there are.
pub(super) fn first_ten(all: &[String]) -> String {
    let shown = all[..all.len().min(NAMED)].join(", ");
    match all.len() - all.len().min(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

pub(super) fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
