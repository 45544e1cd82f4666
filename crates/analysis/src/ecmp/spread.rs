//! Load of next hops, tier by tier, over many draws of queue pairs.

use std::collections::BTreeMap;

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};
use darkfiber_routing::ecmp::{Ecmp, tiers};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Balls, idle, members_used, members_used_variance};
use crate::rings::speed;

/// Spread of flows over a fabric.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// By tier of the switch that picks, hosts' own switches first.
    pub tiers: Vec<TierSpread>,
    /// Share of the slowest pair of terminals in its link where all on a channel share it evenly: mean over draws.
    pub slowest: f64,
    /// The least of all draws.
    pub slowest_worst: f64,
    /// Pairs of terminals of one draw, without those of one host.
    pub pairs: f64,
    /// Pairs without a path.
    pub lost: u64,
}

/// What the switches of a tier pick among several next hops. Flows count in pairs of terminals: with four queue pairs a flow is a
/// quarter.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct TierSpread {
    /// Cables from the switches that pick to the nearest host's switch.
    pub tier: u32,
    /// Groups of next hops that flows came to: of a switch, by their members.
    pub groups: usize,
    /// Next hops of a group, mean.
    #[serde(rename = "next_hops")]
    pub members: f64,
    /// Flows of a group in one draw, mean.
    pub flows: f64,
    /// Flows on the fullest next hop of a group, mean over groups and draws.
    pub fullest: f64,
    /// The same for a hash as good as random, by its closed form for as many flows.
    pub fullest_random: f64,
    /// Most flows on any next hop in a draw, mean over draws.
    pub most: f64,
    /// Most flows on any next hop in any draw.
    pub worst: f64,
    /// Next hops without a flow in a draw, of all.
    pub idle: f64,
    /// The same for a hash as good as random.
    pub idle_random: f64,
    /// Next hops of a group that any draw uses, mean.
    pub used: f64,
    /// The same for a hash as good as random.
    pub used_random: f64,
    /// Standard error of that for as few flows as there were.
    pub used_error: f64,
}

/// Standard errors by which chance is not taken for polarization.
const CLEARLY: f64 = 4.0;

impl TierSpread {
    /// Whether switches use fewer of their next hops than chance would leave out: flows that come to a switch have hashes that were
    /// chosen by the same hash before.
    pub fn is_polarized(&self) -> bool {
        self.used < 0.9 * self.used_random - CLEARLY * self.used_error
    }
}

/// A group: its tier and its number.
type Place = (u32, u32);

/// One draw in a group: flows by member.
type Draw = BTreeMap<Place, Vec<u32>>;

/// Spreads the pairs of each of `draws` draws, with other numbers of queue pairs each time.
///
/// Complexity: O(draws x pairs x queue pairs x hops).
pub fn spread(
    fabric: &Fabric,
    ecmp: &Ecmp,
    draws: u32,
    seed: u64,
    pairs: &(dyn Fn(u32) -> Vec<[TerminalId; 2]> + Sync),
) -> Spread {
    let tier = tiers(fabric);
    let all: Vec<(Draw, f64, u64, u64)> = (0..draws)
        .into_par_iter()
        .map(|draw| {
            let ecmp = ecmp.redrawn(seed.wrapping_add(u64::from(draw)));
            one_draw(fabric, &ecmp, &tier, &pairs(draw))
        })
        .collect();
    // By group the members that all draws together used.
    let mut total: BTreeMap<Place, Vec<u32>> = BTreeMap::new();
    for (found, ..) in &all {
        for (place, counts) in found {
            let sum = total.entry(*place).or_insert_with(|| vec![0; counts.len()]);
            sum.iter_mut().zip(counts).for_each(|(s, c)| *s = s.saturating_add(*c));
        }
    }
    let mut of_tier: BTreeMap<u32, Sums> = BTreeMap::new();
    let mut balls = Balls::default();
    for (found, ..) in &all {
        let mut most: BTreeMap<u32, u32> = BTreeMap::new();
        for (place, counts) in found {
            let sums = of_tier.entry(place.0).or_default();
            sums.add(counts, &mut balls);
            let fullest = counts.iter().copied().max().unwrap_or(0);
            let most = most.entry(place.0).or_default();
            *most = fullest.max(*most);
        }
        for (tier, most) in most {
            let sums = of_tier.entry(tier).or_default();
            sums.most += f64::from(most);
            sums.worst = sums.worst.max(most);
        }
    }
    let n = f64::from(ecmp.spec().queue_pairs);
    let tiers = of_tier.into_iter().map(|(tier, sums)| {
        let groups: Vec<&Vec<u32>> =
            total.iter().filter(|g| g.0.0 == tier).map(|(_, counts)| counts).collect();
        sums.tier(tier, &groups, n, draws)
    });
    let slow = |of: &(Draw, f64, u64, u64)| of.1;
    Spread {
        tiers: tiers.collect(),
        slowest: all.iter().map(slow).sum::<f64>() / all.len().max(1) as f64,
        slowest_worst: all.iter().map(slow).fold(1.0, f64::min),
        pairs: all.iter().map(|a| a.2 as f64).sum::<f64>() / all.len().max(1) as f64,
        lost: all.iter().map(|a| a.3).sum(),
    }
}

