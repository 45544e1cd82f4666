//! Placement of a job by a scheduler: the free hosts that it gives.

mod registry;
mod tree;

pub use registry::{ALLOCATORS, Allocator, allocator};

use crate::{Machine, Stream};

/// The free hosts from which an allocator chooses.
#[derive(Clone, Copy, Debug)]
pub struct Free<'a> {
    /// Machine of the hosts.
    pub machine: &'a Machine,
    /// Whether each host is free.
    pub is_free: &'a [bool],
}

impl Free<'_> {
    /// The free hosts, rising.
    pub fn hosts(&self) -> impl Iterator<Item = u32> {
        (0..).zip(self.is_free).filter(|(_, free)| **free).map(|(h, _)| h)
    }
}

/// The lowest run of `n` consecutive free hosts.
fn contiguous(free: &Free<'_>, n: usize, _: &mut Stream) -> Option<Vec<u32>> {
    let mut begin = 0;
    for (end, is_free) in free.is_free.iter().enumerate() {
        if !is_free {
            begin = end + 1;
        } else if end + 1 - begin == n {
            return Some((begin as u32..=end as u32).collect());
        }
    }
    None
}

/// The lowest `n` free hosts.
fn first_fit(free: &Free<'_>, n: usize, _: &mut Stream) -> Option<Vec<u32>> {
    enough(free.hosts().take(n).collect(), n)
}

fn linear(free: &Free<'_>, n: usize, stream: &mut Stream) -> Option<Vec<u32>> {
    contiguous(free, n, stream).or_else(|| first_fit(free, n, stream))
}

/// From the lowest free host on, each with a random gap to the one before: 1 with probability 0.8, 2 with 0.16, ...
fn clustered(free: &Free<'_>, n: usize, stream: &mut Stream) -> Option<Vec<u32>> {
    let mut left: Vec<u32> = free.hosts().collect();
    if left.len() < n {
        return None;
    }
    let mut at = left.first().map_or(0, |&h| h as usize);
    let mut chosen = Vec::with_capacity(n);
    while chosen.len() < n {
        // The next free one from there on, wrapping at the end.
        let i = left.partition_point(|&h| (h as usize) < at) % left.len();
        let host = left.remove(i);
        chosen.push(host);
        if left.is_empty() {
            break;
        }
        let mut stride = 1;
        while stream.below(5) == 4 {
            stride += 1;
        }
        at = (host as usize + stride) % free.is_free.len();
    }
    enough(chosen, n)
}

fn random(free: &Free<'_>, n: usize, stream: &mut Stream) -> Option<Vec<u32>> {
    let mut all: Vec<u32> = free.hosts().collect();
    if all.len() < n {
        return None;
    }
    for i in 0..n {
        let j = i + stream.below((all.len() - i) as u32) as usize;
        all.swap(i, j);
    }
    all.truncate(n);
    Some(all)
}

/// Evenly spread over the free hosts.
fn interleaved(free: &Free<'_>, n: usize, _: &mut Stream) -> Option<Vec<u32>> {
    let all: Vec<u32> = free.hosts().collect();
    (all.len() >= n).then(|| (0..n).map(|i| all[i * all.len() / n]).collect())
}

