//! Parameter values of schemes: plain numbers, with those of their papers as defaults.
//!
//! The meaning, range and source of each parameter are in the scheme's own file ([`super::parameter`]).

use super::Congestion;

/// The value 1 of a [`Unit::Share`](super::Unit::Share): hundredths, thousandths and powers of two up to 2^12 are exact.
pub(crate) const ONE: u64 = 64_000_000;

/// A share of a number, rounded down.
#[inline]
pub(crate) fn part(share: u64, of: u64) -> u64 {
    // Divisions of 128 bits are slow, and hardly ever needed.
    of.checked_mul(share).map_or_else(
        || (u128::from(of) * u128::from(share) / u128::from(ONE)) as u64,
        |product| product / ONE,
    )
}

/// Parameter values of all schemes: those of their papers, unless set otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuning {
    pub(crate) notes: NoteParams,
    pub(crate) pairs: TurnParams,
    pub(crate) reserve: TurnParams,
    pub(crate) ecn: EcnParams,
    pub(crate) infiniband: InfiniBandParams,
    pub(crate) qcn: QcnParams,
    pub(crate) grants: GrantsParams,
}

impl Tuning {
    /// Parameter values of the papers.
    pub const DEFAULT: Self = Self {
        notes: NoteParams::DEFAULT,
        pairs: TurnParams::PAIRS,
        reserve: TurnParams::RESERVE,
        ecn: EcnParams::DEFAULT,
        infiniband: InfiniBandParams::DEFAULT,
        qcn: QcnParams::DEFAULT,
        grants: GrantsParams::DEFAULT,
    };

    /// Parameters of a scheme in which the last switch reserves turns.
    pub(crate) fn turns(&self, congestion: Congestion) -> &TurnParams {
        if congestion == Congestion::Reserve { &self.reserve } else { &self.pairs }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Parameters of the transport of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NoteParams {
    /// Whether they take bytes on channels and wait there.
    pub(crate) priced: u64,
    /// Bytes of one on a channel.
    pub(crate) bytes: u64,
    /// The unit of times in notes, in picoseconds; and the bits of their number.
    pub(crate) clock: u64,
    pub(crate) bits: u64,
    /// Bytes that an adapter keeps for an endpoint at most.
    pub(crate) queue: u64,
}

impl NoteParams {
    /// Free, by exact clocks, with endless queues: as all published experiments are judged.
    pub(crate) const DEFAULT: Self = Self { priced: 0, bytes: 64, clock: 1, bits: 48, queue: 0 };

    /// Whether they take bytes on channels and wait there.
    pub(crate) fn are_priced(&self) -> bool {
        self.priced > 0
    }

    /// A time as represented in a note: rounded up, so that no source sends early, and limited to its bits.
    pub(crate) fn quantized(&self, time: u64) -> u64 {
        let most = (1u64 << self.bits) - 1;
        time.div_ceil(self.clock).min(most) * self.clock
    }
}

/// Parameters of `pairs` and of `reserve`, as parts ([`ONE`]) of the round trip R, or of W, the bytes that a channel
/// carries in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TurnParams {
    pub(super) window: u64,
    pub(super) first: u64,
    pub(super) waits: u64,
    pub(super) much: u64,
    pub(super) apart: u64,
    pub(super) turn: u64,
    pub(super) ahead: u64,
    pub(super) free: u64,
}

impl TurnParams {
    pub(super) const PAIRS: Self = Self {
        window: ONE,
        first: ONE / 4,
        waits: ONE / 2,
        much: ONE / 8,
        apart: ONE / 32,
        turn: ONE / 2,
        ahead: ONE / 4,
        free: 4 * ONE,
    };

    /// Where excess packets are dropped, there are fewer of them, and turns half as far apart suffice. Turns of a whole round trip
    /// leave no gap where only a few sources are left, whose next turn comes with the acknowledgement of the last one.
    pub(super) const RESERVE: Self = Self { first: ONE, apart: ONE / 64, turn: ONE, ..Self::PAIRS };

