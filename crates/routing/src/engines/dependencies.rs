//! A whole channel dependency graph at once.

use darkfiber_fabric::Fabric;

use super::acyclic::NONE;

/// Channel dependencies, as bit sets by the place of a channel among those that leave its switch.
pub(super) struct Dependencies<'a> {
    fabric: &'a Fabric,
    words: usize,
    followers: Vec<u64>,
    /// Per switch whether a path of the row at hand has passed it.
    passed: Vec<bool>,
}

impl<'a> Dependencies<'a> {
    /// A graph without dependencies.
    pub(super) fn new(fabric: &'a Fabric) -> Self {
        let starts = fabric.channel_starts();
        let widest = starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        let words = widest.div_ceil(64).max(1) as usize;
        Self {
            fabric,
            words,
            followers: vec![0; fabric.channel_count() * words],
            passed: vec![false; fabric.switch_count()],
        }
    }

    /// Adds those of the paths from these switches in a row, given the channel that each switch sends on.
    pub(super) fn add_row(&mut self, next: &[u32], sources: &[usize]) {
        let (starts, heads) = (self.fabric.channel_starts(), self.fabric.heads());
        self.passed.fill(false);
        for &s in sources {
            let (mut at, mut c) = (s, next[s]);
            while c != NONE && !std::mem::replace(&mut self.passed[at], true) {
                at = heads[c as usize] as usize;
                let follower = next[at];
                if follower != NONE {
                    let place = (follower - starts[at]) as usize;
                    self.followers[c as usize * self.words + place / 64] |= 1 << (place % 64);
                }
                c = follower;
            }
        }
    }

    /// The union of both graphs.
    pub(super) fn with(mut self, other: Self) -> Self {
        for (mine, theirs) in self.followers.iter_mut().zip(other.followers) {
            *mine |= theirs;
        }
        self
    }

    /// Whether they close no cycle: then channels that follow none can be removed until none is left
    /// (Kahn, "Topological sorting of large networks", 1962).
    pub(super) fn are_acyclic(&self) -> bool {
        let channels = self.fabric.channel_count() as u32;
        let mut followed = vec![0u32; channels as usize];
        for c in 0..channels {
            self.each_follower(c, |d| followed[d as usize] += 1);
        }
        let mut free: Vec<u32> = (0..channels).filter(|&c| followed[c as usize] == 0).collect();
        let mut taken = 0;
        while let Some(c) = free.pop() {
            taken += 1;
            self.each_follower(c, |d| {
                followed[d as usize] -= 1;
                if followed[d as usize] == 0 {
                    free.push(d);
                }
            });
        }
        taken == channels
    }

    fn each_follower(&self, c: u32, mut f: impl FnMut(u32)) {
        let mut first = self.fabric.channel_starts()[self.fabric.heads()[c as usize] as usize];
        for word in &self.followers[c as usize * self.words..][..self.words] {
            let mut bits = *word;
            while bits != 0 {
                f(first + bits.trailing_zeros());
                bits &= bits - 1;
            }
            first += 64;
        }
    }
}
