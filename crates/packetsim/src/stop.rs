//! Positions of congestion control notes on their paths.

use serde::{Deserialize, Serialize};

/// Current or next position of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Stop {
    /// At the terminal that it is for.
    Heard(u32),
    /// At the terminal that sends it.
    Sent(u32),
    /// At a port of a switch that passes it on.
    Passes(u32),
}

/// Bits of an event's place, of which there are 29, that give the kind of place.
const SENT: u32 = 1 << 28;
const PASSES: u32 = 1 << 27;

impl Stop {
    /// As the place of an event.
    pub(crate) fn place(self) -> u32 {
        match self {
            Self::Heard(terminal) => terminal,
            Self::Sent(terminal) => terminal | SENT,
            Self::Passes(port) => port | PASSES,
        }
    }

    /// Whether there is such a terminal or port.
    pub(crate) fn is_among(self, terminals: u32, ports: u32) -> bool {
        match self {
            Self::Heard(terminal) | Self::Sent(terminal) => terminal < terminals,
            Self::Passes(port) => port < ports,
        }
    }

    /// Of such a place.
    pub(crate) fn of(place: u32) -> Self {
        match place {
            p if p & SENT != 0 => Self::Sent(p & !SENT),
            p if p & PASSES != 0 => Self::Passes(p & !PASSES),
            p => Self::Heard(p),
        }
    }
}