/// Follows all flows once: groups, the slowest pair's share, pairs, pairs that are lost.
fn one_draw(
    fabric: &Fabric,
    ecmp: &Ecmp,
    tier: &[u32],
    pairs: &[[TerminalId; 2]],
) -> (Draw, f64, u64, u64) {
    let mut found = Draw::new();
    let (m, t) = (fabric.channel_count(), fabric.terminal_count());
    let mut load = vec![0u32; m + 2 * t];
    let (mut counted, mut lost) = (0, 0);
    let n = ecmp.queue_pairs();
    let mut path = Vec::new();
    for &[from, to] in pairs {
        if fabric.host_of(from) == fabric.host_of(to) {
            continue;
        }
        counted += 1;
        for number in 0..n {
            path.clear();
            if !ecmp.follow(fabric, from, to, number, &mut path) {
                lost += 1;
                break;
            }
            load[m + to.index()] += 1;
            load[m + t + from.index()] += 1;
            let goal = fabric.terminal(to).switch;
            for &c in &path {
                load[c as usize] += 1;
                let at = fabric.tail(ChannelId(c));
                let members = ecmp.hops().group(at, goal).members();
                if members.len() < 2 {
                    continue;
                }
                let place = (tier[at.index()], ecmp.hops().group_number(at, goal));
                let counts = found.entry(place).or_insert_with(|| vec![0; members.len()]);
                if let Ok(i) = members.binary_search(&c) {
                    counts[i] += 1;
                }
            }
        }
    }
    // A pair's share of its link by the load of the fullest channel of all, in time: equal messages, each in equal parts on
    // its queue pairs. A pair without a path gets nothing.
    if lost > 0 {
        return (found, 0.0, counted, lost);
    }
    let link = (0..t).map(|i| speed(fabric, (m + i) as u32)).fold(0.0, f64::max);
    let slowest = load
        .iter()
        .enumerate()
        .filter(|(_, on)| **on > 0)
        .map(|(c, &on)| speed(fabric, c as u32) * n as f64 / (link * f64::from(on)))
        .fold(1.0, f64::min);
    (found, slowest, counted, lost)
}

/// Sums over groups and draws.
#[derive(Default)]
struct Sums {
    seen: f64,
    members: f64,
    flows: f64,
    fullest: f64,
    fullest_random: f64,
    idle: f64,
    idle_random: f64,
    most: f64,
    worst: u32,
}

impl Sums {
    fn add(&mut self, counts: &[u32], balls: &mut Balls) {
        let (n, m) = (counts.iter().sum::<u32>(), counts.len() as u32);
        self.seen += 1.0;
        self.members += f64::from(m);
        self.flows += f64::from(n);
        self.fullest += f64::from(counts.iter().copied().max().unwrap_or(0));
        self.fullest_random += balls.fullest(n, m);
        self.idle += counts.iter().filter(|c| **c == 0).count() as f64;
        self.idle_random += idle(n, m) * f64::from(m);
    }

