//! Traffic across rails: the pairs of NICs, and the switches and cables that they cross.

use darkfiber_fabric::rails::RailMap;
use darkfiber_fabric::{Fabric, HostId, Planes, Role, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Routes, follow};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// Destinations that are counted in parallel; fixed, so that the work is split alike for any number of threads.
const CHUNK: usize = 64;

/// Ordered pairs of NICs of different hosts, by whether their packets stay on a rail. A NIC is of the rail of its leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct RailPairs {
    /// Pairs of one rail whose packets stay on it.
    pub kept: u64,
    /// Pairs of one rail whose packets cross a leaf of another one.
    pub left: u64,
    /// Pairs of different rails.
    pub crossing: u64,
    /// Pairs of different rails that no cable joins: no path, by design (rail-only).
    pub apart: u64,
    /// Pairs in different planes: no path, by design.
    pub between_planes: u64,
    /// Pairs that cables join, or joined before faults, but not the tables.
    pub lost: u64,
    /// NICs on leaves without a rail, which are left out.
    pub nics_without_rail: usize,
}

/// Traffic across rails, and where it crosses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RailCrossing {
    /// Number of pairs.
    pub pairs: RailPairs,
    /// By switch, pairs of different rails whose packets cross it between their leaves.
    pub through: Vec<u64>,
    /// By channel between switches, pairs of different rails.
    pub load: Vec<u64>,
    /// By channel between switches, pairs of one rail.
    pub kept_load: Vec<u64>,
}

/// NICs of one leaf that use one LID of each destination.
struct Sources {
    switch: SwitchId,
    path: usize,
    rail: u32,
    count: u64,
}

impl RailCrossing {
    /// Follows all pairs through the tables. Complexity: O(NICs x leaves x hops).
    pub fn of(fabric: &Fabric, routes: &Routes, map: &RailMap) -> Self {
        let counting = Counting::new(fabric, routes, map);
        let parts: Vec<Self> = counting
            .nics
            .par_chunks(CHUNK)
            .map(|nics| {
                let mut part = counting.empty();
                for &t in nics {
                    counting.add(&mut part, t);
                }
                part
            })
            .collect();
        let mut all = counting.empty();
        all.pairs.nics_without_rail = counting.without_rail;
        for part in &parts {
            all.merge(part);
        }
        all
    }

    /// The channel on which most pairs of different rails are, the lowest of equal ones.
    pub fn worst(&self) -> Option<usize> {
        let order = |&c: &usize| (self.load[c], std::cmp::Reverse(c));
        (0..self.load.len()).filter(|&c| self.load[c] > 0).max_by_key(order)
    }

    fn merge(&mut self, part: &Self) {
        self.pairs.kept += part.pairs.kept;
        self.pairs.left += part.pairs.left;
        self.pairs.crossing += part.pairs.crossing;
        self.pairs.apart += part.pairs.apart;
        self.pairs.between_planes += part.pairs.between_planes;
        self.pairs.lost += part.pairs.lost;
        for (all, own) in [
            (&mut self.through, &part.through),
            (&mut self.load, &part.load),
            (&mut self.kept_load, &part.kept_load),
        ] {
            all.iter_mut().zip(own).for_each(|(all, own)| *all += own);
        }
    }
}

/// State that is the same for all destinations.
struct Counting<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    map: &'a RailMap,
    component: Vec<u32>,
    planes: Planes,
    /// NICs on leaves with a rail.
    nics: Vec<TerminalId>,
    without_rail: usize,
    sources: Vec<Sources>,
    /// By terminal, which of the sources it is among.
    of: Vec<Option<usize>>,
    /// By host its terminals.
    of_host: Vec<Vec<TerminalId>>,
}

