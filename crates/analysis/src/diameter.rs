//! The largest hop distance between switches.

use darkfiber_fabric::Fabric;
use darkfiber_routing::{SEARCHES, search_from, unwind_if_asked};
use rayon::prelude::*;

/// The largest hop distance between two switches of one component.
///
/// Complexity: O(switches / 64 x channels x diameter), split over the caller's rayon pool.
pub fn diameter(fabric: &Fabric) -> usize {
    let depths = (0..fabric.switch_count().div_ceil(SEARCHES)).into_par_iter().map(|batch| {
        unwind_if_asked();
        search_from(fabric, batch * SEARCHES, |_, _| {}) as usize
    });
    depths.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use darkfiber_testkit::oracle;

    #[test]
    fn as_searched_one_by_one() {
        for spec in
            ["torus:dims=7x5x3,t=1", "kary:k=4,n=3", "hyperx:dims=4x3,t=2", "torus:dims=131,t=1"]
        {
            let fabric = darkfiber_fabric::open(spec).expect("valid").fabric;
            assert_eq!(super::diameter(&fabric), oracle::diameter(&fabric), "{spec}");
        }
    }
}
