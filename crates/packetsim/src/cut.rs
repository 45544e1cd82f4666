//! Partitioning of a network into parts.

use std::ops::Range;

use crate::{Net, Processes};

/// Terminals of a part at least.
const PART: usize = 1024;
/// Latency of cables between parts, in picoseconds, from which more parts than threads pay: what is simulated in less is less than
/// handing packets over takes. A metre of cable has as much.
const LATENCY: u32 = 5_000;

impl Net {
    /// Number of parts in which a network is simulated that has all threads; no result depends on it.
    pub fn parts(&self) -> usize {
        self.parts_of(rayon::current_num_threads())
    }

    /// The same for several processes, if there are any: a multiple of them, the same in all. Collective.
    pub fn parts_in(&self, processes: Option<&dyn Processes>) -> usize {
        let Some(processes) = processes else { return self.parts() };
        let threads = processes.min(rayon::current_num_threads() as u64) as usize;
        self.parts_of(threads * processes.size())
    }

    /// Parts for this many threads: as many, or a multiple, small enough to stay in the cache.
    fn parts_of(&self, threads: usize) -> usize {
        let many = (self.terminal_count() / PART).max(1).next_multiple_of(threads);
        let pays = || cut(self, many, 1).1.iter().all(|&latency| latency >= LATENCY);
        if many > threads && pays() { many } else { threads }
    }
}

/// First switch of each part, and the end of the last one; and for each part but the first, latency in picoseconds of the fastest
/// cable from it or later ones to those before.
///
/// Parts have as many ports and terminals as the others, by a tenth more or less: in that range the cut is where cables between
/// both sides are longest. Where these would be twice as long if parts differed by more, they do: parts that are independent for long
/// stay in the cache. They are in blocks, one for each process, of equally many parts; between blocks the cut may be off by a
/// quarter of a block, since processes wait longer for each other than threads do.
pub(crate) fn cut(net: &Net, parts: usize, blocks: usize) -> (Vec<u32>, Vec<u32>) {
    let n = net.switch_count() as u32;
    // Ports and terminals of those before each switch.
    let mut before = vec![0u64];
    for s in 0..n {
        let ports = net.base(s)..net.base(s + 1);
        let work = u64::from(net.radix(s)) + net.terminals_at(ports).count() as u64;
        before.push(before[s as usize] + work);
    }
    let switches = Switches { before, quickest: quickest_across(net) };
    let starts = switches.split(0..n, blocks.clamp(1, n.max(1) as usize), 4);
    let ranges = || starts.iter().zip(starts[1..].iter().chain([&n])).map(|(&a, &b)| a..b);
    // All blocks have as many parts.
    let fewest = ranges().map(|range| range.len()).min().unwrap_or(1);
    let each = (parts / starts.len()).clamp(1, fewest.max(1));
    let mut firsts: Vec<u32> = ranges().flat_map(|range| switches.cut(range, each)).collect();
    let across = firsts[1..].iter().map(|&s| switches.quickest[s as usize]).collect();
    firsts.push(n);
    (firsts, across)
}

/// What is known of switches that are to be cut.
struct Switches {
    /// By switch, ports and terminals of those before it; and of all.
    before: Vec<u64>,
    /// By switch, the latency of the quickest cable from those before to it or later ones.
    quickest: Vec<u32>,
}

impl Switches {
    /// First switches of parts of a range.
    fn cut(&self, range: Range<u32>, parts: usize) -> Vec<u32> {
        let [even, uneven] = [10, 2].map(|slack| self.split(range.clone(), parts, slack));
        let latency = |firsts: &[u32]| firsts[1..].iter().map(|&s| self.quickest[s as usize]).min();
        let is_longer = latency(&uneven) >= latency(&even).map(|latency| latency.saturating_mul(2));
        if parts > 1 && is_longer { uneven } else { even }
    }

    /// First switches of exactly `parts` parts of a range that has as many at least, off by one in `slack` of a part at most where
    /// that has several switches.
    fn split(&self, range: Range<u32>, parts: usize, slack: u64) -> Vec<u32> {
        let before = &self.before;
        let (begin, end) = (before[range.start as usize], before[range.end as usize]);
        let at = |sum: u64| before.partition_point(|b| *b < begin + sum) as u32;
        let all = end - begin;
        let mut firsts = vec![range.start];
        for i in 1..parts as u64 {
            let (share, slack) = (all * i / parts as u64, all / (parts as u64 * slack));
            let middle = at(share);
            // Every part has a switch.
            let least = firsts[firsts.len() - 1] + 1;
            let most = range.end - (parts as u64 - i) as u32;
            let near = at(share - slack).max(least)..=at(share + slack).min(most);
            let best = near.max_by_key(|s| {
                (self.quickest[*s as usize], std::cmp::Reverse(s.abs_diff(middle)))
            });
            firsts.push(best.unwrap_or(middle.clamp(least, most)));
        }
        firsts
    }
}

