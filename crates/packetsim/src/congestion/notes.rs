//! Delays and bytes of notes and acknowledgements, and buffer space of adapters: parameters of every scheme.

use super::parameter::{Parameter, Unit};

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
        meaning: "times in notes (of pairs and reserve) are rounded up to multiples of this",
        source: "decision: exact; clocks of adapters have 1 or 4 ns",
        of: |t| &mut t.notes.clock,
    },
    Parameter {
        name: "clock-bits",
        unit: Unit::Count,
        range: [8, 48],
        meaning: "bits of a time in a note (of pairs and reserve): longer times are said as the longest that there is",
        source: "decision: no time is too long",
        of: |t| &mut t.notes.bits,
    },
    Parameter {
        name: "queue",
        unit: Unit::Bytes,
        range: [0, 1 << 30],
        meaning: "bytes that an adapter keeps for one endpoint: a message behind as much waits in its host, and delays all messages \
                  of its class behind it; 0B: endless",
        source: "decision",
        of: |t| &mut t.notes.queue,
    },
];
