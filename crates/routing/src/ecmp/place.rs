//! ECMP on a fabric: which channel a switch picks for a flow.

use darkfiber_fabric::{ChannelId, Fabric, SwitchId, TerminalId};

use super::header::mixed;
use super::{Differs, EcmpSpec, Field, Header};
use crate::next_hops::{Group, NextHopSet, NextHops};

/// Default number of buckets of weighted groups.
const BUCKETS: u32 = 128;
/// By how many bits hashes are rotated from tier to tier.
const ROTATION: u32 = 5;

/// A fabric whose switches forward by ECMP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ecmp {
    spec: EcmpSpec,
    draw: u64,
    hops: NextHops,
    /// Whether these are all shortest paths; else they were given.
    is_shortest: bool,
    /// By switch its seed, and by how much it rotates.
    seed: Vec<u32>,
    rotate: Vec<u32>,
    /// Whether the port by which a packet came in is hashed.
    by_port: bool,
}

impl Ecmp {
    /// All switches of a fabric with the same configuration. The numbers of queue pairs, which are not known before a job runs,
    /// are drawn by `draw`.
    ///
    /// Complexity: O(destination switches x channels).
    pub fn new(fabric: &Fabric, spec: &EcmpSpec, draw: u64) -> Self {
        let make = |found: &NextHopSet<'_>| {
            let members = found.members.clone();
            match (spec.weighted, spec.buckets) {
                (true, buckets) => {
                    let buckets = buckets.unwrap_or(BUCKETS) as usize;
                    Group::weighted(members, &found.capacity, buckets)
                }
                (false, Some(buckets)) => Group::resilient(members, buckets as usize),
                (false, None) => Group::even(members),
            }
        };
        let hops = NextHops::of(fabric, &|_| true, &make);
        Self { is_shortest: true, ..Self::over(fabric, spec, draw, hops) }
    }

    /// As [`Ecmp::new`], hashes that pick among given sets towards switches, such as groups of ports of adaptive routing
    /// (hash-based forwarding of InfiniBand).
    pub fn over(fabric: &Fabric, spec: &EcmpSpec, draw: u64, hops: NextHops) -> Self {
        let n = fabric.switch_count();
        let tier = tiers(fabric);
        let by = |differs: Differs, s: usize| match differs {
            Differs::Same => 0,
            Differs::Tier => tier[s],
            Differs::Switch => s as u32 + 1,
        };
        let seed = |s: usize| match by(spec.seed, s) {
            0 => 0,
            other => mixed(other.into()) as u32,
        };
        let rotate = |s: usize| match spec.rotate {
            Differs::Switch => mixed(s as u64 ^ 0x0072_6f74) as u32 % spec.hash.bits,
            other => by(other, s) * ROTATION % spec.hash.bits,
        };
        Self {
            hops,
            is_shortest: false,
            seed: (0..n).map(seed).collect(),
            rotate: (0..n).map(rotate).collect(),
            by_port: spec.fields.contains(&Field::InPort),
            spec: spec.clone(),
            draw,
        }
    }

    /// The same after channels have failed: groups lose members, and shortest paths may be others. Only with buckets do flows that
    /// crossed no failed channel stay where they were.
    ///
    /// Complexity: as [`Ecmp::new`].
    #[must_use]
    pub fn after(&self, fabric: &Fabric, is_alive: &(dyn Fn(ChannelId) -> bool + Sync)) -> Self {
        if !self.is_shortest {
            let hops = self.hops.without(&|c| is_alive(ChannelId(c)));
            return Self { hops, ..self.clone() };
        }
        let make = |found: &NextHopSet<'_>| {
            debug_assert_eq!(found.fabric.switch_count(), self.seed.len());
            let members = found.members.clone();
            match (self.spec.buckets, self.spec.weighted) {
                (Some(_), _) => self.hops.group(found.at, found.to).mended(members),
                (None, true) => Group::weighted(members, &found.capacity, BUCKETS as usize),
                (None, false) => Group::even(members),
            }
        };
        let hops = NextHops::of(fabric, &|c| is_alive(ChannelId(c)), &make);
        Self { hops, ..self.clone() }
    }

    /// The same with other numbers of queue pairs.
    #[must_use]
    pub fn redrawn(&self, draw: u64) -> Self {
        Self { draw, ..self.clone() }
    }

    /// The ECMP configuration of the switches.
    pub fn spec(&self) -> &EcmpSpec {
        &self.spec
    }

    /// The sets of next hops.
    pub fn hops(&self) -> &NextHops {
        &self.hops
    }

    /// Queue pairs from one terminal to another.
    pub fn queue_pairs(&self) -> usize {
        self.spec.queue_pairs as usize
    }

    /// The header of packets of a queue pair.
    pub fn header(&self, from: TerminalId, to: TerminalId, number: usize) -> Header {
        Header::drawn(self.draw, from, to, number as u32)
    }

    /// The hash that a switch makes of a packet that came in by a port.
    #[inline]
    pub fn hash(&self, at: SwitchId, header: &Header, in_port: u8) -> u32 {
        let (key, length) = header.key(&self.spec.fields, in_port);
        let hash = self.spec.hash.hash(&key[..length], self.seed[at.index()]);
        self.spec.hash.rotated(hash, self.rotate[at.index()])
    }

    /// The channel on which a switch forwards a packet towards another switch; `None` at that switch, and where no path leads to it.
    #[inline]
    pub fn next(
        &self,
        at: SwitchId,
        to: SwitchId,
        header: &Header,
        in_port: u8,
    ) -> Option<ChannelId> {
        let group = self.hops.group(at, to);
        if group.members().len() < 2 {
            return group.members().first().map(|&c| ChannelId(c));
        }
        group.pick(self.hash(at, header, in_port)).map(ChannelId)
    }

    /// Adds to `path` the channels between switches that packets of a queue pair cross; returns whether they
    /// arrive.
    pub fn follow(
        &self,
        fabric: &Fabric,
        from: TerminalId,
        to: TerminalId,
        number: usize,
        path: &mut Vec<u32>,
    ) -> bool {
        let header = self.header(from, to, number);
        let (mut at, goal) = (fabric.terminal(from).switch, fabric.terminal(to).switch);
        let mut in_port = fabric.terminal(from).switch_port;
        // Next hops of ECMP are nearer each time; groups of ports may not be.
        let most = path.len() + fabric.switch_count();
        while at != goal {
            if path.len() == most {
                return false;
            }
            let Some(c) = self.next(at, goal, &header, in_port) else { return false };
            path.push(c.0);
            (at, in_port) = (fabric.head(c), fabric.head_port(c));
        }
        true
    }

    /// Whether switches hash the port by which packets come in.
    pub fn reads_in_port(&self) -> bool {
        self.by_port
    }
}

