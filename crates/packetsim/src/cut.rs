//! Partitioning of a network into parts.

use crate::Net;

/// First switch of each part, and the end of the last one; and for each part but the first, latency in picoseconds of the fastest
/// cable from it or later ones to those before.
///
/// Parts have as many ports and terminals as the others, by a tenth more or less: in that range the cut is where cables between
/// both sides are longest.
pub(crate) fn cut(net: &Net, parts: usize) -> (Vec<u32>, Vec<u32>) {
    let n = net.switch_count() as u32;
    // Ports and terminals of those before each switch.
    let mut before = vec![0u64];
    for s in 0..n {
        let ports = net.base(s)..net.base(s + 1);
        let work = u64::from(net.radix(s)) + net.terminals_at(ports).count() as u64;
        before.push(before[s as usize] + work);
    }
    let at = |sum: u64| before.partition_point(|b| *b < sum) as u32;
    let quickest = quickest_across(net);
    let (all, mut firsts) = (before[n as usize], vec![0]);
    for i in 1..parts as u64 {
        let (share, slack) = (all * i / parts as u64, all / (parts as u64 * 10));
        let middle = at(share);
        let best = (at(share - slack)..=at(share + slack))
            .filter(|s| firsts.last().is_some_and(|f| s > f) && *s < n)
            .max_by_key(|s| (quickest[*s as usize], std::cmp::Reverse(s.abs_diff(middle))));
        firsts.extend(best);
    }
    let across = firsts[1..].iter().map(|&s| quickest[s as usize]).collect();
    firsts.push(n);
    (firsts, across)
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
        let mut s = untold(&mut open, from + 1);
        while s <= to {
            quickest[s as usize] = latency;
            open[s as usize] = s + 1;
            s = untold(&mut open, s);
        }
    }
    quickest
}

/// The first switch from `s` on that is not set; halves the path to it.
fn untold(open: &mut [u32], mut s: u32) -> u32 {
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
                let (firsts, _) = cut(&net, parts);
                assert!(firsts.is_sorted() && firsts.len() <= parts + 1 && firsts[0] == 0);
                assert_eq!(firsts.last(), Some(&(net.switch_count() as u32)));
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
            let (firsts, quickest) = cut(&net, parts);
            assert_eq!((firsts.len(), quickest), (parts + 1, vec![100_000; parts - 1]));
            assert!(firsts.iter().all(|s| s % 8 == 0), "{firsts:?}");
        }
    }
}
