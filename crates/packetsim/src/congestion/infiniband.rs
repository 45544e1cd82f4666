//! Congestion control of InfiniBand: InfiniBand Architecture Specification, volume 1, annex A10. Tables are the manager's to fill;
//! parameters are after E. G. Gran et al., First Experiences with Congestion Control in InfiniBand Hardware (IPDPS'10), where
//! they state them.

use serde::{Deserialize, Serialize};

use super::congestion_message::CongestionMessage;
use super::parameter::{Parameter, Unit};
use super::params::CongestionParams;
use super::seen::{ArrivingPacket, DepartingPacket, OutputQueueState};
use super::sides::{Control, Receiving, Sending};
use super::tuning::{InfiniBandParams, Tuning};
use crate::Random;

/// Parameters that users can set.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "threshold",
        unit: Unit::Bytes,
        range: [0, 1 << 30],
        meaning: "what must wait for an output so that it marks packets",
        source: "decision: the threshold 15 of annex A10 is the keenest that there is, without bytes",
        of: |t| &mut t.infiniband.threshold,
    },
    Parameter {
        name: "limit",
        unit: Unit::Count,
        range: [1, 65_535],
        meaning: "the last entry of the table: on entry i packets are i packets' time apart",
        source: "E. G. Gran et al., CCTI_Limit 127; that entries rise evenly is a decision, as the table is the manager's",
        of: |t| &mut t.infiniband.last,
    },
    Parameter {
        name: "increase",
        unit: Unit::Count,
        range: [1, 65_535],
        meaning: "entries up for each mark",
        source: "E. G. Gran et al., CCTI_Increase",
        of: |t| &mut t.infiniband.up,
    },
    Parameter {
        name: "timer",
        unit: Unit::Time,
        range: [1_000, 1_000_000_000_000],
        meaning: "how long it takes for an entry down",
        source: "E. G. Gran et al., CCTI_Timer 150, in units of 1.024 us",
        of: |t| &mut t.infiniband.down,
    },
];

/// Congestion control of InfiniBand.
pub(crate) struct InfiniBand;

impl Control for InfiniBand {
    type Sender = Sender;
    type Receiver = Receiver;

    const LOOKS: bool = true;

    fn sender() -> Sender {
        Sender::default()
    }

    fn pass(
        tuning: &Tuning,
        _: Option<&mut OutputQueueState>,
        passing: &DepartingPacket,
        _: &mut Random,
    ) -> (bool, u64) {
        (marks(&tuning.infiniband, passing), 0)
    }
}

/// An endpoint sends marks back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Receiver;

impl Receiving for Receiver {
    fn arrived(
        &mut self,
        _: CongestionParams<'_>,
        a: &ArrivingPacket,
        _: &mut Vec<(u32, u64)>,
    ) -> u64 {
        a.mark.into()
    }
}

/// Whether a departing packet is marked: by an output that is a root of congestion, since it has credits.
fn marks(params: &InfiniBandParams, p: &DepartingPacket) -> bool {
    u64::from(p.waits) > params.threshold && !p.was_held
}

/// Position of a pair in its congestion control table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sender {
    index: u32,
    since: u64,
}

impl Sender {
    fn go_on(&mut self, p: &InfiniBandParams, now: u64) {
        let steps = now.saturating_sub(self.since) / p.down;
        self.index = self.index.saturating_sub(steps.try_into().unwrap_or(u32::MAX));
        self.since += steps * p.down;
    }
}

impl Sending for Sender {
    /// Entry i: packets are i packets' time apart (decision: the specification leaves the table to the manager).
    fn pace(&mut self, tuning: &Tuning, now: u64, pace: u64) -> u64 {
        self.go_on(&tuning.infiniband, now);
        if self.index == 0 { 0 } else { pace * u64::from(1 + self.index) }
    }

    fn hear(&mut self, tuning: &Tuning, note: &CongestionMessage, now: u64, _: &mut u64) {
        let p = &tuning.infiniband;
        if note.says != 0 {
            self.go_on(p, now);
            if self.index == 0 {
                self.since = now;
            }
            self.index = (self.index + p.up as u32).min(p.last as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: InfiniBandParams = InfiniBandParams::DEFAULT;

    /// An entry up for each mark, one down every 153.6 us, none beyond the last; roots of congestion mark, victims do not.
    #[test]
    fn tables_go_up_and_down() {
        let pass = |waits, was_held| {
            marks(&DEFAULT, &DepartingPacket { waits, bytes: 100, pace: 1, was_held })
        };
        assert_eq!(
            [pass(16 << 10, false), pass(17 << 10, false), pass(17 << 10, true)],
            [false, true, false]
        );
        let note = CongestionMessage {
            source: 0,
            endpoint: 1,
            class: 0,
            to_endpoint: false,
            bytes: 100,
            says: 1,
            lost: None,
            in_order: None,
        };
        let mut source = Sender::default();
        for _ in 0..5 {
            source.hear(&Tuning::DEFAULT, &note, 1000, &mut 0);
        }
        assert_eq!(source.pace(&Tuning::DEFAULT, 1000, 10), 60);
        assert_eq!(source.pace(&Tuning::DEFAULT, 1000 + 2 * DEFAULT.down, 10), 40);
        assert_eq!(source.pace(&Tuning::DEFAULT, 1000 + 5 * DEFAULT.down, 10), 0);
        for _ in 0..500 {
            source.hear(&Tuning::DEFAULT, &note, 1 << 40, &mut 0);
        }
        assert_eq!(source.pace(&Tuning::DEFAULT, 1 << 40, 10), 1280);
    }
}
