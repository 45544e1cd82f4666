//! Demands of nodes on a fabric, from the traffic between MPI ranks.
//!
//! A profile counts the bytes between ranks and does not contain places; the places of ranks are known when a job
//! starts. Both together are the demands that pattern-aware routing uses (Domke et al., "HyperX Topology: First
//! At-Scale Implementation and Comparison to the Fat-Tree", SC'19, section 3.2.3).

use std::collections::BTreeMap;

use thiserror::Error;

/// Traffic between the ranks of one job, and their places.
#[derive(Clone, Copy, Debug)]
pub struct Profile<'a, N> {
    /// Bytes from one rank to another. A pair may occur more than once: its bytes add up.
    pub bytes: &'a [(u32, u32, u64)],
    /// The node of each rank.
    pub nodes: &'a [N],
}

/// The unit of weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// 255 for the most bytes of any pair of nodes, over all jobs together: who sends more counts more.
    #[default]
    Together,
    /// 255 for the most bytes of any pair of each job: all jobs count alike.
    EachJob,
    /// Bytes without scaling.
    Bytes,
}

/// Traffic from one node to another, relative to all other pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeDemand<N> {
    /// Node that sends.
    pub from: N,
    /// The receiver, which is another node.
    pub to: N,
    /// 1 (little) to 255 (the most), or bytes.
    pub weight: u64,
}

/// A profile and a placement that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("profile {profile} speaks of rank {rank}, but only {ranks} ranks are placed")]
pub struct UnplacedRank {
    /// The profile, from 0.
    pub profile: usize,
    /// Number of the rank.
    pub rank: u32,
    /// Ranks that have a node.
    pub ranks: usize,
}

/// The demands of jobs, by rising (source, destination); pairs without any are left out.
///
/// The bytes of all pairs of ranks on two nodes are added; traffic within a node is no demand. Except for [`Scale::Bytes`] `b`
/// bytes weigh `max(1, round(255 b / b_max))`, nothing if `b = 0`; the paper gives no formula. With [`Scale::EachJob`] the
/// weights of jobs that share two nodes add up, to 255 at most.
///
/// ```
/// use darkfiber_workload::demands::{NodeDemand, Profile, Scale, demands};
///
/// // Ranks 0 and 1 on node 7, rank 2 on node 9.
/// let bytes = [(0, 1, 1 << 30), (0, 2, 300), (1, 2, 100), (2, 0, 1)];
/// let job = Profile { bytes: &bytes, nodes: &[7, 7, 9] };
/// let found = demands(&[job], Scale::Together)?;
/// assert_eq!(found[0], NodeDemand { from: 7, to: 9, weight: 255 });
/// assert_eq!(found[1], NodeDemand { from: 9, to: 7, weight: 1 });
/// # Ok::<(), darkfiber_workload::demands::UnplacedRank>(())
/// ```
///
/// # Errors
/// If a profile names a rank that has no node.
pub fn demands<N: Copy + Ord>(
    profiles: &[Profile<'_, N>],
    scale: Scale,
) -> Result<Vec<NodeDemand<N>>, UnplacedRank> {
    let mut bytes: BTreeMap<(N, N), u128> = BTreeMap::new();
    let mut weights: BTreeMap<(N, N), u64> = BTreeMap::new();
    for (i, profile) in profiles.iter().enumerate() {
        let node = |rank: u32| {
            let unplaced = UnplacedRank { profile: i, rank, ranks: profile.nodes.len() };
            profile.nodes.get(rank as usize).copied().ok_or(unplaced)
        };
        for &(from, to, sent) in profile.bytes {
            let pair = (node(from)?, node(to)?);
            if pair.0 != pair.1 {
                *bytes.entry(pair).or_default() += u128::from(sent);
            }
        }
        if scale == Scale::EachJob {
            weigh(std::mem::take(&mut bytes), &mut weights);
        }
    }
    if scale == Scale::Bytes {
        weights.extend(bytes.into_iter().map(|(pair, b)| (pair, b.min(u64::MAX.into()) as u64)));
    } else {
        weigh(bytes, &mut weights);
    }
    let found = weights.into_iter();
    Ok(found.map(|((from, to), weight)| NodeDemand { from, to, weight }).collect())
}

/// Adds the weights of pairs to those that are there.
fn weigh<N: Copy + Ord>(bytes: BTreeMap<(N, N), u128>, weights: &mut BTreeMap<(N, N), u64>) {
    let most = bytes.values().copied().max().unwrap_or(0);
    for (pair, b) in bytes.into_iter().filter(|(_, b)| *b > 0) {
        let rounded = (2 * 255 * b + most) / (2 * most);
        let weight = weights.entry(pair).or_default();
        *weight = (*weight + rounded.max(1) as u64).min(255);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(profiles: &[Profile<'_, char>], scale: Scale) -> Vec<(char, char, u64)> {
        let found = demands(profiles, scale).expect("all placed");
        found.into_iter().map(|d| (d.from, d.to, d.weight)).collect()
    }

    #[test]
    fn ranks_of_a_node_are_summed_before_scaling() {
        let bytes = [(0, 2, 10), (1, 2, 10), (0, 3, 0), (2, 3, 40), (3, 2, 1), (1, 0, 999)];
        let job = Profile { bytes: &bytes, nodes: &['a', 'a', 'b', 'c'] };
        let expected = [('a', 'b', 128), ('b', 'c', 255), ('c', 'b', 6)];
        assert_eq!(of(&[job], Scale::Together), expected);
        assert_eq!(of(&[job], Scale::EachJob), expected);
    }

    #[test]
    fn jobs_are_scaled_together_or_each_by_itself() {
        let large = Profile { bytes: &[(0, 1, 51_000), (1, 0, 51_000)], nodes: &['a', 'b'] };
        let small = Profile { bytes: &[(0, 1, 100), (1, 0, 20)], nodes: &['c', 'd'] };
        let both = [large, small];
        let expected = [('a', 'b', 255), ('b', 'a', 255), ('c', 'd', 1), ('d', 'c', 1)];
        assert_eq!(of(&both, Scale::Together), expected);
        let expected = [('a', 'b', 255), ('b', 'a', 255), ('c', 'd', 255), ('d', 'c', 51)];
        assert_eq!(of(&both, Scale::EachJob), expected);
        // On the same nodes.
        let again = Profile { nodes: &['a', 'b'], ..small };
        assert_eq!(of(&[large, again], Scale::EachJob), [('a', 'b', 255), ('b', 'a', 255)]);
        let twice = [again, again];
        assert_eq!(of(&twice, Scale::EachJob), [('a', 'b', 255), ('b', 'a', 102)]);
        assert_eq!(of(&twice, Scale::Together), [('a', 'b', 255), ('b', 'a', 51)]);
    }

    #[test]
    fn extremes_are_told_or_borne() {
        assert_eq!(of(&[], Scale::Together), []);
        assert_eq!(of(&[Profile { bytes: &[(0, 1, 0)], nodes: &['a', 'b'] }], Scale::EachJob), []);
        let most = [(0, 1, u64::MAX), (0, 1, u64::MAX), (1, 0, 1)];
        let job = Profile { bytes: &most, nodes: &['a', 'b'] };
        assert_eq!(of(&[job], Scale::Together), [('a', 'b', 255), ('b', 'a', 1)]);
        let error =
            demands(&[Profile { bytes: &[(0, 2, 1)], nodes: &['a', 'b'] }], Scale::Together);
        assert_eq!(error, Err(UnplacedRank { profile: 0, rank: 2, ranks: 2 }));
    }
}
