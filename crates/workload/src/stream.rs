//! Independent streams of random numbers, the same on every machine and for any number of threads.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The random numbers of one sample: xoshiro256++ (Blackman, Vigna, "Scrambled linear pseudorandom number
/// generators", 2021), seeded by the seed of the run and the number of the sample. A sample's numbers do
/// not depend on how many others were drawn, so that threads may share the samples as they like.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of sample `index` in the run with this seed.
    pub fn new(seed: u64, index: u64) -> Self {
        // An odd multiplier moves neighbouring samples far apart before the generator's own seeding
        // (SplitMix64) mixes them.
        let mixed = seed.rotate_left(32) ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// A number below `n`, each with the same probability (Lemire, "Fast random integer generation in an
    /// interval", 2019).
    ///
    /// # Panics
    /// If `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "no number is below 0");
        let mut wide = u64::from(self.0.next_u64() as u32) * u64::from(n);
        if (wide as u32) < n {
            let least = n.wrapping_neg() % n;
            while (wide as u32) < least {
                wide = u64::from(self.0.next_u64() as u32) * u64::from(n);
            }
        }
        (wide >> 32) as u32
    }

    /// Puts items in random order, each order with the same probability (Fisher, Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_never_change() {
        let mut s = Stream::new(1, 0);
        let first: Vec<u32> = (0..4).map(|_| s.below(1000)).collect();
        assert_eq!(first, STREAM_1_0);
        let mut other = Stream::new(1, 1);
        assert_ne!(first, (0..4).map(|_| other.below(1000)).collect::<Vec<u32>>());
    }

    const STREAM_1_0: [u32; 4] = [727, 42, 448, 849];

    #[test]
    fn every_number_is_as_likely() {
        // Chi-square with 6 degrees of freedom; 22.5 is passed once in a thousand, and the seed is fixed.
        let mut count = [0f64; 7];
        let mut s = Stream::new(5, 3);
        for _ in 0..70_000 {
            count[s.below(7) as usize] += 1.0;
        }
        let chi: f64 = count.iter().map(|c| (c - 1e4) * (c - 1e4) / 1e4).sum();
        assert!(chi < 22.5, "{chi}");
    }
}