/// By switch, how many cables it is away from one that has terminals; 0 where no cable leads to one.
pub fn tiers(fabric: &Fabric) -> Vec<u32> {
    let n = fabric.switch_count();
    let mut tier = vec![u32::MAX; n];
    let mut queue: Vec<usize> =
        (0..n).filter(|&s| !fabric.terminals_on(SwitchId::new(s)).is_empty()).collect();
    for &s in &queue {
        tier[s] = 0;
    }
    let mut next = 0;
    while let Some(&s) = queue.get(next) {
        next += 1;
        for c in fabric.channels_from(SwitchId::new(s)) {
            let other = fabric.heads()[c] as usize;
            if tier[other] == u32::MAX {
                tier[other] = tier[s] + 1;
                queue.push(other);
            }
        }
    }
    tier.iter_mut().filter(|t| **t == u32::MAX).for_each(|t| *t = 0);
    tier
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use darkfiber_fabric::{AtPort, Faults, open};

    use super::*;

    fn ecmp(fabric: &Fabric, text: &str) -> Ecmp {
        Ecmp::new(fabric, &EcmpSpec::parse(text).expect("a spec"), 1)
    }

    fn all_paths(fabric: &Fabric, ecmp: &Ecmp, number: usize) -> Vec<Vec<u32>> {
        let n = fabric.terminal_count() as u32;
        let pairs = (0..n).flat_map(|a| (0..n).map(move |b| (TerminalId(a), TerminalId(b))));
        let path = |(a, b)| {
            let mut path = Vec::new();
            assert!(ecmp.follow(fabric, a, b, number, &mut path));
            path
        };
        pairs.filter(|(a, b)| a != b).map(path).collect()
    }

    #[test]
    fn paths_are_shortest_and_join() {
        for spec in ["kary:k=3,n=3", "torus:dims=4x4,t=2", "dragonfly:p=1,a=4,h=1"] {
            let fabric = open(spec).expect(spec).fabric;
            let ecmp = ecmp(&fabric, "jenkins:fields=src-ip+dst-ip+src-port+in-port,qps=2");
            for path in all_paths(&fabric, &ecmp, 1) {
                for pair in path.windows(2) {
                    assert_eq!(fabric.head(ChannelId(pair[0])), fabric.tail(ChannelId(pair[1])));
                }
                let (Some(first), Some(last)) = (path.first(), path.last()) else { continue };
                let (a, b) = (fabric.tail(ChannelId(*first)), fabric.head(ChannelId(*last)));
                let c = ChannelId(*first);
                let at_port = fabric.at_port(a, fabric.tail_port(c));
                assert!(matches!(at_port, AtPort::Switch(found, _) if found == c));
                // Breadth-first, by hand.
                let mut seen = BTreeSet::from([a]);
                let mut steps = 0;
                while !seen.contains(&b) {
                    let next = seen.iter().flat_map(|&s| fabric.channels_from(s));
                    let next: Vec<SwitchId> =
                        next.map(|c| fabric.head(ChannelId::new(c))).collect();
                    seen.extend(next);
                    steps += 1;
                }
                assert_eq!(path.len(), steps);
            }
        }
    }

    /// After a failure flows with buckets stay, except those that crossed what failed; without buckets
    /// most move.
    #[test]
    fn resilient_hashing_moves_few() {
        let fabric = open("fattree2:n=8,m=8,r=8").expect("a spec").fabric;
        let dead = fabric.channels_from(fabric.terminal(TerminalId(0)).switch).start as u32;
        let back = fabric.reverses()[dead as usize];
        let moved = |text: &str| {
            let before = ecmp(&fabric, text);
            let after = before.after(&fabric, &|c| c.0 != dead && c.0 != back);
            let (old, new) = (all_paths(&fabric, &before, 0), all_paths(&fabric, &after, 0));
            assert!(new.iter().all(|path| !path.contains(&dead) && !path.contains(&back)));
            let hit = |path: &Vec<u32>| path.contains(&dead) || path.contains(&back);
            let pairs = || old.iter().zip(&new);
            let must = pairs().filter(|(o, _)| hit(o)).count();
            let all = pairs().filter(|(o, n)| o != n).count();
            (must, all)
        };
        let (must, all) = moved("jenkins:seed=switch,buckets=256");
        assert_eq!(must, all);
        let (must, all) = moved("jenkins:seed=switch");
        assert!(all > 4 * must, "{all} of {must}");
    }

    /// A spine that has lost one of its two cables to a leaf gets half as much for it as the other one.
    #[test]
    fn weights_follow_capacity() {
        let whole =
            open("rails:hosts_per_unit=4,units=2,nics=1,spines=2,trunk=2").expect("a spec").fabric;
        let leaf = |t: u32, fabric: &Fabric| fabric.terminal(TerminalId(t)).switch;
        let lost = ChannelId::new(whole.channels_from(leaf(7, &whole)).start);
        let (fabric, _) = whole.with_faults(&Faults { links: vec![lost], ..Faults::default() });
        let shares = |text: &str| {
            let ecmp = ecmp(&fabric, text);
            let group = ecmp.hops().group(leaf(0, &fabric), leaf(7, &fabric));
            let n = group.members().len();
            let mut all: Vec<f64> = (0..n).map(|m| (group.share(m) * 120.0).round()).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        assert_eq!(shares("crc32:weighted=yes,buckets=120"), [20.0, 20.0, 40.0, 40.0]);
        assert_eq!(shares("crc32"), [30.0; 4]);
    }
}
