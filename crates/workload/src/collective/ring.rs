//! Steps round a ring, which several collectives are made of.

use super::call::Team;

/// Reduce-scatter in n - 1 steps: in step s, i sends block i - 1 - s to the next one, and reduces block i - 2 - s,
/// which comes from the one before. Block i ends at i.
pub(super) fn reduce_scatter(team: &mut Team<'_, '_>, block: &dyn Fn(u32) -> u64) {
    let n = team.n();
    for step in 0..n.saturating_sub(1) {
        for i in 0..n {
            team.send(i, (i + 1) % n, block((i + 2 * n - 1 - step) % n));
            team.recv(i, (i + n - 1) % n, block((i + 2 * n - 2 - step) % n));
        }
        for i in 0..n {
            team.reduce(i, block((i + 2 * n - 2 - step) % n));
        }
    }
}

/// Allgather in n - 1 steps: in step s, i sends block i - s to the next one; before, it has block i.
pub(super) fn allgather(team: &mut Team<'_, '_>, block: &dyn Fn(u32) -> u64) {
    let n = team.n();
    for step in 0..n.saturating_sub(1) {
        for i in 0..n {
            team.send(i, (i + 1) % n, block((i + n - step) % n));
            team.recv(i, (i + n - 1) % n, block((i + 2 * n - 1 - step) % n));
        }
        team.wait_all();
    }
}

/// A token twice round.
pub(super) fn twice(team: &mut Team<'_, '_>) {
    let n = team.n();
    if n < 2 {
        return;
    }
    for _ in 0..2 {
        for i in 0..n {
            team.passed(i, (i + 1) % n, 0);
        }
    }
}
