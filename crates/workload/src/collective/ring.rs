//! Steps around a ring, from which several collectives are built.

use super::call::CollectiveWriter;
use crate::schedule::{Exchange, Sizes};

/// Reduce-scatter in n - 1 steps: in step s, i sends block i - 1 - s to the next one, and reduces block i - 2 - s,
/// which comes from the one before. Block i ends at i.
pub(super) fn reduce_scatter(
    writer: &mut CollectiveWriter<'_, '_>,
    block: impl Fn(u32) -> u64 + Send + Sync + 'static,
) {
    let n = writer.n();
    let sizes = Sizes::of((0..n).map(&block));
    writer.rounds(n.saturating_sub(1), 0, sizes, None, move |step, i| {
        let expected = block((i + 2 * n - 2 - step) % n);
        (to_the_next(n, i, block((i + 2 * n - 1 - step) % n), expected), expected)
    });
}

/// Allgather in n - 1 steps: in step s, i sends block i - s to the next one; before, it has block i.
pub(super) fn allgather(
    writer: &mut CollectiveWriter<'_, '_>,
    block: impl Fn(u32) -> u64 + Send + Sync + 'static,
) {
    let n = writer.n();
    let sizes = Sizes::of((0..n).map(&block));
    writer.rounds(n.saturating_sub(1), 0, sizes, None, move |step, i| {
        (to_the_next(n, i, block((i + n - step) % n), block((i + 2 * n - 1 - step) % n)), 0)
    });
}

/// An exchange with the next of n, and the previous one.
fn to_the_next(n: u32, i: u32, bytes: u64, expected: u64) -> Exchange {
    Exchange { to: (i + 1) % n, bytes, from: (i + n - 1) % n, expected, compute: 0 }
}

/// Passes a token around twice.
pub(super) fn twice(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    if n < 2 {
        return;
    }
    for _ in 0..2 {
        for i in 0..n {
            writer.passed(i, (i + 1) % n, 0);
        }
    }
}
