//! Load of next hops, tier by tier, over many draws of queue pairs.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{ChannelId, Fabric, TerminalId};
use darkfiber_routing::ecmp::{Ecmp, Field, tiers};
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
    /// The same for a hash as good as random, by its closed form for as many flows, next hops with the shares that weights give them.
    /// Flows that no field of the hash tells apart are one; where such ones are together, they count as equally many.
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

/// One draw in the groups that flows came to.
type Draw = BTreeMap<Place, GroupFlows>;

/// What tells flows apart where no hashed field differs between queue pairs: source, destination and incoming port, as far as
/// they are hashed.
type Key = [u32; 3];

/// Flows of a group.
#[derive(Clone, Debug, Default)]
struct GroupFlows {
    /// By member, how many.
    counts: Vec<u32>,
    /// Those that a hash tells apart, if not all are: each of them goes one way as a whole.
    different: BTreeSet<Key>,
}

impl GroupFlows {
    fn sum(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// Number of flows that a hash as good as random would send its own ways.
    fn balls(&self) -> u32 {
        if self.different.is_empty() { self.sum() } else { self.different.len() as u32 }
    }

    fn add(&mut self, other: &Self) {
        self.counts.resize(other.counts.len(), 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(s, c)| *s = s.saturating_add(*c));
        self.different.extend(&other.different);
    }
}

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
    let mut total = Draw::new();
    for (found, ..) in &all {
        for (place, flows) in found {
            total.entry(*place).or_default().add(flows);
        }
    }
    let shares: BTreeMap<Place, Vec<f64>> = total
        .keys()
        .map(|place| {
            let group = ecmp.hops().numbered(place.1);
            (*place, (0..group.members().len()).map(|member| group.share(member)).collect())
        })
        .collect();
    let mut of_tier: BTreeMap<u32, Sums> = BTreeMap::new();
    let mut balls = Balls::default();
    for (found, ..) in &all {
        let mut most: BTreeMap<u32, u32> = BTreeMap::new();
        for (place, flows) in found {
            let sums = of_tier.entry(place.0).or_default();
            sums.add(flows, &shares[place], &mut balls);
            let fullest = flows.counts.iter().copied().max().unwrap_or(0);
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
        let of_tier = total.iter().filter(|(place, _)| place.0 == tier);
        let groups: Vec<(&GroupFlows, &[f64])> =
            of_tier.map(|(place, flows)| (flows, shares[place].as_slice())).collect();
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
    // Of the pairs on a channel, the fastest link: its pair gets the least part of what it could have.
    let mut link = vec![0.0f64; m + 2 * t];
    let (mut counted, mut lost) = (0, 0);
    let n = ecmp.queue_pairs();
    let has = |field: Field| ecmp.spec().fields.contains(&field);
    let all_differ = has(Field::SrcPort) || has(Field::DstQp);
    let number_of = |hashed: bool, number: usize| if hashed { number as u32 + 1 } else { 0 };
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
            let ends = [m + to.index(), m + t + from.index()];
            let own = ends.iter().map(|&c| speed(fabric, c as u32)).fold(f64::MAX, f64::min);
            for c in path.iter().map(|&c| c as usize).chain(ends) {
                load[c] += 1;
                link[c] = link[c].max(own);
            }
            let goal = fabric.terminal(to).switch;
            let mut in_port = fabric.terminal(from).switch_port;
            for &c in &path {
                let came_by = std::mem::replace(&mut in_port, fabric.head_port(ChannelId(c)));
                let at = fabric.tail(ChannelId(c));
                let members = ecmp.hops().group(at, goal).members();
                if members.len() < 2 {
                    continue;
                }
                let place = (tier[at.index()], ecmp.hops().group_number(at, goal));
                let flows = found.entry(place).or_default();
                flows.counts.resize(members.len(), 0);
                if let Ok(i) = members.binary_search(&c) {
                    flows.counts[i] += 1;
                }
                if !all_differ {
                    flows.different.insert([
                        number_of(has(Field::SrcIp), from.index()),
                        number_of(has(Field::DstIp), to.index()),
                        number_of(has(Field::InPort), came_by.into()),
                    ]);
                }
            }
        }
    }
    // A pair's share of its link by the load of the fullest channel of all, in time: equal messages, each in equal parts on
    // its queue pairs. A pair without a path gets nothing.
    if lost > 0 {
        return (found, 0.0, counted, lost);
    }
    let slowest = load
        .iter()
        .enumerate()
        .filter(|(_, on)| **on > 0)
        .map(|(c, &on)| speed(fabric, c as u32) * n as f64 / (link[c] * f64::from(on)))
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
    fn add(&mut self, flows: &GroupFlows, shares: &[f64], balls: &mut Balls) {
        let (n, m, counts) = (flows.balls(), shares.len() as f64, &flows.counts);
        self.seen += 1.0;
        self.members += m;
        self.flows += f64::from(flows.sum());
        self.fullest += f64::from(counts.iter().copied().max().unwrap_or(0));
        self.fullest_random +=
            balls.fullest(n, shares) * f64::from(flows.sum()) / f64::from(n.max(1));
        self.idle += counts.iter().filter(|c| **c == 0).count() as f64;
        self.idle_random += idle(n, shares) * m;
    }

