//! Rails of GPU clusters, found on any fabric: NIC i of every host of a unit is on leaf i.
//!
//! Names are not used, only the index of a terminal among its host's ports, in the order of the fabric. Where nearly all terminals of a
//! leaf have the same index, that is the leaf's rail; a terminal of another index is reported as an exception. Hosts with the same
//! leaves are a unit; leaves that share a switch above are in one pod.
//!
//! Where hosts have several ports in each of several planes (a NIC with two ports, each in a separate network), ports are counted within
//! their plane, so that NIC i is of rail i in all planes. Where they have one port a plane, the planes are the rails (rail-only).

use std::collections::{BTreeMap, BTreeSet};

use crate::{ChannelId, Fabric, HostId, Planes, Role, SwitchId, TerminalId};

/// The rails of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailMap {
    /// By switch its rail, from 0; `None` for those that have none.
    pub rail_of: Vec<Option<u32>>,
    /// Number of rails of the fabric.
    pub rails: usize,
    /// By unit its hosts, the largest first.
    pub units: Vec<Vec<HostId>>,
    /// Sets of leaves that share switches above them, or leaves alone.
    pub pods: usize,
    /// Whether cables join leaves of different rails over switches above them: otherwise rails are separate networks.
    pub rails_meet: bool,
    /// Networks without a common switch, each with all rails; 1 where every rail is a separate network.
    pub planes: usize,
    /// Terminals on a leaf of another rail.
    pub exceptions: Vec<TerminalId>,
}

/// Percentage of the terminals of a leaf switch whose adapters have its index; one adapter may always have another.
const MOST: usize = 95;

/// By terminal, which of its host's compute ports in its plane it is, from 0, in the order of the fabric; and the number of planes.
fn numbers(fabric: &Fabric) -> (Vec<Option<u32>>, usize) {
    let planes = Planes::of(fabric);
    let count = |planes: usize, plane_of: &dyn Fn(TerminalId) -> usize| -> Vec<Option<u32>> {
        let mut next = vec![0u32; fabric.hosts().len() * planes];
        let number = |t: usize| {
            let t = TerminalId::new(t);
            let is_compute = fabric.terminal(t).role == Role::Compute;
            let next = &mut next[fabric.host_of(t).index() * planes + plane_of(t)];
            is_compute.then(|| {
                *next += 1;
                *next - 1
            })
        };
        (0..fabric.terminal_count()).map(number).collect()
    };
    let within = count(planes.count(), &|t| planes.of_switch(fabric.terminal(t).switch));
    if planes.count() > 1 && within.iter().all(|n| n.is_none_or(|n| n == 0)) {
        return (count(1, &|_| 0), 1);
    }
    (within, planes.count())
}

/// Looks for rails: two at least, on nine of ten switches with hosts.
///
/// Complexity: O(terminals log terminals + channels).
pub fn rails(fabric: &Fabric) -> Option<RailMap> {
    let (number, planes) = numbers(fabric);
    let mut rail_of = vec![None; fabric.switch_count()];
    let (mut leaves, mut with_rail) = (0, 0);
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        let mut count: BTreeMap<u32, usize> = BTreeMap::new();
        fabric
            .terminals_on(s)
            .filter_map(|t| number[t])
            .for_each(|n| *count.entry(n).or_default() += 1);
        let all: usize = count.values().sum();
        let Some((&rail, &own)) = count.iter().max_by_key(|&(n, c)| (*c, std::cmp::Reverse(*n)))
        else {
            continue;
        };
        leaves += 1;
        if own * 100 >= all * MOST || own + 1 == all && own > 1 {
            rail_of[s.index()] = Some(rail);
            with_rail += 1;
        }
    }
    // Where switches with hosts are joined to each other, as in a dragonfly, they are no leaves.
    let has_hosts = |s: SwitchId| fabric.terminals_on(s).any(|t| number[t].is_some());
    let is_joined = |c: ChannelId| has_hosts(fabric.tail(c)) && has_hosts(fabric.head(c));
    if (0..fabric.channel_count()).map(ChannelId::new).any(is_joined) {
        return None;
    }
    let rails: BTreeSet<u32> = rail_of.iter().flatten().copied().collect();
    if rails.len() < 2 || with_rail * 10 < leaves * 9 {
        return None;
    }
    let is_exception = |t: &TerminalId| {
        let rail = rail_of[fabric.terminal(*t).switch.index()];
        number[t.index()].is_some_and(|n| rail.is_some_and(|rail| rail != n))
    };
    let exceptions =
        (0..fabric.terminal_count()).map(TerminalId::new).filter(is_exception).collect();
    let pods = pods(fabric, &rail_of, planes);
    let rails_meet = rails_meet(fabric, &rail_of);
    Some(RailMap {
        units: units(fabric, &number),
        rails: rails.len(),
        pods,
        rails_meet,
        planes,
        exceptions,
        rail_of,
    })
}

