//! A random number generator of eight bytes, one for each switch and terminal: the draws of each are independent of the
//! others.

use serde::{Deserialize, Serialize};

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Random(u64);

impl Random {
    /// That of a place.
    pub fn new(seed: u64, place: u64) -> Self {
        let mut random = Self(seed.rotate_left(32) ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Neighbours are far apart after this.
        let state = random.draw() ^ random.draw().rotate_left(32);
        Self(state)
    }

    /// 64 random bits.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; the bias of at most n / 2^32 is not seen in any simulation.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.draw() as u32) * u64::from(n)) >> 32) as u32
    }

    /// Above 0, up to 1.
    #[inline]
    pub fn part(&mut self) -> f64 {
        ((self.draw() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }
}
