//! Positions of a lattice as numbers.

/// The size of a lattice, and which of its dimensions are rings. A position's coordinates are the digits of
/// its number.
pub(super) struct Frame {
    size: Vec<u128>,
    ring: Vec<bool>,
    stride: Vec<u128>,
}

impl Frame {
    /// `None` if its positions are too many to number.
    pub(super) fn new(size: Vec<u128>, ring: Vec<bool>) -> Option<Self> {
        let mut stride = Vec::with_capacity(size.len());
        let mut all = 1u128;
        for &size in &size {
            stride.push(all);
            all = all.checked_mul(size)?;
        }
        Some(Self { size, ring, stride })
    }

    /// A frame with space in all directions from its middle for `n` switches in `k` dimensions of two or more layers.
    pub(super) fn open(n: usize, k: usize) -> Option<Self> {
        let reach = (n >> (k - 1).min(60)) as u128 + 2;
        Self::new(vec![2 * reach + 1; k], vec![false; k])
    }

    /// The number of dimensions.
    pub(super) fn dimensions(&self) -> usize {
        self.size.len()
    }

    /// The position in the middle.
    pub(super) fn middle(&self) -> u128 {
        self.size.iter().zip(&self.stride).map(|(size, stride)| size / 2 * stride).sum()
    }

    /// A coordinate of a position.
    pub(super) fn coordinate(&self, place: u128, d: usize) -> i32 {
        (place / self.stride[d] % self.size[d]) as i32
    }

    /// The position of some coordinates, if it is in the lattice.
    pub(super) fn place(&self, coordinates: &[i32]) -> Option<u128> {
        let mut place = 0;
        for (d, &x) in coordinates.iter().enumerate() {
            let size = self.size[d] as i32;
            let x = if self.ring[d] { x.rem_euclid(size) } else { x };
            place += u128::try_from(x).ok().filter(|_| x < size)? * self.stride[d];
        }
        Some(place)
    }

    /// The position one step ahead in a dimension, or back.
    pub(super) fn step(&self, place: u128, d: usize, ahead: bool) -> Option<u128> {
        let (size, stride) = (self.size[d], self.stride[d]);
        let (x, around) = (place / stride % size, (size - 1) * stride);
        match (ahead, x) {
            (true, x) if x + 1 < size => Some(place + stride),
            (true, _) => self.ring[d].then(|| place - around),
            (false, 0) => self.ring[d].then_some(place + around),
            (false, _) => Some(place - stride),
        }
    }

    /// The positions next to one, and for each of them the opposite one.
    pub(super) fn beside(&self, place: u128) -> impl Iterator<Item = (u128, Option<u128>)> {
        (0..self.size.len()).flat_map(move |d| {
            let [back, ahead] = [false, true].map(|ahead| self.step(place, d, ahead));
            let one = ahead.map(|p| (p, back));
            one.into_iter().chain(back.map(|p| (p, ahead)))
        })
    }
}