impl<'a> Counting<'a> {
    fn new(fabric: &'a Fabric, routes: &'a Routes, map: &'a RailMap) -> Self {
        let mut found = Self {
            fabric,
            routes,
            map,
            component: fabric.component_labels(),
            planes: Planes::of(fabric),
            nics: Vec::new(),
            without_rail: 0,
            sources: Vec::new(),
            of: vec![None; fabric.terminal_count()],
            of_host: vec![Vec::new(); fabric.hosts().len()],
        };
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            let first = found.sources.len();
            for t in fabric.terminals_on(s).map(TerminalId::new) {
                if fabric.terminal(t).role != Role::Compute {
                    continue;
                }
                let Some(rail) = map.rail_of[s.index()] else {
                    found.without_rail += 1;
                    continue;
                };
                let path = routes.path_of(t);
                let known = found.sources[first..].iter().position(|of| of.path == path);
                let at = known.map_or(found.sources.len(), |at| first + at);
                if known.is_none() {
                    found.sources.push(Sources { switch: s, path, rail, count: 0 });
                }
                found.sources[at].count += 1;
                found.of[t.index()] = Some(at);
                found.nics.push(t);
                found.of_host[fabric.host_of(t).index()].push(t);
            }
        }
        found
    }

    fn empty(&self) -> RailCrossing {
        RailCrossing {
            through: vec![0; self.fabric.switch_count()],
            load: vec![0; self.fabric.channel_count()],
            kept_load: vec![0; self.fabric.channel_count()],
            ..RailCrossing::default()
        }
    }

    /// Adds the traffic of all sources to one NIC, except those of its own host.
    fn add(&self, part: &mut RailCrossing, to: TerminalId) {
        let host: HostId = self.fabric.host_of(to);
        let home = self.fabric.terminal(to).switch;
        let rail = self.map.rail_of[home.index()];
        let mut path_channels = Vec::new();
        for (i, from) in self.sources.iter().enumerate() {
            let own = self.of_host[host.index()].iter();
            let own = own.filter(|t| self.of[t.index()] == Some(i)).count() as u64;
            let count = from.count - own;
            if count == 0 {
                continue;
            }
            let is_kept = rail == Some(from.rail);
            if self.component[from.switch.index()] != self.component[home.index()] {
                let planes = [from.switch, home].map(|s| self.planes.of_switch(s));
                match self.map.planes > 1 && planes[0] != planes[1] {
                    true => part.pairs.between_planes += count,
                    false if is_kept => part.pairs.lost += count,
                    false => part.pairs.apart += count,
                }
                continue;
            }
            path_channels.clear();
            let row = self.routes.row(DestId::terminal(to), from.path);
            if !follow(self.fabric, self.routes.ports(row), to, from.switch, &mut path_channels) {
                part.pairs.lost += count;
                continue;
            }
            let heads = path_channels.iter().map(|&c| self.fabric.heads()[c as usize] as usize);
            let between = heads.take(path_channels.len().saturating_sub(1));
            if !is_kept {
                part.pairs.crossing += count;
                between.for_each(|s| part.through[s] += count);
                for &c in &path_channels {
                    part.load[c as usize] += count;
                }
                continue;
            }
            let mut between = between;
            let leaves = between.any(|s| self.map.rail_of[s].is_some_and(|r| r != from.rail));
            *(if leaves { &mut part.pairs.left } else { &mut part.pairs.kept }) += count;
            for &c in &path_channels {
                part.kept_load[c as usize] += count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::rails::rails;
    use darkfiber_fabric::{Faults, Topology, open};
    use darkfiber_routing::{Request, find_engine};

    use super::*;

    fn crossing(topology: &Topology, engine: &str) -> RailCrossing {
        let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
        let routes = find_engine(engine).expect(engine).route(&topology.fabric, &request);
        let map = rails(&topology.fabric).expect("rails");
        RailCrossing::of(&topology.fabric, &routes.expect("routes"), &map)
    }

    /// H hosts of N NICs: H (H - 1) N pairs of one rail, and N - 1 times as many of different ones.
    #[test]
    fn pairs_of_a_cluster_are_counted() {
        let cluster = open("rails:hosts_per_unit=4,units=3,nics=4,spines=2").expect("a spec");
        for engine in ["rails", "ftree", "minhop"] {
            let found = crossing(&cluster, engine);
            assert_eq!((found.pairs.kept, found.pairs.left), (12 * 11 * 4, 0), "{engine}");
            assert_eq!(
                (found.pairs.crossing, found.pairs.apart, found.pairs.lost),
                (3 * 12 * 11 * 4, 0, 0)
            );
            // Every pair of different rails crosses one spine, and two channels.
            assert_eq!(found.through[12..].iter().sum::<u64>(), found.pairs.crossing);
            assert_eq!(found.load.iter().sum::<u64>(), 2 * found.pairs.crossing);
            // Two thirds of the pairs of one rail are in different units.
            assert_eq!(found.kept_load.iter().sum::<u64>(), 2 * 12 * 8 * 4);
        }
    }

    /// Without spines rails have no path to each other, which is no fault; neither have planes.
    #[test]
    fn rails_apart_are_no_fault() {
        let apart = open("rails:hosts_per_unit=4,spines=0,nics=4").expect("a spec");
        let found = crossing(&apart, "rails");
        assert_eq!((found.pairs.kept, found.pairs.crossing), (4 * 3 * 4, 0));
        assert_eq!((found.pairs.apart, found.pairs.lost, found.worst()), (4 * 3 * 4 * 3, 0, None));
        let planes = open("rails:hosts_per_unit=4,units=2,nics=4,spines=2,planes=2");
        let found = crossing(&planes.expect("a spec"), "rails");
        assert_eq!((found.pairs.kept, found.pairs.crossing), (2 * 8 * 7 * 4, 2 * 8 * 7 * 12));
        assert_eq!(
            (found.pairs.between_planes, found.pairs.apart, found.pairs.lost),
            (2 * 8 * 7 * 16, 0, 0)
        );
    }

    /// A leaf with no cable to a spine cannot be reached by the tables, which are refused or say so.
    #[test]
    fn a_leaf_of_another_rail_on_the_way_is_found() {
        let mut cluster = open("rails:hosts_per_unit=2,units=2,nics=2,spines=2").expect("a spec");
        // su01-rail1 and su02-rail1 have no spine in common: a path between them crosses a leaf of rail 2.
        let spine = |leaf: u32, spine: u32| {
            let channels = cluster.fabric.channels_from(SwitchId(leaf));
            channels
                .map(darkfiber_fabric::ChannelId::new)
                .find(|&c| cluster.fabric.head(c).0 == spine)
        };
        let channels = [spine(0, 5), spine(2, 4)].map(|c| c.expect("a cable"));
        let faults = Faults { links: channels.to_vec(), ..Faults::default() };
        let (fabric, _) = cluster.fabric.with_faults(&faults);
        cluster = Topology { fabric, shape: None };
        let found = crossing(&cluster, "minhop");
        assert_eq!((found.pairs.left, found.pairs.lost), (2 * 2 * 2, 0));
    }
}
