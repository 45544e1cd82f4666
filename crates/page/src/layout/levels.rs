//! Levels of a fabric that was not recognised: by distance from hosts.

use std::collections::VecDeque;

use darkfiber_fabric::{Fabric, SwitchId};

/// Most levels that are drawn as rings.
const MOST: u8 = 8;

/// The level of each switch, 1 where hosts hang, if that says something: there are several levels, and nine of ten cables lead
/// from one to the next.
///
/// Complexity: O(switches + cables).
pub(crate) fn of(fabric: &Fabric) -> Option<Vec<u8>> {
    let n = fabric.switch_count();
    let mut level = vec![0u8; n];
    let mut queue = VecDeque::new();
    for (s, level) in level.iter_mut().enumerate() {
        if !fabric.terminals_on(SwitchId::new(s)).is_empty() {
            *level = 1;
            queue.push_back(s);
        }
    }
    while let Some(s) = queue.pop_front() {
        for c in fabric.channels_from(SwitchId::new(s)) {
            let next = fabric.heads()[c] as usize;
            if level[next] == 0 {
                level[next] = level[s].saturating_add(1);
                queue.push_back(next);
            }
        }
    }
    let height = level.iter().copied().max().unwrap_or(0);
    if !(2..=MOST).contains(&height) || level.contains(&0) {
        return None;
    }
    let (heads, tails) = (fabric.heads(), fabric.tails());
    let differ = |c: &usize| level[heads[*c] as usize].abs_diff(level[tails[*c] as usize]) == 1;
    let between = (0..heads.len()).filter(differ).count();
    (between * 10 >= heads.len() * 9).then_some(level)
}
