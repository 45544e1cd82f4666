//! The arguments of a collective call.

use crate::schedule::{Builder, Cut, Exchange, Op, Rounds, Script, Segments, Sizes};

/// The arguments of a collective.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The communicator: ranks of the schedule, each once.
    pub comm: &'a [u32],
    /// Index of the root in the communicator; of no meaning to collectives without one.
    pub root: u32,
    /// Bytes, as MPI counts them: of the whole vector for Bcast, Reduce, Allreduce and Scan; of what each rank
    /// contributes or gets for Gather, Scatter, Allgather and Reduce_scatter; of what each sends to each for Alltoall.
    pub bytes: u64,
    /// Sizes that differ (Gatherv, Scatterv, Allgatherv, Reduce_scatter): one for each index of the communicator; for
    /// Alltoallv n x n of them, row by row, a row for each sender.
    pub sizes: Option<&'a [u64]>,
    /// Tag of all messages.
    pub tag: u32,
    /// Bytes of a segment for algorithms that cut messages up; 0 does not cut.
    pub segment: u64,
    /// Cost of reducing two operands of a MiB into one, in picoseconds.
    pub reduce: u64,
}

impl<'a> Call<'a> {
    /// This many bytes among these ranks, root at index 0, tag 0, uncut, reductions free.
    pub fn new(comm: &'a [u32], bytes: u64) -> Self {
        Self { comm, root: 0, bytes, sizes: None, tag: 0, segment: 0, reduce: 0 }
    }
}

/// Writes one call into a script. Members are addressed by their index in the communicator.
pub(super) struct CollectiveWriter<'s, 'c> {
    pub(super) script: &'s mut Script,
    pub(super) call: Call<'c>,
}

impl CollectiveWriter<'_, '_> {
    /// Number of ranks that take part.
    pub(super) fn n(&self) -> u32 {
        self.call.comm.len() as u32
    }

    /// The index of who is `v` further on than the root.
    pub(super) fn after_root(&self, v: u32) -> u32 {
        (v + self.call.root) % self.n()
    }

    /// Bytes of the whole vector, or of each contribution.
    pub(super) fn bytes(&self) -> u64 {
        self.call.bytes
    }

    /// Bytes that one contributes or gets.
    pub(super) fn of(&self, i: u32) -> u64 {
        self.call.sizes.map_or(self.call.bytes, |s| s[i as usize])
    }

    /// Bytes that all contribute or get.
    pub(super) fn total(&self) -> u64 {
        (0..self.n()).map(|i| self.of(i)).sum()
    }

    /// Bytes that one sends to another in an Alltoall.
    pub(super) fn pair(&self, from: u32, to: u32) -> u64 {
        self.call
            .sizes
            .map_or(self.call.bytes, |s| s[from as usize * self.call.comm.len() + to as usize])
    }

    pub(super) fn rank(&self, i: u32) -> u32 {
        self.call.comm[i as usize]
    }

    pub(super) fn send(&mut self, i: u32, to: u32, bytes: u64) {
        let (rank, to) = (self.rank(i), self.rank(to));
        self.script.send(rank, to, bytes, self.call.tag);
    }

    pub(super) fn recv(&mut self, i: u32, from: u32, bytes: u64) {
        let (rank, from) = (self.rank(i), self.rank(from));
        self.script.recv(rank, from, bytes, self.call.tag);
    }

    pub(super) fn recv_aside(&mut self, i: u32, from: u32, bytes: u64) {
        let (rank, from) = (self.rank(i), self.rank(from));
        self.script.recv_aside(rank, from, bytes, self.call.tag);
    }

    /// The next wait also waits for detached operations.
    pub(super) fn settle(&mut self, i: u32) {
        let rank = self.rank(i);
        self.script.settle(rank);
    }

    /// A message that both ends post now.
    pub(super) fn message(&mut self, from: u32, to: u32, bytes: u64) {
        self.send(from, to, bytes);
        self.recv(to, from, bytes);
    }

    /// A message that both ends wait for.
    pub(super) fn passed(&mut self, from: u32, to: u32, bytes: u64) {
        self.message(from, to, bytes);
        self.wait(from);
        self.wait(to);
    }