    /// Whether this number of bytes is more than may wait for an endpoint before sources are throttled, or unsolicited packets are
    /// dropped: a part of the bytes that its channel carries in a round trip, of which 2^16 bytes take `pace`.
    pub(crate) fn is_too_much(&self, waits: u64, round: u64, pace: u64) -> bool {
        waits > part(self.waits, (round << 16) / pace)
    }
}

/// Recovery of a rate: parts are of [`ONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RecoveryParams {
    /// Picoseconds from one step of time to the next, and bytes between two of those.
    pub(super) timer: u64,
    pub(super) bytes: u64,
    /// Number of times that the rate recovers half of the distance to its previous value (F).
    pub(super) halves: u64,
    /// No rate falls below this part of the channel's.
    pub(super) least: u64,
    /// Part of the channel's rate that each step beyond adds; and that where both time and bytes are beyond, times the steps beyond of the
    /// one that has fewer.
    pub(super) increase: u64,
    pub(super) hyper: u64,
    pub(super) rules: Rules,
}

/// Whose reaction point a rate has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rules {
    /// Every note makes the rate the target (Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM'15, section 3.2).
    Dcqcn,
    /// Notes before the first step of bytes leave the target; a target more than ten times the rate is divided by eight at the first
    /// step; steps beyond come twice as fast where time and bytes both are beyond (IEEE Std 802.1Qau-2010, clauses 32.13 and 32.14).
    Standard,
}

/// Parameters of DCQCN: times in picoseconds, parts of [`ONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EcnParams {
    pub(super) kmin: u64,
    pub(super) kmax: u64,
    pub(super) pmax: u64,
    pub(super) notice: u64,
    pub(super) g: u64,
    pub(super) forgets: u64,
    pub(super) back: RecoveryParams,
}

impl EcnParams {
    /// Queues in picoseconds of their channel: 5 KB and 200 KB at 40 Gbit/s.
    pub(super) const DEFAULT: Self = Self {
        kmin: 1_000_000,
        kmax: 40_000_000,
        pmax: ONE / 100,
        notice: 50_000_000,
        g: ONE / 256,
        forgets: 55_000_000,
        back: RecoveryParams {
            timer: 55_000_000,
            bytes: 10_000_000,
            halves: 5,
            least: ONE / 4096,
            increase: ONE / 1000,
            hyper: ONE / 1000,
            rules: Rules::Dcqcn,
        },
    };
}

/// Parameters of InfiniBand's: bytes, entries, picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InfiniBandParams {
    pub(super) threshold: u64,
    pub(super) last: u64,
    pub(super) up: u64,
    pub(super) down: u64,
}

impl InfiniBandParams {
    pub(super) const DEFAULT: Self =
        Self { threshold: 16 << 10, last: 127, up: 1, down: 153_600_000 };
}

/// Parameters of QCN: bytes, picoseconds, parts of [`ONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QcnParams {
    pub(super) aim: u64,
    pub(super) growth: u64,
    pub(super) sample: u64,
    pub(super) back: RecoveryParams,
}

impl QcnParams {
    pub(super) const DEFAULT: Self = Self {
        aim: 26_000,
        growth: 2,
        sample: 150_000,
        back: RecoveryParams {
            timer: 15_000_000_000,
            bytes: 150_000,
            halves: 4,
            least: ONE / 2000,
            increase: ONE / 2000,
            hyper: ONE / 200,
            rules: Rules::Standard,
        },
    };
}

/// Parameters of grants, as parts ([`ONE`]) of the bytes that a channel carries in a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GrantsParams {
    pub(super) first: u64,
    pub(super) ahead: u64,
}

impl GrantsParams {
    pub(super) const DEFAULT: Self = Self { first: ONE, ahead: ONE };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_exact_however_large() {
        for of in [0, 1, 4096, 999_999_937, 1 << 40, u64::MAX / 16] {
            assert_eq!([1, 32, 4096].map(|n| part(ONE / n, of)), [1, 32, 4096].map(|n| of / n));
            assert_eq!(part(ONE / 100, of), of / 100);
            assert_eq!(part(4 * ONE, of), 4 * of);
        }
    }

    #[test]
    fn clocks_round_up_and_end() {
        let exact = NoteParams::DEFAULT;
        assert_eq!([0, 1, 1_234_567].map(|t| exact.quantized(t)), [0, 1, 1_234_567]);
        let four = NoteParams { clock: 4000, bits: 8, ..exact };
        let times = [0, 1, 4000, 4001, 255 * 4000, 256 * 4000, 1 << 40];
        let expected = [0, 4000, 4000, 8000, 255 * 4000, 255 * 4000, 255 * 4000];
        assert_eq!(times.map(|t| four.quantized(t)), expected);
    }
}
