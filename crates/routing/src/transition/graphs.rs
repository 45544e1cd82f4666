//! The dependency graphs of a transition.

use std::sync::atomic::Ordering;

use darkfiber_fabric::Fabric;

use crate::check::dependency::Dependencies;

/// Channel dependencies of four sets of paths, all lanes at once.
pub(super) struct Graphs {
    /// O2: new paths, in the lanes of old and new connections.
    pub(super) steady: Dependencies,
    /// O3: those, and old paths in the lanes of old connections.
    pub(super) flight: Dependencies,
    /// O4: any mix of old and new entries on each row.
    pub(super) mixed: Dependencies,
    /// O5: old beginnings with new ends.
    pub(super) ordered: Dependencies,
}

impl Graphs {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let empty = || Dependencies::new(fabric);
        Self { steady: empty(), flight: empty(), mixed: empty(), ordered: empty() }
    }

    /// The graphs of rows in which old and new tables are alike, which make these dependencies.
    pub(super) fn of(alike: &Dependencies) -> Self {
        let copy = || alike.clone();
        Self { steady: copy(), flight: copy(), mixed: copy(), ordered: copy() }
    }
}

/// Adds dependency (c, next) in the lanes of `mask`.
#[inline]
pub(super) fn put(graph: &Dependencies, fabric: &Fabric, c: u32, next: u32, mask: u32) {
    let bits = graph.slot(fabric, c as usize, next as usize);
    // Reading first keeps the cache line shared between threads.
    if bits.load(Ordering::Relaxed) & mask != mask {
        bits.fetch_or(mask, Ordering::Relaxed);
    }
}