fn enough(chosen: Vec<u32>, n: usize) -> Option<Vec<u32>> {
    (chosen.len() == n).then_some(chosen)
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::parse_spec;
    use proptest::prelude::*;

    use super::*;

    /// Hosts that `name` gives on a tree of three leaf switches with four hosts each.
    fn give(name: &str, free: &str, n: usize) -> Option<Vec<u32>> {
        let machine = Machine::new(&parse_spec("fattree2:n=4,m=4,r=3").expect("a spec"), 1);
        let is_free: Vec<bool> = free.chars().filter(|c| *c != ' ').map(|c| c == '.').collect();
        assert_eq!(is_free.len(), machine.len());
        let free = Free { machine: &machine, is_free: &is_free };
        allocator(name).expect("known").allocate(&free, n, &mut Stream::new(1, 0))
    }

    #[test]
    fn each_in_its_way() {
        assert_eq!(give("first-fit", ".x.. x... ....", 4), Some(vec![0, 2, 3, 5]));
        assert_eq!(give("contiguous", ".x.. x... ....", 4), Some(vec![5, 6, 7, 8]));
        assert_eq!(give("contiguous", ".x.. x..x ....", 5), None);
        assert_eq!(give("linear", ".x.. x..x ....", 5), Some(vec![0, 2, 3, 5, 6]));
        assert_eq!(give("linear", ".x.. x... ....", 4), Some(vec![5, 6, 7, 8]));
        assert_eq!(give("interleaved", ".... .... ....", 4), Some(vec![0, 3, 6, 9]));
        // The hosts of two jobs that fill the machine alternate in proportion.
        assert_eq!(give("interleaved", "x..x ..x. .x..", 8).map(|h| h.len()), Some(8));
        // The switch that it fills best; then, of one for which no switch is enough, the emptiest and the rest.
        assert_eq!(give("best-fit", "x... xx.. ....", 2), Some(vec![6, 7]));
        assert_eq!(give("best-fit", "x... xx.. ....", 3), Some(vec![1, 2, 3]));
        assert_eq!(give("best-fit", "x... xx.. ....", 6), Some(vec![6, 7, 8, 9, 10, 11]));
        assert_eq!(give("best-fit", "x... xx.. ....", 7), Some(vec![1, 2, 3, 8, 9, 10, 11]));
        assert_eq!(give("best-fit", "x... xx.. ....", 10), None);
    }

    #[test]
    fn best_fit_stays_in_a_pod() {
        let machine = Machine::new(&parse_spec("kary:k=2,n=4").expect("a spec"), 1);
        // Pods of 4 hosts inside pods of 8: the second pod of 4 has 3 free, the last pod of 8 has 6.
        let text = "xxxx x... xx.. ....";
        let is_free: Vec<bool> = text.chars().filter(|c| *c != ' ').map(|c| c == '.').collect();
        let free = Free { machine: &machine, is_free: &is_free };
        let give =
            |n| allocator("best-fit").expect("known").allocate(&free, n, &mut Stream::new(1, 0));
        assert_eq!(give(3), Some(vec![5, 6, 7]));
        assert_eq!(give(4), Some(vec![12, 13, 14, 15]));
        assert_eq!(give(5), Some(vec![10, 12, 13, 14, 15]));
        assert_eq!(give(9).map(|h| h.len()), Some(9));
    }

    #[test]
    fn clusters_have_the_stated_stride() {
        let machine = Machine::new(&parse_spec("fattree2:n=36,m=1,r=200").expect("a spec"), 1);
        let is_free = vec![true; machine.len()];
        let free = Free { machine: &machine, is_free: &is_free };
        let all = allocator("clustered").expect("known");
        let hosts = all.allocate(&free, 5_001, &mut Stream::new(3, 0)).expect("enough");
        let mean = f64::from(hosts[5_000] - hosts[0]) / 5_000.0;
        assert!((mean - 1.25).abs() < 0.03, "{mean}");
    }

    proptest! {
        #[test]
        fn what_is_given_was_free(bits in prop::collection::vec(any::<bool>(), 27), n in 1usize..28, seed: u64) {
            let machine = Machine::new(&parse_spec("kary:k=3,n=3").expect("a spec"), 1);
            let free = Free { machine: &machine, is_free: &bits };
            let count = free.hosts().count();
            for a in &ALLOCATORS {
                let given = a.allocate(&free, n, &mut Stream::new(seed, 0));
                prop_assert_eq!(given.clone(), a.allocate(&free, n, &mut Stream::new(seed, 0)));
                match given {
                    Some(mut hosts) => {
                        prop_assert!(hosts.iter().all(|&h| bits[h as usize]), "{}", a.name);
                        hosts.sort_unstable();
                        hosts.dedup();
                        prop_assert_eq!(hosts.len(), n);
                    }
                    None => prop_assert!(count < n || a.name == "contiguous", "{}", a.name),
                }
            }
        }
    }
}
