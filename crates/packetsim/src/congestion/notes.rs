//! What notes and acknowledgements take on their way, and what adapters have room for: parameters of every scheme.

use super::tuning::{Parameter, Unit};

/// How notes travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Notes {
    /// Whether they take bytes on channels and wait there.
    pub(crate) priced: u64,
    /// Bytes of one on a channel.
    pub(crate) bytes: u64,
    /// What times in notes are multiples of, in picoseconds; and the bits of their number.
    pub(crate) clock: u64,
    pub(crate) bits: u64,
    /// Bytes that an adapter keeps for an endpoint at most.
    pub(crate) queue: u64,
}

impl Notes {
    /// Free, by exact clocks, with endless queues: as all published experiments are judged.
    pub(crate) const DEFAULT: Self = Self { priced: 0, bytes: 64, clock: 1, bits: 48, queue: 0 };

    /// Whether they take bytes on channels and wait there.
    pub(crate) fn are_priced(&self) -> bool {
        self.priced > 0
    }

    /// A time as a note has it: rounded up, so that nobody is early, and no longer than its bits can say.
    pub(crate) fn quantized(&self, time: u64) -> u64 {
        let most = (1u64 << self.bits) - 1;
        time.div_ceil(self.clock).min(most) * self.clock
    }
}

/// Parameters of every scheme that sends notes.
pub(crate) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "notes",
        unit: Unit::Word(&["free", "priced"]),
        range: [0, 1],
        meaning: "whether notes and acknowledgements take bytes on channels and wait there, or nothing of both",
        source: "decision: published experiments are judged with free",
        of: |t| &mut t.notes.priced,
    },
    Parameter {
        name: "note-bytes",
        unit: Unit::Bytes,
        range: [1, 1024],
        meaning: "what a priced note takes on a channel",
        source: "decision: the least frame of Ethernet",
        of: |t| &mut t.notes.bytes,
    },
    Parameter {
        name: "clock",
        unit: Unit::Time,
        range: [1, 1_000_000],
        meaning: "times in notes are rounded up to multiples of this",
        source: "decision: exact; clocks of adapters have 1 or 4 ns",
        of: |t| &mut t.notes.clock,
    },
    Parameter {
        name: "clock-bits",
        unit: Unit::Count,
        range: [8, 48],
        meaning: "bits of a time in a note: longer times are said as the longest that there is",
        source: "decision: no time is too long",
        of: |t| &mut t.notes.bits,
    },
    Parameter {
        name: "queue",
        unit: Unit::Bytes,
        range: [0, 1 << 30],
        meaning: "bytes that an adapter keeps for one endpoint: a message behind as much waits in its host, and holds up all messages \
                  of its class behind it; 0B: endless",
        source: "decision",
        of: |t| &mut t.notes.queue,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_round_up_and_end() {
        let exact = Notes::DEFAULT;
        assert_eq!([0, 1, 1_234_567].map(|t| exact.quantized(t)), [0, 1, 1_234_567]);
        let four = Notes { clock: 4000, bits: 8, ..exact };
        let times = [0, 1, 4000, 4001, 255 * 4000, 256 * 4000, 1 << 40];
        let told = [0, 4000, 4000, 8000, 255 * 4000, 255 * 4000, 255 * 4000];
        assert_eq!(times.map(|t| four.quantized(t)), told);
    }
}
