//! A lower bound on the load of the fullest channel, whatever the tables.

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

use super::job_peers::JobPeers;
use super::order::{distances, leaves};

/// A switch that belongs to no set.
const NONE: u32 = u32::MAX;

/// Minimum load of the fullest channel by paths inside jobs (pairs that share several jobs counted once), whatever the
/// tables in which all sources use the same LID of a terminal.
///
/// Complexity: that of the bound of `sar-best`, O(heights x (channels + pairs of a switch and a LID)).
pub fn least_load_of_jobs(fabric: &Fabric, jobs: &[Vec<TerminalId>]) -> u64 {
    least_load(fabric, &JobPeers::new(fabric, jobs), 1)
}

/// No tables have less load, by paths inside jobs, on the fullest channel.
///
/// The traffic of a job out of a set of switches, or into it, crosses the channels that leave the set. A
/// table entry sends everything from one switch to one LID over the same channel, so these channels are bins, and the
/// paths that an entry sends are a piece that fits into one of them as a whole. The sets are those in which
/// trees are narrow: single switches, and the components that remain connected when the switches above some
/// height are removed.
///
/// Complexity: O(heights x (channels + pairs of a switch and a LID)).
pub(super) fn least_load(fabric: &Fabric, job_peers: &JobPeers, paths: usize) -> u64 {
    let height = distances(fabric, &leaves(fabric));
    let tallest = height.iter().copied().max().unwrap_or(0);
    let single = (0..fabric.switch_count() as u32).collect();
    let below = (2..=tallest).map(|top| pieces_below(fabric, &height, top));
    let sets = std::iter::once(single).chain(below);
    sets.map(|set_of| fullest_bin(fabric, job_peers, paths, &set_of)).max().unwrap_or(0)
}

/// For each switch the first switch of its component below a height.
fn pieces_below(fabric: &Fabric, height: &[u32], top: u32) -> Vec<u32> {
    let mut set_of = vec![NONE; height.len()];
    let mut stack = Vec::new();
    for first in 0..height.len() {
        if height[first] < top && set_of[first] == NONE {
            set_of[first] = first as u32;
            stack.push(first);
        }
        while let Some(s) = stack.pop() {
            for c in fabric.channels_from(SwitchId::new(s)) {
                let v = fabric.heads()[c] as usize;
                if height[v] < top && set_of[v] == NONE {
                    set_of[v] = first as u32;
                    stack.push(v);
                }
            }
        }
    }
    set_of
}

/// The least load of the fullest channel that leaves one of these sets.
fn fullest_bin(fabric: &Fabric, job_peers: &JobPeers, paths: usize, set_of: &[u32]) -> u64 {
    let n = set_of.len();
    let mut bins = vec![0u64; n];
    for (&s, &v) in fabric.tails().iter().zip(fabric.heads()) {
        let set = set_of[s as usize];
        if set != NONE && set != set_of[v as usize] {
            bins[set as usize] += 1;
        }
    }
    // Per set and direction how many pieces of each size there are.
    let sizes = job_peers.most_on_a_switch() as usize + 1;
    let mut pieces = vec![0u64; 2 * n * sizes];
    for &t in &job_peers.running {
        let to = set_of[fabric.terminals()[t as usize].switch.index()];
        for &(s, size) in job_peers.sources(t) {
            let from = set_of[s as usize];
            for (set, direction) in [(from, 0), (to, 1)] {
                if from != to && set != NONE {
                    pieces[(2 * set as usize + direction) * sizes + size as usize] += paths as u64;
                }
            }
        }
    }
    let each = pieces.chunks(sizes).enumerate().map(|(i, pieces)| (pieces, bins[i / 2]));
    let filled = each.filter(|(pieces, bins)| *bins > 0 && pieces.iter().any(|&n| n > 0));
    filled.fold(0, |least, (pieces, bins)| pack(pieces, bins, least))
}

/// Raises `least` to the minimum load of the fullest bin, given the number of pieces of each size.
fn pack(pieces: &[u64], bins: u64, least: u64) -> u64 {
    let (mut count, mut sum, mut least) = (0, 0, least);
    for (size, &n) in pieces.iter().enumerate().rev() {
        count += n;
        sum += n * size as u64;
        // Some bin holds this many of those that are no smaller.
        least = least.max(size as u64 * count.div_ceil(bins));
    }
    if sum <= bins * least.saturating_sub(pieces.len() as u64) {
        return least;
    }
    // Bins can only be as full as sums of sizes: three pieces of 9 leave space in a bin of 30.
    let mut is_sum = vec![true];
    let mut fullest = 0;
    loop {
        let full = is_sum.len() as u64 - 1;
        if is_sum[full as usize] {
            fullest = full;
        }
        if full >= least && bins * fullest >= sum {
            return full;
        }
        let next = is_sum.len();
        let fits = |size: usize| pieces[size] > 0 && size <= next && is_sum[next - size];
        is_sum.push((1..pieces.len()).any(fits));
    }
}

#[cfg(test)]
mod tests {
    use super::pack;

    /// Number of pieces by size.
    fn pieces(sizes: &[usize]) -> Vec<u64> {
        let mut count = vec![0; sizes.iter().max().map_or(1, |m| m + 1)];
        for &size in sizes {
            count[size] += 1;
        }
        count
    }

    #[test]
    fn bins_hold_whole_pieces() {
        assert_eq!(pack(&pieces(&[1; 10]), 4, 0), 3, "the sum alone");
        assert_eq!(pack(&pieces(&[14; 7]), 3, 0), 42, "three of one bin");
        assert_eq!(pack(&pieces(&[9, 9, 9, 9]), 4, 0), 9);
        assert_eq!(pack(&pieces(&[8, 8, 8, 2]), 2, 0), 16, "8 + 8 and 8 + 2");
        assert_eq!(pack(&pieces(&[6, 6, 9, 9]), 2, 0), 15);
        assert_eq!(pack(&pieces(&[6, 6, 6, 9, 9]), 2, 0), 18, "36 of 2 x 18");
        assert_eq!(pack(&pieces(&[4, 4, 4, 6, 6]), 2, 0), 12);
        assert_eq!(pack(&pieces(&[4, 4, 6, 6, 6]), 2, 0), 14, "13 is no sum");
        assert_eq!(pack(&pieces(&[5]), 3, 90), 90, "what is known stays");
    }
}
