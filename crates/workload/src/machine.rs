//! A machine as its scheduler sees it: hosts in a row, and which of them are near each other.

use std::collections::BTreeMap;

use darkfiber_fabric::{
    ChannelId, Fabric, HostId, Planes, Role, Shape, TerminalId, Topology, natural_order,
};

/// The hosts that run jobs, in the natural order of their names (`n9` before `n10`), and the domains they are in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    hosts: Vec<Vec<TerminalId>>,
    names: Vec<String>,
    domains: Vec<Vec<u32>>,
    processors: u32,
}

impl Machine {
    /// The hosts of a fabric with a compute terminal, each with this many processors (at least 1).
    ///
    /// Domains are, from the inside: hosts on one switch; in a tree those whose switches reach each other without
    /// going above a level, level by level; in a dragonfly groups; and all.
    pub fn new(topology: &Topology, processors: u32) -> Self {
        let fabric = &topology.fabric;
        let mut of: BTreeMap<HostId, Vec<TerminalId>> = BTreeMap::new();
        for t in (0..fabric.terminal_count()).map(TerminalId::new) {
            if fabric.terminal(t).role == Role::Compute {
                of.entry(fabric.host_of(t)).or_default().push(t);
            }
        }
        let mut hosts: Vec<(&str, Vec<TerminalId>)> =
            of.into_iter().map(|(h, all)| (fabric.host(h).name.as_str(), all)).collect();
        hosts.sort_by(|a, b| natural_order(a.0, b.0).then_with(|| a.1.cmp(&b.1)));
        let mut domains: Vec<Vec<u32>> = Vec::new();
        for of_switch in switches(topology) {
            let found: Vec<u32> =
                hosts.iter().map(|h| of_switch[fabric.terminal(h.1[0]).switch.index()]).collect();
            let found = numbered(&found);
            if domains.last() != Some(&found) {
                domains.push(found);
            }
        }
        let (names, hosts) = hosts.into_iter().map(|(name, all)| (name.to_owned(), all)).unzip();
        Self { hosts, names, domains, processors: processors.max(1) }
    }

    /// The same hosts, with their terminals in one plane of the fabric only, from 0, and their domains there. A host without a
    /// terminal in the plane has none.
    #[must_use]
    pub fn in_plane(&self, topology: &Topology, plane: usize) -> Self {
        let planes = Planes::of(&topology.fabric);
        if planes.count() < 2 {
            return self.clone();
        }
        let (fabric, shape) = (&topology.fabric, topology.shape.as_ref());
        let (alone, map) = planes.apart(fabric, shape).swap_remove(plane);
        let here = |t: &&TerminalId| planes.of_terminal(fabric, **t) == plane;
        let hosts: Vec<Vec<TerminalId>> =
            self.hosts.iter().map(|all| all.iter().filter(here).copied().collect()).collect();
        let mut domains: Vec<Vec<u32>> = Vec::new();
        for of_switch in switches(&alone) {
            // Missing hosts share a separate domain, except for the last one, which is that of all.
            let nowhere =
                if of_switch.iter().all(|&s| s == of_switch[0]) { of_switch[0] } else { u32::MAX };
            let domain = |all: &Vec<TerminalId>| {
                let home = all.first().and_then(|t| map.switch[fabric.terminal(*t).switch.index()]);
                home.map_or(nowhere, |s| of_switch[s.index()])
            };
            let found = numbered(&hosts.iter().map(domain).collect::<Vec<_>>());
            if domains.last() != Some(&found) {
                domains.push(found);
            }
        }
        Self { hosts, domains, ..self.clone() }
    }

    /// Number of hosts of the machine.
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether there are no hosts.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Processors of each host.
    pub fn processors(&self) -> u32 {
        self.processors
    }

    /// The name of a host.
    pub fn name(&self, host: u32) -> &str {
        &self.names[host as usize]
    }

    /// The terminals of a host that run jobs.
    pub fn terminals(&self, host: u32) -> &[TerminalId] {
        &self.hosts[host as usize]
    }

    /// By level, from the inside, the domain of each host, from 0; the last level has one domain.
    pub fn domains(&self) -> &[Vec<u32>] {
        &self.domains
    }
}

/// By level the domain of each switch.
fn switches(topology: &Topology) -> Vec<Vec<u32>> {
    let fabric = &topology.fabric;
    let n = fabric.switch_count() as u32;
    let mut levels = vec![(0..n).collect::<Vec<u32>>()];
    match &topology.shape {
        Some(Shape::Tree(tree)) => {
            let top = tree.level.iter().copied().max().unwrap_or(0);
            levels.extend((1..top).map(|l| joined(fabric, &tree.level, l)));
        }
        Some(Shape::Dragonfly(groups)) => levels.push(groups.group.clone()),
        _ => {}
    }
    levels.push(vec![0; n as usize]);
    levels
}

/// The first of the switches that each reaches over switches of no higher level than `most`.
fn joined(fabric: &Fabric, level: &[u8], most: u8) -> Vec<u32> {
    let mut first: Vec<u32> = (0..fabric.switch_count() as u32).collect();
    let mut edges: Vec<(usize, usize)> = (0..fabric.channel_count())
        .map(ChannelId::new)
        .map(|c| (fabric.tail(c).index(), fabric.head(c).index()))
        .filter(|&(a, b)| a < b && level[a].max(level[b]) <= most)
        .collect();
    // Few rounds suffice: labels travel along all cables of a level at once, there and back.
    loop {
        let before = first.clone();
        for &(a, b) in &edges {
            let low = first[a].min(first[b]);
            (first[a], first[b]) = (low, low);
        }
        if before == first {
            return first;
        }
        edges.reverse();
    }
}

/// Renumbers by first appearance.
fn numbered(labels: &[u32]) -> Vec<u32> {
    let mut known = BTreeMap::new();
    labels
        .iter()
        .map(|label| {
            let next = known.len() as u32;
            *known.entry(label).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::parse_spec;

    use super::*;

    #[test]
    fn domains_nest() {
        let sizes = |spec: &str| -> Vec<usize> {
            let machine = Machine::new(&parse_spec(spec).expect("a spec"), 1);
            let inner = machine.domains();
            for pair in inner.windows(2) {
                let map: BTreeMap<u32, u32> =
                    pair[0].iter().copied().zip(pair[1].iter().copied()).collect();
                assert!(pair[0].iter().zip(&pair[1]).all(|(a, b)| map[a] == *b), "{spec}");
            }
            inner.iter().map(|d| d.iter().max().map_or(0, |&m| m as usize + 1)).collect()
        };
        assert_eq!(sizes("kary:k=3,n=3"), [9, 3, 1]);
        assert_eq!(sizes("fattree2:n=2,m=2,r=4"), [4, 1]);
        assert_eq!(sizes("hyperx:dims=3x3,t=2"), [9, 1]);
        assert_eq!(sizes("dragonfly:p=2,a=4,h=2"), [36, 9, 1]);
    }
}