/// By switch, the latency of the quickest cable from a switch before it to it or to one behind it.
fn quickest_across(net: &Net) -> Vec<u32> {
    let n = net.switch_count() as u32;
    let mut quickest = vec![u32::MAX; n as usize];
    let mut cables: Vec<(u32, u32, u32)> = Vec::new();
    for s in 0..n {
        for p in net.base(s)..net.base(s + 1) {
            if let Some(t) = net.next(p).filter(|t| *t > s) {
                cables.push((net.port(p).latency, s, t));
            }
        }
    }
    // Quick ones first: each sets those switches that none has set yet. Where to find the next of these:
    cables.sort_unstable();
    let mut open: Vec<u32> = (0..=n).collect();
    for (latency, from, to) in cables {
        let mut s = next_unset(&mut open, from + 1);
        while s <= to {
            quickest[s as usize] = latency;
            open[s as usize] = s + 1;
            s = next_unset(&mut open, s);
        }
    }
    quickest
}

/// The first switch from `s` on that is not set; halves the path to it.
fn next_unset(open: &mut [u32], mut s: u32) -> u32 {
    while open[s as usize] != s {
        open[s as usize] = open[open[s as usize] as usize];
        s = open[s as usize];
    }
    s
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::open;

    use super::*;
    use crate::preset;

    #[test]
    fn cables_across_are_those_across() {
        for spec in ["dragonfly:p=2,a=4,h=2", "kary:k=4,n=2", "torus:dims=4x4,t=1"] {
            let topology = open(spec).expect("a fabric");
            let fabric = &topology.fabric;
            let mut micro = preset("qdr").expect("a preset").micro();
            micro.latencies = (0..fabric.channel_count() as u32)
                .map(|c| 1000 + c.wrapping_mul(7919) % 97)
                .collect();
            // Both channels of a cable take the same.
            for c in (0..fabric.channel_count()).map(darkfiber_fabric::ChannelId::new) {
                let back = fabric.reverse(c).index();
                micro.latencies[back] = micro.latencies[c.index()];
            }
            let net = Net::new(fabric, &micro);
            let quickest = quickest_across(&net);
            for s in 1..net.switch_count() as u32 {
                let across = (0..net.port_count() as u32).filter_map(|p| {
                    let (a, b) = (net.port(p).switch, net.next(p)?);
                    (a < s && s <= b).then_some(net.port(p).latency)
                });
                assert_eq!(quickest[s as usize], across.min().unwrap_or(u32::MAX), "{spec} {s}");
            }
            for parts in [1, 2, 3, 7, 1000] {
                let n = net.switch_count();
                for blocks in [1, 2, 3, 5] {
                    let (firsts, across) = cut(&net, parts, blocks);
                    assert!(firsts.windows(2).all(|w| w[0] < w[1]) && firsts[0] == 0);
                    assert_eq!(
                        (firsts.last(), across.len()),
                        (Some(&(n as u32)), firsts.len() - 2)
                    );
                    let count = firsts.len() - 1;
                    assert!(count % blocks == 0 && count <= parts.max(blocks), "{parts} {blocks}");
                }
                assert_eq!(cut(&net, parts, 1).0.len() - 1, parts.min(n));
            }
        }
    }

    /// Between groups of a dragonfly cables are ten times as long.
    #[test]
    fn groups_are_not_cut() {
        let topology = open("dragonfly:p=4,a=8,h=4").expect("a fabric");
        let fabric = &topology.fabric;
        let mut micro = preset("qdr").expect("a preset").micro();
        let group = |c: usize, head: bool| {
            let c = darkfiber_fabric::ChannelId::new(c);
            (if head { fabric.head(c) } else { fabric.tail(c) }).index() / 8
        };
        let long = |c: usize| if group(c, false) == group(c, true) { 10_000 } else { 100_000 };
        micro.latencies = (0..fabric.channel_count()).map(long).collect();
        let net = Net::new(fabric, &micro);
        for parts in [2, 4] {
            let (firsts, quickest) = cut(&net, parts, 1);
            assert_eq!((firsts.len(), quickest), (parts + 1, vec![100_000; parts - 1]));
            assert!(firsts.iter().all(|s| s % 8 == 0), "{firsts:?}");
        }
        // Seven processes of four threads have 33 groups: each some whole ones.
        let (firsts, across) = cut(&net, 28, 7);
        assert_eq!(firsts.len(), 29);
        let starts: Vec<u32> = firsts.into_iter().step_by(4).collect();
        assert!(starts.iter().all(|s| s % 8 == 0), "{starts:?}");
        assert!((1..7).all(|k| across[4 * k - 1] == 100_000), "{across:?}");
    }
}