    fn tier(&self, tier: u32, groups: &[&Vec<u32>], queue_pairs: f64, draws: u32) -> TierSpread {
        let count = groups.len().max(1) as f64;
        let used = |g: &&Vec<u32>| g.iter().filter(|c| **c > 0).count() as f64;
        let random = |g: &&Vec<u32>| members_used(g.iter().sum(), g.len() as u32);
        let variance = |g: &&Vec<u32>| members_used_variance(g.iter().sum(), g.len() as u32);
        TierSpread {
            tier,
            groups: groups.len(),
            members: self.members / self.seen,
            flows: self.flows / self.seen / queue_pairs,
            fullest: self.fullest / self.seen / queue_pairs,
            fullest_random: self.fullest_random / self.seen / queue_pairs,
            most: self.most / f64::from(draws.max(1)) / queue_pairs,
            worst: f64::from(self.worst) / queue_pairs,
            idle: self.idle / self.members,
            idle_random: self.idle_random / self.members,
            used: groups.iter().map(used).sum::<f64>() / count,
            used_random: groups.iter().map(random).sum::<f64>() / count,
            used_error: groups.iter().map(variance).sum::<f64>().sqrt() / count,
        }
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::open;
    use darkfiber_routing::ecmp::EcmpSpec;

    use super::*;

    /// Every host of a tree of three levels sends to the one that is half of the fabric away, so that all flows go up
    /// twice.
    fn across(k: u32, text: &str, draws: u32) -> Spread {
        let fabric = open(&format!("kary:k={k},n=3")).expect("a spec").fabric;
        let n = fabric.terminal_count() as u32;
        let pairs = move |_: u32| {
            (0..n).map(|i| [TerminalId(i), TerminalId((i + n / 2) % n)]).collect::<Vec<_>>()
        };
        let spec = EcmpSpec::parse(text).expect(text);
        let ecmp = Ecmp::new(&fabric, &spec, 1);
        spread(&fabric, &ecmp, draws, 1, &pairs)
    }

    /// The second tier's switches use one of eight links if they hash as the first tier's, whatever the hash. Another initial value of
    /// a CRC does not cure that, a rotation does; another seed of a nonlinear hash does, too.
    #[test]
    fn polarization_and_its_cures() {
        let used = |text: &str| across(8, text, 24).tiers[1].used;
        for hash in ["crc32", "crc16", "jenkins", "random"] {
            assert!((used(hash) - 1.0).abs() < 1e-9, "{hash}: {}", used(hash));
        }
        for still in ["crc32:seed=tier", "crc16:seed=tier"] {
            assert!((used(still) - 1.0).abs() < 1e-9, "{still}: {}", used(still));
        }
        for cured in ["crc32:rotate=tier", "jenkins:seed=tier", "random:seed=switch"] {
            let spread = across(8, cured, 24);
            assert!(spread.tiers[1].used > 7.9, "{cured}: {:?}", spread.tiers[1]);
            assert!(spread.tiers.iter().all(|t| !t.is_polarized()), "{cured}: {spread:?}");
        }
        assert!(across(8, "crc32", 24).tiers[1].is_polarized());
        // Six links: three of a CRC's with another first value, since its parity is fixed.
        let six = |text: &str| across(6, text, 60).tiers[1].used;
        assert!((six("crc32") - 1.0).abs() < 1e-9);
        assert!(six("crc32:seed=tier") < 3.5, "{}", six("crc32:seed=tier"));
    }

    /// Flows of hosts' switches are balls in bins: eight on eight links.
    #[test]
    fn the_first_tier_is_balls_in_bins() {
        for text in ["random:seed=switch", "jenkins:seed=switch", "crc32:rotate=switch"] {
            let tier = across(8, text, 400).tiers[0].clone();
            assert!((tier.flows - 8.0).abs() < 1e-9 && (tier.members - 8.0).abs() < 1e-9);
            assert!((tier.fullest_random - 2.596).abs() < 5e-3);
            assert!((tier.fullest - tier.fullest_random).abs() < 0.03, "{text}: {tier:?}");
            assert!((tier.idle - 0.3436).abs() < 0.01, "{text}: {tier:?}");
        }
    }

    /// Sixteen times the flows are spread more evenly, and no pair gets more than its link.
    #[test]
    fn more_queue_pairs_are_more_even() {
        let slowest = |qps: u32| across(4, &format!("jenkins:seed=switch,qps={qps}"), 40).slowest;
        let all = [slowest(1), slowest(4), slowest(16), slowest(256)];
        assert!(all.windows(2).all(|w| w[0] < w[1]), "{all:?}");
        assert!(all[0] < 0.45 && all[3] > 0.7 && all[3] <= 1.0, "{all:?}");
    }
}