    fn tier(
        &self,
        tier: u32,
        groups: &[(&GroupFlows, &[f64])],
        queue_pairs: f64,
        draws: u32,
    ) -> TierSpread {
        type Group<'a> = (&'a GroupFlows, &'a [f64]);
        let count = groups.len().max(1) as f64;
        let used = |g: &Group<'_>| g.0.counts.iter().filter(|c| **c > 0).count() as f64;
        let random = |g: &Group<'_>| members_used(g.0.balls(), g.1);
        let variance = |g: &Group<'_>| members_used_variance(g.0.balls(), g.1);
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
        // A rotation multiplies by a power of two modulo 2^32 - 1, which 3 divides: the remainder by 3 is still that of the first tier.
        for turned in ["crc32:rotate=tier", "crc16:rotate=tier"] {
            assert!(six(turned) < 2.1, "{turned}: {}", six(turned));
        }
        assert!(six("jenkins:seed=tier") > 5.9, "{}", six("jenkins:seed=tier"));
    }

    /// Weights and fields that repeat are no polarization: a hash as good as random with another seed in each switch is never one.
    #[test]
    fn chance_knows_weights_and_flows_that_repeat() {
        let fabric = open("kary:k=3,n=2").expect("a spec").fabric;
        let n = fabric.terminal_count() as u32;
        let ring = move |_: u32| {
            (0..n).map(|i| [TerminalId(i), TerminalId((i + 1) % n)]).collect::<Vec<_>>()
        };
        for fields in ["src-ip+dst-ip", "dst-ip", "in-port+dst-ip"] {
            let text = format!("random:seed=switch,fields={fields}");
            let ecmp = Ecmp::new(&fabric, &EcmpSpec::parse(&text).expect("a spec"), 1);
            let tier = spread(&fabric, &ecmp, 100, 1, &ring).tiers[0].clone();
            // Of the ring one flow leaves each of the three switches.
            assert!((tier.flows - 1.0).abs() < 1e-9 && (tier.used - 1.0).abs() < 1e-9, "{tier:?}");
            assert!((tier.used_random - 1.0).abs() < 1e-9 && !tier.is_polarized(), "{tier:?}");
        }
        // A spine whose cables have a fortieth of the rate.
        let mut slow = darkfiber_fabric::FabricBuilder::new("slow");
        let class = |speed: u64| darkfiber_fabric::LinkClass {
            bytes_per_second: speed,
            ..fabric.classes()[0].clone()
        };
        let [fast, few] = [40_000_000_000, 1_000_000_000].map(|speed| slow.class(class(speed)));
        let switches: Vec<_> =
            fabric.switches().iter().map(|s| slow.add_switch(s.clone())).collect();
        for adapter in fabric.adapters() {
            slow.add_host(fabric.host(adapter.host).name.clone());
            slow.add_adapter(adapter.clone());
        }
        for t in fabric.terminals() {
            slow.link_terminal(t.clone()).expect("as before");
        }
        for c in (0..fabric.channel_count()).map(ChannelId::new).filter(|&c| c < fabric.reverse(c))
        {
            let (a, b) = (fabric.tail(c), fabric.head(c));
            let is_slow = a.index().max(b.index()) == switches.len() - 1;
            let ends = ((a, fabric.tail_port(c)), (b, fabric.head_port(c)));
            slow.link_switches(ends.0, ends.1, if is_slow { few } else { fast })
                .expect("as before");
        }
        let slow = slow.finish().expect("as sound as before");
        let away = move |_: u32| {
            (0..n).map(|i| [TerminalId(i), TerminalId((i + 3) % n)]).collect::<Vec<_>>()
        };
        let spec = EcmpSpec::parse("random:seed=switch,weighted=yes").expect("a spec");
        let ecmp = Ecmp::new(&slow, &spec, 1);
        let tier = spread(&slow, &ecmp, 500, 1, &away).tiers[0].clone();
        assert!((tier.fullest - tier.fullest_random).abs() < 0.05, "{tier:?}");
        assert!((tier.idle - tier.idle_random).abs() < 0.02, "{tier:?}");
        assert!(tier.idle > 0.36, "weighted: {tier:?}");
        let few = spread(&slow, &ecmp, 10, 1, &away).tiers[0].clone();
        assert!(few.used_random < 2.9 && !few.is_polarized(), "{few:?}");
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
