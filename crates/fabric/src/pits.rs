//! Switches that counting levels from the top puts below the leaves.

/// Lifts, in levels counted from the top (1 = lowest), switches without hosts that are below all of their neighbours to
/// above them, where these have hosts: they are spines with missing cables to the top, or without any, as in trees of
/// director switches with separate spine boards. A leaf that lost its hosts has neighbours without any and stays. The
/// lowest level is 1 again afterwards.
///
/// Complexity: O(rounds x cables), few rounds.
pub fn lift_pits<'a>(
    level: &mut [u32],
    has_hosts: impl Fn(usize) -> bool,
    neighbours: impl Fn(usize) -> &'a [u32],
) {
    const ROUNDS: usize = 4;
    let mut under: Vec<bool> = (0..level.len()).map(has_hosts).collect();
    for _ in 0..ROUNDS {
        let is_pit = |&s: &usize| {
            let near = neighbours(s);
            !under[s]
                && !near.is_empty()
                && near.iter().all(|&v| under[v as usize] && level[v as usize] > level[s])
        };
        let pits: Vec<usize> = (0..level.len()).filter(is_pit).collect();
        if pits.is_empty() {
            break;
        }
        for s in pits {
            level[s] = 1 + neighbours(s).iter().map(|&v| level[v as usize]).max().unwrap_or(0);
            under[s] = true;
        }
    }
    let lowest = level.iter().copied().min().unwrap_or(1);
    for l in level {
        *l -= lowest - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spines_without_a_way_up_are_above_the_leaves() {
        // Leaves 0 and 1; spine 2 leads up to the top 4, spine 3 has lost that board.
        let near: [&[u32]; 5] = [&[2, 3], &[2, 3], &[0, 1, 4], &[0, 1], &[2]];
        let mut level = [2, 2, 3, 1, 4];
        lift_pits(&mut level, |s| s < 2, |s| near[s]);
        assert_eq!(level, [1, 1, 2, 2, 3]);
        // A leaf without hosts stays below its spine.
        let mut level = [1, 1, 2, 2, 3];
        lift_pits(&mut level, |s| s == 0, |s| near[s]);
        assert_eq!(level, [1, 1, 2, 2, 3]);
    }
}