    pub(super) fn wait(&mut self, i: u32) {
        let rank = self.rank(i);
        self.script.wait(rank);
    }

    pub(super) fn wait_all(&mut self) {
        self.script.wait_all(self.call.comm);
    }

    /// Waits, and reduces this many bytes into as many.
    pub(super) fn reduce(&mut self, i: u32, bytes: u64) {
        let rank = self.rank(i);
        self.script.wait(rank);
        self.script.compute(rank, reducing(bytes, self.call.reduce));
        self.script.wait(rank);
    }

    /// Adds `count` rounds; `exchange` gives the exchange of an index in a round, and the number of bytes it then reduces;
    /// `digest` as for [`Rounds::with_digest`], `sizes` as for [`Rounds::with_same_partners`], `total` as for [`Rounds::with_bytes`].
    pub(super) fn rounds(
        &mut self,
        count: u32,
        digest: u64,
        sizes: Option<Sizes>,
        total: Option<u128>,
        exchange: impl Fn(u32, u32) -> (Exchange, u64) + Send + Sync + 'static,
    ) {
        let reduce = self.call.reduce;
        let rounds = Rounds::new(count, reduce > 0, move |round, i| {
            let (exchange, reduced) = exchange(round, i);
            Exchange { compute: reducing(reduced, reduce), ..exchange }
        });
        self.script.rounds(
            self.call.comm,
            rounds.with_digest(digest).with_same_partners(sizes).with_bytes(total),
            self.call.tag,
        );
    }

    /// Whether this many segments can be written out for all ranks.
    pub(super) fn has_room_for(&mut self, segments: u64) -> bool {
        self.script.has_room_for(segments.saturating_mul(self.n().into()))
    }

    /// How this many bytes are cut up.
    pub(super) fn cut(&self, bytes: u64) -> Cut {
        Cut::new(bytes, self.call.segment)
    }

    /// Sizes of the segments of this many bytes: at least one, which may be empty. More than fit are counted by the script, which is
    /// not finished then.
    pub(super) fn segments(&mut self, bytes: u64) -> Vec<u64> {
        let Cut { count, whole, last } = self.cut(bytes);
        if !self.has_room_for(count - 1) {
            return vec![bytes];
        }
        let mut all = vec![whole; count as usize - 1];
        all.push(last);
        all
    }

    /// Passes segments on by rounds, if these are kept: `write` and `late` as for [`Segments::new`], ranks being those of the schedule;
    /// `messages` of each segment. Returns whether that was done.
    pub(super) fn pass_on(
        &mut self,
        cut: Cut,
        messages: usize,
        write: impl Fn(&mut Builder, u64),
        late: impl Fn(u32, Op) -> bool,
    ) -> bool {
        let count = usize::try_from(cut.count).unwrap_or(usize::MAX);
        let operations = count.saturating_mul(2 * messages);
        let is_kept = cut.count <= Segments::MOST
            && self.script.keeps(self.call.comm, operations, cut.count + 1);
        if is_kept {
            let segments = Segments::new(self.script.ranks(), cut, write, late);
            self.script.segments(segments.expect("every message has two ends"));
        }
        is_kept
    }
}

/// The i-th of n almost equal parts, the larger ones first.
pub(super) fn part(bytes: u64, n: u32, i: u32) -> u64 {
    let n = u64::from(n);
    bytes / n + u64::from(u64::from(i) < bytes % n)
}

/// The largest power of two that is not above n, and the remainder.
pub(super) fn power_below(n: u32) -> (u32, u32) {
    let power = 1 << n.ilog2();
    (power, n - power)
}

/// Time of reducing this number of bytes, in picoseconds, if a MiB takes `each`: rounded.
fn reducing(bytes: u64, each: u64) -> u64 {
    let sum = u128::from(bytes) * u128::from(each) + (1 << 19);
    u64::try_from(sum >> 20).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_a_picosecond_a_byte_is_no_nothing() {
        assert_eq!(reducing(1 << 20, 1_000_000), 1_000_000);
        assert_eq!(reducing(512 << 10, 1_966_080), 983_040);
        assert_eq!(reducing(1, 1 << 19), 1);
        assert_eq!(reducing(1, 1000), 0);
        assert_eq!(reducing(u64::MAX, u64::MAX), u64::MAX);
    }
}