/// Hosts by the leaves that they are on.
fn units(fabric: &Fabric, number: &[Option<u32>]) -> Vec<Vec<HostId>> {
    let mut leaves: BTreeMap<HostId, BTreeSet<SwitchId>> = BTreeMap::new();
    for t in
        (0..fabric.terminal_count()).map(TerminalId::new).filter(|t| number[t.index()].is_some())
    {
        leaves.entry(fabric.host_of(t)).or_default().insert(fabric.terminal(t).switch);
    }
    // A host with a missing or misplaced cable is of the unit that most of its leaves are of.
    let mut sets: BTreeMap<&BTreeSet<SwitchId>, Vec<HostId>> = BTreeMap::new();
    for (host, of) in &leaves {
        sets.entry(of).or_default().push(*host);
    }
    let mut known: Vec<(&BTreeSet<SwitchId>, Vec<HostId>)> = sets.into_iter().collect();
    known.sort_by_key(|(leaves, hosts)| std::cmp::Reverse((hosts.len(), leaves.len())));
    let mut units: Vec<(&BTreeSet<SwitchId>, Vec<HostId>)> = Vec::new();
    for (of, hosts) in known {
        let common = |u: &(&BTreeSet<SwitchId>, Vec<HostId>)| of.intersection(u.0).count();
        match units.iter_mut().max_by_key(|u| common(u)).filter(|u| 2 * common(u) > of.len()) {
            Some(unit) => unit.1.extend(hosts),
            None => units.push((of, hosts)),
        }
    }
    let mut units: Vec<Vec<HostId>> = units.into_iter().map(|(_, hosts)| hosts).collect();
    for hosts in &mut units {
        hosts.sort_unstable();
    }
    units.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    units
}

/// Whether any network has leaves of several rails.
fn rails_meet(fabric: &Fabric, rail_of: &[Option<u32>]) -> bool {
    let mut of: BTreeMap<u32, u32> = BTreeMap::new();
    let labels = fabric.component_labels();
    let mut leaves = labels.iter().zip(rail_of).filter_map(|(&l, rail)| rail.map(|r| (l, r)));
    leaves.any(|(label, rail)| *of.entry(label).or_insert(rail) != rail)
}

/// Sets of leaves with the same switches above, of one of the planes.
fn pods(fabric: &Fabric, rail_of: &[Option<u32>], planes: usize) -> usize {
    let leaves = (0..fabric.switch_count()).filter(|&s| rail_of[s].is_some());
    let above = |s: usize| -> BTreeSet<u32> {
        let heads =
            fabric.channels_from(SwitchId::new(s)).map(|c| fabric.head(ChannelId::new(c)).0);
        heads.filter(|&h| rail_of[h as usize].is_none()).collect()
    };
    let mut joined: Vec<BTreeSet<u32>> = Vec::new();
    let mut alone = 0;
    for s in leaves {
        let above = above(s);
        alone += usize::from(above.is_empty());
        if above.is_empty() {
            continue;
        }
        let (mut same, others): (Vec<_>, Vec<_>) =
            joined.into_iter().partition(|of| !of.is_disjoint(&above));
        same.push(above);
        joined = others;
        joined.push(same.into_iter().flatten().collect());
    }
    if planes > 1 {
        let of = Planes::of(fabric);
        let mut count = vec![0; planes];
        for pod in &joined {
            if let Some(&s) = pod.first() {
                count[of.of_switch(SwitchId(s))] += 1;
            }
        }
        return count.into_iter().max().unwrap_or(0);
    }
    joined.len() + alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Faults, open};

    #[test]
    fn units_and_rails_of_a_cluster() {
        let fabric = open("rails:hosts_per_unit=4,units=3,nics=4,spines=2").expect("a spec").fabric;
        let found = rails(&fabric).expect("rails");
        let sizes: Vec<usize> = found.units.iter().map(Vec::len).collect();
        assert_eq!((found.rails, sizes, found.pods, found.rails_meet), (4, vec![4, 4, 4], 1, true));
        assert!(found.exceptions.is_empty());
        assert_eq!(found.rail_of.iter().flatten().count(), 12);
        let pods = open("rails:hosts_per_unit=2,units=2,nics=4,spines=2,pods=3,cores=2")
            .expect("a spec")
            .fabric;
        assert_eq!(rails(&pods).expect("rails").pods, 3);
    }

    /// Without a cable a host's later ports have other numbers: they are named, and the host stays in its unit.
    #[test]
    fn damage_is_named() {
        let whole = open("rails:hosts_per_unit=8,units=2,nics=4,spines=2").expect("a spec").fabric;
        let (damaged, _) =
            whole.with_faults(&Faults { terminals: vec![TerminalId(0)], ..Faults::default() });
        let found = rails(&damaged).expect("rails");
        assert_eq!(found.units.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8]);
        assert!(found.exceptions.len() <= 3 && found.rails == 4, "{found:?}");
    }

    /// Trees of hosts with one port, and hosts with all ports on one switch, have no rails.
    #[test]
    fn no_rails() {
        for spec in
            ["kary:k=4,n=2", "hyperx:dims=3x3,t=2", "fattree2:n=4,m=4,r=4", "dragonfly:p=2,a=4,h=2"]
        {
            assert_eq!(rails(&open(spec).expect(spec).fabric), None, "{spec}");
        }
        // Rails that are separate networks.
        let apart = open("rails:hosts_per_unit=4,spines=0,nics=4").expect("a spec").fabric;
        let found = rails(&apart).expect("rails");
        assert_eq!((found.rails, found.pods, found.rails_meet), (4, 4, false));
        assert_eq!(found.planes, 1);
        // Two planes, each with all rails.
        let twice = "rails:hosts_per_unit=4,units=2,nics=4,spines=2,planes=2";
        let fabric = open(twice).expect("a spec").fabric;
        let found = rails(&fabric).expect("rails");
        assert_eq!((found.rails, found.planes, found.rails_meet), (4, 2, true));
        assert_eq!(found.pods, 1);
        assert_eq!(found.units.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4]);
        assert_eq!(found.rail_of.iter().flatten().count(), 16);
    }
}
